// The product kernels of the card: every tile in every form, at sizes around its edges.
#include <doctest/doctest.h>

#include <cmath>

#include "core/random.hpp"
#include "operator_cases.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/product_text.hpp"

using namespace shunt;
using namespace shunt::webgpu;

namespace {

struct Sizes {
    std::size_t m, n, k;
};

// c = tanh(scale·a·b + bias) in one form, a and b beginning `shift` values into their tensors.
std::vector<double> product(Backend& backend, const Sizes& s, bool trans_a, bool trans_b, std::size_t shift) {
    test::Fill fill(backend);
    const auto operand = [&](std::size_t rows, std::size_t cols) {
        return fill({rows * cols + shift}).view(shift, {rows, cols});
    };
    const Tensor a = trans_a ? operand(s.k, s.m) : operand(s.m, s.k),
                 b = trans_b ? operand(s.n, s.k) : operand(s.k, s.n);
    return backend.read(backend.matmul(
        a, b, {.trans_a = trans_a, .trans_b = trans_b, .bias = fill({s.n}), .activation = Activation::sigmoid}));
}

}  // namespace

TEST_CASE("gpu: products of any sizes, forms and beginnings are those of plain") {
    if (!try_backend("gpu").backend) return;
    const auto plain = make_backend("plain"), card = make_backend("gpu");
    Random random(11);
    std::vector<Sizes> all = {{1, 1, 1},    {16, 16, 128},   {17, 15, 129},  {32, 32, 64},
                              {33, 31, 65}, {200, 180, 63},  {1, 300, 7},    {300, 2, 500},
                              {12, 8, 4},   {700, 1100, 20}, {701, 1101, 19}};
    for (int i = 0; i < 12; i++)
        all.push_back({1 + static_cast<std::size_t>(random.below(200)), 1 + static_cast<std::size_t>(random.below(200)),
                       1 + static_cast<std::size_t>(random.below(200))});
    for (const Sizes& s : all) {
        for (int form = 0; form < 4; form++) {
            for (std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
                INFO(s.m, "x", s.n, "x", s.k, " form ", form, " from ", shift);
                const auto expected = product(*plain, s, form & 1, form & 2, shift),
                           got = product(*card, s, form & 1, form & 2, shift);
                double worst = 0;
                for (std::size_t i = 0; i < got.size(); i++)
                    worst = std::max(worst, std::isfinite(got[i]) ? std::abs(got[i] - expected[i]) : INFINITY);
                CHECK(worst < 5e-6);
            }
        }
    }
}

TEST_CASE("gpu: the large tile in every form, whole and with edges") {
    if (!try_backend("gpu").backend) return;
    const auto plain = make_backend("plain"), card = make_backend("gpu");
    for (const Sizes& s : {Sizes{2048, 2048, 20}, Sizes{1921, 2047, 17}}) {
        REQUIRE(choose_tile(s.m, s.n) == 0);
        for (int form = 0; form < 4; form++) {
            INFO(s.m, " form ", form);
            const auto expected = product(*plain, s, form & 1, form & 2, 0),
                       got = product(*card, s, form & 1, form & 2, 0);
            double worst = 0;
            for (std::size_t i = 0; i < got.size(); i++)
                worst = std::max(worst, std::isfinite(got[i]) ? std::abs(got[i] - expected[i]) : INFINITY);
            CHECK(worst < 5e-6);
        }
    }
}

TEST_CASE("a product takes the largest tile of which there are enough") {
    CHECK(choose_tile(4096, 4096) == 0);
    CHECK(choose_tile(1024, 2048) == 1);
    CHECK(choose_tile(512, 512) == 2);
    CHECK(choose_tile(256, 512) == 2);
    CHECK(choose_tile(256, 10) == 3);
    CHECK(choose_tile(10, 100000) == 3);
    CHECK(choose_tile(1, 1) == 3);
    for (const Tile& t : tiles) {  // what every card has
        CHECK(t.threads() <= 256);
        CHECK(t.bk * (t.bm + t.bn) * 4 <= 16384);
        CHECK(t.slices * t.bm * t.bn * (t.slices > 1 ? 4 : 0) <= 16384);
        CHECK(t.bk % (4 * t.slices) == 0);
    }
}

TEST_CASE("the text of a product: loops over k unrolled, vec4s where they are whole") {
    const std::string quads = product_text(tiles[3], false, true, true),
                      single = product_text(tiles[3], false, true, false);
    const auto count = [](const std::string& text, const std::string& what) {
        std::size_t n = 0;
        for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) n++;
        return n;
    };
    CHECK(count(quads, "= fma(") == 8 * 4);  // k of a slice, rows of an invocation
    CHECK(count(quads, "array<vec4<f32>>") == 2);
    CHECK(count(single, "array<vec4<f32>>") == 0);
    CHECK(count(quads, "@workgroup_size(256)") == 1);
}
