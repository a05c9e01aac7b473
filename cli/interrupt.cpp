// A handler that touches nothing but two flags.
#include "interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace shunt::cli {
namespace {

constexpr std::array signals = {SIGINT, SIGHUP, SIGTERM};

std::atomic<int> first_asked = 0;  // the signal
std::atomic<bool> too_late = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<struct sigaction, signals.size()> before;

extern "C" void shunt_on_signal(int signal) {
    int none = 0;
    if (too_late || first_asked.compare_exchange_strong(none, signal)) return;
    if (isatty(STDERR_FILENO)) [[maybe_unused]]
        const auto written = write(STDERR_FILENO, "\n", 1);
    _exit(128 + signal);
}

}  // namespace

Interrupt::Interrupt() {
    first_asked = 0;
    too_late = false;
    struct sigaction action = {};
    action.sa_handler = shunt_on_signal;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < signals.size(); i++) {
        sigaction(signals[i], nullptr, &before[i]);
        // nohup, and a shell's & in a script, have them ignored: so it stays.
        if (before[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
}

Interrupt::~Interrupt() {
    for (std::size_t i = 0; i < signals.size(); i++) sigaction(signals[i], &before[i], nullptr);
}

bool Interrupt::asked() const {
    return first_asked != 0;
}

int Interrupt::status() const {
    return 128 + first_asked;
}

void Interrupt::ignore() {
    too_late = true;
}

}  // namespace shunt::cli
