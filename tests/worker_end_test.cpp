// A worker that is stuck, fails, is left to itself, or is another process's.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "workers.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

// Leaves `hold` running past its deadline.
void leave_running(Workers& worker, const Hold& hold) {
    const auto answer = worker.call_timeout(hold, 1ms);
    if (answer.outcome == Outcome::timed_out) return;
    REQUIRE(answer.outcome == Outcome::not_begun);  // on a slow machine: once more
    leave_running(worker, hold);
}

// Status of a child that did `work`: 0 where it returned true.
template <typename Work>
int in_child(const Work& work) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60);  // a hang would be the bug
        bool good = false;
        try {
            good = work();
        } catch (...) {  // good stays false
        }
        _exit(good ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

Fault fault_of_call(Workers& worker) {
    try {
        worker.call([](Thing&) {});
    } catch (const Error& error) {
        return error.fault();
    }
    return Fault::unsupported;
}

}  // namespace

TEST_CASE("worker: while a job is stuck its like are declined at once, pause or not, and after it one is let through") {
    Workers worker(plain_thing(), {.breaker = {.pause = 0s, .longest_pause = 0s}});
    const Hold hold;
    CHECK_FALSE(worker.broken());
    leave_running(worker, hold);
    for (int i = 0; i < 3; i++) {
        CHECK(worker.broken());
        CHECK(worker.call_timeout([](Thing& thing) { thing.runs += 100; }, long_enough).outcome == Outcome::declined);
    }
    CHECK(worker.queue_length() == 0);
    hold.let_go();
    REQUIRE(eventually([&] { return !worker.broken(); }));
    CHECK(worker.call_timeout([](Thing& thing) { return thing.runs; }, long_enough).value == 1);
    CHECK_FALSE(worker.broken());
}

TEST_CASE("worker: after a stall it declines for a pause, though the stuck job has ended") {
    Workers worker(plain_thing(), {.breaker = {.pause = 24h, .longest_pause = 24h}});
    const Hold hold;
    leave_running(worker, hold);
    hold.let_go();
    worker.call([](Thing&) {});  // calls without a deadline are not declined
    CHECK(worker.broken());
    CHECK(worker.call_timeout([](Thing&) {}, long_enough).outcome == Outcome::declined);
}

TEST_CASE("worker: errors in a row break it, those that are the caller's do not count") {
    for (const Fault fault : {Fault::gpu_broken, Fault::device_lost, Fault::out_of_memory, Fault::bad_argument,
                              Fault::bad_data, Fault::unsupported}) {
        CAPTURE(static_cast<int>(fault));
        const bool counts = fault == Fault::gpu_broken || fault == Fault::device_lost || fault == Fault::out_of_memory;
        Workers worker(plain_thing(), {.breaker = {.errors = 2, .pause = 24h, .longest_pause = 24h}});
        const auto fails = [&] { worker.call_timeout([fault](Thing&) { throw Error(fault, "it"); }, long_enough); };
        fails();
        worker.call_timeout([](Thing&) {}, long_enough);
        fails();
        CHECK_FALSE(worker.broken());
        fails();
        CHECK(worker.broken() == counts);
    }
}

TEST_CASE("worker: a probe whose turn does not come leaves the next caller to be the probe") {
    Workers worker(plain_thing(), {.breaker = {.errors = 1, .pause = 0s, .longest_pause = 0s}});
    worker.call_timeout([](Thing&) { throw 7; }, long_enough);
    {
        const Held held(worker);
        for (int i = 0; i < 2; i++) CHECK(worker.call_timeout([](Thing&) {}, 0s).outcome == Outcome::not_begun);
    }
    CHECK(worker.call_timeout([](Thing&) {}, long_enough).outcome == Outcome::done);
}

TEST_CASE("worker: a job that began late and is left for that is no stall") {
    Workers worker(plain_thing(), {.breaker = {.pause = 24h, .longest_pause = 24h}});
    constexpr auto wait = 400ms;
    std::optional<Held> held(std::in_place, worker);
    std::jthread waker([&] {
        std::this_thread::sleep_for(wait / 2);
        held.reset();
    });
    const Hold hold;
    const auto answer = worker.call_timeout(hold, wait);
    const auto ran_for = worker.running_for();
    const bool broken = worker.broken();
    hold.let_go();
    waker.join();
    if (answer.outcome == Outcome::timed_out && ran_for > 0s && ran_for < wait) CHECK_FALSE(broken);
}

TEST_CASE("worker: ending one that is busy lets the running job end, and those that wait fail") {
    std::atomic<int> ends = 0, runs = 0;
    auto worker = std::make_unique<Workers>(plain_thing(&ends), WorkerOptions{.name = "busy", .end_wait = long_enough});
    const Hold hold;
    std::vector<std::jthread> callers;
    std::array<std::string, 2> told;
    callers.emplace_back([&] {
        worker->call([&](Thing& thing) {
            hold(thing);
            runs++;
        });
    });
    REQUIRE(eventually([&] { return hold.begun->load(); }));
    callers.emplace_back([&, &w = *worker] {
        try {
            w.call([&](Thing&) { runs += 100; });
        } catch (const Error& error) {
            told[0] = error.what();
        }
    });
    callers.emplace_back([&, &w = *worker] {
        const auto answer = w.call_timeout([&](Thing&) { runs += 100; }, long_enough);
        try {
            if (answer.outcome == Outcome::failed) std::rethrow_exception(answer.error);
        } catch (const Error& error) {
            told[1] = error.what();
        }
    });
    REQUIRE(eventually([&] { return worker->queue_length() == 2; }));
    std::jthread waker([&] {
        callers[1].join();  // they need not wait for the running job
        callers[2].join();
        hold.let_go();
    });
    worker.reset();
    CHECK(ends == 1);
    CHECK(runs == 1);
    for (const std::string& text : told) CHECK(text == "The worker 'busy' has ended; this job was not begun.");
}

TEST_CASE("worker: ending one that is stuck takes no longer than its bound, and the thing ends with the job") {
    std::atomic<int> ends = 0;
    const Hold hold;
    {
        Workers worker(plain_thing(&ends), {.end_wait = 10ms});
        leave_running(worker, hold);
    }
    CHECK(ends == 0);
    hold.let_go();
    CHECK(eventually([&] { return ends == 1; }));
}

TEST_CASE("worker: one that a job of its own was the last to hold ends too") {
    std::atomic<int> ends = 0;
    const Hold hold;
    {
        auto worker = std::make_shared<Workers>(plain_thing(&ends), WorkerOptions{.breaker = off});
        while (worker->call_timeout([hold, worker](Thing& thing) { hold(thing); }, 1ms).outcome != Outcome::timed_out)
            continue;
    }
    CHECK(ends == 0);
    hold.let_go();
    CHECK(eventually([&] { return ends == 1; }));
}

TEST_CASE("worker: several threads may end it at once, while it is busy") {
    std::atomic<int> ends = 0;
    Workers worker(plain_thing(&ends), {.end_wait = long_enough});
    std::optional<Held> held(std::in_place, worker);
    std::vector<std::jthread> enders;
    for (int i = 0; i < 3; i++) enders.emplace_back([&] { worker.stop(); });
    std::this_thread::sleep_for(20ms);  // until all of them wait, most likely
    held.reset();
    enders.clear();
    CHECK(ends == 1);
    CHECK(fault_of_call(worker) == Fault::timed_out);
}

TEST_CASE("worker: after its end a call is one clear error") {
    Workers worker(plain_thing(), {.name = "gone"});
    worker.stop();
    worker.stop();
    CHECK_THROWS_WITH_AS(worker.call([](Thing&) {}), "The worker 'gone' has ended; this job was not begun.", Error);
    CHECK(fault_of_call(worker) == Fault::timed_out);
    CHECK(worker.call_timeout([](Thing&) {}, long_enough).outcome == Outcome::failed);
    CHECK(worker.queue_length() == 0);
}

TEST_CASE("worker: after a fork it is the parent's alone, at whatever moment that was") {
    std::atomic<bool> enough = false;
    auto worker = std::make_unique<Workers>(plain_thing(), WorkerOptions{.breaker = off});
    std::vector<std::jthread> callers;  // so that a fork meets locks that are held
    for (int i = 0; i < 3; i++) {
        callers.emplace_back([&] {
            while (!enough) worker->call([](Thing& thing) { thing.runs++; });
        });
    }
    int good = 0;
    for (int i = 0; i < 20; i++) {
        good += in_child([&] {
                    const auto answer = worker->call_timeout([](Thing&) {}, long_enough);
                    const bool refused = fault_of_call(*worker) == Fault::device_lost &&
                                         answer.outcome == Outcome::failed &&
                                         fault_of(answer.error) == Fault::device_lost;
                    const bool idle = worker->queue_length() == 0 && worker->oldest_age() == 0s &&
                                      worker->running_for() == 0s && worker->broken();
                    worker.reset();
                    return refused && idle;
                }) == 0;
    }
    CHECK(good == 20);
    enough = true;
    callers.clear();
    CHECK(worker->call([](Thing& thing) { return thing.runs; }) > 0);
}

TEST_CASE("worker: a child after a fork may start its own") {
    Workers worker(plain_thing());
    CHECK(in_child([&] {
              Workers own(plain_thing());
              return own.call([](Thing& thing) { return ++thing.runs; }) == 1;
          }) == 0);
    CHECK(worker.call([](Thing& thing) { return ++thing.runs; }) == 1);
}
