// The limit on threads: the caller's, the environment's, the machine's, and fork's.
#include "cpu/threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <charconv>
#include <mutex>
#include <string>

#include "core/text.hpp"
#include "shunt/error.hpp"

namespace shunt::cpu {
namespace {

std::atomic<bool> in_use = false;
std::atomic<bool> lost = false;

}  // namespace

// libgomp's threads stay in the parent; a child that enters a region of more than one thread waits
// for them forever.
void note_threads_in_use() {
    if (in_use.load(std::memory_order_relaxed)) return;
    static std::once_flag once;
    std::call_once(once, [] {
        pthread_atfork(nullptr, nullptr, [] {
            if (!in_use) return;
            lost = true;
            omp_set_num_threads(1);
        });
    });
    in_use = true;
}

bool threads_lost_by_fork() {
    return lost.load(std::memory_order_relaxed);
}

int most_threads(int asked) {
    if (asked < 0)
        throw Error(Fault::bad_argument, "threads must be 1 or more; given is " + std::to_string(asked) + ".");
    if (asked > 0) return asked;
    const std::string text = environment("SHUNT_THREADS");
    if (text.empty()) return std::max(1, omp_get_num_procs());
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < 1) {
        throw Error(Fault::bad_argument, "SHUNT_THREADS must be a number of threads, 1 or more; it is '" + text + "'.");
    }
    return value;
}

}  // namespace shunt::cpu
