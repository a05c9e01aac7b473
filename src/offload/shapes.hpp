// The shapes of an operator's arguments: checked once, and brought into the one form that backends take.
#pragma once

#include <span>

#include "shunt/offload.hpp"
#include "shunt/offload_costs.hpp"

namespace shunt::offload {

// bad_argument for values that are said to be at a null pointer.
void expect_there(std::span<const float> values, const char* op, const char* name);

struct ProductCall {
    std::size_t m = 0, n = 0, k = 0;
};

// bad_argument, with the sizes, for what does not fit.
ProductCall product_call(const View& a, const View& b);

// In two dimensions and as a batch, whatever was given.
struct ConvCall {
    Shape x, w, y;  // [n, c, h, w], [o, c/groups, kh, kw], [n, o, oh, ow]
    Shape result;   // as the caller sees y
    std::array<std::size_t, 2> stride{1, 1}, pad{0, 0}, dilation{1, 1};
    std::size_t groups = 1;
    ActivationOptions activation = {};

    bool as_product() const {
        return w[2] == 1 && w[3] == 1 && stride == std::array<std::size_t, 2>{1, 1} &&
               pad == std::array<std::size_t, 2>{0, 0} && groups == 1;
    }
    bool depthwise() const { return groups > 1 && x[1] == groups; }
    ConvShape shape() const { return {x[0], x[1], x[2], x[3], w[0], w[2], w[3], groups, y[2], y[3], as_product()}; }
    Conv2dOptions options() const {
        return {.stride = stride, .pad = pad, .dilation = dilation, .groups = groups, .activation = activation};
    }
};

ConvCall conv_call(const View& x, const View& w, std::span<const float> bias, const ConvOptions& options);
ConvCall conv_call(const Shape& x, const Shape& w, const ConvOptions& options);  // of any values

}  // namespace shunt::offload
