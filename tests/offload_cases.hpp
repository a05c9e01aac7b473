// A small program of offloaded operators, and what it is to answer.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "shunt/offload.hpp"

namespace shunt::test {

// By these the card is always the faster side, and a weight worth sending at once.
inline const offload::Costs card_always{.cpu_gemm = 1, .cpu_conv = 1, .cpu_act = 1};
inline const offload::Costs card_never{.latency = 1, .cpu_gemm = 1e-15};

inline std::vector<float> some(std::size_t n, double seed) {
    Random random(seed);
    std::vector<float> values(n);
    for (float& v : values) v = static_cast<float>(random.uniform() * 2 - 1);
    return values;
}

// Products, of which one has a weight with a handle, convolutions in one and two dimensions, an activation.
inline std::vector<float> offloaded_program() {
    static const std::vector<float> a = some(12 * 40, 1), b = some(40 * 9, 2), w = some(40 * 17, 3);
    static const std::vector<float> x = some(2 * 4 * 9 * 8, 4), k = some(6 * 2 * 9, 5), bias = some(6, 6);
    static const std::vector<float> line = some(4 * 30, 7), taps = some(5 * 4 * 3, 8);
    static const offload::Weight named;
    std::vector<float> all;
    const auto keep = [&](const offload::Array& y) { all.insert(all.end(), y.values.begin(), y.values.end()); };
    keep(ops::matmul({a, {12, 40}}, {b, {40, 9}}));
    for (int i = 0; i < 2; i++) keep(ops::matmul({a, {12, 40}}, {b, {40, 9}}, true));
    keep(ops::matmul({a, {12, 40}}, {w, {40, 17}, named}));
    keep(ops::conv2d({x, {2, 4, 9, 8}}, {k, {6, 2, 3, 3}}, bias,
                     {.stride = {2, 1}, .pad = {1, 1}, .groups = 2, .activation = Activation::hard_swish}));
    keep(ops::conv2d({line, {4, 30}}, {taps, {5, 4, 3}}, {}, {.pad = {0, 1}}));
    std::vector<float> values = some(300, 9);
    ops::activate(values, Activation::gelu);
    all.insert(all.end(), values.begin(), values.end());
    return all;
}
inline constexpr std::uint64_t n_offloaded = 7;  // operators of the program

// The largest difference, where nothing is larger than a few units.
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return INFINITY;
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
        const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        worst = d <= worst ? worst : d;
        if (std::isnan(d)) return INFINITY;
    }
    return worst;
}
inline constexpr double rounding = 2e-6;  // of sums of up to 40 values in [-1, 1]

}  // namespace shunt::test
