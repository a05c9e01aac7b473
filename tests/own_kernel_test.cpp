// Kernels of a program's own, dispatched: what shunt/gpu.hpp promises, rule by rule. Definitions are in
// own_kernel_define_test.cpp, the limits of a smaller device in webgpu_own_kernel_test.cpp.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>

#include "networks.hpp"
#include "own_kernels.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

std::vector<float> ramp(std::size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
}

constexpr const char* saxpy = "if (id.x >= p.n0) { return; }\ny[id.x] += p.f0 * x[id.x];";
constexpr const char* clip = "if (id.x < p.n0) { w[id.x] = clamp(w[id.x], -p.f0, p.f0); }";

}  // namespace

TEST_CASE("own kernels: without a card gpu::open and gpu::of throw no_gpu with the reason") {
    struct Hidden {  // from this test alone
        std::optional<std::string> before;
        Hidden() {
            if (const char* value = std::getenv("SHUNT_GPU")) before = value;
            setenv("SHUNT_GPU", "off", 1);
        }
        ~Hidden() { before ? setenv("SHUNT_GPU", before->c_str(), 1) : unsetenv("SHUNT_GPU"); }
    } hidden;
    const std::string reason = try_backend("gpu").reason;
    REQUIRE(!reason.empty());
    try {
        gpu::open();
        FAIL("a card was opened");
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::no_gpu);
        CHECK(reason.find(error.what()) != std::string::npos);
    }
}

TEST_CASE("own kernels: gpu::of a network or a backend that is not on a card is an error that says where it is") {
    const Network net = xor_network("plain");
    CHECK_THROWS_AS(gpu::of(net), Error);
    CHECK_THROWS_AS(gpu::of(make_backend("cpu")), Error);
    CHECK_THROWS_AS(gpu::of(std::shared_ptr<Backend>()), Error);
    if (!have_card()) return;
    CHECK(refusal([&] { gpu::of(net); }).find("The network is on plain, not on a graphics card") == 0);
}

TEST_CASE("own kernels: saxpy") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    Floats xs = ramp(1000), ys(1000, 1.0f);
    const auto x = gpu.buffer(std::span(xs)), y = gpu.buffer(std::span(ys));
    gpu.define("test_saxpy", {"r:x", "w:y"}, 1, saxpy);
    gpu.dispatch("test_saxpy", {x, y}, {.n = {1000}, .f = {2.0f}}, 1000);
    const Floats got = y.read<float>();
    REQUIRE(got.size() == 1000);
    for (std::size_t i = 0; i < got.size(); i++) CHECK(got[i] == 1 + 2 * xs[i]);
    CHECK(x.read<float>() == xs);
}

TEST_CASE("own kernels: the facts of the open card are those of the list") {
    if (!have_card()) return;
    const Adapter open = gpu::open().adapter();
    bool listed = false;
    for (const Adapter& a : list_adapters().adapters) {
        if (!a.used) continue;
        listed = true;
        CHECK(a.name == open.name);
        CHECK(a.max_buffer == open.max_buffer);
    }
    CHECK(listed);
    CHECK(gpu::open({.adapter = open.name}).adapter().name == open.name);
    CHECK_THROWS_WITH_AS(gpu::open({.adapter = "no such card"}), doctest::Contains("There is no adapter"), Error);
}

TEST_CASE("own kernels: all sixteen numbers arrive, those not given are 0") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    const auto n = gpu.buffer(8 * 4), f = gpu.buffer(8 * 4);
    gpu.define("test_numbers", {"x:n", "w:f"}, 1,
               "if (id.x > 0u) { return; }\n"
               "n[0] = p.n0; n[1] = p.n1; n[2] = p.n2; n[3] = p.n3; n[4] = p.n4; n[5] = p.n5; n[6] = p.n6; n[7] = "
               "p.n7;\n"
               "f[0] = p.f0; f[1] = p.f1; f[2] = p.f2; f[3] = p.f3; f[4] = p.f4; f[5] = p.f5; f[6] = p.f6; f[7] = "
               "p.f7;");
    gpu.dispatch("test_numbers", {n, f}, {.n = {1, 2, 3, 4, 5, 6, 7, 4000000000u}, .f = {0.5f, 1, 2, 3, 4, 5, 6, -7}},
                 1);
    CHECK(n.read<std::uint32_t>() == Words{1, 2, 3, 4, 5, 6, 7, 4000000000u});
    CHECK(f.read<float>() == Floats{0.5f, 1, 2, 3, 4, 5, 6, -7});
    gpu.dispatch("test_numbers", {n, f}, {.n = {9}}, 1);
    CHECK(n.read<std::uint32_t>() == Words{9, 0, 0, 0, 0, 0, 0, 0});
    CHECK(f.read<float>() == Floats(8, 0.0f));
}

TEST_CASE("own kernels: workgroups of 64 and of 8 by 8 run whole, and no more of them than asked for") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_ids_1d", {"x:y"}, 1, "y[id.x] = 1u + id.y + id.z;");
    gpu.define("test_ids_2d", {"x:y"}, 2, "y[id.y * 32u + id.x] = 1u + id.x + 100u * id.y;");
    const auto flat = gpu.buffer(256 * 4);
    gpu.dispatch("test_ids_1d", {flat}, {}, 65, 1000);  // ny is for two dimensions
    const Words ones = flat.read<std::uint32_t>();
    for (std::size_t i = 0; i < ones.size(); i++) CHECK(ones[i] == (i < 128 ? 1u : 0u));
    const auto square = gpu.buffer(32 * 32 * 4);
    gpu.dispatch("test_ids_2d", {square}, {}, 9, 17);
    const Words ids = square.read<std::uint32_t>();
    for (std::uint32_t y = 0; y < 32; y++) {
        for (std::uint32_t x = 0; x < 32; x++) {
            CHECK(ids[y * 32 + x] == (x < 16 && y < 24 ? 1 + x + 100 * y : 0));
        }
    }
}

TEST_CASE("own kernels: functions stand before the body and see the arrays and the numbers") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_functions", {"u:x", "x:y"}, 1, "if (id.x < p.n0) { y[id.x] = twice(id.x); }",
               "fn twice(i: u32) -> u32 {\n    return 2u * x[i] + p.n1;\n}");
    const auto x = gpu.buffer(Words{1, 2, 3}), y = gpu.buffer(12);
    gpu.dispatch("test_functions", {x, y}, {.n = {3, 100}}, 3);
    CHECK(y.read<std::uint32_t>() == Words{102, 104, 106});
}

TEST_CASE("own kernels: a buffer made of bytes is zero, also where the card's memory was used before") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    for (int round = 0; round < 3; round++) {
        auto used = gpu.buffer(40000);
        CHECK(used.read<float>() == Floats(10000, 0.0f));
        used.write(Floats(10000, 7.0f));
        CHECK(used.read<float>() == Floats(10000, 7.0f));
    }
    CHECK(gpu.buffer(0).read<float>().empty());
    CHECK(gpu.buffer(Floats{}).bytes() == 0);
    CHECK(refusal([&] { gpu.buffer(6); }) == "A buffer of 6 bytes is not a whole number of values of 4 bytes.");
}

TEST_CASE("own kernels: writes and reads are in order with dispatches, and must fit size and type") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_saxpy", {"r:x", "w:y"}, 1, saxpy);
    auto x = gpu.buffer(Floats{1, 2, 3}), y = gpu.buffer(Floats{0, 0, 0});
    for (float i = 0; i < 100; i++) {
        x.write(Floats{i, i, i});
        gpu.dispatch("test_saxpy", {x, y}, {.n = {3}, .f = {1.0f}}, 3);
    }
    CHECK(y.read<float>() == Floats{4950, 4950, 4950});
    CHECK(refusal([&] { y.write(Floats{1, 2}); }) == "A buffer of 12 bytes cannot be written with 8.");
    CHECK(refusal([&] { y.write(Words{1, 2, 3}); }) == "A buffer of f32 values cannot be written as u32.");
    CHECK(refusal([&] { y.read<std::uint32_t>(); }) == "A buffer of f32 values cannot be read as u32.");
}

TEST_CASE("own kernels: no invocations, nothing happens") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_one", {"w:y"}, 1, "y[id.x] = 1.0;");
    gpu.define("test_one_2d", {"w:y"}, 2, "y[id.x] = 1.0;");
    const auto y = gpu.buffer(256), empty = gpu.buffer(0);
    gpu.dispatch("test_one", {y}, {}, 0);
    gpu.dispatch("test_one_2d", {y}, {}, 0, 5);
    gpu.dispatch("test_one_2d", {y}, {}, 5, 0);
    gpu.dispatch("test_one", {empty}, {}, 0);
    CHECK(y.read<float>() == Floats(64, 0.0f));
    CHECK(refusal([&] { gpu.dispatch("test_one", {empty}, {}, 1); }) ==
          "The buffer given for w:y of the kernel 'test_one' is empty.");
}

TEST_CASE("own kernels: what a dispatch is given must fit the definition, and the error names the binding") {
    if (!have_card()) return;
    const auto gpu = gpu::open(), other = gpu::open();
    gpu.define("test_fits", {"r:x", "u:rows", "w:y"}, 1, "y[id.x] = x[rows[id.x]];");
    const auto f = gpu.buffer(Floats{1, 2}), g = gpu.buffer(Floats{3, 4}), foreign = other.buffer(Floats{1, 2});
    const auto u = gpu.buffer(Words{1, 0}), raw = gpu.buffer(8);
    const auto given = [&](const std::vector<gpu::Argument>& arguments) {
        return refusal([&] { gpu.dispatch("test_fits", arguments, {}, 2); });
    };
    CHECK(given({f, u}) == "The kernel 'test_fits' has 3 bindings (r:x, u:rows, w:y); given are 2 buffers.");
    CHECK(given({f, u, g, raw}).find("given are 4 buffers.") != std::string::npos);
    CHECK(given({u, u, g}) == "r:x of the kernel 'test_fits' takes f32; the buffer given holds u32.");
    CHECK(given({f, g, g}) == "u:rows of the kernel 'test_fits' takes u32; the buffer given holds f32.");
    CHECK(given({f, u, Tensor{}}) == "No buffer is given for w:y of the kernel 'test_fits'.");
    CHECK(given({foreign, u, g}).find("The buffer given for r:x of the kernel 'test_fits' belongs to another") == 0);
    CHECK(given({make_backend("plain")->zeros({2}), u, g}).find("belongs to another backend") != std::string::npos);
    CHECK(given({f, raw, g}).empty());  // bytes are taken as either
    CHECK(given({f, u, raw}).empty());
    CHECK(raw.read<float>() == Floats{2, 1});
    CHECK(given({f, u, g}).empty());
    CHECK(g.read<float>() == Floats{2, 1});
}

TEST_CASE("own kernels: one dispatch cannot write what it has a second time, and the error names both bindings") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_saxpy", {"r:x", "w:y"}, 1, saxpy);
    gpu.define("test_both", {"w:x", "w:y"}, 1, "y[id.x] = x[id.x];");
    gpu.define("test_readers", {"r:a", "r:b", "w:y"}, 1, "y[id.x] = a[id.x] + b[id.x];");
    const auto x = gpu.buffer(ramp(64)), y = gpu.buffer(256);
    const std::string said = refusal([&] { gpu.dispatch("test_saxpy", {x, x}, {.n = {64}}, 64); });
    CHECK(said ==
          "r:x and w:y of the kernel 'test_saxpy' are given the same buffer: what one dispatch writes it cannot have a "
          "second time.");
    CHECK(refusal([&] { gpu.dispatch("test_both", {x, x}, {}, 64); }).find("w:x and w:y of") == 0);
    gpu.dispatch("test_readers", {x, x, y}, {}, 64);  // reading twice is fine
    CHECK(y.read<float>()[63] == 126);
}

TEST_CASE("own kernels: tensors of the backend are buffers too, parts of them wherever they begin") {
    if (!have_card()) return;
    const auto backend = make_backend("gpu");
    const auto gpu = gpu::of(backend);
    gpu.define("test_saxpy", {"r:x", "w:y"}, 1, saxpy);
    gpu.define("test_length", {"w:y"}, 1, "if (id.x < arrayLength(&y)) { y[id.x] = f32(arrayLength(&y)); }");
    const Tensor all = backend->upload(std::span<const float>(ramp(300)), {300});
    // Parts of one tensor, one read and one written, neither aligned.
    gpu.dispatch("test_saxpy", {all.view(1, {10}), all.view(103, {10})}, {.n = {10}, .f = {1000.0f}}, 10);
    std::vector<double> got = backend->read(all);
    for (std::size_t i = 0; i < 300; i++) {
        CHECK(got[i] == (i >= 103 && i < 113 ? static_cast<double>(i) + 1000 * static_cast<double>(i - 102)
                                             : static_cast<double>(i)));
    }
    CHECK(!refusal([&] { gpu.dispatch("test_saxpy", {all.view(0, {10}), all.view(9, {10})}, {}, 10); }).empty());
    // The same, both aligned.
    gpu.dispatch("test_saxpy", {all.view(192, {5}), all.view(256, {5})}, {.n = {5}, .f = {1.0f}}, 5);
    got = backend->read(all);
    for (std::size_t i = 0; i < 5; i++) CHECK(got[256 + i] == static_cast<double>(256 + i + 192 + i));
    // Two that are written, and a body that asks for the length: no value beside them is touched.
    gpu.define("test_both_written", {"w:x", "w:y"}, 1, "x[id.x] = -1.0;\ny[id.x] = -2.0;");
    gpu.dispatch("test_both_written", {all.view(0, {64}), all.view(64, {5})}, {}, 5);
    gpu.dispatch("test_length", {all.view(200, {7})}, {}, 1000);
    got = backend->read(all);
    CHECK(got[63] == -1);
    CHECK(got[68] == -2);
    CHECK(got[69] == 69);
    CHECK(got[199] == 199);
    CHECK(got[206] == 7);
    CHECK(got[207] == 207);
    // And what a kernel wrote is what an operator reads.
    CHECK(backend->read(backend->activate(Activation::relu, all.view(200, {7}))) == std::vector<double>(7, 7.0));
}

TEST_CASE("own kernels: clip a network's weights between training calls, in order with its own work") {
    if (!have_card()) return;
    Network net = xor_network("gpu");
    const auto gpu = gpu::of(net);
    gpu.define("test_clip", {"w:w"}, 1, clip);
    const auto clip_all = [&] {
        for (std::size_t i = 0; i < net.params().size(); i++) {
            const auto n = static_cast<std::uint32_t>(net.value(i).size());
            gpu.dispatch("test_clip", {net.value(i)}, {.n = {n}, .f = {0.25f}}, n);
        }
    };
    const auto largest = [&] {
        double most = 0;
        for (const auto& list : net.weights()) {
            for (double w : list) most = std::max(most, std::abs(w));
        }
        return most;
    };
    CHECK(largest() > 0.25);
    clip_all();
    CHECK(largest() == 0.25);
    net.train(xor_samples(), {.epochs = 20, .batch = 4, .lr = 0.05});
    CHECK(largest() > 0.25);
    // After each step, while the epoch is still under way on the card.
    net.train(xor_samples(), {.epochs = 20, .batch = 1, .lr = 0.05, .on_step = [&](auto, auto) { clip_all(); }});
    CHECK(largest() == 0.25);
    // The biases and gaps around a parameter were left alone: the network answers as one with these weights.
    Network same = xor_network("gpu");
    same.set_weights(net.weights());
    CHECK(same.predict(std::array{1.0, 0.0}) == net.predict(std::array{1.0, 0.0}));
    // Gradients are there too.
    net.backprop(xor_samples());
    gpu.define("test_double", {"r:g", "w:y"}, 1, "if (id.x < p.n0) { y[id.x] = 2.0 * g[id.x]; }");
    const auto doubled = gpu.buffer(16 * 4);
    gpu.dispatch("test_double", {net.gradient(0), doubled}, {.n = {16}}, 16);
    const auto g = net.gradients()[0];
    const auto got = doubled.read<float>();
    REQUIRE(g.size() == 16);
    for (std::size_t i = 0; i < 16; i++) CHECK(got[i] == 2 * static_cast<float>(g[i]));
    CHECK(refusal([&] { net.value(4); }) == "There is no parameter 4; the network has 4, counted from 0.");
}

TEST_CASE("own kernels: a gpu and its buffers outlive the network, and buffers keep the card open") {
    if (!have_card()) return;
    std::optional<gpu::Buffer> kept;
    {
        std::optional<gpu::Gpu> gpu;
        {
            Network net = xor_network("gpu");
            gpu = gpu::of(net);
        }
        gpu->define("test_saxpy", {"r:x", "w:y"}, 1, saxpy);
        kept = gpu->buffer(Floats{1, 2});
        gpu->dispatch("test_saxpy", {gpu->buffer(Floats{1, 1}), *kept}, {.n = {2}, .f = {1.0f}}, 2);
    }
    CHECK(kept->read<float>() == Floats{2, 3});
}

TEST_CASE("own kernels: an elementwise one over 65536 * 256 + 1 values: the grid is folded, id.x counts on") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    const std::size_t n = 65536 * 256 + 1;
    gpu.define("test_many", {"x:y"}, 1, "if (id.x < p.n0) { y[id.x] += id.x; }");
    const auto y = gpu.buffer(n * 4);
    gpu.dispatch("test_many", {y}, {.n = {static_cast<std::uint32_t>(n)}}, n);
    const Words got = y.read<std::uint32_t>();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; i++) wrong += got[i] != i ? 1 : 0;
    CHECK(wrong == 0);
    // Without a check of bounds: exactly the workgroups asked for run, though the grid holds more.
    gpu.define("test_many_bare", {"x:y"}, 1, "y[id.x] = 1u;");
    const std::size_t groups = 65535 + 3, values = groups * 64;
    const auto z = gpu.buffer((values + 64) * 4);
    gpu.dispatch("test_many_bare", {z}, {}, values);
    const Words ones = z.read<std::uint32_t>();
    CHECK(ones[values - 1] == 1);
    CHECK(std::accumulate(ones.begin(), ones.end(), std::size_t{0}) == values);
}

TEST_CASE("own kernels: two dimensions past 65,535 workgroups a side are folded") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_tall", {"x:y"}, 2, "if (id.x < 3u && id.y < p.n0) { y[id.y * 3u + id.x] = id.y * 3u + id.x; }");
    const std::size_t rows = 8 * 65535 + 9;
    const auto y = gpu.buffer(rows * 3 * 4);
    gpu.dispatch("test_tall", {y}, {.n = {static_cast<std::uint32_t>(rows)}}, 3, rows);
    const Words got = y.read<std::uint32_t>();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); i++) wrong += got[i] != i ? 1 : 0;
    CHECK(wrong == 0);
}

TEST_CASE("own kernels: more invocations than id counts, and more workgroups than a grid holds, are errors") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_flat", {"x:y"}, 1, "y[0] = 1u;");
    gpu.define("test_square", {"x:y"}, 2, "y[0] = 1u;");
    const auto y = gpu.buffer(4);
    CHECK(refusal([&] { gpu.dispatch("test_flat", {y}, {}, (std::size_t{1} << 32) + 1); }) ==
          "The kernel 'test_flat' is dispatched over 4294967297 invocations along one side; id counts to 4294967296.");
    CHECK(refusal([&] { gpu.dispatch("test_square", {y}, {}, 1000000, 1000000); }) ==
          "The kernel 'test_square' is dispatched over 15625000000 workgroups; the card takes at most 2147483648.");
}

TEST_CASE("own kernels: an index past the end stays inside the array") {
    if (!have_card()) return;
    const auto backend = make_backend("gpu");
    const auto gpu = gpu::of(backend);
    const Tensor all = backend->zeros({256});
    gpu.define("test_past", {"w:y"}, 1, "y[id.x + 1000u] = 1.0;\ny[4294967295u - id.x] = 1.0;");
    gpu.dispatch("test_past", {all.view(64, {64})}, {}, 64);
    const std::vector<double> got = backend->read(all);
    for (std::size_t i = 0; i < 256; i++) {
        if (i < 64 || i >= 128) CHECK(got[i] == 0);
    }
    gpu.define("test_past_own", {"w:y"}, 1,
               "a[id.x % 64u] = 5.0;\nworkgroupBarrier();\na[p.n0 + id.x] = 6.0;\nworkgroupBarrier();\n"
               "y[id.x] = a[p.n1 + id.x];",
               "var<workgroup> a: array<f32, 64>;");
    const auto y = gpu.buffer(256);
    gpu.dispatch("test_past_own", {y}, {.n = {1u << 20, 3u << 20}}, 64);
    const Floats inside = y.read<float>();
    for (float v : inside) CHECK((v == 0 || v == 5 || v == 6));
}

TEST_CASE("own kernels: thousands of dispatches with buffers that come and go give the right values") {
    if (!have_card()) return;
    const auto gpu = gpu::open();
    gpu.define("test_saxpy", {"r:x", "w:y"}, 1, saxpy);
    const auto y = gpu.buffer(40);
    for (int i = 0; i < 3000; i++) {
        const auto x = gpu.buffer(Floats(10, 1.0f));
        gpu.dispatch("test_saxpy", {x, y}, {.n = {10}, .f = {1.0f}}, 10);
    }
    CHECK(y.read<float>() == Floats(10, 3000.0f));
}
