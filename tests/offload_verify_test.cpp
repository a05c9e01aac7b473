// Checks of what a card computed: right results are never called wrong, and wrong ones are found as often as theory
// says.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "offload/verify.hpp"
#include "shunt/backend.hpp"

using namespace shunt;
using namespace shunt::offload;

namespace {

using Floats = std::vector<float>;
using Span = std::span<const float>;

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
    float in(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }
    Floats values(std::size_t n, float low = -1, float high = 1) {
        Floats list(n);
        for (float& v : list) v = in(low, high);
        return list;
    }

    // Data of a kind that checks might stumble over.
    static constexpr std::uint64_t kinds = 8;
    Floats of_kind(std::uint64_t kind, std::size_t n) {
        Floats list = values(n);
        const float constant = in(-1, 1);
        for (std::size_t i = 0; i < n; i++) {
            float& v = list[i];
            switch (kind) {
                case 0: break;
                case 1: v = std::abs(v); break;
                case 2: v = constant; break;                                           // roundings alike
                case 3: v = std::ldexp(v, static_cast<int>(below(80)) - 40); break;    // all sizes
                case 4: v = i % 2 ? -list[i - 1] * (1 + in(0, 3e-7f)) : v; break;      // cancels
                case 5: v = std::ldexp(v, -100 - static_cast<int>(below(49))); break;  // subnormal, and its products
                case 6: v = std::ldexp(v, static_cast<int>(below(128))); break;        // products overflow
                case 7: v = below(3) ? 0.0f : std::round(v * 100); break;
            }
        }
        return list;
    }

private:
    std::mt19937_64 random_;
};

// A product and its parts; `values` looks at them.
struct Product {
    std::size_t m, n, k;
    Floats a, b, bias, c = {};

    ProductValues values() const { return {m, n, k, a, b, c, bias}; }
};

Floats read(Backend& backend, const Tensor& t) {
    const std::vector<double> values = backend.read(t);
    return {values.begin(), values.end()};
}

void compute(Backend& backend, Product& p, Activation activation = Activation::none) {
    MatmulOptions options;
    options.activation = activation;
    if (!p.bias.empty()) options.bias = backend.upload(Span(p.bias), {p.n});
    p.c = read(backend,
               backend.matmul(backend.upload(Span(p.a), {p.m, p.k}), backend.upload(Span(p.b), {p.k, p.n}), options));
}

// In float: in order, backwards, with fma, or as a card that takes subnormal numbers for 0.
void compute(Product& p, int way) {
    const auto flush = [&](float v) { return way == 3 && std::abs(v) < 0x1p-126f ? 0.0f : v; };
    p.c.assign(p.m * p.n, 0);
    for (std::size_t i = 0; i < p.m; i++) {
        for (std::size_t j = 0; j < p.n; j++) {
            float sum = p.bias.empty() ? 0 : flush(p.bias[j]);
            for (std::size_t turn = 0; turn < p.k; turn++) {
                const std::size_t q = way == 1 ? p.k - 1 - turn : turn;
                const float x = flush(p.a[i * p.k + q]), y = flush(p.b[q * p.n + j]);
                sum = way == 2 ? std::fma(x, y, sum) : flush(sum + flush(x * y));
            }
            p.c[i * p.n + j] = sum;
        }
    }
}

Product random_product(Draw& draw, std::size_t m, std::size_t n, std::size_t k) {
    Product p{m, n, k, draw.values(m * k), draw.values(k * n), {}};
    compute(p, 0);
    return p;
}

CheckOptions with_seed(std::uint64_t seed, int vectors = 1) {
    return {.seed = seed, .vectors = vectors};
}

std::string said(const std::optional<Wrong>& wrong) {
    return wrong ? wrong->text() : "";
}

// The bound of the row of value `at`.
double bound_at(Product p, std::size_t at) {
    p.c[at] = 1e30f;
    const auto wrong = check_product(p.values());
    REQUIRE(wrong);
    REQUIRE(wrong->what == "row " + std::to_string(at / p.n) + " of the product");
    return wrong->bound;
}

// The share of `turns` in which a fault is found.
template <typename Fault>
double found(int turns, Fault fault) {
    int n = 0;
    for (int turn = 0; turn < turns; turn++) n += fault(static_cast<std::uint64_t>(turn) + 1);
    return static_cast<double>(n) / turns;
}

// What a share p of `turns` may be off by chance: four deviations.
double chance(double p, int turns) {
    return 4 * std::sqrt(p * (1 - p) / turns);
}

double reference(Activation kind, double x) {
    switch (kind) {
        case Activation::relu: return x > 0 || std::isnan(x) ? x : 0;
        case Activation::tanh: return std::tanh(x);
        case Activation::sigmoid: return 1 / (1 + std::exp(-x));
        default: return x;
    }
}

ActivationCheck check_of(Activation kind) {
    if (kind == Activation::none) return {};
    return {.value = [kind](double x) { return reference(kind, x); }};
}

constexpr std::array activations = {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid};

// cpu, and the card where there is one.
std::vector<std::shared_ptr<Backend>> float_backends() {
    std::vector<std::shared_ptr<Backend>> all{make_backend("cpu")};
    if (const TriedBackend card = try_backend("gpu"); card.backend) all.push_back(card.backend);
    return all;
}

}  // namespace

// --- no false alarms -----------------------------------------------------------------------------

TEST_CASE("verify: products of the backends are right, whatever the data") {
    for (const auto& backend : float_backends()) {
        Draw draw(1);
        for (int turn = 0; turn < 1500; turn++) {
            const bool long_one = turn % 50 == 1;
            const std::size_t most = turn % 10 == 0 ? 200 : 48;
            Product p{draw.between(1, most),
                      draw.between(1, most),
                      long_one ? draw.between(1000, 4096) : draw.between(1, most),
                      {},
                      {},
                      {}};
            const std::uint64_t kind = draw.below(Draw::kinds), kind_b = draw.below(2) ? kind : draw.below(Draw::kinds);
            p.a = draw.of_kind(kind, p.m * p.k);
            p.b = draw.of_kind(kind_b, p.k * p.n);
            if (draw.below(3) == 0) p.bias = draw.of_kind(kind, p.n);
            const float bad = draw.below(2) ? not_a_number : infinity;
            if (turn % 8 == 0) p.a[draw.below(p.a.size())] = bad;
            if (turn % 12 == 0) p.b[draw.below(p.b.size())] = -bad;
            const Activation activation = draw.below(4) ? Activation::none : activations[draw.below(4)];
            compute(*backend, p, activation);
            INFO(backend->name(), " ", p.m, " ", p.n, " ", p.k, " kinds ", kind, " ", kind_b, " ",
                 to_string(activation));
            CHECK(said(check_product(p.values(), with_seed(draw.below(1000), static_cast<int>(draw.between(1, 3))),
                                     check_of(activation))) == "");
        }
    }
}

TEST_CASE("verify: products in any order, fused, and with subnormal numbers taken for 0") {
    Draw draw(2);
    for (int turn = 0; turn < 2000; turn++) {
        Product p{draw.between(1, 40), draw.between(1, 40), draw.between(1, 60), {}, {}, {}};
        const std::uint64_t kind = draw.below(Draw::kinds);
        p.a = draw.of_kind(kind, p.m * p.k);
        p.b = draw.of_kind(draw.below(2) ? kind : 0, p.k * p.n);
        if (turn % 3 == 0) p.bias = draw.of_kind(kind, p.n);
        for (int way = 0; way < 4; way++) {
            compute(p, way);
            INFO(p.m, " ", p.n, " ", p.k, " kind ", kind, " way ", way);
            CHECK(said(check_product(p.values(), with_seed(draw.below(1000)))) == "");
        }
    }
}

TEST_CASE("verify: long sums of equal terms, which a bound by √k would call wrong") {
    for (const float value : {0.1f, 0.9f, 1 / 3.0f}) {
        const std::size_t k = 65535;
        Product p{20, 20, k, Floats(20 * k, value), Floats(k * 20, value), {}};
        compute(p, 0);
        for (std::uint64_t seed = 1; seed <= 3; seed++) CHECK(said(check_product(p.values(), with_seed(seed))) == "");
    }
}

TEST_CASE("verify: convolutions and activations of the backends are right") {
    for (const auto& backend : float_backends()) {
        Draw draw(3);
        for (int turn = 0; turn < 400; turn++) {
            ConvolutionValues c;
            c.form.groups = draw.between(1, 3);
            for (std::size_t axis = 0; axis < 2; axis++) {
                c.form.stride[axis] = draw.between(1, 3);
                c.form.pad[axis] = draw.between(0, 2);
                c.form.dilation[axis] = draw.between(1, 2);
            }
            const std::size_t in = draw.between(1, 4), kh = draw.between(1, 3), kw = draw.between(1, 3);
            c.x_shape = {draw.between(1, 2), in * c.form.groups, draw.between(5, 20), draw.between(5, 20)};
            c.weight_shape = {draw.between(1, 4) * c.form.groups, in, kh, kw};
            const std::uint64_t kind = draw.below(Draw::kinds);
            Floats x = draw.of_kind(kind, c.x_shape.size()), weight = draw.of_kind(kind, c.weight_shape.size()),
                   bias = draw.of_kind(kind, c.weight_shape[0]);
            const Activation activation = activations[draw.below(4)];
            if (turn % 8 == 0) x[draw.below(x.size())] = turn % 16 ? not_a_number : infinity;
            if (turn % 12 == 0) weight[draw.below(weight.size())] = turn % 24 ? not_a_number : -infinity;
            Conv2dOptions options = c.form;
            options.activation = activation;
            if (turn % 2) options.bias = backend->upload(Span(bias), {bias.size()});
            const Floats y = read(*backend, backend->conv2d(backend->upload(Span(x), c.x_shape),
                                                            backend->upload(Span(weight), c.weight_shape), options));
            c.x = x, c.weight = weight, c.y = y;
            if (turn % 2) c.bias = bias;
            INFO(backend->name(), " x ", c.x_shape.str(), " weight ", c.weight_shape.str(), " kind ", kind, " ",
                 to_string(activation));
            CHECK(said(check_convolution(c, {.seed = draw.below(1000), .samples = 50}, check_of(activation))) == "");
        }
        for (int turn = 0; turn < 200; turn++) {
            const Activation kind = activations[1 + draw.below(3)];
            Floats x = draw.of_kind(draw.below(Draw::kinds), draw.between(1, 300));
            for (float& v : x) v *= draw.below(2) ? 10.0f : 1.0f;
            x[draw.below(x.size())] = not_a_number;
            x[draw.below(x.size())] = infinity;
            x[draw.below(x.size())] = -infinity;
            const Floats y = read(*backend, backend->activate(kind, backend->upload(Span(x), {x.size()})));
            INFO(backend->name(), " ", to_string(kind));
            CHECK(said(check_activation(x, y, check_of(kind), {.seed = draw.below(1000), .samples = 400})) == "");
        }
    }
}

TEST_CASE("verify: the bound of a sum grows with its terms and is carried through the activation") {
    const auto bound = [](std::size_t k, const ActivationCheck& activation) {
        Product p{1, 1, k, Floats(k, 1), Floats(k, 1), {}, {not_a_number}};
        return check_product(p.values(), {}, activation)->bound;
    };
    const auto half = [](double x) { return x / 2; };
    CHECK(bound(100, {}) == doctest::Approx(102 * 0x1p-23 * 100));
    CHECK(bound(1000, {}) == doctest::Approx(1002 * 0x1p-23 * 1000));
    CHECK(bound(100, {half, 0.5, 0, 0}) == doctest::Approx(51 * 0x1p-23 * 100));
    CHECK(bound(100, {half, 0.5, 1, 0}) == doctest::Approx(51 * 0x1p-23 * 100 + 50));
    CHECK(bound(100, {half, 0.5, 0, 1}) == doctest::Approx(51 * 0x1p-23 * 100 + 100));
}

// --- what is not finite --------------------------------------------------------------------------

TEST_CASE("verify: NaN and infinity spread along rows and columns, and hiding one is wrong") {
    Draw draw(5);
    for (const std::size_t size : {std::size_t{30}, std::size_t{3}}) {  // Freivalds' test, and all values
        for (const float bad : {not_a_number, infinity, -infinity}) {
            Product p{size, size, size, draw.values(size * size), draw.values(size * size), draw.values(size)};
            p.a[1 * size + 2] = bad;
            p.b[2 * size + 1] = bad;
            p.bias[2] = bad;
            p.b[0] = 0;
            compute(p, 0);
            for (std::uint64_t seed = 1; seed <= 5; seed++)
                CHECK(said(check_product(p.values(), with_seed(seed))) == "");
            for (const std::size_t at : {1 * size + 0, 0 * size + 1, 0 * size + 2}) {
                Product hidden = p;
                hidden.c[at] = 0;
                CHECK_FALSE(said(check_product(hidden.values())) == "");
            }
            Product hidden = p;
            hidden.c[0] = not_a_number;
            CHECK(check_product(hidden.values()));
            hidden.c[0] = p.c[0] + 100;
            CHECK(check_product(hidden.values()));
        }
    }
    Product all{30, 30, 30, draw.values(900), Floats(900, not_a_number), {}, Floats(900, not_a_number)};
    CHECK_FALSE(check_product(all.values()));
    all.c[77] = 1;
    CHECK(said(check_product(all.values())) == "Value 77 of the product is finite, where an operand is not.");
}

TEST_CASE("verify: rows that may overflow are left out, the others are not") {
    Product p{20, 20, 20, Floats(400, 1), Floats(400, 1), {}, Floats(400, 20)};
    for (std::size_t q = 0; q < 20; q++) p.a[3 * 20 + q] = q % 2 ? -3e38f : 3e38f;
    for (const float value : {0.0f, not_a_number, infinity}) {
        for (std::size_t j = 0; j < 20; j++) p.c[3 * 20 + j] = value;
        CHECK(said(check_product(p.values())) == "");
    }
    p.c[4 * 20] = infinity;
    CHECK(check_product(p.values()));
}

TEST_CASE("verify: padding beside a weight that is not finite may be skipped or multiplied by it") {
    const Floats x(9, 1), weight{1, infinity, 1};
    ConvolutionValues c{{1, 1, 1, 3}, {1, 1, 1, 3}, {}, Span(x).first(3), weight, {}};
    c.form.pad = {0, 2};
    for (const float at_edge : {1.0f, not_a_number}) {
        const Floats y{at_edge, infinity, infinity, infinity, at_edge};
        c.y = y;
        CHECK(said(check_convolution(c)) == "");
    }
    const Floats hidden{1, infinity, 5, infinity, 1};
    c.y = hidden;
    CHECK(said(check_convolution(c)) == "Value 2 of the convolution is finite, where an operand is not.");
}

// --- faults are found ----------------------------------------------------------------------------

TEST_CASE("verify: a single wrong value of a product is found always, one within rounding never") {
    Draw draw(6);
    const Product p = random_product(draw, 50, 60, 70);
    CHECK(found(500, [&](std::uint64_t seed) {
              const std::size_t at = draw.below(p.c.size());
              Product wrong = p;
              wrong.c[at] += static_cast<float>(10 * bound_at(p, at)) * (seed % 2 ? 1 : -1);
              return check_product(wrong.values(), with_seed(seed)).has_value();
          }) == 1);
    CHECK(found(500, [&](std::uint64_t seed) {
              Product wrong = p;
              wrong.c[seed] += static_cast<float>(0.5 * bound_at(p, seed));
              return check_product(wrong.values(), with_seed(seed)).has_value();
          }) == 0);
    // 0.05 % of what the values are: a bound that lets more through is of no use.
    CHECK(bound_at(p, 0) < 5e-4 * std::sqrt(60.0) * std::sqrt(70.0) / 3);
}

TEST_CASE("verify: wrong values that can cancel are found by each vector with probability 1/2") {
    Draw draw(7);
    const Product p = random_product(draw, 40, 40, 40);
    const int turns = 3000;
    for (int vectors = 1; vectors <= 3; vectors++) {
        const double expected = 1 - std::pow(0.5, vectors);
        const double share = found(turns, [&](std::uint64_t seed) {
            Product wrong = p;
            const std::size_t row = draw.below(40) * 40, one = draw.below(40), other = (one + draw.between(1, 39)) % 40;
            wrong.c[row + one] += 1;
            wrong.c[row + other] += seed % 2 ? 1.0f : -1.0f;
            return check_product(wrong.values(), with_seed(seed, vectors)).has_value();
        });
        CHECK(share == doctest::Approx(expected).epsilon(chance(expected, turns) / expected));
    }
}

TEST_CASE("verify: wrong tiles, rows and tails of a product are found always") {
    Draw draw(8);
    const Product p = random_product(draw, 100, 90, 80), before = random_product(draw, 100, 90, 80);
    const auto share = [&](auto break_it) {
        return found(300, [&](std::uint64_t seed) {
            Product wrong = p;
            break_it(wrong.c);
            return check_product(wrong.values(), with_seed(seed)).has_value();
        });
    };
    CHECK(share([&](Floats& c) {  // a tile that was never computed
              const std::size_t top = draw.below(100 - 16), left = draw.below(90 - 16);
              for (std::size_t i = 0; i < 256; i++) c[(top + i / 16) * 90 + left + i % 16] = 0;
          }) == 1);
    CHECK(share([&](Floats& c) {
              const std::size_t one = draw.below(100), other = (one + draw.between(1, 99)) % 100;
              for (std::size_t j = 0; j < 90; j++) std::swap(c[one * 90 + j], c[other * 90 + j]);
          }) == 1);
    CHECK(share([&](Floats& c) {  // the result of an earlier call behind some place
              const std::size_t from = draw.below(c.size() - 90);
              std::copy(before.c.begin() + static_cast<std::ptrdiff_t>(from), before.c.end(),
                        c.begin() + static_cast<std::ptrdiff_t>(from));
          }) == 1);
    CHECK(share([&](Floats& c) { c[draw.below(c.size())] = not_a_number; }) == 1);
    CHECK(share([&](Floats& c) { c[draw.below(c.size())] = infinity; }) == 1);
    CHECK(share([&](Floats& c) {
              for (float& v : c) v *= 1.001f;
          }) == 1);
}

TEST_CASE("verify: a bias that is missing, or one place off, is found") {
    Draw draw(9);
    for (const std::size_t m : {std::size_t{50}, std::size_t{1}}) {
        Product p = random_product(draw, m, 50, 50);
        p.bias = draw.values(50, 0.5f, 1);
        CHECK(check_product(p.values()));
        compute(p, 0);
        CHECK(said(check_product(p.values())) == "");
        std::rotate(p.bias.begin(), p.bias.begin() + 1, p.bias.end());
        CHECK(check_product(p.values()));
    }
}

TEST_CASE("verify: samples find a fault as often as their number says, and one at the ends always") {
    Draw draw(10);
    const int turns = 3000;
    const auto break_some = [](Floats& y, std::size_t from, std::size_t n) {
        for (std::size_t i = from; i < from + n; i++) y[i] += 1;
    };
    const Product thin = random_product(draw, 1, 1000, 50);
    for (const int samples : {8, 16}) {
        const double expected = 1 - std::pow(0.9, samples - 2);  // the first and the last are not in the hundred
        const double share = found(turns, [&](std::uint64_t seed) {
            Product wrong = thin;
            break_some(wrong.c, 300, 100);
            return check_product(wrong.values(), {.seed = seed, .samples = samples}).has_value();
        });
        CHECK(share == doctest::Approx(expected).epsilon(chance(expected, turns) / expected));
    }
    for (const std::size_t at : {std::size_t{0}, std::size_t{999}}) {
        Product wrong = thin;
        break_some(wrong.c, at, 1);
        CHECK(check_product(wrong.values())->what == "value " + std::to_string(at) + " of the product");
    }

    const Floats x = draw.values(1000, -3, 3);
    Floats y;
    for (const float v : x) y.push_back(std::tanh(v));
    CHECK(said(check_activation(x, y, check_of(Activation::tanh))) == "");
    CHECK(check_activation(x, x, check_of(Activation::tanh)));
    CHECK(check_activation(x, y, check_of(Activation::sigmoid)));
    break_some(y, 999, 1);
    CHECK(check_activation(x, y, check_of(Activation::tanh))->what == "value 999 of the activation");
    CHECK(check_activation(Floats{not_a_number}, Floats{0}, check_of(Activation::tanh)));
}

TEST_CASE("verify: convolutions with a fault in some of their values") {
    Draw draw(11);
    const auto plain = make_backend("plain");
    ConvolutionValues c{{1, 4, 20, 22}, {6, 2, 3, 3}, {}, {}, {}, {}};
    c.form.groups = 2;
    c.form.pad = {1, 0};
    const Floats x = draw.values(4 * 20 * 22), weight = draw.values(6 * 2 * 9), bias = draw.values(6, 1, 2);
    Conv2dOptions options = c.form;
    options.bias = plain->upload(Span(bias), {6});
    const Floats y = read(
        *plain, plain->conv2d(plain->upload(Span(x), c.x_shape), plain->upload(Span(weight), c.weight_shape), options));
    c.x = x, c.weight = weight, c.bias = bias, c.y = y;
    const auto share = [&](auto break_it) {
        return found(1000, [&](std::uint64_t seed) {
            Floats wrong = y;
            break_it(wrong);
            c.y = wrong;
            return check_convolution(c, with_seed(seed)).has_value();
        });
    };
    CHECK(share([](Floats&) {}) == 0);
    CHECK(share([](Floats& v) { std::rotate(v.begin(), v.begin() + 1, v.end()); }) == 1);
    CHECK(share([](Floats& v) { v.back() = 0; }) == 1);
    const std::size_t plane = y.size() / 6;
    const double expected = 1 - std::pow(5 / 6.0, 14);
    CHECK(share([&](Floats& v) { std::fill_n(v.begin() + static_cast<std::ptrdiff_t>(2 * plane), plane, 0.0f); }) ==
          doctest::Approx(expected).epsilon(chance(expected, 1000) / expected));
    c.bias = {};
    CHECK(share([](Floats&) {}) == 1);
}

// --- words and figures ---------------------------------------------------------------------------

TEST_CASE("verify: what is wrong is a sentence, and the work of a check is known before") {
    Product p{1, 2, 1, {2}, {3, 4}, {}, {6, 8}};
    CHECK_FALSE(check_product(p.values()));
    p.c[1] = 9;
    CHECK(said(check_product(p.values())) == "Value 1 of the product is off by 1, where rounding explains 2.86e-06.");
    CHECK_FALSE(check_product({0, 5, 5, {}, Floats(25), {}}));
    CHECK_FALSE(check_product({2, 1, 0, {}, {}, Floats{0, 0}}));

    const CheckWork square = product_check_work(512, 512, 512, {}, false);
    CHECK(square.multiply_adds == 5 * 512 * 512);
    CHECK(square.bytes == 3 * 4 * 512 * 512);
    CHECK(product_check_work(512, 512, 512, {.vectors = 3}, false).multiply_adds == 11 * 512 * 512);
    for (const CheckWork& few : {product_check_work(512, 512, 512, {}, true),
                                 product_check_work(1, 4096, 512, {}, false), sampled_check_work(512, {})}) {
        CHECK(few.multiply_adds == 2 * 16 * 512);
    }
}
