// Kernels of a program's own at the limits of a smaller device.
#include <doctest/doctest.h>

#include "card.hpp"
#include "shunt/gpu.hpp"
#include "webgpu/backend.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

gpu::Gpu small_card() {
    return gpu::of(make_gpu({}, {.limits = [](WGPULimits& limits) {
                                limits.maxStorageBufferBindingSize = 1 << 20;
                                limits.maxComputeWorkgroupsPerDimension = 4;
                                limits.maxStorageBuffersPerShaderStage = 4;
                                limits.minStorageBufferOffsetAlignment = 256;
                            }}));
}

}  // namespace

TEST_CASE("own kernels at small limits: grids are folded along all three sides, once per invocation") {
    if (!have_card()) return;
    const auto gpu = small_card();
    gpu.define("test_small_flat", {"x:y"}, 1, "y[id.x] += 1u + id.x;");
    gpu.define("test_small_square", {"x:y"}, 2, "y[id.y * 40u + id.x] += 1u + id.y * 40u + id.x;");
    for (const std::size_t groups : {1u, 4u, 5u, 16u, 17u, 33u, 64u}) {
        INFO(groups);
        const auto y = gpu.buffer(65 * 64 * 4);
        gpu.dispatch("test_small_flat", {y}, {}, groups * 64);
        const auto got = y.read<std::uint32_t>();
        for (std::size_t i = 0; i < got.size(); i++) CHECK(got[i] == (i < groups * 64 ? i + 1 : 0));
    }
    const auto y = gpu.buffer(40 * 64 * 4);
    gpu.dispatch("test_small_square", {y}, {}, 40, 56);
    const auto got = y.read<std::uint32_t>();
    for (std::size_t i = 0; i < got.size(); i++) CHECK(got[i] == (i < 40 * 56 ? i + 1 : 0));
    CHECK_THROWS_WITH_AS(gpu.dispatch("test_small_flat", {y}, {}, 64 * 64 + 1),
                         "The kernel 'test_small_flat' is dispatched over 65 workgroups; the card takes at most 64.",
                         Error);
}

TEST_CASE("own kernels at small limits: bindings that are too large or too many are errors with both figures") {
    if (!have_card()) return;
    const auto gpu = small_card();
    gpu.define("test_small_fill", {"w:y"}, 1, "y[id.x] = 1.0;");
    const auto fits = gpu.buffer(1 << 20);
    gpu.dispatch("test_small_fill", {fits}, {}, 64);
    CHECK(fits.read<float>()[63] == 1);
    const auto large = gpu.buffer((1 << 20) + 4);
    CHECK_THROWS_WITH_AS(
        gpu.dispatch("test_small_fill", {large}, {}, 1),
        doctest::Contains("The buffer given for w:y of the kernel 'test_small_fill' has 1048580 bytes"), Error);
    CHECK_THROWS_WITH_AS(gpu.dispatch("test_small_fill", {large}, {}, 1), doctest::Contains("takes at most 1048576."),
                         Error);
    CHECK(large.read<float>() == std::vector<float>((1 << 18) + 1, 0.0f));
    CHECK_THROWS_WITH_AS(gpu.define("test_small_five", {"r:a", "r:b", "r:c", "r:d", "w:e"}, 1, ""),
                         doctest::Contains("has 5 bindings"), Error);
}

TEST_CASE("own kernels at small limits: parts of a tensor begin where they like, aligned to 256 bytes or not") {
    if (!have_card()) return;
    const auto backend =
        make_gpu({}, {.limits = [](WGPULimits& limits) { limits.minStorageBufferOffsetAlignment = 256; }});
    const auto gpu = gpu::of(backend);
    gpu.define("test_small_add", {"w:y"}, 1, "if (id.x < arrayLength(&y)) { y[id.x] += 1.0; }");
    const Tensor all = backend->zeros({200});
    for (const std::size_t first : {0u, 1u, 8u, 63u, 64u, 65u, 128u}) {
        gpu.dispatch("test_small_add", {all.view(first, {3})}, {}, 64);
    }
    const std::vector<double> got = backend->read(all);
    std::vector<double> expected(200, 0.0);
    for (const std::size_t first : {0u, 1u, 8u, 63u, 64u, 65u, 128u}) {
        for (std::size_t i = 0; i < 3; i++) expected[first + i]++;
    }
    CHECK(got == expected);
}
