// Several threads on one card: offload with random faults, and networks, backends and workers that open and close the
// card while others train on it.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <random>
#include <thread>

#include "card.hpp"
#include "core/text.hpp"
#include "offload_threads.hpp"
#include "shunt/gpu.hpp"
#include "shunt/network.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/fault.hpp"

using namespace shunt;
using namespace shunt::offload;
using namespace shunt::test;
using namespace shunt::webgpu;
using namespace std::chrono_literals;

namespace {

// SHUNT_STRESS_SECONDS, else a few.
std::chrono::steady_clock::time_point end_of_stress() {
    const std::string asked = environment("SHUNT_STRESS_SECONDS");
    return std::chrono::steady_clock::now() + std::chrono::seconds(asked.empty() ? 3 : std::stoi(asked));
}

// A card with a short deadline of its own, so that a thread that waits for one that hangs ends in time.
const char* hasty_card() {
    static const bool registered = [] {
        register_backend("hasty card", [](const BackendOptions& o) { return make_gpu(o, {.deadline = 600ms}); });
        return true;
    }();
    static_cast<void>(registered);
    return "hasty card";
}

std::vector<double> trained() {
    Samples samples;
    for (int i = 0; i < 24; i++) samples.add({std::sin(i), std::cos(3 * i), 0.1 * i - 1}, i % 3 == 0 ? 1 : 0);
    Network net({.input = 3, .layers = {dense(5), tanh(), dense(2)}, .backend = "gpu"});
    net.train(samples, {.epochs = 2, .batch = 8});
    return net.predict(std::array{0.5, -0.25, 1.0});
}

std::vector<double> multiplied() {
    const auto backend = make_backend("gpu");
    const std::vector<float> a = some(6 * 5, 1), b = some(5 * 4, 2);
    return backend->read(backend->matmul(backend->upload(a, {6, 5}), backend->upload(b, {5, 4})));
}

std::vector<double> own_kernel() {
    const auto gpu = gpu::open();
    const auto y = gpu.buffer(std::vector<float>{1, 2, 3});
    gpu.define("twice", {"w:y"}, 1, "if (id.x >= p.n0) { return; } y[id.x] *= 2.0;");
    gpu.dispatch("twice", {y}, {.n = {3}}, 3);
    const auto values = y.read<float>();
    return {values.begin(), values.end()};
}

std::vector<double> offloaded() {
    GpuBackend card(SharedWorker::open(), {.costs = card_always});
    const ScopedAccelerator use(card);
    const std::vector<float> values = offloaded_program();
    return {values.begin(), values.end()};
}

// Each kind of work in two threads, over and over. How many answers were not those of a thread alone.
int at_once(const std::vector<std::vector<double>>& right, int times) {
    const std::array<std::function<std::vector<double>()>, 4> works{trained, multiplied, own_kernel, offloaded};
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 2 * works.size(); t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < times; i++) wrong += works[t / 2]() == right[t / 2] ? 0 : 1;
        });
    }
    threads.emplace_back([&] {
        for (int i = 0; i < times; i++) wrong += list_adapters().adapters.empty() ? 1 : 0;
    });
    threads.clear();
    return wrong;
}

}  // namespace

TEST_CASE("offload: eight threads on a card with random faults: no wrong answer, all is counted, nothing is left") {
    if (!have_card()) return;
    const auto end = end_of_stress();
    std::mt19937 random(11);
    std::uint64_t offered = 0, on_card = 0, failed = 0, happened = 0;
    do {
        const Trouble trouble =
            std::array{Trouble::memory, Trouble::refused, Trouble::lost, Trouble::hang, Trouble::wrong}[random() % 5];
        FaultyCard faulty(
            {.trouble = trouble, .at = 30 + random() % 1200, .times = 1 + static_cast<int>(random() % 3)});
        INFO("trouble ", static_cast<int>(trouble));
        const bool hang = trouble == Trouble::hang;
        const Stress stress =
            eight_threads(SharedWorker::open({.weight_bytes = 20000, .backend = hang ? hasty_card() : "gpu"}),
                          {.verify = trouble == Trouble::wrong ? Verify::always : Verify::sampled,
                           .costs = card_always,
                           .least_wait = hang ? 300ms : 10s},
                          2);
        CHECK(stress.worst < rounding);
        CHECK(stress.add_up);
        CHECK(lines(faulty.aborts()) == "");
        // One that hangs is kept: releasing it would wait for it.
        const std::string alive = lines(faulty.alive());
        CHECK((alive == "" || (hang && alive == "AdapterRequestDevice\nDeviceGetQueue\n")));
        offered += stress.offered;
        on_card += stress.on_card;
        failed += stress.failed;
        happened += faulty.happened() ? 1 : 0;
    } while (std::chrono::steady_clock::now() < end);
    MESSAGE(offered, " operators for the process, ", on_card, " of all on the card, ", failed, " failed, by ", happened,
            " faults");
    CHECK(offered > 0);
    CHECK(on_card > 0);
}

TEST_CASE("several threads open and close a card and compute on it, each in its own way, and get right answers") {
    if (!have_card()) return;
    const std::vector<std::vector<double>> right{trained(), multiplied(), own_kernel(), offloaded()};
    CHECK(at_once(right, 10) == 0);
    // Here the card closes with its last user, and all that was made is counted.
    const FaultyCard card;
    CHECK(at_once(right, 5) == 0);
    CHECK(lines(card.alive()) == "");
    CHECK(lines(card.aborts()) == "");
}
