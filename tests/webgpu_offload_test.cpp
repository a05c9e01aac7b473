// Offload on a card that fails: for every call of a program and every kind of fault the same answers; never stuck,
// and what a card computes wrong is found.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "card.hpp"
#include "offload_cases.hpp"
#include "refusal.hpp"
#include "shunt/offload.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/fault.hpp"

using namespace shunt;
using namespace shunt::offload;
using namespace shunt::test;
using namespace shunt::webgpu;
using namespace std::chrono_literals;

namespace {

const std::vector<float>& right() {
    static const std::vector<float> answers = offloaded_program();
    return answers;
}

// The program with the fault at the n-th call. False: it has fewer.
bool fail_at(Trouble trouble, std::uint64_t n, int times) {
    INFO("at call ", n);
    FaultyCard faulty({.trouble = trouble, .at = n, .times = times});
    {
        const SharedWorker worker = SharedWorker::open();
        GpuBackend card(worker, {.costs = card_always});
        const ScopedAccelerator use(card);
        CHECK(difference(offloaded_program(), right()) < rounding);
        if (faulty.happened()) CHECK(difference(offloaded_program(), right()) < rounding);
    }
    CHECK(lines(faulty.aborts()) == "");
    return faulty.happened();
}

void at_every_call(Trouble trouble, int times = 1) {
    if (!have_card()) return;
    right();
    std::uint64_t n = 1;
    while (fail_at(trouble, n, times)) n++;
    CHECK(n > 60);
}

}  // namespace

TEST_CASE("offload on a card: the answers are the CPU's, products checked always") {
    if (!have_card()) return;
    right();
    const SharedWorker worker = SharedWorker::open();
    INFO(worker.reason());
    REQUIRE(worker);
    GpuBackend card(worker, {.policy = Policy::strict, .verify = Verify::always, .costs = card_always});
    const ScopedAccelerator use(card);
    CHECK(difference(offloaded_program(), right()) < rounding);
    CHECK(card.offloaded() == n_offloaded);
}

TEST_CASE("offload on a card: random shapes answer as the CPU does, checked always") {
    if (!have_card()) return;
    const SharedWorker worker = SharedWorker::open();
    GpuBackend card(worker, {.policy = Policy::strict, .verify = Verify::always, .costs = card_always});
    std::mt19937 random(7);
    const auto below = [&](std::size_t n) { return 1 + random() % n; };
    for (int i = 0; i < 40; i++) {
        const std::size_t m = below(90), n = below(90), k = below(200);
        INFO("matmul ", m, "x", n, "x", k);
        const auto a = some(m * k, i + 1.0), b = some(k * n, i + 100.0);
        const auto c = card.matmul({a, {m, k}}, {b, {k, n}}, i % 2 == 0);
        REQUIRE(c);
        CHECK(difference(c->values, ops::matmul({a, {m, k}}, {b, {k, n}}).values) < 1e-6 * static_cast<double>(k));
    }
    for (int i = 0; i < 40; i++) {
        const std::size_t groups = i % 3 == 0 ? below(4) : 1, c = groups * below(5), o = groups * below(6);
        const std::size_t kh = below(4), kw = below(4), h = kh + below(12), w = kw + below(12), n = below(3);
        INFO("conv2d ", n, "x", c, "x", h, "x", w, " to ", o, ", ", kh, "x", kw, ", groups ", groups);
        const auto x = some(n * c * h * w, i + 1.0), f = some(o * c / groups * kh * kw, i + 50.0), bias = some(o, 3);
        const ConvOptions options{
            .stride = {below(2), below(2)}, .pad = {below(2) - 1, below(2) - 1}, .groups = groups};
        const auto y = card.conv2d({x, {n, c, h, w}}, {f, {o, c / groups, kh, kw}}, bias, options);
        REQUIRE(y);
        const Array z = ops::conv2d({x, {n, c, h, w}}, {f, {o, c / groups, kh, kw}}, bias, options);
        CHECK(y->shape == z.shape);
        CHECK(difference(y->values, z.values) < 1e-6 * static_cast<double>(c * kh * kw));
    }
}

TEST_CASE("offload on a card that refuses memory once, at any call: the same answers") {
    at_every_call(Trouble::memory);
}

TEST_CASE("offload on a card that refuses an object, at any call: the same answers") {
    at_every_call(Trouble::refused);
}

TEST_CASE("offload on a card that is lost, at any call: the same answers") {
    at_every_call(Trouble::lost);
}

TEST_CASE("offload on a card that hangs: callers leave in time, and the card is left alone") {
    if (!have_card()) return;
    right();
    // A card whose own deadline is short, so that the thread that waits for it ends with the test.
    static const bool registered = [] {
        register_backend("short card", [](const BackendOptions& o) { return make_gpu(o, {.deadline = 400ms}); });
        return true;
    }();
    CHECK(registered);
    for (std::uint64_t n : {60, 90, 120, 150}) {
        INFO("at call ", n);
        FaultyCard faulty({.trouble = Trouble::hang, .at = n});
        {
            const SharedWorker worker = SharedWorker::open({.backend = "short card"});
            GpuBackend card(worker, {.costs = card_always, .least_wait = 150ms});
            const ScopedAccelerator use(card);
            CHECK(difference(offloaded_program(), right()) < rounding);
            CHECK(faulty.happened());
            const auto start = std::chrono::steady_clock::now();
            CHECK(difference(offloaded_program(), right()) < rounding);
            CHECK(std::chrono::steady_clock::now() - start < 30s);  // not a wait for each operator
            CHECK_MENTIONS(card.report(), "did not answer in time");
            CHECK_MENTIONS(card.report(), "failed a moment ago");
        }
        CHECK(lines(faulty.aborts()) == "");
    }
}

TEST_CASE("offload: a wrong result is found, computed again, and its kernel not used any more") {
    if (!have_card()) return;
    right();
    FaultyCard faulty({.trouble = Trouble::wrong, .times = 1});
    const SharedWorker worker = SharedWorker::open();
    GpuBackend card(worker, {.verify = Verify::always, .costs = card_always});
    const ScopedAccelerator use(card);
    CHECK(difference(offloaded_program(), right()) < rounding);
    CHECK(faulty.happened());
    CHECK_MENTIONS(card.report(), "the card's result was wrong");
    REQUIRE(card.last_error());
    CHECK_MENTIONS(*card.last_error(), "The card computed something wrong");
    offloaded_program();
    CHECK_MENTIONS(card.report(), "the kernel gave a wrong result before");
}
