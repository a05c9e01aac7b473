// Products on the card: which tile a shape takes, the generated texts, and every tile in every form.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>

#include "card.hpp"
#include "shunt/backend.hpp"
#include "webgpu/product.hpp"
#include "webgpu_sides.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) n++;
    return n;
}

}  // namespace

TEST_CASE("a product takes the largest tile that fills a card and is not half empty") {
    CHECK(choose_tile(4096, 4096) == large_tile);
    CHECK(choose_tile(2048, 2048) == large_tile);
    CHECK(choose_tile(1024, 2048) == middle_tile);
    CHECK(choose_tile(1024, 1024) == middle_tile);
    CHECK(choose_tile(100000, 60) == middle_tile);
    CHECK(choose_tile(512, 512) == small_tile);
    CHECK(choose_tile(256, 512) == small_tile);
    CHECK(choose_tile(100000, 20) == small_tile);
    CHECK(choose_tile(64, 128) == thin_tile);
    CHECK(choose_tile(256, 10) == thin_tile);
    CHECK(choose_tile(1, 4096) == thin_tile);
    CHECK(choose_tile(100000, 16) == thin_tile);
    CHECK(choose_tile(1, 1) == thin_tile);
}

TEST_CASE("tiles stay within what every device has") {
    for (const Tile& t : {large_tile, middle_tile, small_tile, thin_tile}) {
        INFO(product_name(t, {}));
        CHECK(t.invocations() <= 256);
        CHECK(t.workgroup_bytes() <= 16384);
        CHECK(t.slices * t.bm / t.tm * t.bn * 4 <= t.workgroup_bytes());  // a row of each invocation, to be joined
        CHECK(t.tm % 4 == 0);
        CHECK(t.tn % 4 == 0);
        CHECK(t.bk % (4 * t.slices) == 0);
    }
}

TEST_CASE("rows are read in fours where all of them are whole and aligned") {
    CHECK(in_fours(0, 8, 4));
    CHECK(in_fours(64, 784, 784));
    CHECK(!in_fours(2, 8, 4));
    CHECK(!in_fours(0, 10, 8));
    CHECK(!in_fours(0, 8, 6));
}

TEST_CASE("the text of a product is unrolled, and reads each operand along memory") {
    const Tile tiny{8, 8, 8, 4, 4, 2};
    const std::string plain = product_text(tiny, {});
    CHECK(count(plain, "@workgroup_size(8)") == 1);
    CHECK(count(plain, "tile: array<vec4<f32>, 32>") == 1);
    CHECK(count(plain, "fma(") == 4 * 4);  // rows of an invocation × k of a slice
    CHECK(count(plain, "workgroupBarrier()") == 3);
    CHECK(count(plain, "return a[p.a0 + outer * p.a_stride + k];") == 1);
    CHECK(count(plain, "return b[p.b0 + k * p.b_stride + outer];") == 1);
    CHECK(count(plain, "var<storage, read> a: array<f32>") == 1);
    CHECK(count(plain, "row_sum") == 0);
    CHECK(count(plain, "$") == 0);
    CHECK(count(plain, "activate(") == 0);  // the many branches of inference do not weigh on training
    CHECK(count(product_text(tiny, {.any_activation = true}), "activate(") == 1);

    const std::string fours = product_text(tiny, {true, true, true, true, true, true});
    CHECK(count(fours, "return a[(p.a0 + k * p.a_stride + outer) / 4u];") == 1);
    CHECK(count(fours, "return b[(p.b0 + outer * p.b_stride + k) / 4u];") == 1);
    CHECK(count(fours, "var<storage, read_write> c: array<vec4<f32>>") == 1);
    CHECK(count(fours, "row_sum += ") == 4);
    CHECK(count(fours, "$") == 0);

    CHECK(count(product_text(large_tile, {}), "fma(") == 8 * 4 * 16);
}

TEST_CASE("each text of a product has a name of its own") {
    std::set<std::string> names;
    for (const Tile& t : {large_tile, middle_tile, small_tile, thin_tile})
        for (unsigned f = 0; f < 512; f++)
            names.insert(
                product_name(t, {(f & 1) != 0, (f & 2) != 0, (f & 4) != 0, (f & 8) != 0, (f & 16) != 0, (f & 32) != 0,
                                 (f & 64) != 0, (f & 128) != 0, (f & 256) != 0 ? Window{1, 3} : Window{}}));
    CHECK(names.size() == 4 * 512);
}

TEST_CASE("gpu: every tile answers as plain does, in every form, at any sizes and places") {
    if (!have_card()) return;
    Sides both;
    for (const Tile& tile : {large_tile, middle_tile, small_tile, thin_tile}) {
        for (int turn = 0; turn < 8; turn++) {
            const bool trans_a = (turn & 1) != 0, trans_b = (turn & 2) != 0, aligned = turn >= 4;
            const auto size = [&] { return aligned ? 4 * (1 + both.below(50)) : 1 + both.below(200); };
            const auto before = [&] { return aligned ? 4 * both.below(3) : both.below(9); };
            const std::size_t m = size(), n = size(), k = size();
            INFO(product_name(tile, {}), " ", m, "x", n, "x", k, " ", trans_a, trans_b, aligned);
            const Both a = both.values(trans_a ? Shape{k, m} : Shape{m, k}, before()),
                       b = both.values(trans_b ? Shape{n, k} : Shape{k, n}, before()),
                       bias = both.values({n}, before()), c = both.values({m, n}, before());
            const auto activation = static_cast<Activation>(both.below(static_cast<std::size_t>(Activation::mish) + 1));
            const bool accumulate = both.below(2) == 1;
            product(both.card(), a.card, b.card, c.card, trans_a, trans_b,
                    {.bias = accumulate ? Tensor{} : bias.card, .activation = activation, .accumulate = accumulate},
                    &tile);
            both.plain().matmul(a.plain, b.plain,
                                {.trans_a = trans_a,
                                 .trans_b = trans_b,
                                 .bias = accumulate ? Tensor{} : bias.plain,
                                 .activation = activation,
                                 .accumulate = accumulate,
                                 .out = c.plain});
            CHECK(worst_of(both.read(c.card), both.plain().read(c.plain), k) < 1e-6);
        }
    }
}

TEST_CASE("gpu: every tile adds up rows and goes through a derivative") {
    if (!have_card()) return;
    Sides both;
    for (const Tile& tile : {large_tile, middle_tile, small_tile, thin_tile}) {
        for (const auto& [m, n, k] : {std::array<std::size_t, 3>{68, 132, 140}, {17, 150, 131}}) {
            INFO(product_name(tile, {}), " ", m, "x", n, "x", k);
            // dw = dyᵀ·x with the sums of dy behind it, then dx = (dy·w) through tanh.
            const Both dy = both.values({k, m}, 0), x = both.values({k, n}, 0), w = both.values({m, n}, 0);
            const Tensor out = both.card().empty({m * n + m + 64}), dw = out.view(0, {m, n}),
                         db = out.view((m * n + 3) / 4 * 4, {m}), dx = both.card().empty({k, n});
            product(both.card(), dy.card, x.card, dw, true, false, {.row_sums = db}, &tile);
            product(both.card(), dy.card, w.card, dx, false, false, {.activation = Activation::tanh, .outputs = x.card},
                    &tile);
            const AffineGrad expected =
                both.plain().affine_grad(x.plain, w.plain, dy.plain, {.activation = Activation::tanh});
            CHECK(worst_of(both.read(dw), both.plain().read(expected.dw), k) < 1e-6);
            CHECK(worst_of(both.read(db), both.plain().read(expected.db), k) < 1e-6);
            CHECK(worst_of(both.read(dx), both.plain().read(expected.dx), m) < 1e-6);
        }
    }
}

TEST_CASE("gpu: bias gradients come with weights cut into blocks for a small grid") {
    if (!have_card()) return;
    Sides both({.limits = [](WGPULimits& limits) { limits.maxComputeWorkgroupsPerDimension = 4; }});
    const std::size_t m = 150, n = 140, k = 30;  // blocks of 64×64 outputs
    const Both dy = both.values({k, m}, 0), x = both.values({k, n}, 0);
    const Tensor out = both.card().empty({m * n + m}), dw = out.view(0, {m, n}), db = out.view(m * n, {m});
    product(both.card(), dy.card, x.card, dw, true, false, {.row_sums = db}, &thin_tile);
    const AffineGrad expected =
        both.plain().affine_grad(x.plain, both.values({m, n}, 0).plain, dy.plain, {.need_dx = false});
    CHECK(worst_of(both.read(dw), both.plain().read(expected.dw), k) < 1e-6);
    CHECK(worst_of(both.read(db), both.plain().read(expected.db), k) < 1e-6);
}

TEST_CASE("gpu: every tile gives the same bits with checked shaders") {
    if (!have_card()) return;
    const auto bits = [](bool checked, const Tile& tile) {
        Sides both({.checked = checked});
        const Both a = both.values({150, 131}, 1), b = both.values({131, 129}, 2);
        const Tensor c = both.card().empty({150, 129});
        product(both.card(), a.card, b.card, c, false, false, {}, &tile);
        return both.read(c);
    };
    for (const Tile& tile : {large_tile, middle_tile, small_tile, thin_tile}) {
        INFO(product_name(tile, {}));
        CHECK(bits(true, tile) == bits(false, tile));
    }
}
