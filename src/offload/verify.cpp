// See verify.hpp. The bounds:
//
// A sum of k products and a bias takes each term through at most k + 1 roundings, in any order, blocked, split or
// fused; so a result is Σ_p a_p·b_p·(1 + θ_p) with |θ_p| ≤ (1 + u)^(k + 1) − 1 =: g, off by at most g·Σ_p |a_p|·|b_p|
// (Higham, Accuracy and Stability of Numerical Algorithms, §3.1; written so, it holds for any k). u is 2^-23 and not
// 2^-24: WGSL promises either of the two neighbours. Cards may flush subnormals, both operands' and results': that is
// at most 2^-126 an operation, and 2^-126 times the other factor of a product.
//
// The bound that grows with √k (Higham & Mary 2019) would be sharper, but takes roundings to be independent. On
// constant data they are not: summed in order in float, 4096 times 0.9·0.9 are off by 2.1 times what it gives (u =
// 2^-24, with a probability of 1e-8), 65,535 times 1/3·1/3 by 7.9 times. A false alarm takes a sound kernel from the
// card, so no.
//
// Freivalds' test sees Σ_j e_ij·r_j of the errors of a row. r is random and independent of them, so by Hoeffding's
// inequality that is past λ·‖e_i‖₂ with probability 2·exp(−λ²/2) at most, and by Cauchy and Schwarz never past
// √n·‖e_i‖₂. ‖e_i‖₂ ≤ g·Σ_p |a_ip|·‖b_p‖₂ (Minkowski), which costs no more than the test. A bound of three times that
// is six times what cards can reach that round to the nearest, which is all that we know: a false alarm in 3e-8 of the
// rows at most, if every error were as large as its bound. On random data in [-1, 1] or [0, 1] real ones came to a
// fiftieth at most.
#include "offload/verify.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace shunt::offload {
namespace {

constexpr double u = 0x1p-23;      // a float's rounding
constexpr double ud = 0x1p-53;     // a double's
constexpr double tiny = 0x1p-126;  // the smallest normal float
constexpr double most_deviations = 3;
// Half of what a float holds: a sum of magnitudes below it does not overflow in any order, rounding included.
constexpr double most_size = std::numeric_limits<float>::max() / 2.0;

// (1 + u)^(terms + 1) − 1, and one more rounding for what is neglected: double's own, and u² in the exponent.
double growth(std::size_t terms) {
    return std::expm1(static_cast<double>(terms + 2) * u);
}

// Vigna's splitmix64.
class Bits {
public:
    explicit Bits(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    std::vector<double> signs(std::size_t n) {
        std::vector<double> list(n);
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < n; i++, word >>= 1) {
            if (i % 64 == 0) word = next();
            list[i] = word & 1 ? 1 : -1;
        }
        return list;
    }

    // `count` of n places, the first and the last among them; all, where there are no more than that.
    std::vector<std::size_t> places(std::size_t n, int count) {
        const std::size_t most = static_cast<std::size_t>(std::max(count, 2));
        std::vector<std::size_t> list;
        if (n <= most) {
            for (std::size_t i = 0; i < n; i++) list.push_back(i);
            return list;
        }
        list = {0, n - 1};
        while (list.size() < most) list.push_back(next() % n);
        return list;
    }

private:
    std::uint64_t state_;
};

std::string digits(double value) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3).ptr;
    return {text.data(), end};
}

Wrong finite_value(std::string what) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {std::move(what), nan, nan};
}

// --- Freivalds' test -----------------------------------------------------------------------------

// Σ term(i), in 16 sums side by side, so that the compiler may use vectors.
template <typename Term>
double sum_of(std::size_t n, Term term) {
    std::array<double, 16> sums{};
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (std::size_t lane = 0; lane < 16; lane++) sums[lane] += term(i + lane);
    }
    double sum = 0;
    for (; i < n; i++) sum += term(i);
    for (const double s : sums) sum += s;
    return sum;
}

double dot(const float* x, const double* r, std::size_t n) {
    return sum_of(n, [=](std::size_t i) { return static_cast<double>(x[i]) * r[i]; });
}

double dot_of_magnitudes(const float* x, const double* r, std::size_t n) {
    return sum_of(n, [=](std::size_t i) { return std::abs(static_cast<double>(x[i])) * r[i]; });
}

double sum_of_squares(const float* x, std::size_t n) {
    return sum_of(n, [=](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}

bool any_finite(std::span<const float> values) {
    return std::ranges::any_of(values, [](float v) { return std::isfinite(v); });
}

// The columns of b and bias that hold nothing but finite values.
std::vector<std::size_t> finite_columns(const ProductValues& p) {
    std::vector<bool> finite(p.n, true);
    for (std::size_t i = 0; i < p.b.size(); i++) {
        if (!std::isfinite(p.b[i])) finite[i % p.n] = false;
    }
    for (std::size_t j = 0; j < p.bias.size(); j++) {
        if (!std::isfinite(p.bias[j])) finite[j] = false;
    }
    std::vector<std::size_t> columns;
    for (std::size_t j = 0; j < p.n; j++) {
        if (finite[j]) columns.push_back(j);
    }
    return columns;
}

std::vector<float> only_columns(std::span<const float> values, std::size_t cols, std::span<const std::size_t> columns) {
    std::vector<float> kept;
    for (std::size_t row = 0; row < values.size(); row += cols) {
        for (const std::size_t j : columns) kept.push_back(values[row + j]);
    }
    return kept;
}

// What a row's c·r and a·(b·r) may differ by: factor·(constant + Σ_p |a_p|·weights_p).
struct RowBound {
    double g, constant, factor;
    std::vector<double> weights;
};

// `norms`: the ‖b_p‖₂, and last that of the bias.
RowBound row_bound(const ProductValues& p, const std::vector<double>& norms) {
    const double root = std::sqrt(static_cast<double>(p.n)), g = growth(p.k);
    RowBound bound{g, g * norms.back() + tiny * root * 2 * static_cast<double>(p.k + 1),
                   std::min(most_deviations, root), std::vector<double>(p.k)};
    for (std::size_t i = 0; i < p.k; i++) {
        bound.weights[i] = g * norms[i] + tiny * root;
        bound.constant += tiny * norms[i];
    }
    // Those of the test itself: some 2·n + k in double, of terms whose magnitudes add up to √n times the norm at most.
    bound.factor += ud * static_cast<double>(2 * p.n + p.k + 4) * root / g;
    return bound;
}

std::optional<Wrong> freivalds(const ProductValues& p, const CheckOptions& options);

// Columns with an operand that is not finite must not be finite anywhere; the test sees the others.
std::optional<Wrong> freivalds_between(const ProductValues& p, const CheckOptions& options) {
    const std::vector<std::size_t> columns = finite_columns(p);
    std::vector<bool> left_out(p.n, true);
    for (const std::size_t j : columns) left_out[j] = false;
    for (std::size_t i = 0; i < p.c.size(); i++) {
        if (left_out[i % p.n] && std::isfinite(p.c[i]))
            return finite_value("value " + std::to_string(i) + " of the product");
    }
    if (columns.empty()) return {};
    const std::vector<float> b = only_columns(p.b, p.n, columns), c = only_columns(p.c, p.n, columns),
                             bias = only_columns(p.bias, p.n, columns);
    return freivalds({p.m, columns.size(), p.k, p.a, b, c, bias}, options);
}

struct Vector {
    std::vector<double> r, br;  // br: b·r, and last bias·r
};

std::optional<Wrong> check_row(const ProductValues& p, std::size_t i, const RowBound& bound,
                               std::span<const Vector> vectors) {
    const std::span<const float> a = p.a.subspan(i * p.k, p.k), c = p.c.subspan(i * p.n, p.n);
    const double size = bound.constant + dot_of_magnitudes(a.data(), bound.weights.data(), p.k);
    const auto row = [i] { return "row " + std::to_string(i) + " of the product"; };
    if (!std::isfinite(size)) return any_finite(c) ? std::optional(finite_value(row())) : std::nullopt;
    if (size / bound.g >= most_size) return {};
    for (const Vector& v : vectors) {
        const double expected = dot(a.data(), v.br.data(), p.k) + v.br[p.k];
        const double difference = std::abs(dot(c.data(), v.r.data(), p.n) - expected);
        if (!(difference <= bound.factor * size)) return Wrong{row(), difference, bound.factor * size};
    }
    return {};
}

std::optional<Wrong> freivalds(const ProductValues& p, const CheckOptions& options) {
    Bits bits(options.seed);
    std::vector<Vector> vectors;
    for (int i = 0; i < options.vectors; i++) vectors.push_back({bits.signs(p.n), std::vector<double>(p.k + 1)});
    std::vector<double> norms(p.k + 1);
    for (std::size_t row = 0; row < p.k + (p.bias.empty() ? 0 : 1); row++) {
        const float* b = row < p.k ? &p.b[row * p.n] : p.bias.data();
        norms[row] = std::sqrt(sum_of_squares(b, p.n));
        if (!std::isfinite(norms[row])) return freivalds_between(p, options);
        for (Vector& v : vectors) v.br[row] = dot(b, v.r.data(), p.n);
    }
    const RowBound bound = row_bound(p, norms);
    for (std::size_t i = 0; i < p.m; i++) {
        if (auto wrong = check_row(p, i, bound, vectors)) return wrong;
    }
    return {};
}

// --- elements computed again ---------------------------------------------------------------------

// A sum of products, in double.
struct Sum {
    double value = 0, size = 0, spread = 0;  // Σ x·y, Σ |x|·|y|, Σ |x| + |y|
    std::size_t terms = 0;
    bool unsure = false;  // padding meets a weight that is not finite: kernels skip it, or multiply it by 0

    void add(float first, float second) {
        const double x = static_cast<double>(first), y = static_cast<double>(second);
        value += x * y;
        size += std::abs(x * y);
        spread += std::abs(x) + std::abs(y);
        terms++;
    }
    double rounding() const { return growth(terms) * size + tiny * (spread + 2 * static_cast<double>(terms + 1)); }
};

std::optional<Wrong> check_element(std::string what, float got, const Sum& sum, const ActivationCheck& activation) {
    const double answer = static_cast<double>(got);
    const double expected = activation.value ? activation.value(sum.value) : sum.value;
    if (sum.unsure) return {};
    if (!std::isfinite(sum.size)) {
        const bool right = activation.value ? !std::isnan(sum.value) || !std::isnan(expected) || std::isnan(answer)
                                            : !std::isfinite(answer);
        return right ? std::nullopt : std::optional(finite_value(std::move(what)));
    }
    if (!(sum.size < most_size && std::abs(expected) < most_size)) return {};
    double bound = sum.rounding();
    if (activation.value) {
        bound = activation.slope * bound + activation.relative * std::abs(expected) +
                activation.absolute * std::max(1.0, std::abs(sum.value)) + tiny;
    }
    const double difference = std::abs(answer - expected);
    if (difference <= bound) return {};
    return Wrong{std::move(what), difference, bound};
}

std::optional<Wrong> sampled(const ProductValues& p, const CheckOptions& options, const ActivationCheck& activation) {
    for (const std::size_t at : Bits(options.seed).places(p.c.size(), options.samples)) {
        const std::size_t i = at / p.n, j = at % p.n;
        Sum sum;
        for (std::size_t q = 0; q < p.k; q++) sum.add(p.a[i * p.k + q], p.b[q * p.n + j]);
        if (!p.bias.empty()) sum.add(p.bias[j], 1);
        const std::string what = "value " + std::to_string(at) + " of the product";
        if (auto wrong = check_element(what, p.c[at], sum, activation)) return wrong;
    }
    return {};
}

CheckWork freivalds_work(std::size_t m, std::size_t n, std::size_t k, int vectors) {
    const double mn = static_cast<double>(m) * static_cast<double>(n),
                 mk = static_cast<double>(m) * static_cast<double>(k),
                 kn = static_cast<double>(k) * static_cast<double>(n);
    return {vectors * (mn + mk + kn) + mk + kn, sizeof(float) * (mn + mk + kn)};
}

// Where one vector costs a quarter of the product or less; how many are asked for must not turn them into samples.
bool freivalds_saves(std::size_t m, std::size_t n, std::size_t k) {
    const double all = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    return 4 * freivalds_work(m, n, k, 1).multiply_adds <= all;
}

// Output (image, channel, row, column) of a convolution.
Sum sum_at(const ConvolutionValues& c, std::size_t image, std::size_t channel, std::size_t row, std::size_t col) {
    const Shape &x = c.x_shape, &w = c.weight_shape;
    const std::size_t first_in = channel / (w[0] / c.form.groups) * w[1];
    Sum sum;
    for (std::size_t in = 0; in < w[1]; in++) {
        for (std::size_t r = 0; r < w[2]; r++) {
            for (std::size_t q = 0; q < w[3]; q++) {
                // Below 0 in the padding, which wraps to past the end.
                const std::size_t h = row * c.form.stride[0] + r * c.form.dilation[0] - c.form.pad[0];
                const std::size_t v = col * c.form.stride[1] + q * c.form.dilation[1] - c.form.pad[1];
                const float weight = c.weight[((channel * w[1] + in) * w[2] + r) * w[3] + q];
                if (h < x[2] && v < x[3]) {
                    sum.add(c.x[((image * x[1] + first_in + in) * x[2] + h) * x[3] + v], weight);
                } else {
                    sum.unsure |= !std::isfinite(weight);
                }
            }
        }
    }
    if (!c.bias.empty()) sum.add(c.bias[channel], 1);
    return sum;
}

std::size_t conv_size(std::size_t in, std::size_t kernel, const Conv2dOptions& form, std::size_t axis) {
    return (in + 2 * form.pad[axis] - form.dilation[axis] * (kernel - 1) - 1) / form.stride[axis] + 1;
}

}  // namespace

std::string Wrong::text() const {
    std::string sentence = what;
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
    if (std::isnan(bound)) return sentence + " is finite, where an operand is not.";
    return sentence + " is off by " + digits(difference) + ", where rounding explains " + digits(bound) + ".";
}

CheckWork sampled_check_work(std::size_t terms, const CheckOptions& options) {
    const double n = static_cast<double>(terms) * options.samples;
    return {2 * n, 64 * n};  // a line of the caches for each: operands are far apart
}

CheckWork product_check_work(std::size_t m, std::size_t n, std::size_t k, const CheckOptions& options, bool activated) {
    if (activated || !freivalds_saves(m, n, k)) return sampled_check_work(k, options);
    return freivalds_work(m, n, k, options.vectors);
}

std::optional<Wrong> check_product(const ProductValues& product, const CheckOptions& options,
                                   const ActivationCheck& activation) {
    const ProductValues& p = product;
    assert(p.a.size() == p.m * p.k && p.b.size() == p.k * p.n && p.c.size() == p.m * p.n);
    assert(p.bias.empty() || p.bias.size() == p.n);
    if (p.c.empty()) return {};
    if (activation.value || !freivalds_saves(p.m, p.n, p.k)) return sampled(p, options, activation);
    return freivalds(p, options);
}

std::optional<Wrong> check_convolution(const ConvolutionValues& convolution, const CheckOptions& options,
                                       const ActivationCheck& activation) {
    const ConvolutionValues& c = convolution;
    const std::size_t channels = c.weight_shape[0];
    const std::size_t rows = conv_size(c.x_shape[2], c.weight_shape[2], c.form, 0);
    const std::size_t cols = conv_size(c.x_shape[3], c.weight_shape[3], c.form, 1);
    assert(c.x.size() == c.x_shape.size() && c.weight.size() == c.weight_shape.size());
    assert(c.y.size() == c.x_shape[0] * channels * rows * cols);
    for (const std::size_t at : Bits(options.seed).places(c.y.size(), options.samples)) {
        const std::size_t plane = at / cols / rows;
        const Sum sum = sum_at(c, plane / channels, plane % channels, at / cols % rows, at % cols);
        const std::string what = "value " + std::to_string(at) + " of the convolution";
        if (auto wrong = check_element(what, c.y[at], sum, activation)) return wrong;
    }
    return {};
}

std::optional<Wrong> check_activation(std::span<const float> x, std::span<const float> y,
                                      const ActivationCheck& activation, const CheckOptions& options) {
    assert(x.size() == y.size());
    for (const std::size_t at : Bits(options.seed).places(x.size(), options.samples)) {
        Sum sum;
        sum.add(x[at], 1);
        const std::string what = "value " + std::to_string(at) + " of the activation";
        if (auto wrong = check_element(what, y[at], sum, activation)) return wrong;
    }
    return {};
}

}  // namespace shunt::offload
