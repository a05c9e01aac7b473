// Every operator on every backend, against plain and against numbers worked out by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "operator_cases.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double scale = 1e-30, worst = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        scale = std::max(scale, std::abs(b[i]));
        worst = std::max(worst, std::isfinite(a[i]) && std::isfinite(b[i]) ? std::abs(a[i] - b[i]) : INFINITY);
    }
    return worst / scale;
}

std::vector<std::vector<double>> answers(Backend& backend, const Case& row) {
    Fill fill(backend);
    std::vector<std::vector<double>> all;
    for (const Tensor& t : row.run(backend, fill)) all.push_back(backend.read(t));
    return all;
}

template <std::size_t N>
Tensor upload(Backend& b, const std::array<double, N>& values, Shape shape) {
    return b.upload(std::span<const double>(values), shape);
}

Tensor classes(Backend& b, std::vector<std::uint32_t> list) {
    return b.upload(list, {list.size()});
}

}  // namespace

TEST_CASE("every backend answers as plain does, and the same bits twice") {
    auto plain = make_backend("plain");
    for (const std::string& name : available_backends()) {
        auto backend = make_backend(name);
        for (const Case& row : operator_cases()) {
            INFO(name, ": ", row.name);
            const auto expected = answers(*plain, row), got = answers(*backend, row);
            REQUIRE(got.size() == expected.size());
            for (std::size_t i = 0; i < got.size(); i++)
                CHECK(largest_difference(got[i], expected[i]) <= row.tolerance);
            CHECK(answers(*backend, row) == got);
        }
    }
}

TEST_CASE("floats go in and out without doubles, and a wrong number of them is refused") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        const std::vector<float> values{0.1f, -2, 3.25f, 1e-30f, 7, -0.5f};
        const Tensor t = b->empty({2, 3});
        b->write(t, std::span<const float>(values));
        std::vector<float> back(6);
        b->read(t, back);
        CHECK(back == values);
        CHECK_THROWS_WITH_AS(b->read(t, std::span(back).first(5)), "read: the tensor [2, 3] must have 5 values.",
                             Error);
        CHECK_THROWS_AS(b->write(t, std::span<const float>(values).first(5)), Error);
    }
}

TEST_CASE("memory of the caller's own is computed on where a backend can") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        std::vector<float> x{1, 2, 3, 4}, w{5, 6, 7, 8}, y(4, -1), z(4, -1);
        const Tensor borrowed = b->borrow(x, {2, 2});
        CHECK(borrowed.exists() == (name == "cpu"));
        if (!borrowed.exists()) continue;
        b->matmul(borrowed, b->borrow(w, {2, 2}), {.out = b->borrow(y, {2, 2})});
        CHECK(y == std::vector<float>{19, 22, 43, 50});
        b->conv2d(b->borrow(x, {1, 1, 2, 2}), b->borrow(std::span(w).first(1), {1, 1, 1, 1}),
                  {.out = b->borrow(z, {1, 1, 2, 2})});
        CHECK(z == std::vector<float>{5, 10, 15, 20});
        CHECK_THROWS_WITH_AS(b->borrow(x, {5}), "A view of [5] from value 0 on does not fit in a tensor of [4].",
                             Error);
        CHECK_THROWS_AS(b->conv2d(b->borrow(x, {1, 1, 2, 2}), b->borrow(std::span(w).first(1), {1, 1, 1, 1}),
                                  {.out = b->borrow(z, {1, 1, 1, 4})}),
                        Error);
    }
}

TEST_CASE("mse is the mean over columns, summed over rows, weights multiply") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        Fill fill(*b);
        const Tensor y = fill({33, 7}), t = fill({50, 7}), w = fill({50}, 0, 2), rows = fill.below(50, {33});
        const Loss loss = b->mse(y, t, {.weights = w, .rows = rows});
        const auto Y = b->read(y), T = b->read(t), W = b->read(w), R = b->read(rows), G = b->read(loss.gradient);
        double sum = 0, worst = 0;
        for (std::size_t i = 0; i < 33; i++) {
            const auto s = static_cast<std::size_t>(R[i]);
            for (std::size_t j = 0; j < 7; j++) {
                const double d = Y[i * 7 + j] - T[s * 7 + j];
                sum += W[s] * d * d / 7;
                worst = std::max(worst, std::abs(G[i * 7 + j] - W[s] * 2 * d / 7));
            }
        }
        CHECK(total(*b, loss.losses) == doctest::Approx(sum).epsilon(1e-6));
        CHECK(worst < 1e-6);
    }
}

TEST_CASE("sums of nothing are 0, whatever the memory held") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        const Tensor x = b->zeros({5, 7}), w = b->zeros({0, 7}), dy = b->zeros({5, 0});
        b->upload(std::vector<double>(35, 3.0), {5, 7});  // given back at once: dx is likely to stand here
        CHECK(b->read(b->affine_grad(x, w, dy).dx) == std::vector<double>(35, 0.0));
        const Tensor bias = upload(*b, std::array{1.0, -2.0}, {2});
        const Tensor y = b->conv2d(b->zeros({1, 0, 2, 2}), b->zeros({2, 0, 1, 1}), {.bias = bias});
        CHECK(b->read(y) == std::vector<double>{1, 1, 1, 1, -2, -2, -2, -2});
        CHECK(b->read(b->conv2d(b->zeros({1, 0, 2, 2}), b->zeros({2, 0, 1, 1}))) == std::vector<double>(8, 0.0));
    }
}

TEST_CASE("losses of no columns are refused") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        CHECK_THROWS_WITH_AS(b->mse(b->zeros({3, 0}), b->zeros({3, 0})), "mse: outputs [3, 0] have no columns.", Error);
        CHECK_THROWS_WITH_AS(b->softmax_ce(b->zeros({3, 0}), classes(*b, {0, 0, 0})),
                             "softmax_ce: outputs [3, 0] have no columns.", Error);
        CHECK(b->mse(b->zeros({0, 4}), b->zeros({0, 4})).losses.size() == 0);
    }
}

TEST_CASE("small numbers worked out by hand") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        const Tensor x = upload(*b, std::array{1.0, 2.0, 3.0, 4.0}, {2, 2});
        const Tensor w = upload(*b, std::array{2.0, 0.0, 0.0, 2.0}, {2, 2});
        CHECK(b->read(affine(*b, x, w, b->zeros({1, 2}))) == std::vector<double>{2, 4, 6, 8});
        CHECK(argmax_rows(*b, upload(*b, std::array{1.0, 3.0, 3.0, 5.0, 4.0, 5.0}, {2, 3})) ==
              std::vector<std::uint32_t>{1, 0});
        const Loss loss = b->mse(upload(*b, std::array{1.0, 2.0}, {1, 2}), upload(*b, std::array{0.0, 4.0}, {1, 2}));
        CHECK(total(*b, loss.losses) == 2.5);
        CHECK(b->read(loss.gradient) == std::vector<double>{1, -2});
    }
}

TEST_CASE("plain: the published values, bit for bit") {
    auto b = make_backend("plain");
    const Loss loss = b->softmax_ce(upload(*b, std::array{1.0, 2.0, 3.0}, {1, 3}), classes(*b, {2}));
    CHECK(b->read(loss.losses)[0] == 0.40760596444438046);
    CHECK(b->read(loss.gradient) == std::vector<double>{0.09003057317038046, 0.24472847105479764, -0.3347590442251782});
    const Tensor far = upload(*b, std::array{1000.0, 0.0, -1000.0}, {1, 3});
    CHECK(b->read(b->softmax_ce(far, classes(*b, {0})).losses)[0] == 0);
    CHECK(b->read(b->softmax_ce(far, classes(*b, {0})).gradient) == std::vector<double>{0, 0, 0});
    CHECK(b->read(b->softmax_ce(far, classes(*b, {2})).losses)[0] == 690.7755278982137);
    CHECK(b->read(b->softmax_ce(far, classes(*b, {2})).gradient) == std::vector<double>{1, 0, -1});
    CHECK(b->read(b->activate(Activation::tanh, upload(*b, std::array{0.5, -1.0, 20.1}, {3}))) ==
          std::vector<double>{0.46211715726000974, -0.7615941559557649, 1});
    CHECK(b->read(b->activate(Activation::sigmoid, upload(*b, std::array{0.5, -1.0}, {2}))) ==
          std::vector<double>{0.6224593312018546, 0.2689414213699951});
}

TEST_CASE("plain: two adam and two sgd updates, bit for bit") {
    auto b = make_backend("plain");
    const Tensor g = upload(*b, std::array{0.5, -2.0}, {2});
    const auto rate = [](double t) { return 0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)); };
    CHECK(rate(1) == 0.03162277660168381);
    CHECK(rate(2) == 0.023531672532745275);
    Tensor p = upload(*b, std::array{1.0, -1.0}, {2});
    const Tensor m = b->zeros({2}), v = b->zeros({2});
    adam_update(*b, p, g, m, v, rate(1), 0.9, 0.999, 1e-8, 0.25);
    CHECK(b->read(p) == std::vector<double>{0.9000002529815728, -0.9000000632455132});
    adam_update(*b, p, g, m, v, rate(2), 0.9, 0.999, 1e-8, 0.25);
    CHECK(b->read(p) == std::vector<double>{0.8000004319114298, -0.800000107978038});

    p = upload(*b, std::array{1.0, -1.0}, {2});
    const Tensor velocity = b->zeros({2});
    sgd_update(*b, p, g, velocity, 0.1, 0.9, 0.25);
    CHECK(b->read(p) == std::vector<double>{0.9875, -0.95});
    sgd_update(*b, p, g, velocity, 0.1, 0.9, 0.25);
    CHECK(b->read(p) == std::vector<double>{0.96375, -0.855});
    decay(*b, p, 0.5);
    CHECK(b->read(p) == std::vector<double>{0.481875, -0.4275});
}

TEST_CASE("NaN passes through products and activations, it is never swallowed") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        for (int number = 0; number <= static_cast<int>(Activation::mish); number++) {
            const auto kind = static_cast<Activation>(number);
            INFO(to_string(kind));
            for (std::size_t n : {2, 40, 300}) {
                std::vector<double> x(n * n, 0.5);
                x[n + 1] = nan;
                const Tensor t = b->upload(x, {n, n});
                CHECK(std::isnan(b->read(b->activate(kind, t))[n + 1]));
                const Tensor y = b->matmul(t, t, {.bias = b->zeros({n}), .activation = kind});
                CHECK(std::isnan(b->read(y)[n + 1]));
                CHECK(std::isfinite(b->read(y)[0]));
            }
        }
    }
}

TEST_CASE("shapes that do not fit are refused before anything runs, with the sizes") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        Fill f(*b);
        CHECK_THROWS_WITH_AS(b->matmul(f({2, 3}), f({4, 5})),
                             "matmul: a [2, 3] and b [4, 5] do not share the inner size.", Error);
        CHECK_THROWS_AS(b->matmul(f({2, 3}), f({3, 5}), {.bias = f({4})}), Error);
        CHECK_THROWS_AS(b->matmul(f({2, 2, 3}), f({3, 3, 5})), Error);
        CHECK_THROWS_AS(b->matmul(f({2, 3}), f({3, 5}), {.accumulate = true}), Error);
        CHECK_THROWS_AS(b->matmul(f({2, 3}), Tensor{}), Error);
        CHECK_THROWS_AS(b->matmul(f.below(9, {2, 3}), f({3, 5})), Error);
        CHECK_THROWS_AS(b->affine_grad(f({2, 3}), f({4, 3}), f({2, 5})), Error);
        CHECK_THROWS_AS(b->conv2d(f({1, 3, 8, 8}), f({4, 2, 3, 3})), Error);
        CHECK_THROWS_AS(b->conv2d(f({1, 3, 8, 8}), f({4, 1, 3, 3}), {.groups = 2}), Error);
        CHECK_THROWS_AS(b->conv2d(f({1, 3, 2, 2}), f({4, 3, 3, 3})), Error);
        CHECK_THROWS_AS(b->conv2d(f({1, 3, 8, 8}), f({4, 3, 3, 3}), {.stride = {0, 1}}), Error);
        CHECK_THROWS_AS(b->activate_grad(Activation::relu, f({3}), f({4})), Error);
        CHECK_THROWS_AS(b->softmax_ce(f({3, 2}), f.below(2, {4})), Error);
        CHECK_THROWS_AS(b->mse(f({3, 2}), f({3, 3})), Error);
        CHECK_THROWS_AS(b->update({.lr = 1}, f({3}), f({4}), f({3}), f({3})), Error);
        CHECK_THROWS_AS(b->update({.rule = UpdateRule::decay, .n_decayed = 4}, f({3})), Error);
        CHECK_THROWS_AS(b->upload(std::span<const double>(), {2}), Error);
        CHECK_THROWS_AS(f({10}).view(5, {6}), Error);
        if (name == "gpu") continue;  // a card cannot look: whoever uploads an index checks it
        CHECK_THROWS_AS(b->embed(f({4, 2}), classes(*b, {4})), Error);
        CHECK_THROWS_AS(b->gather(f({4, 2}), classes(*b, {4})), Error);
        CHECK_THROWS_AS(b->softmax_ce(f({1, 2}), classes(*b, {2})), Error);
    }
}

TEST_CASE("a shape has at most six sizes and fits into memory's addresses") {
    CHECK_THROWS_AS(Shape({1, 2, 3, 4, 5, 6, 7}), Error);
    CHECK_THROWS_AS(Shape({std::size_t{1} << 40, std::size_t{1} << 40}), Error);
}

TEST_CASE("a tensor that no memory holds is out_of_memory, not an abort") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        try {
            b->empty({std::size_t{1} << 58});
            FAIL("no error");
        } catch (const Error& error) {
            CHECK(error.fault() == Fault::out_of_memory);
        }
    }
}
