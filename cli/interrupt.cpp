// A handler that touches nothing but two flags and a text that stays as it is.
#include "interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace shunt::cli {
namespace {

constexpr std::array signals = {SIGINT, SIGHUP, SIGTERM};

std::atomic<int> first_asked = 0;  // the signal
enum Phase : int { asking, ignoring, ending };
std::atomic<int> phase = asking;
static_assert(std::atomic<int>::is_always_lock_free);
std::string last_words;  // changed before the phase is `ending`, which alone reads it

std::array<struct sigaction, signals.size()> before;

extern "C" void shunt_on_signal(int signal) {
    int none = 0;
    if (phase == ignoring || (phase == asking && first_asked.compare_exchange_strong(none, signal))) return;
    if (isatty(STDERR_FILENO)) [[maybe_unused]]
        const auto broken = write(STDERR_FILENO, "\n", 1);
    if (phase == ending) [[maybe_unused]]
        const auto written = write(STDERR_FILENO, last_words.data(), last_words.size());
    _exit(128 + signal);
}

}  // namespace

Interrupt::Interrupt() {
    first_asked = 0;
    phase = asking;
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
    phase = ignoring;
}

void Interrupt::end_at_once(std::string words) {
    phase = ignoring;
    last_words = std::move(words);
    phase = ending;
}

}  // namespace shunt::cli
