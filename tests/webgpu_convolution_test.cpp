// Convolutions on the card: which way a shape takes, the generated texts, and every way against plain.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "card.hpp"
#include "webgpu/convolution.hpp"
#include "webgpu/product.hpp"
#include "webgpu_sides.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

constexpr std::array tiles{large_tile, middle_tile, flat_tile, low_tile, small_tile, thin_tile};

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) n++;
    return n;
}

struct Work {
    std::size_t pictures, in_group, h, w, out_group, kh, kw;
    Conv2dOptions options = {};

    Shape x() const { return {pictures, in_group * options.groups, h, w}; }
    Shape weight() const { return {out_group * options.groups, in_group, kh, kw}; }
    Shape y() const {
        const auto out = [&](std::size_t in, std::size_t kernel, std::size_t d) {
            return (in + 2 * options.pad[d] - options.dilation[d] * (kernel - 1) - 1) / options.stride[d] + 1;
        };
        return {pictures, out_group * options.groups, out(h, kh, 0), out(w, kw, 1)};
    }
    std::size_t k() const { return in_group * kh * kw; }

    ConvolutionShape shape() const {
        ConvolutionShape s{};
        s.pictures = pictures, s.h = h, s.w = w, s.oh = y()[2], s.ow = y()[3];
        s.groups = options.groups, s.in_group = in_group, s.out_group = out_group, s.kh = kh, s.kw = kw;
        s.stride = {options.stride[0], options.stride[1]}, s.pad = {options.pad[0], options.pad[1]};
        s.dilation = {options.dilation[0], options.dilation[1]};
        return s;
    }

    std::string str() const {
        const auto pair = [](const auto& v) { return std::to_string(v[0]) + "," + std::to_string(v[1]); };
        return "x " + x().str() + " weight " + weight().str() + " stride " + pair(options.stride) + " pad " +
               pair(options.pad) + " dilation " + pair(options.dilation) + " groups " + std::to_string(options.groups);
    }
};

Work same(std::size_t in, std::size_t out, std::size_t side, std::size_t kernel, std::size_t groups = 1,
          std::size_t stride = 1) {
    Conv2dOptions o;
    o.stride = {stride, stride}, o.pad = {kernel / 2, kernel / 2}, o.groups = groups;
    return {1, in, side, side, out, kernel, kernel, o};
}

std::string name(const ConvolutionChoice& c) {
    const char* const ways[] = {"dense", "product", "window", "direct"};
    return std::string(ways[static_cast<int>(c.way)]) + " " + product_name(c.tile, {}) + " " + std::to_string(c.down) +
           " " + std::to_string(c.parts);
}

// All ways that can compute a shape, with every tile or, since texts take their time to compile, with two.
std::vector<ConvolutionChoice> all_choices(const Work& work, bool every_tile = false) {
    std::vector<ConvolutionChoice> all;
    if (work.options.groups == 1 && work.in_group % 3 == 0) all.push_back({ConvolutionWay::window, low_tile, 1, 3});
    for (const Tile& t : tiles) {
        if (!every_tile && t != low_tile && t != thin_tile) continue;
        all.push_back({ConvolutionWay::window, t});
        if (work.shape().one_value()) all.push_back({ConvolutionWay::product, t});
        if (work.shape().whole_picture()) all.push_back({ConvolutionWay::dense, t});
    }
    if (work.kh * work.kw <= 64)
        for (std::uint32_t down : {1u, 4u}) all.push_back({ConvolutionWay::direct, {}, down});
    return all;
}

struct Data {
    Both x, weight, bias;
    std::size_t before;  // values in front of the result, in its buffer
};

Data data_of(Sides& both, const Work& work) {
    const bool aligned = both.below(2) == 1;
    const auto before = [&] { return aligned ? 4 * both.below(3) : both.below(9); };
    return {both.values(work.x(), before()), both.values(work.weight(), before()),
            both.below(3) > 0 ? both.values({work.weight()[0]}, before()) : Both{}, before()};
}

std::vector<double> answer(Sides& both, const Work& work, const Data& d, const ConvolutionChoice* choice) {
    Conv2dOptions o = work.options;
    o.bias = d.bias.card;
    const Tensor y = both.card().empty({work.y().size() + d.before}).view(d.before, work.y());
    convolution(both.card(), d.x.card, d.weight.card, o, y, choice);
    return both.read(y);
}

std::vector<double> expected(Sides& both, const Work& work, const Data& d) {
    Conv2dOptions o = work.options;
    o.bias = d.bias.plain;
    return both.plain().read(both.plain().conv2d(d.x.plain, d.weight.plain, o));
}

void small_limits(WGPULimits& limits) {
    limits.maxStorageBufferBindingSize = 1 << 14;  // 4,096 values, 64 of which are for alignment
    limits.maxComputeWorkgroupsPerDimension = 3;
    limits.minStorageBufferOffsetAlignment = 256;
    limits.minUniformBufferOffsetAlignment = 256;
}

// Each has something that one way or cut does and another one does not.
std::vector<Work> works() {
    std::vector<Work> all = {
        {2, 21, 6, 6, 40, 1, 1, {.activation = Activation::relu}},    // a product, in fours
        {3, 5, 7, 5, 9, 1, 1},                                        // the same, not in fours
        {4, 30, 1, 1, 18, 1, 1},                                      // whole pictures
        {3, 7, 2, 3, 20, 2, 3, {.activation = Activation::sigmoid}},  // the same
        {2, 20, 9, 10, 33, 3, 3, {.pad = {1, 1}}},
        {1, 33, 21, 20, 70, 3, 3, {.stride = {2, 2}, .pad = {1, 1}}},
        {1, 3, 31, 30, 20, 7, 7, {.stride = {2, 2}, .pad = {3, 3}}},
        {2, 4, 8, 11, 3, 1, 7, {.pad = {0, 3}}},
        {2, 4, 11, 8, 3, 7, 1, {.pad = {3, 0}}},
        {2, 1, 12, 13, 1, 5, 5, {.stride = {2, 2}, .pad = {2, 2}, .groups = 6}},
        {2, 1, 12, 13, 2, 3, 2, {.pad = {1, 0}, .dilation = {2, 3}, .groups = 5}},
        {3, 6, 9, 9, 10, 3, 3, {.stride = {1, 2}, .pad = {1, 2}, .groups = 2}},
        {1, 2, 5, 5, 3, 1, 1, {.stride = {2, 2}, .pad = {3, 3}}},  // much padding
        {1, 3, 1, 150, 18, 1, 9, {.stride = {1, 2}, .pad = {0, 4}}},
    };
    return all;
}

}  // namespace

TEST_CASE("a convolution is a product where its windows are values or pictures") {
    const auto way = [](const Work& w) { return choose_convolution(w.shape()).way; };
    CHECK(way(same(256, 256, 40, 1)) == ConvolutionWay::product);
    CHECK(way(same(256, 256, 7, 1)) == ConvolutionWay::window);  // planes of 49 values
    CHECK(way(same(256, 256, 40, 1, 1, 2)) == ConvolutionWay::window);
    CHECK(way(same(64, 64, 40, 1, 2)) == ConvolutionWay::window);
    CHECK(way({1, 64, 40, 40, 64, 1, 1, {.pad = {1, 1}}}) == ConvolutionWay::window);
    CHECK(way({1, 64, 1, 1, 16, 1, 1}) == ConvolutionWay::dense);
    CHECK(way({1, 64, 7, 7, 100, 7, 7}) == ConvolutionWay::dense);
    CHECK(way({1, 64, 7, 7, 100, 7, 7, {.stride = {2, 2}, .pad = {1, 1}}}) == ConvolutionWay::window);
    CHECK(way({1, 64, 7, 7, 100, 4, 4, {.dilation = {2, 2}}}) == ConvolutionWay::window);
}

TEST_CASE("few filters of short sums are computed one by one, with few reads") {
    const auto choice = [](const Work& w) { return choose_convolution(w.shape()); };
    CHECK(choice(same(1, 1, 320, 3, 16)) == ConvolutionChoice{ConvolutionWay::direct, {}, 4});
    CHECK(choice(same(1, 1, 80, 5, 96, 2)) == ConvolutionChoice{ConvolutionWay::direct, {}, 4});
    CHECK(choice({1, 1, 3, 320, 1, 3, 3, {.pad = {1, 1}, .groups = 64}}).down == 4);  // 6 reads a column, not 9
    CHECK(choice({1, 1, 1, 320, 1, 1, 3, {.groups = 64}}).down == 1);
    CHECK(choice({1, 1, 64, 64, 1, 1, 1, {.stride = {2, 2}, .groups = 64}}).down == 1);  // nothing is shared
    CHECK(choice(same(4, 4, 40, 3, 32)).way == ConvolutionWay::direct);
    CHECK(choice(same(1, 1, 40, 9, 32)).way == ConvolutionWay::window);
    CHECK(choice(same(64, 2, 160, 3)).way == ConvolutionWay::window);
    CHECK(choice(same(3, 16, 640, 3, 1, 2)).way == ConvolutionWay::window);
}

TEST_CASE("convolutions take flat tiles for few filters, small ones for few places") {
    const auto tile = [](const Work& w) { return choose_convolution(w.shape()).tile; };
    CHECK(tile(same(3, 16, 640, 3, 1, 2)) == low_tile);
    CHECK(tile(same(16, 32, 320, 1)) == flat_tile);
    CHECK(tile(same(64, 64, 160, 3)) == middle_tile);
    CHECK(tile(same(256, 256, 320, 3)) == large_tile);
    CHECK(tile(same(256, 256, 40, 1)) == small_tile);
    CHECK(tile(same(64, 32, 7, 3)) == thin_tile);
}

TEST_CASE("long sums of few places are split into parts of as many channels") {
    const auto parts = [](const Work& w) { return choose_convolution(w.shape()).parts; };
    CHECK(parts(same(512, 512, 14, 3)) > 1);
    CHECK(parts(same(256, 64, 40, 9)) > 1);
    CHECK(parts(same(511, 512, 14, 3)) == 1);
    CHECK(parts(same(512, 512, 14, 3, 2)) == 1);
    CHECK(parts(same(64, 64, 160, 3)) == 1);
    CHECK(parts(same(64, 32, 7, 3)) == 1);  // another dispatch costs more
}

TEST_CASE("tiles of convolutions stay within what every device has") {
    for (const Tile& t : tiles) {
        INFO(product_name(t, {}));
        CHECK(t.invocations() <= 256);
        CHECK(t.workgroup_bytes() <= 16384);
        CHECK(t.slices * t.bm / t.tm * t.bn * 4 <= t.workgroup_bytes());  // a row of each invocation, to be joined
        CHECK(t.bk % (4 * t.slices) == 0);
    }
}

TEST_CASE("the pieces of a convolution fit into bindings and grids") {
    const ConvolutionLimits gemm{100000, 64, 16, 128, false}, direct{100000, 64, 1, 1 << 30, true};
    for (const Work& w : {same(3, 16, 64, 3), same(512, 700, 14, 3), same(40, 9, 300, 3), same(2, 3, 300, 5, 70),
                          same(1, 1, 3, 3, 1000), same(70000, 2, 1, 1), same(3, 70000, 2, 1), same(2, 2, 3, 301),
                          Work{5000, 1, 2, 2, 1, 1, 1}, Work{100, 20, 31, 31, 2000, 3, 3}}) {
        for (const ConvolutionLimits& limits : {gemm, direct}) {
            INFO(w.str(), " ", limits.filters_in_z);
            const ConvolutionShape s = w.shape();
            const ConvolutionPiece p = piece_of(s, limits);
            REQUIRE(std::min({p.groups, p.filters, p.places, p.channels}) >= 1);
            CHECK((limits.filters_in_z ? p.groups * p.filters : p.groups) <= 64);
            if (!limits.filters_in_z) CHECK(p.filters <= 64 * 16);
            if (!limits.filters_in_z) CHECK(p.places <= 64 * 128);
            CHECK(p.groups * p.channels * s.in_plane() <= 100000);
            CHECK(p.groups * p.filters * s.out_plane() <= 100000);
            if (p.groups > 1) CHECK(std::tuple(p.filters, p.channels) == std::tuple(s.out_group, s.in_group));
            CHECK((p.groups > 1 ? s.groups * s.out_group * s.k() : (p.filters - 1) * s.k() + p.channels * s.window()) <=
                  100000);
        }
    }
    CHECK_THROWS_WITH_AS(piece_of(same(1, 1, 400, 3).shape(), gemm),
                         "conv2d: a plane of 160000 values is past what the card takes in one binding, 100000.", Error);
}

TEST_CASE("the text of a direct convolution reads each value once and multiplies it with every weight it meets") {
    const std::string text = direct_text({{3, 2}, 1, 1, 4});
    CHECK(count(text, " = pixel(") == 6 * 2);
    CHECK(count(text, "fma(") == 4 * 6);
    CHECK(count(text, "= weight[") == 6);
    CHECK(count(text, " finish(row + ") == 4);
    CHECK(count(text, "$") == 0);
    CHECK(count(direct_text({{3, 3}, 2, 1, 4}), " = pixel(") == 9 * 3);
    CHECK(count(direct_text({{3, 3}, 1, 2, 2}), " = pixel(") == 6 * 3);
    CHECK(count(direct_text({{3, 3}, 1, 2, 2}), "fma(") == 2 * 9);
    CHECK(count(direct_text({{1, 1}, 2, 1, 4}), " = pixel(") == 4);
}

TEST_CASE("as many rows are counted as a direct convolution reads") {
    for (std::uint32_t rows : {1u, 2u, 3u, 5u})
        for (std::uint32_t stride : {1u, 2u, 3u, 4u, 6u})
            for (std::uint32_t dilation : {1u, 2u, 3u, 4u})
                for (std::uint32_t down : {1u, 2u, 3u, 4u}) {
                    const DirectForm form{{rows, 1}, stride, dilation, down};
                    INFO(direct_name(form));
                    CHECK(rows_read(form) == count(direct_text(form), " = pixel("));
                }
}

TEST_CASE("the text of a product over windows reads neighbours by neighbours") {
    const Tile tiny{8, 16, 8, 4, 4, 1};
    const std::string text = product_text(tiny, {.row_bias = true, .batch = true, .window = {3, 2}});
    CHECK(count(text, "let tap = k % 6u;") == 1);
    CHECK(count(text, "vec4(0u, 1u, 2u, 3u) * 4u") == 1);
    CHECK(count(text, "finish_one(i, j + 3u * 4u, sum.w);") == 1);
    CHECK(count(text, "value += e[e0 + i];") == 1);
    CHECK(count(text, "return a[a0 + outer * p.a_stride + k];") == 1);
    CHECK(count(text, "derivative(p.kind") == 0);
    CHECK(count(text, "$") == 0);
}

TEST_CASE("gpu: every way of a convolution answers as plain does") {
    if (!have_card()) return;
    Sides both;
    for (const Work& work : works()) {
        const Data data = data_of(both, work);
        const std::vector<double> right = expected(both, work, data);
        for (const ConvolutionChoice& choice : all_choices(work, work.kh == 3 && work.pictures == 2)) {
            INFO(work.str(), ": ", name(choice));
            CHECK(worst_of(answer(both, work, data, &choice), right, work.k()) < 1e-6);
        }
    }
}

TEST_CASE("gpu: every way of a convolution answers as plain does in pieces, and cuts leave the bits alone") {
    if (!have_card()) return;
    Sides whole, cut({.limits = small_limits});
    for (const Work& work : works()) {
        const Data data = data_of(cut, work), same_data = data_of(whole, work);  // both draw from the same numbers
        const std::vector<double> right = expected(cut, work, data);
        const ConvolutionPiece piece = piece_of(work.shape(), {4032, 3, 16, 16, false});
        for (const ConvolutionChoice& choice : all_choices(work)) {
            INFO(work.str(), ": ", name(choice));
            const std::vector<double> got = answer(cut, work, data, &choice);
            CHECK(worst_of(got, right, work.k()) < 1e-6);
            if (piece.channels == work.in_group) CHECK(got == answer(whole, work, same_data, &choice));
        }
    }
}

TEST_CASE("gpu: every way of a convolution gives the same bits with checked shaders") {
    if (!have_card()) return;
    Sides trusted, checked({.checked = true});
    const std::vector<Work> all = works();
    for (const Work& work : {all[0], all[2], all[6], all[9]}) {
        const Data one = data_of(trusted, work), other = data_of(checked, work);
        for (const ConvolutionChoice& choice : all_choices(work)) {
            INFO(work.str(), ": ", name(choice));
            CHECK(answer(trusted, work, one, &choice) == answer(checked, work, other, &choice));
        }
    }
}

TEST_CASE("gpu: convolutions of random shapes answer as plain does") {
    if (!have_card()) return;
    Sides both;
    constexpr std::array<Window, 5> windows{{{1, 1}, {1, 1}, {3, 3}, {2, 4}, {5, 1}}};
    for (int turn = 0; turn < 300; turn++) {
        const auto one_of = [&](std::initializer_list<std::size_t> list) {
            return list.begin()[both.below(list.size())];
        };
        // Few windows, since each has texts of its own.
        const Window window = windows[both.below(windows.size())];
        Work work{1 + both.below(3),  one_of({1, 1, 2, 3, 4, 8, 17}),  1 + both.below(14),
                  1 + both.below(20), one_of({1, 1, 2, 4, 5, 16, 35}), window.rows,
                  window.cols};
        work.options.groups = one_of({1, 1, 1, 2, 3, 8});
        work.options.stride = {1 + both.below(2), 1 + both.below(3)};
        work.options.pad = {both.below(4), both.below(4)};
        work.options.dilation = {1 + both.below(2), 1 + both.below(2)};
        work.options.activation = static_cast<Activation>(both.below(static_cast<std::size_t>(Activation::mish) + 1));
        const auto fits = [&](std::size_t in, std::size_t kernel, std::size_t d) {
            return in + 2 * work.options.pad[d] > work.options.dilation[d] * (kernel - 1);
        };
        if (!fits(work.h, work.kh, 0) || !fits(work.w, work.kw, 1)) continue;
        const Data data = data_of(both, work);
        const std::vector<ConvolutionChoice> all = all_choices(work);
        const ConvolutionChoice chosen = choose_convolution(work.shape()), other = all[both.below(all.size())];
        const std::vector<double> right = expected(both, work, data);
        INFO(work.str(), ": ", name(chosen), ", ", name(other));
        CHECK(worst_of(answer(both, work, data, nullptr), right, work.k()) < 1e-6);
        CHECK(worst_of(answer(both, work, data, &other), right, work.k()) < 1e-6);
    }
}

TEST_CASE("gpu: NaN of a picture stays out of its neighbours") {
    if (!have_card()) return;
    Sides both;
    for (const Work& work : {works()[0], works()[4], works()[9]}) {
        Data data = data_of(both, work);
        const std::size_t picture = data.x.card.size() / work.pictures, result = work.y().size() / work.pictures;
        const std::vector<float> nan(picture, std::numeric_limits<float>::quiet_NaN());
        for (const ConvolutionChoice& choice : all_choices(work)) {
            INFO(work.str(), ": ", name(choice));
            const std::vector<double> before = answer(both, work, data, &choice);
            const Data spoilt{both.values(work.x(), 0), data.weight, data.bias, data.before};
            both.card().copy(data.x.card, spoilt.x.card);
            both.card().recorder().write(block(spoilt.x.card), (work.pictures - 1) * picture * 4,
                                         std::as_bytes(std::span(nan)));
            const std::vector<double> after = answer(both, work, spoilt, &choice);
            const auto others = static_cast<std::ptrdiff_t>((work.pictures - 1) * result);
            CHECK(std::equal(before.begin(), before.begin() + others, after.begin()));
            CHECK(std::isnan(after.back()));
        }
    }
}

TEST_CASE("gpu: a direct convolution of a plane past 65,535 groups") {
    if (!have_card()) return;
    Sides both;
    const Work work{1, 1, 2049, 2048, 1, 1, 1};
    const Data data = data_of(both, work);
    const ConvolutionChoice choice{ConvolutionWay::direct, {}, 1};
    CHECK(worst_of(answer(both, work, data, &choice), expected(both, work, data), 1) < 1e-6);
}

TEST_CASE("gpu: a convolution's result may stand in the buffer of what it reads") {
    if (!have_card()) return;
    Sides both;
    for (const Work& work : {Work{1, 3, 8, 8, 3, 3, 3, {.pad = {1, 1}}}, Work{1, 8, 8, 8, 8, 1, 1},
                             Work{1, 1, 8, 8, 1, 3, 3, {.pad = {1, 1}, .groups = 4}}}) {
        INFO(work.str());
        const Data data = data_of(both, work);
        const std::vector<double> right = expected(both, {work}, {data.x, data.weight, {}, 0});
        convolution(both.card(), data.x.card, data.weight.card, work.options, data.x.card);
        CHECK(worst_of(both.read(data.x.card), right, work.k()) < 1e-6);
    }
}
