// A thread that owns a thing: where it works, in which order, and what reaches whom.
#include <array>
#include <random>
#include <stdexcept>

#include "workers.hpp"

using namespace shunt;
using namespace shunt::test;

TEST_CASE("worker: makes its thing on its own thread, works on it there, and ends it there") {
    std::atomic<int> ends = 0;
    {
        Workers worker(plain_thing(&ends));
        CHECK(worker.call([](Thing& thing) { return thing.home; }) != std::this_thread::get_id());
        int borrowed = 3;
        worker.call([&](Thing& thing) {
            borrowed += 4;
            thing.runs++;
        });
        CHECK(borrowed == 7);
        CHECK(worker.call([](Thing& thing) { return thing.runs; }) == 1);
        CHECK(*worker.call([](Thing&) { return std::make_unique<int>(5); }) == 5);
        const auto answer =
            worker.call_timeout([n = std::make_unique<int>(6)](Thing& thing) { return *n + thing.runs; }, long_enough);
        CHECK(answer.outcome == Outcome::done);
        CHECK(answer.value == 7);
        CHECK(answer.error == nullptr);
        CHECK(worker.call_timeout([](Thing&) {}, long_enough).value.has_value());
        CHECK(ends == 0);
    }
    CHECK(ends == 1);
}

TEST_CASE("worker: what making its thing throws is thrown where the worker is made") {
    const auto fails = []() -> Thing { throw Error(Fault::no_gpu, "none here"); };
    try {
        Workers worker(fails);
        FAIL("it was made");
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::no_gpu);
        CHECK(std::string(error.what()) == "none here");
    }
}

TEST_CASE("worker: a thing that is not made in time is an error, and ends by itself once it is made") {
    std::atomic<int> ends = 0;
    Hold hold;
    const auto slow = [&ends, gate = hold.gate] {
        gate->acquire();
        return Thing(&ends);
    };
    try {
        Workers worker(slow, {.name = "slow", .start_wait = 20ms});
        FAIL("it was made");
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::timed_out);
        CHECK(std::string(error.what()) == "The worker 'slow' was not ready within 20 ms.");
    }
    CHECK(ends == 0);
    hold.let_go();
    CHECK(eventually([&] { return ends == 1; }));
}

TEST_CASE("worker: jobs run strictly in the order in which they were handed over") {
    Workers worker(plain_thing());
    std::vector<std::jthread> callers;
    std::vector<int> expected;
    {
        const Held held(worker);
        for (int i = 0; i < 40; i++) {
            const auto job = [i](Thing& thing) { thing.order.push_back(i); };
            if (i % 2 == 0) callers.emplace_back([&worker, job] { worker.call(job); });
            if (i % 2 == 1) callers.emplace_back([&worker, job] { worker.call_timeout(job, long_enough); });
            REQUIRE(eventually([&] { return worker.queue_length() == static_cast<std::size_t>(i) + 1; }));
            expected.push_back(i);
        }
    }
    callers.clear();
    CHECK(worker.call([](Thing& thing) { return thing.order; }) == expected);
}

TEST_CASE("worker: what a job throws reaches its caller alone, and the thread goes on") {
    Workers worker(plain_thing(), {.breaker = off});
    CHECK_THROWS_WITH_AS(worker.call([](Thing&) { throw std::out_of_range("far"); }), "far", std::out_of_range);
    CHECK_THROWS_AS(worker.call([](Thing&) -> int { throw 7; }), int);
    const auto answer =
        worker.call_timeout([](Thing&) -> int { throw Error(Fault::out_of_memory, "no room"); }, long_enough);
    CHECK(answer.outcome == Outcome::failed);
    CHECK_FALSE(answer.value.has_value());
    CHECK(fault_of(answer.error) == Fault::out_of_memory);
    CHECK(worker.call([](Thing& thing) { return ++thing.runs; }) == 1);
}

TEST_CASE("worker: an error of timed_out that a job throws is a failure, not a time-out") {
    Workers worker(plain_thing());
    const auto answer = worker.call_timeout([](Thing&) { throw Error(Fault::timed_out, "card"); }, long_enough);
    CHECK(answer.outcome == Outcome::failed);
    CHECK(fault_of(answer.error) == Fault::timed_out);
}

TEST_CASE("worker: a job that had begun is left behind, runs to its end, and its result goes there") {
    Workers worker(plain_thing(), {.breaker = off});
    struct Result {
        std::shared_ptr<int> token;
    };
    auto in_job = std::make_shared<int>(0), in_result = std::make_shared<int>(0);
    const std::weak_ptr<int> job_left = in_job, result_left = in_result;
    const Hold hold;
    const auto answer = worker.call_timeout(
        [hold, in_job = std::move(in_job), in_result = std::move(in_result)](Thing& thing) mutable {
            hold(thing);
            return Result{std::move(in_result)};
        },
        20ms);
    if (answer.outcome == Outcome::timed_out) {  // a slow machine may not have begun it
        CHECK_FALSE(answer.value.has_value());
        CHECK(answer.error == nullptr);
        CHECK_FALSE(job_left.expired());
    }
    hold.let_go();
    CHECK(worker.call([](Thing& thing) { return thing.runs; }) == (answer.outcome == Outcome::timed_out ? 1 : 0));
    CHECK(job_left.expired());
    CHECK(result_left.expired());
}

TEST_CASE("worker: a job that has not begun when its caller leaves never runs, and what it owned is gone") {
    Workers worker(plain_thing());
    std::atomic<int> ran = 0;
    {
        const Held held(worker);
        for (const auto wait : {1ms, 0ms, -5ms}) {
            auto token = std::make_shared<int>(0);
            const std::weak_ptr<int> left = token;
            const auto answer = worker.call_timeout([&ran, token = std::move(token)](Thing&) { return ++ran; }, wait);
            CHECK(answer.outcome == Outcome::not_begun);
            CHECK_FALSE(answer.value.has_value());
            CHECK(left.expired());
            CHECK(worker.queue_length() == 0);
        }
    }
    worker.call([](Thing&) {});
    CHECK(ran == 0);
}

TEST_CASE("worker: a wait past what a clock can count is one without limit") {
    Workers worker(plain_thing());
    CHECK(worker.call_timeout([](Thing&) { return 1; }, std::chrono::nanoseconds::max()).value == 1);
    CHECK_FALSE(worker.broken());
}

TEST_CASE("worker: tells how many wait, since when, and for how long one has been running") {
    Workers worker(plain_thing());
    CHECK(worker.queue_length() == 0);
    CHECK(worker.oldest_age() == 0ns);
    CHECK(worker.running_for() == 0ns);
    std::array<std::jthread, 2> callers;
    {
        const Held held(worker);
        for (std::size_t i = 0; i < 2; i++) {
            callers[i] = std::jthread([&] { worker.call([](Thing&) {}); });
            REQUIRE(eventually([&] { return worker.queue_length() == i + 1; }));
            std::this_thread::sleep_for(2ms);
        }
        const auto oldest = worker.oldest_age(), running = worker.running_for();
        CHECK(oldest >= 4ms);
        CHECK(running >= oldest);
        std::this_thread::sleep_for(1ms);
        CHECK(worker.oldest_age() >= oldest + 1ms);
        CHECK(worker.running_for() >= running + 1ms);
    }
    for (std::jthread& caller : callers) caller.join();
    CHECK(worker.queue_length() == 0);
    CHECK(worker.oldest_age() == 0ns);
    CHECK(eventually([&] { return worker.running_for() == 0ns; }));
}

TEST_CASE("worker: a job's own calls run at once, with and without a deadline, however deep") {
    Workers worker(plain_thing());
    const int got = worker.call([&](Thing& thing) {
        thing.order.push_back(1);
        const int inner = worker.call([&](Thing& same) {
            same.order.push_back(2);
            return worker.call_timeout([](Thing& t) { return t.order.push_back(3), 5; }, 0s).value.value();
        });
        CHECK_THROWS_AS(worker.call([](Thing&) { throw 7; }), int);
        CHECK(worker.call_timeout([](Thing&) { throw 7; }, 0s).outcome == Outcome::failed);
        thing.order.push_back(4);
        return inner;
    });
    CHECK(got == 5);
    CHECK(worker.call([](Thing& thing) { return thing.order; }) == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("worker: eight threads with random deadlines and errors, and every job is accounted for once") {
    struct Counts {
        std::array<int, 5> outcomes{};
        int calls = 0, thrown = 0;
    };
    constexpr int n = 400;
    Workers worker(plain_thing(), {.breaker = off});
    const auto token = std::make_shared<int>(0);
    std::array<Counts, 8> counts;
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < counts.size(); seed++) {
        threads.emplace_back([&, seed] {
            std::minstd_rand random(seed + 1);
            for (int i = 0; i < n; i++) {
                const bool throws = random() % 4 == 0;
                const auto busy = std::chrono::microseconds(random() % 64 == 0 ? 2000 : random() % 30);
                const auto work = [token, throws, busy](Thing& thing) {
                    thing.runs++;  // by one thread alone, or counts are lost
                    const auto end = std::chrono::steady_clock::now() + busy;
                    while (std::chrono::steady_clock::now() < end) continue;
                    if (throws) throw std::runtime_error("as asked");
                    return 1;
                };
                if (random() % 4 == 0) {
                    counts[seed].calls++;
                    try {
                        worker.call(work);
                    } catch (const std::runtime_error&) {
                        counts[seed].thrown += throws ? 1 : 1000000;
                    }
                    continue;
                }
                const auto answer = worker.call_timeout(work, std::chrono::microseconds(random() % 600));
                counts[seed].outcomes[static_cast<std::size_t>(answer.outcome)]++;
                const bool good = answer.value.has_value() == (answer.outcome == Outcome::done) &&
                                  (answer.error != nullptr) == (answer.outcome == Outcome::failed);
                if (!good) counts[seed].thrown += 1000000;
            }
        });
    }
    threads.clear();
    int handed_over = 0, ran = 0, thrown = 0;
    std::array<int, 5> outcomes{};
    for (const Counts& c : counts) {
        handed_over += c.calls;
        ran += c.calls;
        thrown += c.thrown;
        for (std::size_t i = 0; i < outcomes.size(); i++) outcomes[i] += c.outcomes[i];
    }
    for (int count : outcomes) handed_over += count;
    for (Outcome o : {Outcome::done, Outcome::failed, Outcome::timed_out}) ran += outcomes[static_cast<std::size_t>(o)];
    INFO("done ", outcomes[0], ", failed ", outcomes[1], ", timed out ", outcomes[2], ", not begun ", outcomes[3],
         ", declined ", outcomes[4]);
    CHECK(handed_over == 8 * n);
    CHECK(thrown < 1000000);
    CHECK(worker.call([](Thing& thing) { return thing.runs; }) == ran);
    CHECK(token.use_count() == 1);
    CHECK(worker.queue_length() == 0);
}
