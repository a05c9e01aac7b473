// oneDNN as the cpu backend uses it. The one file that knows its API is dnnl.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "shunt/backend.hpp"

namespace shunt::cpu {

struct Product {
    std::int64_t batch = 1, m = 0, n = 0, k = 0;
    bool one_a = false, one_b = false;  // the same a, or b, for every member of the batch
    bool trans_a = false, trans_b = false;
    bool bias = false, accumulate = false;
    Activation activation = Activation::none;
    auto operator<=>(const Product&) const = default;
};

struct Convolution {
    std::int64_t n = 0, c = 0, h = 0, w = 0, filters = 0, kh = 0, kw = 0, groups = 1;
    std::int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
    std::int64_t out_h = 0, out_w = 0;
    bool bias = false;
    Activation activation = Activation::none;
    auto operator<=>(const Convolution&) const = default;
};

struct Elementwise {
    std::int64_t n = 0;
    Activation activation = Activation::none;
    auto operator<=>(const Elementwise&) const = default;
};

// Primitives are made once per shape and kept. Activations are tanh and sigmoid alone: oneDNN's relu and
// clip turn NaN into 0; its swish, hardswish, gelus and mish are NaN at −∞, and its soft_relu is 8e-6
// instead of 0 at −87. The loops for those are ours. Used by one thread at a time.
class Dnnl {
public:
    Dnnl();
    ~Dnnl();

    void run(const Product& what, int threads, const float* a, const float* b, const float* bias, float* c);
    void run(const Convolution& what, int threads, const float* x, const float* weight, const float* bias, float* y);
    void run(const Elementwise& what, int threads, const float* x, float* y);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace shunt::cpu
