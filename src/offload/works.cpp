// See works.hpp.
#include "offload/works.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/activation.hpp"

namespace shunt::offload {
namespace {

std::uint32_t u32(std::size_t n) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(n, std::numeric_limits<std::uint32_t>::max()));
}

std::uint64_t bits(const ActivationOptions& a) {
    return static_cast<std::uint64_t>(a.kind) ^ std::uint64_t{std::bit_cast<std::uint32_t>(a.alpha)} << 8 ^
           std::uint64_t{std::bit_cast<std::uint32_t>(a.beta)} << 24;
}

ActivationCheck check_of(const ActivationOptions& a) {
    if (a.kind == Activation::none) return {};
    const double slope = std::max({1.5, std::abs(double{a.alpha}), std::abs(double{a.beta})});
    return {.value = [a](double x) { return activated(a, x); }, .slope = slope};
}

}  // namespace

Decision decision_of(const ProductCall& c) {
    return {.kind = Kind::matmul,
            .why = c.m * c.n * c.k == 0 ? Why::empty : Why::faster,
            .sizes = {u32(c.m), u32(c.n), u32(c.k)}};
}

KernelShape kernel_of(const ProductCall& c) {
    return {"product", c.m, c.n, c.k};
}

Work work_of(const ProductCall& c, const View& a, const View& b, const Key& key, bool keep) {
    return {.units = c.m,
            .results_each = c.n,
            .whole = {{b.values, b.shape, key, keep}},
            .cut = {a.values, a.shape},
            .run = [](Backend& card, const Tensor& rows, const std::vector<Tensor>& whole) {
                return card.matmul(rows, whole[0]);
            }};
}

std::optional<Wrong> check(const ProductCall& c, const View& a, const View& b, const Values& values,
                           const CheckOptions& options) {
    return check_product({c.m, c.n, c.k, a.values, b.values, values}, options);
}

Decision decision_of(const ConvCall& c) {
    return {.kind = c.depthwise() ? Kind::depthwise : Kind::conv2d,
            .why = c.x.size() * c.w.size() * c.y.size() == 0 ? Why::empty : Why::faster,
            .sizes = {u32(c.x[0]), u32(c.x[1]), u32(c.x[2]), u32(c.x[3]), u32(c.w[0]), u32(c.w[2]), u32(c.w[3]),
                      u32(c.stride[0]), u32(c.groups)}};
}

KernelShape kernel_of(const ConvCall& c) {
    std::uint64_t variant = bits(c.activation);
    for (std::size_t size :
         {c.x[0], c.w[2], c.stride[0], c.stride[1], c.pad[0], c.pad[1], c.dilation[0], c.dilation[1], c.groups})
        variant = variant * 1099511628211u + size;
    return {c.depthwise() ? "conv2d depthwise" : "conv2d", c.w[0], c.y[2] * c.y[3], c.w[1] * c.w[2] * c.w[3], variant};
}

Work work_of(const ConvCall& c, const View& x, const View& w, std::span<const float> bias, const Key& key, bool keep) {
    Work work{.units = c.x[0],
              .results_each = c.y.size() / c.x[0],
              .whole = {{w.values, c.w, key, keep}},
              .cut = {x.values, c.x},
              .run = [options = c.options()](Backend& card, const Tensor& pictures, const std::vector<Tensor>& whole) {
                  Conv2dOptions o = options;
                  if (whole.size() > 1) o.bias = whole[1];
                  return card.conv2d(pictures, whole[0], o);
              }};
    if (!bias.empty()) work.whole.push_back({bias, {bias.size()}});
    return work;
}

std::optional<Wrong> check(const ConvCall& c, const View& x, const View& w, std::span<const float> bias,
                           const Values& y, const CheckOptions& options) {
    return check_convolution({c.x, c.w, c.options(), x.values, w.values, y, bias}, options, check_of(c.activation));
}

Decision decision_of(std::size_t n, Activation kind) {
    return {.kind = Kind::activate, .why = n == 0 ? Why::empty : Why::faster, .activation = kind, .sizes = {u32(n)}};
}

KernelShape kernel_of(std::size_t n, const ActivationOptions& activation) {
    return {to_string(activation.kind), n, 1, 1, bits(activation)};
}

Work work_of(std::span<const float> x, const ActivationOptions& activation) {
    return {.units = x.size(),
            .results_each = 1,
            .whole = {},
            .cut = {x, {x.size()}},
            .run = [activation](Backend& card, const Tensor& values, const std::vector<Tensor>&) {
                return card.activate(activation, values);
            }};
}

std::optional<Wrong> check(std::span<const float> x, const Values& y, const ActivationOptions& activation,
                           const CheckOptions& options) {
    return check_activation(x, y, check_of(activation), options);
}

}  // namespace shunt::offload
