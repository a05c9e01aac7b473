// Networks and samples that several tests use.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "shunt/network.hpp"

namespace shunt::test {

inline Samples xor_samples() {
    Samples s;
    s.add({0, 0}, 0).add({0, 1}, 1).add({1, 0}, 1).add({1, 1}, 0);
    return s;
}

inline Network xor_network(const std::string& backend = "plain") {
    return Network({.input = 2, .layers = {dense(8), tanh(), dense(2)}, .seed = 1, .backend = backend});
}

// Relative to 1 + |b|.
inline double largest_difference(const Weights& a, const Weights& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        for (std::size_t k = 0; k < a[i].size(); k++)
            worst = std::max(worst, std::abs(a[i][k] - b[i][k]) / (1 + std::abs(b[i][k])));
    return worst;
}

// Pairs of numbers in [0, 1): is the first one the larger?
inline Samples pairs(std::size_t n) {
    Random random(4);
    Samples s;
    for (std::size_t i = 0; i < n; i++) {
        const double a = random.uniform(), b = random.uniform();
        s.add({a, b}, a > b ? 1 : 0);
    }
    return s;
}

// Compensated sums (Neumaier) over all weights, as the published ones were taken.
struct Sums {
    double sum = 0, of_abs = 0;
};
inline Sums sums(const Weights& weights) {
    struct {
        double s = 0, c = 0;
        void add(double v) {
            const double t = s + v;
            c += std::abs(s) >= std::abs(v) ? (s - t) + v : (v - t) + s;
            s = t;
        }
    } plain, absolute;
    for (const auto& list : weights) {
        for (double v : list) {
            plain.add(v);
            absolute.add(std::abs(v));
        }
    }
    return {plain.s + plain.c, absolute.s + absolute.c};
}

// The networks whose gradients are checked by differences, with their published figures.
struct GradientNet {
    NetworkOptions options;
    Samples samples;
    double loss = 0, sum = 0, of_abs = 0;  // 0: not published
};

inline std::vector<GradientNet> gradient_nets() {
    Random random(11);
    std::array<std::vector<double>, 3> v;
    for (auto& list : v) {
        for (int i = 0; i < 5; i++) list.push_back(random.normal());
    }
    const auto classes = [&](std::vector<std::int64_t> c) {
        Samples s;
        for (std::size_t i = 0; i < c.size(); i++) s.add(v[i], c[i]);
        return s;
    };
    Samples numbers, tokens;
    numbers.add(v[0], std::array{.3, -1.0, 2.0}).add(v[1], std::array{1.0, 1.0, 0.0});
    const std::array<std::uint32_t, 4> t0 = {2, 0, 8, 2}, t1 = {5, 5, 1, 0};
    tokens.add(t0, 1).add(t1, 3);

    std::vector<GradientNet> nets;
    nets.push_back({{.input = 5, .layers = {dense(4)}}, classes({2, 0, 3}), 5.611592815152698, 0, 16.432790554596615});
    nets.push_back({{.input = 5, .layers = {dense(3)}, .loss = LossKind::mse},
                    numbers,
                    15.351410639913503,
                    -5.0394796072494925,
                    45.06706174822716});
    nets.push_back({{.input = 5, .layers = {dense(6), tanh(), dense(3)}},
                    classes({0, 2}),
                    1.9993233203637533,
                    -5.780865367223266,
                    19.815342094011527});
    nets.push_back({{.input = 5, .layers = {dense(7), relu(), dense(6), relu(), dense(4)}},
                    classes({3, 1, 0}),
                    4.784175161435632,
                    11.027366952738499,
                    27.533642067901262});
    nets.push_back({{.input = Tokens{4, 9}, .layers = {embed(3), dense(5), tanh(), dense(4)}},
                    tokens,
                    2.767707270891628,
                    -0.04695886581714979,
                    10.883925709006949});
    // Not published: sigmoid, activations in every place, two in a row, last ones, weights.
    Samples weighted = classes({1, 0, 2});
    weighted.weights = {0.5, 2, 1};
    nets.push_back({{.input = 5, .layers = {dense(6), sigmoid(), dense(3)}}, weighted});
    nets.push_back({{.input = 5, .layers = {tanh(), sigmoid(), dense(4), tanh(), sigmoid(), dense(3), tanh()}},
                    classes({1, 0, 2})});
    nets.push_back({{.input = 5, .layers = {dense(3), sigmoid()}, .loss = LossKind::mse}, numbers});
    nets.push_back({{.input = 5, .layers = {dense(8), dense(3)}, .loss = LossKind::mse}, numbers});
    nets.push_back({{.input = Tokens{4, 9}, .layers = {embed(3), tanh(), dense(4)}}, tokens});
    nets.push_back({{.input = Tokens{4, 9}, .layers = {embed(1)}}, tokens});
    for (GradientNet& net : nets) net.options.seed = 5;
    return nets;
}

}  // namespace shunt::test
