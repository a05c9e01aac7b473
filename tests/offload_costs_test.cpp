// What operators are said to cost, and what follows from it: pure functions, and the file of figures.
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "offload/costs.hpp"
#include "refusal.hpp"

using namespace shunt;
using namespace shunt::offload;
using namespace shunt::test;

namespace {

// Synthetic: round figures of a card behind a bus, and of a processor.
const Costs table{.latency = 50e-6,
                  .up = 1e-10,
                  .down = 1e-10,
                  .gpu_gemm = 1e-13,
                  .gpu_direct = 1e-12,
                  .gpu_col = 4e-12,
                  .cpu_gemm = 1e-11,
                  .cpu_conv = 1.5e-11,
                  .cpu_act = 2e-9,
                  .gpu_act = 5e-12};

// To the two decimals of a microsecond that are given.
bool is(double seconds, double microseconds) {
    return std::abs(seconds * 1e6 - microseconds) < 0.00501;
}

std::string written(const std::string& text) {
    const std::string path = "costs.json";
    std::ofstream(path) << text;
    return path;
}

}  // namespace

TEST_CASE("costs: products by the published table") {
    struct Row {
        GemmShape shape;
        double cpu, cold, warm;
        bool on_cold, on_warm;
    };
    for (const Row& r :
         {Row{{64, 64, 64}, 2.62, 54.94, 53.30, false, false}, Row{{128, 128, 128}, 20.97, 69.87, 63.32, false, false},
          Row{{256, 256, 256}, 167.77, 130.32, 104.11, true, true},
          Row{{1, 1024, 1024}, 10.49, 470.35, 50.92, false, false},
          Row{{1, 4096, 4096}, 167.77, 6765.84, 54.95, false, true},
          Row{{8, 4096, 4096}, 1342.18, 6800.52, 89.64, false, true},
          Row{{32, 512, 512}, 83.89, 168.80, 63.95, false, true},
          Row{{512, 512, 512}, 1342.18, 377.99, 273.14, true, true}}) {
        INFO(r.shape.m, "x", r.shape.n, "x", r.shape.k);
        const Prediction p = predict_gemm(table, r.shape);
        CHECK(is(p.cpu, r.cpu));
        CHECK(is(p.gpu(), r.cold));
        CHECK(is(p.resident(), r.warm));
        CHECK(gemm_on_gpu(table, r.shape, false) == r.on_cold);
        CHECK(gemm_on_gpu(table, r.shape, true) == r.on_warm);
    }
}

TEST_CASE("costs: convolutions by the published table") {
    struct Row {
        ConvShape shape;
        double cpu, cold, warm;
        bool on_gpu;
    };
    for (const Row& r : {Row{{1, 3, 64, 64, 16, 3, 3, 1, 32, 32}, 6.64, 61.80, 61.62, false},
                         Row{{1, 64, 256, 256, 64, 3, 3, 1, 256, 256}, 36238.79, 3812.80, 3798.03, true},
                         Row{{1, 64, 256, 256, 64, 3, 3, 64, 256, 256}, 566.23, 3443.45, 3443.19, false},
                         Row{{1, 256, 16, 16, 256, 1, 1, 1, 16, 16, true}, 251.66, 130.42, 104.11, true}}) {
        INFO(r.shape.c, " channels to ", r.shape.o);
        const Prediction p = predict_conv(table, r.shape);
        CHECK(is(p.cpu, r.cpu));
        CHECK(is(p.gpu(), r.cold));
        CHECK(is(p.resident(), r.warm));
        CHECK(conv_on_gpu(table, r.shape, false) == r.on_gpu);
        CHECK(conv_on_gpu(table, r.shape, true) == r.on_gpu);
    }
}

TEST_CASE("costs: activations by the published table, and the point where they break even") {
    CHECK(is(predict_act(table, Activation::gelu, 40000).cpu, 80.00));
    CHECK(is(predict_act(table, Activation::gelu, 40000).gpu(), 82.20));
    CHECK(is(predict_act(table, Activation::gelu, 1048576).cpu, 2097.15));
    CHECK(is(predict_act(table, Activation::gelu, 1048576).gpu(), 894.10));
    CHECK(!act_on_gpu(table, 41841));
    CHECK(act_on_gpu(table, 41842));
}

TEST_CASE("costs: equal times stay on the CPU, and so does what is within the uncertainty") {
    CHECK(!faster_on_gpu(table, 1e-3, 1e-3));
    CHECK(faster_on_gpu(table, 1e-3, 0.999e-3));
    Costs unsure = table;
    unsure.spread = 0.25;
    CHECK(!faster_on_gpu(unsure, 1e-3, 0.81e-3));
    CHECK(faster_on_gpu(unsure, 1e-3, 0.79e-3));
}

TEST_CASE("costs: products are padded to tiles, and their steps along k take what they take") {
    Costs tiled = table;
    tiled.tile_m = tiled.tile_n = 16;
    CHECK(predict_gemm(tiled, {1, 64, 64}).kernel == predict_gemm(table, {16, 64, 64}).kernel);
    CHECK(predict_gemm(tiled, {17, 64, 64}).kernel == predict_gemm(table, {32, 64, 64}).kernel);
    tiled.gpu_step = 1e-8;
    CHECK(predict_gemm(tiled, {16, 16, 1000}).kernel == doctest::Approx(1e-5));
    Costs bound = table;
    bound.cpu_byte = 1e-10;  // a matrix by a vector waits for memory
    CHECK(predict_gemm(bound, {1, 1024, 1024}).cpu == doctest::Approx(4e-10 * (1024.0 * 1024 + 2048)));
    CHECK(predict_gemm(bound, {1024, 1024, 1024}).cpu == doctest::Approx(1024.0 * 1024 * 1024 * 1e-11));
}

TEST_CASE("costs: live timings correct a shape and its class, one that took long says nothing, and they fade") {
    Correction c;
    const auto shape = Correction::of(GemmShape{256, 256, 256}), like = Correction::of(GemmShape{256, 256, 257}),
               other = Correction::of(GemmShape{1, 256, 256});
    CHECK(c.factor(shape, Side::gpu) == 1);
    c.measured(shape, Side::gpu, 1e-3, 1);  // the first one: something was compiled
    CHECK(c.factor(shape, Side::gpu) == 1);
    c.measured(shape, Side::gpu, 1e-3, 1e-3);
    c.measured(shape, Side::gpu, 1e-3, 1);  // an outlier
    CHECK(c.factor(shape, Side::gpu) == 1);
    for (int i = 0; i < 50; i++) c.measured(shape, Side::gpu, 1e-3, 3e-3);
    CHECK(c.factor(shape, Side::gpu) == doctest::Approx(3).epsilon(0.02));
    CHECK(c.factor(like, Side::gpu) == doctest::Approx(3).epsilon(0.02));  // by its class
    CHECK(c.factor(shape, Side::cpu) == 1);
    CHECK(c.factor(other, Side::gpu) == 1);
    for (int i = 0; i < 400; i++) c.took(shape, Side::cpu);
    CHECK(c.factor(shape, Side::gpu) == doctest::Approx(1).epsilon(0.05));
    c.measured(shape, Side::gpu, 0, 1);  // of what cannot be
    c.measured(shape, Side::gpu, 1e-3, -1);
    CHECK(c.factor(shape, Side::gpu) == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("costs: what is known of a shape goes before what is known of its class") {
    Correction c;
    const auto slow = Correction::of(GemmShape{1970, 402, 868}), quick = Correction::of(GemmShape{1024, 512, 1024});
    for (int i = 0; i < 3; i++) c.measured(slow, Side::cpu, 1e-3, 2.5e-3);
    CHECK(c.factor(slow, Side::cpu) > 1.6);  // soon
    for (int i = 0; i < 50; i++) {
        c.measured(slow, Side::cpu, 1e-3, 3e-3);
        c.measured(quick, Side::cpu, 1e-3, 1e-3);
    }
    CHECK(c.factor(slow, Side::cpu) == doctest::Approx(3).epsilon(0.02));
    CHECK(c.factor(quick, Side::cpu) == doctest::Approx(1).epsilon(0.02));
    CHECK(c.factor(Correction::of(GemmShape{1024, 512, 1023}), Side::cpu) > 1.5);
    // Between two that were timed the figures' uncertainty counts no more.
    Costs vague = table;
    vague.spread = 0.4;
    c.took(slow, Side::cpu);
    CHECK(c.choose(slow, vague, 1e-3, 0.8e-3) == Side::cpu);
    c.measured(slow, Side::gpu, 1e-3, 1e-3);
    CHECK(c.choose(slow, vague, 1e-3, 0.8e-3) == Side::gpu);
}

TEST_CASE("costs: a side keeps its class of shapes unless the other is clearly better") {
    Correction c;
    const auto shape = Correction::of(Activation::gelu, 1000);
    CHECK(c.choose(shape, table, 1e-3, 0.99e-3) == Side::gpu);
    c.took(shape, Side::cpu);
    CHECK(c.choose(shape, table, 1e-3, 0.99e-3) == Side::cpu);
    CHECK(c.choose(shape, table, 1e-3, 0.9e-3) == Side::gpu);
    c.took(shape, Side::gpu);
    CHECK(c.choose(shape, table, 1e-3, 1.01e-3) == Side::gpu);
    CHECK(c.choose(shape, table, 1e-3, 1.1e-3) == Side::cpu);
}

TEST_CASE("costs: a file of them comes back as it was, and what is wrong with one is named") {
    Costs costs = table;
    costs.spread = 0.125;
    save_costs(costs, "costs.json");
    CHECK(load_costs("costs.json") == costs);
    CHECK_MENTIONS(to_string(costs), "gpu_gemm        1e-13");
    std::ifstream in("costs.json");
    const std::string good(std::istreambuf_iterator<char>(in), {});
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        return refusal(Fault::bad_file, [&] { load_costs(written(text)); });
    };
    CHECK_MENTIONS(with("\"latency\"", "\"latencies\""), "latency");
    CHECK_MENTIONS(with("5e-05", "-5e-05"), "latency");
    CHECK_MENTIONS(with("5e-05", "1e999"), "costs.json");
    CHECK_MENTIONS(with("5e-05", "\"5\""), "latency");
    CHECK_MENTIONS(with("{", "{\"extra\": 1,"), "extra");
    CHECK_MENTIONS(refusal(Fault::bad_file, [] { load_costs("no such.json"); }), "no such.json");
    CHECK_MENTIONS(refusal(Fault::bad_file, [] { load_costs("."); }), "irectory");
    CHECK_MENTIONS(refusal(Fault::bad_file, [] { load_costs(written("[]")); }), "costs.json");
    std::remove("costs.json");
}
