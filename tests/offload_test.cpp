// Offload without a card: decisions, weights, policies, failures, and answers that are always right. The card is a
// backend that fails when told to; a real one is in webgpu_offload_test.cpp.
#include "shunt/offload.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "card.hpp"
#include "failing_backend.hpp"
#include "offload_cases.hpp"
#include "refusal.hpp"

using namespace shunt;
using namespace shunt::offload;
using namespace shunt::test;

namespace {

SharedWorker test_card(std::size_t weight_bytes = 1 << 20) {
    const SharedWorker worker = SharedWorker::open({.weight_bytes = weight_bytes, .backend = "test card"});
    INFO(worker.reason());
    REQUIRE(worker);
    return worker;
}

Options by(const Costs& costs, Policy policy = Policy::silent) {
    return {.policy = policy, .costs = costs};
}

const std::vector<float>& right() {
    static const std::vector<float> answers = offloaded_program();  // nothing is installed: on the CPU
    return answers;
}

}  // namespace

TEST_CASE("offload: what is faster on the card runs there, and the answers are the CPU's") {
    right();
    Failures none("cpu");
    GpuBackend card(test_card(), by(card_always));
    const ScopedAccelerator use(card);
    CHECK(difference(offloaded_program(), right()) < rounding);
    CHECK(card.offloaded() == n_offloaded);
    CHECK(!card.last_error());
    CHECK_MENTIONS(card.report(), "7 operators on the card, 0 on the CPU");
    CHECK_MENTIONS(card.report(), "matmul 12x40 by 40x9");
    CHECK_MENTIONS(card.report(), "activate gelu of 300");
    CHECK_MENTIONS(card.report_json(), "\"on_card\"");
}

TEST_CASE("offload: what is slower on the card is declined, and computed all the same") {
    right();
    Failures none("cpu");
    GpuBackend card(test_card(), by(card_never));
    const std::vector<float> a = some(6, 1);
    CHECK(!card.matmul({a, {2, 3}}, {a, {3, 2}}));
    std::vector<float> values = some(4, 1);
    const std::vector<float> before = values;
    CHECK(!card.activate(values, Activation::relu));
    CHECK(values == before);
    const ScopedAccelerator use(card);
    CHECK(offloaded_program() == right());
    CHECK(card.offloaded() == 0);
    CHECK(!card.last_error());
    CHECK_MENTIONS(card.report(), "0 operators on the card, 9 on the CPU");
    CHECK_MENTIONS(card.report(), ", took ");  // ops:: told how long the CPU needed
}

TEST_CASE("offload: without a card everything is declined, with the reason, and the policy strict says so") {
    const SharedWorker none = SharedWorker::open({.card = {.adapter = "no such card"}});
    CHECK(!none);
    CHECK(none.reason() != "");
    GpuBackend card(none);
    CHECK(!card.matmul({std::vector<float>{1}, {1, 1}}, {std::vector<float>{1}, {1, 1}}));
    CHECK_MENTIONS(card.report(), "there is no card");
    GpuBackend strict(none, by(card_always, Policy::strict));
    CHECK_MENTIONS(refusal(Fault::no_gpu,
                           [&] {
                               strict.matmul({std::vector<float>{1}, {1, 1}}, {std::vector<float>{1}, {1, 1}});
                           }),
                   none.reason());
}

TEST_CASE("offload: no card and a card that does not work are told apart") {
    const SharedWorker unknown = SharedWorker::open({.backend = "no such backend"});
    CHECK(!unknown);
    CHECK(unknown.broken());
    CHECK_MENTIONS(unknown.reason(), "no such backend");
    GpuBackend card(unknown);
    CHECK(card.last_error() == unknown.reason());
}

TEST_CASE("offload: shapes that do not fit are refused with their sizes, by the card and by ops") {
    Failures none("cpu");
    GpuBackend card(test_card(), by(card_always));
    const std::vector<float> six(6), four(4);
    const auto refused = [&](const auto& action) { return refusal(Fault::bad_argument, action); };
    CHECK_MENTIONS(refused([&] { card.matmul({six, {2, 3}}, {four, {2, 2}}); }), "[2, 3] and b [2, 2]");
    CHECK_MENTIONS(refused([&] { ops::matmul({six, {2, 3}}, {four, {2, 2}}); }), "[2, 3] and b [2, 2]");
    CHECK_MENTIONS(refused([&] { ops::matmul({six, {2, 2}}, {four, {2, 2}}); }), "6 values for the shape [2, 2]");
    CHECK_MENTIONS(refused([&] { ops::conv2d({six, {6}}, {four, {1, 1, 2, 2}}); }), "[c, h, w]");
    CHECK_MENTIONS(refused([&] { ops::conv2d({six, {1, 2, 3}}, {four, {1, 4, 1, 1}}); }), "1 channels a group");
    CHECK_MENTIONS(refused([&] { ops::conv2d({six, {1, 2, 3}}, {four, {1, 1, 4, 1}}); }), "spans 4");
    CHECK_MENTIONS(refused([&] {
                       ops::conv2d({six, {1, 2, 3}}, {four, {1, 1, 2, 2}}, six);
                   }),
                   "6 values for 1 filters");
    CHECK_MENTIONS(refused([&] {
                       ops::conv2d({six, {1, 2, 3}}, {four, {1, 1, 2, 2}}, {}, {.stride = {0, 1}});
                   }),
                   "positive");
    CHECK_MENTIONS(refused([&] {
                       ops::conv2d({six, {1, 2, 3}}, {four, {4, 1, 1, 1}}, {}, {.groups = 3});
                   }),
                   "3 groups");
}

TEST_CASE("offload: values that are said to be at a null pointer are refused, by the card and by ops") {
    Failures none("cpu");
    GpuBackend card(test_card(), by(card_always));
    const std::vector<float> a = some(6, 1);
    const std::span<float> nowhere(static_cast<float*>(nullptr), 6);
    const auto told = [&](const std::function<void()>& call) { return refusal(Fault::bad_argument, call); };
    CHECK_MENTIONS(told([&] { card.matmul({nowhere, {2, 3}}, {a, {3, 2}}); }), "a is a null pointer with 6 values");
    CHECK_MENTIONS(told([&] { ops::matmul({a, {2, 3}}, {nowhere, {3, 2}}); }), "b is a null pointer");
    CHECK_MENTIONS(told([&] { ops::conv2d({a, {1, 2, 3}}, {a, {6, 1, 1, 1}}, nowhere); }), "bias is a null pointer");
    CHECK_MENTIONS(told([&] { card.activate(nowhere, Activation::relu); }), "null pointer");
    CHECK_MENTIONS(told([&] { ops::activate(nowhere, Activation::relu); }), "null pointer");
}

TEST_CASE("offload: impossible costs are refused") {
    Costs wrong = card_always;
    wrong.up = -1;
    CHECK_MENTIONS(refusal(Fault::bad_argument, [&] { GpuBackend(SharedWorker(), by(wrong)); }), "up is -1");
    wrong.up = std::nan("");
    CHECK_MENTIONS(refusal(Fault::bad_argument, [&] { GpuBackend(SharedWorker(), by(wrong)); }), "up is nan");
}

TEST_CASE("offload: nothing to compute is no work for a card") {
    Failures none("cpu");
    GpuBackend card(test_card(), by(card_always, Policy::strict));
    const ScopedAccelerator use(card);
    CHECK(ops::matmul({{}, {0, 3}}, {std::vector<float>(6), {3, 2}}).values.empty());
    CHECK(ops::matmul({{}, {2, 0}}, {{}, {0, 2}}).values == std::vector<float>(4, 0));
    std::vector<float> nothing;
    ops::activate(nothing, Activation::gelu);
    CHECK(card.offloaded() == 0);
}

TEST_CASE("offload: a weight is sent when staying on the CPU has cost as much, once") {
    Failures none("cpu");
    // A call loses 10 µs on the CPU; the weight takes 35 µs to the card.
    const Costs costs{.latency = 1e-6, .up = 35e-6 / (4 * 8), .cpu_fixed = 11e-6 + 35e-6 * 4 / 8};
    Options options = by(costs);
    options.live = false;
    GpuBackend card(test_card(), options);
    const std::vector<float> a = some(4, 1), b = some(8, 2);
    int cpu = 0;
    for (int i = 0; i < 10; i++) cpu += card.matmul({a, {1, 4}}, {b, {4, 2}}, true) ? 0 : 1;
    CHECK(cpu == 3);
    const std::int64_t calls = none.calls;
    CHECK(card.matmul({a, {1, 4}}, {b, {4, 2}}, true));
    const std::int64_t resident = none.calls - calls;
    CHECK(card.matmul({a, {1, 4}}, {b, {4, 2}, Weight()}).has_value() == false);  // another name: an account of its own
    Weight named;
    int declined = 0;
    for (int i = 0; i < 5; i++) declined += card.matmul({a, {1, 4}}, {b, {4, 2}, named}) ? 0 : 1;
    CHECK(declined == 3);
    CHECK(resident > 0);
    CHECK_MENTIONS(card.report(), "if it had the weight");
}

TEST_CASE("offload: a failure at any call, of any kind, leaves the answers right") {
    right();
    for (const Fault fault : {Fault::device_lost, Fault::out_of_memory, Fault::gpu_broken, Fault::timed_out}) {
        for (std::int64_t at = 0;; at++) {
            INFO(static_cast<int>(fault), " at call ", at);
            Failures failures("cpu");
            failures.at = at;
            failures.fault = fault;
            const SharedWorker worker = test_card();
            GpuBackend card(worker, by(card_always));
            const ScopedAccelerator use(card);
            CHECK(difference(offloaded_program(), right()) < rounding);
            if (!failures.happened) break;
            // What can be mended is: only a card that is broken leaves an operator to the CPU.
            CHECK(card.offloaded() >= n_offloaded - (fault == Fault::gpu_broken ? 1 : 0));
            CHECK(card.last_error().has_value() == (fault == Fault::gpu_broken));
        }
    }
}

TEST_CASE("offload: a card that never works again is left alone, after a few tries") {
    right();
    for (const Fault fault : {Fault::device_lost, Fault::out_of_memory, Fault::gpu_broken}) {
        Failures failures("cpu");
        failures.fault = fault;
        const SharedWorker worker = test_card();
        GpuBackend card(worker, by(card_always));
        const ScopedAccelerator use(card);
        failures.at = failures.calls;
        failures.forever = true;
        CHECK(difference(offloaded_program(), right()) < rounding);
        CHECK(card.offloaded() == 0);
        CHECK(card.last_error());
        if (fault != Fault::out_of_memory) CHECK_MENTIONS(card.report(), "the card failed a moment ago");
    }
}

TEST_CASE("offload: a card that did not come back is opened again by who wants to measure it") {
    Failures failures("cpu");
    const SharedWorker worker = test_card();
    const std::vector<float> a = some(6, 1);
    GpuBackend first(worker, by(card_always));
    failures.at = failures.calls;
    failures.most_opened = failures.opened;
    CHECK(!first.matmul({a, {2, 3}}, {a, {3, 2}}));
    const GpuBackend in_vain(worker, {.measure = true});
    REQUIRE(in_vain.last_error());
    CHECK_MENTIONS(*in_vain.last_error(), "The card does not come back.");
    failures.over = true;
    failures.most_opened = failures.opened + 1;
    const GpuBackend back(worker, {.measure = true});
    CHECK(!back.last_error());
}

TEST_CASE("offload: what does not fit on the card is computed there in pieces") {
    Failures failures("cpu");
    failures.most_values = 300;  // of a tensor: the program's products have 480 values in a
    const SharedWorker worker = test_card();
    GpuBackend card(worker, by(card_always, Policy::strict));
    const std::vector<float> a = some(64 * 16, 1), b = some(16 * 16, 2);
    const auto c = card.matmul({a, {64, 16}}, {b, {16, 16}}, true);
    REQUIRE(c);
    CHECK(difference(c->values, ops::matmul({a, {64, 16}}, {b, {16, 16}}).values) < rounding);
    CHECK(failures.largest > 300);
    std::vector<float> values = some(1000, 3), same = values;
    CHECK(card.activate(values, Activation::silu));
    ops::activate(same, Activation::silu);
    CHECK(difference(values, same) < rounding);
    // A weight that fits nowhere: an error, not a wrong answer.
    const std::vector<float> wide = some(16 * 40, 4);
    CHECK_THROWS_AS(card.matmul({a, {64, 16}}, {wide, {16, 40}}), Error);
}

TEST_CASE("offload: warnings are told once each, and strict throws") {
    Failures failures("cpu");
    std::vector<std::string> told;
    const SharedWorker worker = test_card();
    Options options = by(card_always, Policy::warn);
    options.warn = [&](const std::string& text) { told.push_back(text); };
    {
        GpuBackend card(worker, options);
        failures.fault = Fault::gpu_broken;
        failures.at = failures.calls;
        failures.forever = true;
        const std::vector<float> a = some(6, 1);
        for (int i = 0; i < 3; i++) CHECK(!card.matmul({a, {2, 3}}, {a, {3, 2}}));
        CHECK(std::set(told.begin(), told.end()).size() == told.size());
        CHECK(told.size() >= 1);
        CHECK(card.last_error() == told.back());
    }
    GpuBackend strict(worker, by(card_always, Policy::strict));
    const std::vector<float> a = some(6, 1);
    CHECK_THROWS_AS(strict.matmul({a, {2, 3}}, {a, {3, 2}}), Error);
}

TEST_CASE("offload: the report is given when the backend goes, where that is asked for") {
    Failures none("cpu");
    std::string report;
    Options options = by(card_never);
    options.at_end = [&](const std::string& text) { report = text; };
    { const GpuBackend card(test_card(), options); }
    CHECK_MENTIONS(report, "0 operators on the card");
}

TEST_CASE("offload: a report that its receiver throws at harms nobody") {
    Failures none("cpu");
    Options options = by(card_always);
    bool asked = false;
    options.at_end = [&](const std::string&) {
        asked = true;
        throw std::runtime_error("no");
    };
    { GpuBackend card(test_card(), options); }
    CHECK(asked);
}

TEST_CASE("offload: a report has a line for each operator and shape, however often it came") {
    Failures none("cpu");
    GpuBackend card(test_card(), by(card_never));
    const ScopedAccelerator use(card);
    std::vector<float> a = some(6, 1);
    for (int i = 0; i < 20; i++) {
        ops::matmul({a, {2, 3}}, {a, {3, 2}});
        ops::activate(a, Activation::relu);
    }
    const std::string report = card.report();
    CHECK(std::ranges::count(report, '\n') == 4);
    CHECK_MENTIONS(report, "The last 40 decisions:");
    CHECK_MENTIONS(report, "on the CPU, 20 times, took ");
}

TEST_CASE("offload: accelerators are installed for a thread or the process, and the one before comes back") {
    Failures none("cpu");
    const SharedWorker worker = test_card();
    GpuBackend one(worker, by(card_never)), two(worker, by(card_never));
    CHECK(current_accelerator() == nullptr);
    {
        const ScopedAccelerator everywhere(one, ScopedAccelerator::Scope::process);
        CHECK(current_accelerator() == &one);
        {
            const ScopedAccelerator here(two);
            CHECK(current_accelerator() == &two);
            std::thread([&] { CHECK(current_accelerator() == &one); }).join();
        }
        CHECK(current_accelerator() == &one);
    }
    CHECK(current_accelerator() == nullptr);
}

TEST_CASE("offload: accelerators of the process may go in any order") {
    Failures none("cpu");
    const SharedWorker worker = test_card();
    GpuBackend one(worker, by(card_never)), two(worker, by(card_never)), three(worker, by(card_never));
    using Scope = ScopedAccelerator::Scope;
    for (const Scope scope : {Scope::process, Scope::thread}) {
        std::optional<ScopedAccelerator> first(std::in_place, one, scope), second(std::in_place, two, scope),
            third(std::in_place, three, scope);
        second.reset();
        CHECK(current_accelerator() == &three);
        third.reset();
        CHECK(current_accelerator() == &one);
        second.emplace(two, scope);
        first.reset();
        CHECK(current_accelerator() == &two);
        second.reset();
        CHECK(current_accelerator() == nullptr);
    }
}

TEST_CASE("offload: eight threads at once get right answers, and the counts add up") {
    right();
    Failures none("cpu");
    const SharedWorker worker = test_card();
    GpuBackend card(worker, by(card_always));
    const ScopedAccelerator use(card, ScopedAccelerator::Scope::process);
    std::vector<std::thread> threads;
    std::array<double, 8> worst{};
    constexpr int rounds = 20;
    for (std::size_t t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < rounds; i++) worst[t] = std::max(worst[t], difference(offloaded_program(), right()));
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (double d : worst) CHECK(d < rounding);
    CHECK(card.offloaded() == 8 * rounds * n_offloaded);
}
