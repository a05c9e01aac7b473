// See breaker.hpp.
#include "core/breaker.hpp"

#include <algorithm>

namespace shunt {
namespace {

std::int64_t count(std::chrono::nanoseconds time) {
    return time.count();
}

}  // namespace

Breaker::Pass Breaker::ask(Time now) {
    std::int64_t at = probe_at_.load(std::memory_order_acquire);
    if (at == closed) return Pass::ordinary;
    if (count(now.time_since_epoch()) < at) return Pass::declined;
    return probe_at_.compare_exchange_strong(at, probing, std::memory_order_acquire) ? Pass::probe : Pass::declined;
}

bool Breaker::declines(Time now) const {
    return count(now.time_since_epoch()) < probe_at_.load(std::memory_order_relaxed);
}

void Breaker::succeeded(Pass pass) {
    if (errors_.load(std::memory_order_relaxed) != 0) errors_ = 0;
    if (pass != Pass::probe) return;
    pause_ = options_.pause;
    probe_at_.store(closed, std::memory_order_release);
}

void Breaker::failed(Pass pass, Time now) {
    if (++errors_ >= options_.errors || pass == Pass::probe) open(pass, now);
}

void Breaker::stalled(Pass pass, Time now) {
    open(pass, now);
}

void Breaker::unused(Pass pass) {
    if (pass == Pass::probe) probe_at_.store(closed + 1, std::memory_order_release);
}

// Ordinary passes are from before it opened, if it is open: their reports come too late to matter.
void Breaker::open(Pass pass, Time now) {
    if (pass == Pass::probe) {
        pause_ = std::min(2 * pause_, std::max(options_.pause, options_.longest_pause));
        probe_at_.store(count(now.time_since_epoch() + pause_), std::memory_order_release);
    } else {
        std::int64_t expected = closed;
        probe_at_.compare_exchange_strong(expected, count(now.time_since_epoch() + options_.pause),
                                          std::memory_order_release, std::memory_order_relaxed);
    }
}

}  // namespace shunt
