// Workers to test with: a thing that knows its thread, and jobs that hold it.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "core/worker.hpp"

namespace shunt::test {

using namespace std::chrono_literals;

// What a worker owns here. It does not move, and says where and when it ends.
struct Thing {
    explicit Thing(std::atomic<int>* counter) : ends(counter) {}
    Thing(const Thing&) = delete;
    Thing& operator=(const Thing&) = delete;
    ~Thing() {
        if (ends) ++*ends;
        if (home != std::this_thread::get_id()) std::terminate();
    }

    std::atomic<int>* ends;
    std::thread::id home = std::this_thread::get_id();
    std::vector<int> order;
    int runs = 0;
};

using Workers = Worker<Thing>;
inline std::function<Thing()> plain_thing(std::atomic<int>* ends = nullptr) {
    return [ends] { return Thing(ends); };
}

inline constexpr auto long_enough = 60s;  // for what must come; a test that waits so long has failed

// No breaker: it declines nothing but what comes while a job runs past its time.
inline constexpr BreakerOptions off{.errors = 1'000'000'000, .pause = 0s, .longest_pause = 0s};

template <typename Condition>
bool eventually(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + long_enough;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(100us);
    }
    return true;
}

// A job that holds the worker until it is let go, and can be left behind.
struct Hold {
    std::shared_ptr<std::binary_semaphore> gate = std::make_shared<std::binary_semaphore>(0);
    std::shared_ptr<std::atomic<bool>> begun = std::make_shared<std::atomic<bool>>(false);

    void operator()(Thing& thing) const {
        *begun = true;
        gate->acquire();
        thing.runs++;
    }
    void let_go() const { gate->release(); }
};

// The worker is held by a call of another thread.
struct Held {
    explicit Held(Workers& worker) : caller([&worker, this] { worker.call(hold); }) {
        REQUIRE(eventually([&] { return hold.begun->load(); }));
    }
    ~Held() { hold.let_go(); }
    Hold hold;
    std::jthread caller;
};

inline Fault fault_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return e.fault();
    }
}

}  // namespace shunt::test
