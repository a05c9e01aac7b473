// Offload from many threads without a card: answers, counts, weights that change, backends that come and go, callers
// that leave early, and a fork in the middle of it. On a card: webgpu_threads_test.cpp.
#include "offload_threads.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <set>

#include "failing_backend.hpp"

using namespace shunt;
using namespace shunt::offload;
using namespace shunt::test;
using namespace std::chrono_literals;

namespace {

SharedWorker test_card() {
    return SharedWorker::open({.weight_bytes = 20000, .backend = "test card"});  // not for all weights of a program
}

void check(const Stress& stress) {
    CHECK(stress.worst < rounding);
    CHECK(stress.add_up);
}

}  // namespace

TEST_CASE("offload from eight threads: answers, counts and reports, weights that change, backends that come and go") {
    Calls::right();
    Failures none("cpu");
    const Stress stress = eight_threads(test_card(), {.verify = Verify::sampled, .costs = card_always}, 8);
    check(stress);
    CHECK(stress.failed == 0);
    CHECK(stress.on_card > 0);
}

TEST_CASE("offload from eight threads: a card that fails again and again, in each way") {
    Calls::right();
    for (const Fault fault : {Fault::device_lost, Fault::out_of_memory, Fault::gpu_broken, Fault::timed_out}) {
        INFO(static_cast<int>(fault));
        Failures failures("cpu");
        failures.fault = fault;
        failures.every = 29;
        const Stress stress = eight_threads(test_card(), {.verify = Verify::always, .costs = card_always}, 3);
        check(stress);
        CHECK(failures.happened);
        CHECK(stress.on_card > 0);
    }
}

TEST_CASE("offload from eight threads: callers leave in the middle of their operators, and free what those read") {
    Calls::right();
    std::uint64_t failed = 0, on_card = 0;
    for (int i = 0; i < 12; i++) {
        Failures slow("cpu");
        slow.pause = 300us;
        const Stress stress = eight_threads(test_card(), {.costs = card_always, .least_wait = 2ms}, 1);
        check(stress);
        failed += stress.failed;
        on_card += stress.on_card;
    }
    CHECK(failed > 0);
    CHECK(on_card > 0);
}

TEST_CASE("offload from several threads: two measure the card at once, while a third works on it") {
    Calls::right();
    const SharedWorker worker = SharedWorker::open({.backend = "cpu"});
    REQUIRE(worker);
    std::atomic<int> measuring = 2, failed = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; t++) {
        threads.emplace_back([&] {
            const GpuBackend card(worker, {.measure = true});
            if (card.last_error() || !(card.costs().cpu_gemm > 0)) failed++;
            measuring--;
        });
    }
    GpuBackend card(worker, {.costs = card_always});
    const ScopedAccelerator use(card);
    Calls calls(1);
    do calls.all();
    while (measuring > 0);
    threads.clear();
    CHECK(failed == 0);
    CHECK(calls.worst < rounding);
    CHECK(card.offloaded() > 0);
}

TEST_CASE("offload from eight threads: warnings are told once each, whoever meets them") {
    Failures failures("cpu");
    failures.fault = Fault::gpu_broken;
    std::mutex mutex;
    std::vector<std::string> told;
    GpuBackend card(test_card(), {.policy = Policy::warn,
                                  .warn =
                                      [&](const std::string& text) {
                                          const std::lock_guard lock(mutex);
                                          told.push_back(text);
                                      },
                                  .costs = card_always});
    failures.at = failures.calls;
    failures.forever = true;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&] {
            const std::vector<float> a = some(6, 1);
            for (int i = 0; i < 50; i++) card.matmul({a, {2, 3}}, {a, {3, 2}});
        });
    }
    threads.clear();
    CHECK(!told.empty());
    CHECK(std::set(told.begin(), told.end()).size() == told.size());
    const Counts counts = counts_of(card);
    CHECK(counts.add_up);
    CHECK(counts.on_card == 0);
    CHECK(counts.on_cpu == 400);
}

TEST_CASE("offload from eight threads: a report is of one moment") {
    Failures none("cpu");
    GpuBackend card(test_card(), {.costs = card_never});
    std::atomic<bool> enough = false;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&] {
            const std::vector<float> a = some(6, 1);
            while (!enough) card.matmul({a, {2, 3}}, {a, {3, 2}});
        });
    }
    bool add_up = true;
    while (counts_of(card).on_cpu < 100000) add_up = add_up && counts_of(card).add_up;
    enough = true;
    threads.clear();
    CHECK(add_up);
}

TEST_CASE("after a fork the parent's offload declines in the child, at whatever moment that was") {
    Failures none("cpu");
    const SharedWorker worker = test_card();
    GpuBackend never(worker, {.costs = card_never}), strict(worker, {.policy = Policy::strict, .costs = card_always});
    const std::vector<float> a = some(6, 1);
    std::atomic<bool> enough = false;
    std::vector<std::jthread> threads;  // so that a fork meets locks that are held
    for (int t = 0; t < 3; t++) {
        threads.emplace_back([&] {
            while (!enough) {
                never.matmul({a, {2, 3}}, {a, {3, 2}});
                static_cast<void>(never.report_json());
            }
        });
    }
    int good = 0;
    for (int i = 0; i < 30; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(30);  // a hang would be the bug
            bool right = !never.matmul({a, {2, 3}}, {a, {3, 2}}) && never.offloaded() == 0;
            never.computed_on_cpu(1);
            right = right && never.last_error() && never.last_error()->find("before a fork") != std::string::npos;
            right = right && never.report().find("before a fork") != std::string::npos && !never.report_json().empty();
            try {
                strict.matmul({a, {2, 3}}, {a, {3, 2}});
                right = false;
            } catch (const Error& error) {
                right = right && error.fault() == Fault::device_lost;
            }
            _exit(right ? 0 : 1);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
    }
    enough = true;
    threads.clear();
    CHECK(good == 30);
    CHECK(strict.matmul({a, {2, 3}}, {a, {3, 2}}));
}
