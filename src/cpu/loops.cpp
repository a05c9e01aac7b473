// Loops that the compiler vectorises: -O3 and -fno-math-errno (sqrt), see CMakeLists.txt.
//
// Each is compiled for AVX-512, AVX2 and the base, chosen when the library is loaded. The names must
// be feature names: "arch=…" asks for one exact processor and fell back to the base on others.
// Multiply-adds are not fused (-ffp-contract=off), so all three give the same bits. Clones are for this file
// alone: of a function that a header declares without them, clang 14 compiles the AVX-512 one for everybody.
#include "cpu/loops.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(SHUNT_NO_CLONES)
#define SHUNT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SHUNT_CLONES
#endif
// What a clone calls is compiled as a part of it, or not for its processor.
#define SHUNT_INLINE [[gnu::always_inline]] inline
#define SHUNT_OF(value)                           \
    [=](float v) __attribute__((always_inline)) { \
        return value;                             \
    }

namespace shunt::cpu::loops {
namespace {

SHUNT_CLONES void adam(std::size_t n, float* __restrict p, const float* __restrict g, float* __restrict m,
                       float* __restrict v, float scale, float beta1, float rest1, float beta2, float rest2, float rate,
                       float epsilon) {
    for (std::size_t i = 0; i < n; i++) {
        const float d = scale * g[i];
        m[i] = beta1 * m[i] + rest1 * d;
        v[i] = beta2 * v[i] + rest2 * d * d;
        p[i] -= rate * m[i] / (std::sqrt(v[i]) + epsilon);
    }
}

SHUNT_CLONES void sgd(std::size_t n, float* __restrict p, const float* __restrict g, float* __restrict v,
                      float momentum, float rate) {
    for (std::size_t i = 0; i < n; i++) {
        v[i] = momentum * v[i] - rate * g[i];
        p[i] += v[i];
    }
}

SHUNT_CLONES void multiply(std::size_t n, float* p, float factor) {
    for (std::size_t i = 0; i < n; i++) p[i] *= factor;
}

SHUNT_CLONES void relu_grad(const float* y, const float* dy, float* dx, std::size_t n) {
    for (std::size_t i = 0; i < n; i++) dx[i] = y[i] > 0 ? dy[i] : 0;
}

SHUNT_CLONES void tanh_grad(const float* y, const float* dy, float* dx, std::size_t n) {
    for (std::size_t i = 0; i < n; i++) dx[i] = dy[i] * (1 - y[i] * y[i]);
}

SHUNT_CLONES void sigmoid_grad(const float* y, const float* dy, float* dx, std::size_t n) {
    for (std::size_t i = 0; i < n; i++) dx[i] = dy[i] * y[i] * (1 - y[i]);
}

// The parts of exp(x) = scale·(1 + rest) for x ≤ 0, 3e-9 apart from roundings: x = n·ln 2 + r with scale
// 2ⁿ. Adding 1.5·2²³ leaves n in the lowest bits, which no conversion of a NaN has to reach. At −88 and
// below, scale is 0.
struct Exp {
    float scale, rest;
};

SHUNT_INLINE Exp parts_of_exp(float x) {
    const float in_range = x < -88 ? -88 : x;
    const float shifted = in_range * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
    const float r = (in_range - n * 0.693145752f) - n * 1.42860677e-6f;
    const float p = 0.49999994f + r * (0.16666521f + r * (0.041668389f + r * (0.00836871099f + r * 0.00138146104f)));
    return {std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127u) << 23), r + r * r * p};
}

SHUNT_INLINE float exp_of(float x) {
    const Exp e = parts_of_exp(x);
    return e.scale + e.scale * e.rest;
}

SHUNT_INLINE float expm1_of(float x) {
    const Exp e = parts_of_exp(x);
    return (e.scale - 1) + e.scale * e.rest;
}

// Comparisons with NaN are false: these let it through.
SHUNT_INLINE float positive(float x) {
    return x <= 0 ? 0 : x;
}
SHUNT_INLINE float clamped(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}

SHUNT_INLINE float hard_swish(float x) {
    return (x < -3 ? -3 : x) * clamped(x * (1 / 6.0f) + 0.5f, 0, 1);  // no −∞·0
}

// Where S(x) + S(−x) = 1, x·S(x) is max(0, x) − a·S(−a) with a = |x|, which a limit on a keeps from ∞·0.
SHUNT_INLINE float size_of(float x) {
    const float a = std::fabs(x);
    return a > 100 ? 100 : a;
}

// S(−a) = erfc(a/√2) / 2 = exp(−a²/2)·p(t), fitted to 7e-9 in S up to a = 1 and in a·S beyond, and to 4e-6
// relative.
SHUNT_INLINE float gelu(float x) {
    const float a = size_of(x), t = 1 / (1 + 0.33f * a);
    const float q = -0.104638696f + t * (0.343177438f + t * (-0.225606233f + t * 0.0464267358f));
    const float p = -0.000107705018f + t * (0.133766174f + t * (0.114478879f + t * (0.192503393f + t * q)));
    return positive(x) - a * (exp_of(-0.5f * a * a) * p);
}

// S(−a) = sigmoid(−z)
SHUNT_INLINE float swish(float x, float a, float z) {
    const float e = exp_of(-z);
    return positive(x) - a * (e / (1 + e));
}
SHUNT_INLINE float silu(float x) {
    const float a = size_of(x);
    return swish(x, a, a);
}
SHUNT_INLINE float gelu_tanh(float x) {  // (1 + tanh(z)) / 2 = sigmoid(2·z)
    const float a = size_of(x);
    return swish(x, a, a * (1.59576912f + 0.0713548163f * a * a));
}

// ln(1 + e) = 2·atanh(s), s = e / (2 + e) ≤ 1/3, fitted to 4e-9.
SHUNT_INLINE float softplus(float x) {
    const float e = exp_of(-size_of(x)), s = e / (2 + e), u = s * s;
    return positive(x) + s * (2 + u * (0.66666317f + u * (0.400249094f + u * (0.279606014f + u * 0.281783342f))));
}

// tanh(ln(1 + v)) = (v² + 2·v) / (v² + 2·v + 2) with v = exp(x): x < 0 has it, x ≥ 0 one minus it, both in
// e = exp(−|x|).
SHUNT_INLINE float mish(float x) {
    const float a = size_of(x), e = exp_of(-a), rest = x < 0 ? e * (e + 2) : 2 * e * e;
    return positive(x) - a * (rest / (rest + (x < 0 ? 2 : 1 + 2 * e)));
}

// omp simd: y may be x, and clang 14 takes its loop for single values then (10 times slower).
template <typename F>
SHUNT_INLINE void each(const float* x, float* y, std::size_t n, F f) {
#pragma omp simd
    for (std::size_t i = 0; i < n; i++) y[i] = f(x[i]);
}

// Largest error from −100 to 100, as a share of 1 + |f(x)|: softplus 1e-7, the others 7e-8 or less; of f(x)
// alone, where that is above 1e-36: 1.3e-5 (but for hard_sigmoid and hard_swish on the way to 0). ns a value,
// and oneDNN's, with AVX-512, one thread, a million values: hard_swish 0.28 (0.29), elu 0.37 (0.38), silu 0.59
// (0.53), mish 0.65 (0.49), softplus 0.72 (0.81), gelu_tanh 0.73 (0.54), gelu 0.79 (0.60), the rest 0.3, which
// is memory's.
SHUNT_CLONES void activate_each(const ActivationOptions& options, const float* x, float* y, std::size_t n) {
    const float alpha = options.alpha, beta = options.beta;
    switch (options.kind) {
        case Activation::relu: return each(x, y, n, SHUNT_OF(positive(v)));
        case Activation::leaky_relu: return each(x, y, n, SHUNT_OF(v < 0 ? alpha * v : v));
        case Activation::relu6: return each(x, y, n, SHUNT_OF(clamped(v, 0, 6)));
        case Activation::hard_sigmoid: return each(x, y, n, SHUNT_OF(clamped(alpha * v + beta, 0, 1)));
        case Activation::hard_swish: return each(x, y, n, SHUNT_OF(hard_swish(v)));
        case Activation::gelu: return each(x, y, n, SHUNT_OF(gelu(v)));
        case Activation::gelu_tanh: return each(x, y, n, SHUNT_OF(gelu_tanh(v)));
        case Activation::silu: return each(x, y, n, SHUNT_OF(silu(v)));
        case Activation::softplus: return each(x, y, n, SHUNT_OF(softplus(v)));
        case Activation::elu: return each(x, y, n, SHUNT_OF(v < 0 ? alpha * expm1_of(v) : v));
        case Activation::mish: return each(x, y, n, SHUNT_OF(mish(v)));
        default: break;  // none is a copy, tanh and sigmoid are oneDNN's
    }
}

SHUNT_CLONES void round_each(std::span<const double> from, float* to) {
    for (std::size_t i = 0; i < from.size(); i++) to[i] = static_cast<float>(from[i]);
}

SHUNT_CLONES void add_each(const float* x, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; i++) y[i] += x[i];
}

}  // namespace

void to_float(std::span<const double> from, float* to) {
    round_each(from, to);
}

void activate(const ActivationOptions& options, const float* x, float* y, std::size_t n) {
    activate_each(options, x, y, n);
}

void add(const float* x, float* y, std::size_t n) {
    add_each(x, y, n);
}

void activate_grad(Activation kind, const float* y, const float* dy, float* dx, std::size_t n) {
    switch (kind) {
        case Activation::none:
            if (dx != dy) std::memcpy(dx, dy, n * sizeof(float));
            break;
        case Activation::relu: relu_grad(y, dy, dx, n); break;
        case Activation::tanh: tanh_grad(y, dy, dx, n); break;
        case Activation::sigmoid: sigmoid_grad(y, dy, dx, n); break;
        default: break;  // refused before
    }
}

void column_sums(const float* x, std::size_t rows, std::size_t cols, std::size_t stride, float* sums) {
    std::memset(sums, 0, cols * sizeof(float));
    for (std::size_t row = 0; row < rows; row++) add(x + row * stride, sums, cols);
}

void update(const UpdateOptions& o, std::size_t n, std::size_t n_decayed, float* p, const float* g, float* m,
            float* v) {
    const auto f = [](double value) { return static_cast<float>(value); };
    if (o.decay != 1) multiply(n_decayed, p, f(o.decay));
    if (o.rule == UpdateRule::sgd) sgd(n, p, g, m, f(o.momentum), f(o.lr * o.scale));
    if (o.rule == UpdateRule::adam) {  // 1 − beta taken in double: in float 1 − 0.999 is off by 1e-5
        adam(n, p, g, m, v, f(o.scale), f(o.beta1), f(1 - o.beta1), f(o.beta2), f(1 - o.beta2), f(o.rate),
             f(o.epsilon));
    }
}

}  // namespace shunt::cpu::loops
