// The gpu backend: the table of cases at smaller limits and with checked shaders, and the pure
// functions that cut work to a card's limits. What every backend does is in the other tests.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "card.hpp"
#include "core/random.hpp"
#include "operator_cases.hpp"
#include "shunt/gpu.hpp"
#include "shunt/network.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/grid.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

bool needs_card() {
    const char* value = std::getenv("SHUNT_NEED_GPU");
    return value && std::strcmp(value, "1") == 0;
}

std::vector<std::vector<double>> answers(Backend& backend, const Case& row) {
    Fill fill(backend);
    std::vector<std::vector<double>> all;
    for (const Tensor& t : row.run(backend, fill)) all.push_back(backend.read(t));
    return all;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double scale = 1e-30, worst = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        scale = std::max(scale, std::abs(b[i]));
        worst = std::max(worst, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : INFINITY);
    }
    return worst / scale;
}

// The least that WebGPU lets a device have, and less where it can be enforced.
void small_limits(WGPULimits& limits) {
    limits.maxStorageBufferBindingSize = 1 << 20;
    limits.maxComputeWorkgroupsPerDimension = 64;
    limits.maxStorageBuffersPerShaderStage = 8;
    limits.maxComputeWorkgroupStorageSize = 16384;
    limits.maxComputeInvocationsPerWorkgroup = 256;
    limits.maxComputeWorkgroupSizeX = 256;
    limits.minStorageBufferOffsetAlignment = 256;
    limits.minUniformBufferOffsetAlignment = 256;
}

AdapterInfo adapter(std::string name, AdapterKind kind) {
    AdapterInfo info;
    info.name = std::move(name);
    info.kind = kind;
    return info;
}

}  // namespace

TEST_CASE("there is a card where SHUNT_NEED_GPU=1 says that there must be") {
    if (!needs_card()) return;
    const TriedBackend tried = try_backend("gpu");
    INFO(tried.reason);
    CHECK(tried.backend);
}

TEST_CASE("gpu at the smallest limits answers as plain does: folded grids, split bindings") {
    if (!have_card()) return;
    auto plain = make_backend("plain");
    auto small = make_gpu({}, {.limits = small_limits});
    for (const Case& row : operator_cases()) {
        INFO(row.name);
        const auto expected = answers(*plain, row), got = answers(*small, row);
        for (std::size_t i = 0; i < got.size(); i++) CHECK(largest_difference(got[i], expected[i]) <= row.tolerance);
    }
}

TEST_CASE("gpu with operands larger than a binding, in every form, answers as plain does") {
    if (!have_card()) return;
    auto plain = make_backend("plain");
    auto small = make_gpu({}, {.limits = small_limits});
    struct Form {
        bool trans_a, trans_b;
        std::size_t m, n, k;
    };
    for (const Form& form :
         {Form{false, false, 3000, 7, 130}, Form{true, false, 3000, 7, 130}, Form{false, true, 9, 3000, 130},
          Form{false, false, 9, 3000, 130}, Form{true, true, 600, 700, 5}, Form{false, false, 5, 3, 300000}}) {
        INFO(form.m, "x", form.n, "x", form.k, " ", form.trans_a, form.trans_b);
        const auto run = [&](Backend& b) {
            Fill f(b);
            const Tensor x = f(form.trans_a ? Shape{form.k, form.m} : Shape{form.m, form.k});
            const Tensor w = f(form.trans_b ? Shape{form.n, form.k} : Shape{form.k, form.n});
            return b.read(b.matmul(x, w,
                                   {.trans_a = form.trans_a,
                                    .trans_b = form.trans_b,
                                    .bias = f({form.n}),
                                    .activation = Activation::tanh}));
        };
        CHECK(largest_difference(run(*small), run(*plain)) < 2e-5);
    }
    const auto gathered = [](Backend& b) {  // 1.6 MB of rows in pieces
        Fill f(b);
        return b.read(b.gather(f({4000, 100}), f.below(4000, {300})));
    };
    CHECK(gathered(*small) == gathered(*plain));
}

TEST_CASE("gpu with checked shaders gives the same bits as with trusted ones") {
    if (!have_card()) return;
    auto trusted = make_backend("gpu");
    auto checked = make_gpu({}, {.checked = true});
    for (const Case& row : operator_cases()) {
        INFO(row.name);
        CHECK(answers(*checked, row) == answers(*trusted, row));
    }
}

TEST_CASE("gpu with more samples than its limits allow in one buffer trains to the same bits") {
    if (!have_card()) return;
    static bool small = false, enabled = false;
    register_backend("small gpu", [](const BackendOptions& options) -> std::shared_ptr<Backend> {
        if (!enabled) throw Error(Fault::no_gpu, "No test is using it.");
        return make_gpu(options, {.limits = [](WGPULimits& limits) {
                            small_limits(limits);
                            if (small) limits.maxBufferSize = 1 << 20;
                        }});
    });
    enabled = true;
    Random random(2);
    Samples s;
    for (std::size_t i = 0; i < 3000; i++) {  // 1.5 MB
        std::vector<double> x(128);
        for (double& v : x) v = random.uniform();
        s.add(x, static_cast<std::int64_t>(random.below(4)), random.uniform());
    }
    const auto run = [&] {
        Network net({.input = 128, .layers = {dense(8), relu(), dense(4)}, .backend = "small gpu"});
        net.train(s, {.epochs = 2, .batch = 64, .validate = &s});
        return std::tuple(net.weights(), net.history().back().validation, net.forward_all(s), net.loss(s));
    };
    const auto whole = run();
    small = true;
    CHECK(run() == whole);
    CHECK(run() == whole);
    enabled = false;
}

TEST_CASE("a grid is folded so that no side passes the limit, and holds every group") {
    for (std::uint32_t most : {1u, 2u, 64u, 65535u}) {
        for (std::uint64_t groups :
             {1ull, 2ull, 63ull, 64ull, 65ull, 4095ull, 4097ull, 65535ull, 65536ull, 262144ull}) {
            if (groups > std::uint64_t{most} * most * most) continue;
            const auto grid = fold(groups, most);
            std::uint64_t product = 1;
            for (std::uint32_t side : grid) {
                CHECK(side >= 1);
                CHECK(side <= most);
                product *= side;
            }
            CHECK(product >= groups);
            CHECK(product < 2 * groups + 2 * most * most);
        }
    }
}

TEST_CASE("a block of a product fits into a binding and a grid") {
    for (bool trans_a : {false, true}) {
        for (bool trans_b : {false, true}) {
            for (std::uint64_t m : {1u, 7u, 1000u, 70000u}) {
                for (std::uint64_t n : {1u, 9u, 5000u}) {
                    for (std::uint64_t k : {0u, 1u, 300u, 200000u}) {
                        const ProductLimits limits{100000, 4096, 131072};
                        if (std::max({m * (trans_a ? 0 : 1), n, k}) > 4 * limits.most_values) continue;
                        const ProductBlock b = block_of(m, n, k, trans_a, trans_b, limits);
                        INFO(m, " ", n, " ", k, " ", trans_a, trans_b);
                        REQUIRE(std::min({b.m, b.n, b.k}) >= 1);
                        CHECK(b.m <= limits.most_rows);
                        CHECK(b.n <= limits.most_rows);
                        CHECK(b.k <= limits.most_k);
                        CHECK((b.m - 1) * n + b.n <= limits.most_values);
                        CHECK((trans_a ? (b.k - 1) * m + b.m : (b.m - 1) * k + std::min(b.k, k)) <= limits.most_values);
                        CHECK((trans_b ? (b.n - 1) * k + std::min(b.k, k) : (b.k - 1) * n + b.n) <= limits.most_values);
                    }
                }
            }
        }
    }
}

TEST_CASE("adapters: discrete, then integrated, software only by name, each by index or part of a name") {
    const std::vector<AdapterInfo> all = {
        adapter("llvmpipe (LLVM 15)", AdapterKind::software), adapter("Intel UHD", AdapterKind::integrated),
        adapter("NVIDIA H200", AdapterKind::discrete), adapter("NVIDIA H200", AdapterKind::discrete)};
    CHECK(pick(all, "").index == 2);
    CHECK(pick(std::vector(all.begin(), all.begin() + 2), "").index == 1);
    CHECK(pick(all, "3").index == 3);
    CHECK(pick(all, "uhd").index == 1);
    CHECK(pick(all, "LLVMPIPE").index == 0);
    CHECK(pick(all, "4").index == -1);
    CHECK(pick(all, "radeon").reason ==
          "There is no adapter 'radeon'. There are: 0 llvmpipe (LLVM 15), 1 Intel UHD, "
          "2 NVIDIA H200, 3 NVIDIA H200.");
    CHECK(pick(std::vector(all.begin(), all.begin() + 1), "").index == -1);
    CHECK(pick({}, "").index == -1);
}

TEST_CASE("adapters are listed with the reason why each is or is not used") {
    const AdapterList list = list_adapters();
    if (list.adapters.empty()) CHECK(!list.reason.empty());
    int used = 0;
    for (const Adapter& a : list.adapters) {
        CHECK(!a.name.empty());
        CHECK(!a.reason.empty());
        CHECK(a.max_binding > 0);
        used += a.used ? 1 : 0;
    }
    CHECK(used == (have_card() ? 1 : 0));
}

TEST_CASE("an adapter is named for gpu and auto, found by number or name, and refused elsewhere") {
    const auto fault_of = [](const auto& work) {
        try {
            work();
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(fault_of([] { make_backend("cpu", {.adapter = "0"}); }).find("'cpu' uses none") != std::string::npos);
    CHECK(fault_of([] { try_backend("plain", {.adapter = "0"}); }).find("'plain' uses none") != std::string::npos);
    const NetworkOptions options{.input = 2, .layers = {dense(2)}, .backend = "plain", .adapter = "0"};
    CHECK(fault_of([&] { Network net(options); }).find("'plain' uses none") != std::string::npos);
    if (!have_card()) return;
    const std::string name = Device::open()->adapter().name;
    for (const char* backend : {"gpu", "auto"}) {
        CHECK(try_backend(backend, {.adapter = name.substr(0, 5)}).backend);
        const std::string reason = try_backend(backend, {.adapter = "no such card"}).reason;
        CHECK(reason.find("no adapter 'no such card'") != std::string::npos);
        CHECK(reason.find(name) != std::string::npos);
    }
    Network net({.input = 2, .layers = {dense(2)}, .backend = "gpu", .adapter = name});
    const Network again = Network::from_state(net.state(), "gpu", 0, name);
    CHECK(again.predict(std::array{0.5, 1.0}) == net.predict(std::array{0.5, 1.0}));
    CHECK(fault_of([&] { Network::from_state(net.state(), "gpu", 0, "no such card"); }) != "");
}
