// See forks.hpp.
#include "core/forks.hpp"

#include <pthread.h>

#include <atomic>

namespace shunt {
namespace {

std::atomic<unsigned> count = 0;

}  // namespace

unsigned forks() {
    static const int counted = pthread_atfork(nullptr, nullptr, [] { count++; });
    static_cast<void>(counted);
    return count.load(std::memory_order_relaxed);
}

}  // namespace shunt
