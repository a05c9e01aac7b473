// Measuring costs: what comes out is usable, is kept for the next run, and is measured anew on request.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>

#include "card.hpp"
#include "offload/calibrate.hpp"
#include "offload/costs.hpp"
#include "shunt/offload.hpp"

using namespace shunt;
using namespace shunt::offload;
using shunt::test::have_card;

namespace {

// cpu as its own card: the same machine on both sides, transfers included.
Calibration of_cpu() {
    const auto cpu = make_backend("cpu"), card = make_backend("cpu");
    return calibrate(
        *cpu, [&](const std::function<void(Backend&)>& work) { work(*card); }, 0.05);
}

void check_usable(const Costs& costs) {
    for (const CostField& field : cost_fields()) {
        INFO(std::string(field.name));
        CHECK(std::isfinite(costs.*field.value));
        CHECK(costs.*field.value >= 0);
    }
    CHECK(costs.cpu_gemm > 0);
    CHECK(costs.gpu_gemm > 0);
    CHECK(costs.cpu_conv > 0);
    CHECK(costs.latency > 0);
    CHECK(costs.spread > 0);
}

}  // namespace

TEST_CASE("calibrate: figures of the CPU as its own card are usable, and of one unit on both sides") {
    const Calibration c = of_cpu();
    check_usable(c.costs);
    CHECK(!c.hopeless);
    // That both are seconds for the same unit of work; a busy machine slows either side down by ten and more.
    CHECK(c.costs.gpu_gemm < 1000 * c.costs.cpu_gemm);
    CHECK(c.costs.gpu_gemm > c.costs.cpu_gemm / 1000);
}

TEST_CASE("calibrate: a card that loses tenfold is offered nothing, of what was not measured either") {
    const auto cpu = make_backend("cpu"), card = make_backend("plain");
    const Calibration c = calibrate(
        *cpu, [&](const std::function<void(Backend&)>& work) { work(*card); }, 0.05);
    check_usable(c.costs);
    CHECK(c.hopeless);
    CHECK_FALSE(gemm_on_gpu(c.costs, {4096, 4096, 4096}, true));
    CHECK_FALSE(conv_on_gpu(c.costs, {1, 64, 512, 512, 64, 3, 3, 1, 512, 512}, true));
    CHECK_FALSE(conv_on_gpu(c.costs, {1, 64, 512, 512, 64, 3, 3, 64, 512, 512}, true));
    CHECK_FALSE(act_on_gpu(c.costs, std::size_t{1} << 26, Activation::gelu));
    CHECK_FALSE(act_on_gpu(c.costs, std::size_t{1} << 26, Activation::relu));
}

TEST_CASE("calibrate: a card is measured once, and again where that is asked for") {
    if (!have_card()) return;
    const auto place = std::filesystem::absolute("cache of costs");
    const char* before = ::getenv("SHUNT_CACHE");
    const std::string kept = before ? before : "";
    ::setenv("SHUNT_CACHE", place.c_str(), 1);
    {
        const SharedWorker worker = SharedWorker::open();
        REQUIRE(worker);
        const GpuBackend first(worker);
        check_usable(first.costs());
        CHECK(first.costs_origin().measured);
        if (first.costs().spread <= most_spread) {  // others are not worth keeping
            CHECK(first.costs_origin().file == place / "measured.json");
            CHECK(std::filesystem::exists(first.costs_origin().file));
            const GpuBackend second(worker);
            CHECK(second.costs() == first.costs());
            CHECK(!second.costs_origin().measured);
            CHECK(GpuBackend(worker, {.measure = true}).costs() != first.costs());
        } else {
            CHECK(first.costs_origin().file.empty());
            CHECK(!first.costs_origin().not_kept.empty());
        }
    }
    std::filesystem::remove_all(place);
    if (before) {
        ::setenv("SHUNT_CACHE", kept.c_str(), 1);
    } else {
        ::unsetenv("SHUNT_CACHE");
    }
}
