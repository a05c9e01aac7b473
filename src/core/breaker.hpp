// When to stop asking what fails: closed, a breaker passes everybody; a stall, or some errors in a row,
// open it. Open, it declines for a pause and then passes one probe: one that succeeds closes it, one
// that fails doubles the pause.
//
// The time is given by the callers. Any thread, without a lock: ask() costs some nanoseconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace shunt {

struct BreakerOptions {
    int errors = 3;  // in a row
    std::chrono::nanoseconds pause = std::chrono::seconds(1);
    std::chrono::nanoseconds longest_pause = std::chrono::seconds(60);
};

class Breaker {
public:
    using Time = std::chrono::steady_clock::time_point;
    enum class Pass { declined, ordinary, probe };

    explicit Breaker(const BreakerOptions& options = {}) : options_(options), pause_(options.pause) {}

    // Who gets a pass reports with one of the four below; nobody else gets one while a probe is out.
    Pass ask(Time now);
    bool declines(Time now) const;  // what ask() would say, without taking the probe

    void succeeded(Pass pass);
    void failed(Pass pass, Time now);
    void stalled(Pass pass, Time now);
    void unused(Pass pass);  // says neither: the next one who asks is the probe

private:
    void open(Pass pass, Time now);

    static constexpr std::int64_t closed = INT64_MIN, probing = INT64_MAX;
    const BreakerOptions options_;
    std::atomic<std::int64_t> probe_at_ = closed;  // or a time, in ns: from then on a probe may pass
    std::atomic<int> errors_ = 0;
    std::chrono::nanoseconds pause_;  // the probe's alone
};

}  // namespace shunt
