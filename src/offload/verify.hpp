// Whether what a card computed is right, at a small part of the cost of computing it. Pure functions of host arrays.
//
// Products are checked by Freivalds' test: with a random r of ±1, c·r must be a·(b·r), row by row. Where that saves
// nothing (thin products) or cannot be (an activation follows), and for convolutions, a few elements of the result
// are computed again. All of it in double, against a bound of what float32 may have rounded, which holds for any data:
// elements that are right are never called wrong, rows in 3e-8 of the worst cases. verify.cpp derives the bounds.
//
// What is found. Freivalds' test: a single wrong value in a row, if it is off by more than twice the row's bound,
// always; several that could cancel each other, with probability 1/2 for each vector at least, in each row. The bound
// is 0.1 % of a typical value for 64×64×64 values in [-1, 1], a third at 1024×1024×1024, five times one at
// 64×4096×4096: there 8×8 zeros were found in 26 of 60 checks, 16×16 in 57, 32×32 in all. Samples: a fault in a share s
// of the elements with probability 1 − (1 − s)^samples, and always in the first and in the last one. Not found: errors
// the size of rounding.
//
// What is not finite. Where an operand of a sum is not, the result must not be either. Where a sum could overflow in
// some order of its terms, the row (the element) is left out: it may be infinite, NaN or finite. After an activation
// only NaN is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "shunt/backend.hpp"

namespace shunt::offload {

struct Wrong {
    std::string what;  // "row 3 of the product", "value 7 of the convolution"
    double difference = 0,
           bound = 0;  // what it is off by, what rounding explains; NaN where a value must not be finite

    std::string text() const;  // a sentence
};

struct CheckOptions {
    std::uint64_t seed = 1;  // another one for each check
    int vectors = 1;         // of Freivalds' test
    int samples = 16;        // elements that are computed again
};

// y = value(x), and what a card may be off: relative·|y| + absolute·max(1, |x|).
struct ActivationCheck {
    std::function<double(double)> value;  // not given: none
    double slope = 1.5;                   // the largest |value′|; of the usual ones hard-swish has the largest
    double relative = 1e-4, absolute = 1e-6;
};

// c [m, n] = activation(a [m, k] · b [k, n] + bias [n])
struct ProductValues {
    std::size_t m = 0, n = 0, k = 0;
    std::span<const float> a, b, c;
    std::span<const float> bias = {};  // empty: none
};

std::optional<Wrong> check_product(const ProductValues& product, const CheckOptions& options = {},
                                   const ActivationCheck& activation = {});

// y = activation(conv2d(x, weight)), with the shapes of Backend::conv2d. Of `form` stride, pad, dilation and groups
// count.
struct ConvolutionValues {
    Shape x_shape, weight_shape;  // [n, c, h, w], [o, c/groups, kh, kw]
    Conv2dOptions form;
    std::span<const float> x, weight, y;
    std::span<const float> bias = {};  // empty: none
};

std::optional<Wrong> check_convolution(const ConvolutionValues& convolution, const CheckOptions& options = {},
                                       const ActivationCheck& activation = {});

std::optional<Wrong> check_activation(std::span<const float> x, std::span<const float> y,
                                      const ActivationCheck& activation, const CheckOptions& options = {});

// What a check takes, for an estimate before the first one is measured.
struct CheckWork {
    double multiply_adds = 0, bytes = 0;  // in double; read
};

CheckWork product_check_work(std::size_t m, std::size_t n, std::size_t k, const CheckOptions& options, bool activated);
// Of elements that are sums of so many terms: (c/groups)·kh·kw for a convolution, 1 for an activation.
CheckWork sampled_check_work(std::size_t terms, const CheckOptions& options);

}  // namespace shunt::offload
