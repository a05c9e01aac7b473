// A handler that touches nothing but two flags.
#include "interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace shunt::cli {
namespace {

std::atomic<int> n_asked = 0;
std::atomic<bool> too_late = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

struct sigaction before_int, before_term;

extern "C" void shunt_on_signal(int) {
    if (too_late || n_asked++ == 0) return;
    if (isatty(STDERR_FILENO)) [[maybe_unused]]
        const auto written = write(STDERR_FILENO, "\n", 1);
    _exit(130);
}

}  // namespace

Interrupt::Interrupt() {
    n_asked = 0;
    too_late = false;
    struct sigaction action = {};
    action.sa_handler = shunt_on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before_int);
    sigaction(SIGTERM, &action, &before_term);
}

Interrupt::~Interrupt() {
    sigaction(SIGINT, &before_int, nullptr);
    sigaction(SIGTERM, &before_term, nullptr);
}

bool Interrupt::asked() const {
    return n_asked > 0;
}

void Interrupt::ignore() {
    too_late = true;
}

}  // namespace shunt::cli
