// Loops that the compiler vectorises: -O3 and -fno-math-errno (sqrt), see CMakeLists.txt.
//
// Each is compiled for AVX-512, AVX2 and the base, chosen when the library is loaded. The names must
// be feature names: "arch=…" asks for one exact processor and fell back to the base on others.
// Multiply-adds are not fused (-ffp-contract=off), so all three give the same bits.
#include "cpu/loops.hpp"

#include <cmath>
#include <cstring>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(SHUNT_NO_CLONES)
#define SHUNT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SHUNT_CLONES
#endif

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

}  // namespace

SHUNT_CLONES void to_float(std::span<const double> from, float* to) {
    for (std::size_t i = 0; i < from.size(); i++) to[i] = static_cast<float>(from[i]);
}

SHUNT_CLONES void relu(const float* x, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; i++) y[i] = x[i] <= 0 ? 0 : x[i];
}

SHUNT_CLONES void add(const float* x, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; i++) y[i] += x[i];
}

void activate_grad(Activation kind, const float* y, const float* dy, float* dx, std::size_t n) {
    switch (kind) {
        case Activation::none:
            if (dx != dy) std::memcpy(dx, dy, n * sizeof(float));
            break;
        case Activation::relu: relu_grad(y, dy, dx, n); break;
        case Activation::tanh: tanh_grad(y, dy, dx, n); break;
        case Activation::sigmoid: sigmoid_grad(y, dy, dx, n); break;
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
