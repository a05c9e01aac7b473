// The convolutions that are measured here and in bench/, and how.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "shunt/backend.hpp"

namespace shunt::cli {

struct Convolution {
    std::size_t pictures, in, h, w, out, kh, kw, stride = 1, groups = 1;

    Conv2dOptions options() const {
        Conv2dOptions o;
        o.stride = {stride, stride}, o.pad = {kh / 2, kw / 2}, o.groups = groups;
        o.activation = Activation::relu;
        return o;
    }
    std::size_t out_h() const { return (h + 2 * (kh / 2) - kh) / stride + 1; }
    std::size_t out_w() const { return (w + 2 * (kw / 2) - kw) / stride + 1; }
    double macs() const {
        return static_cast<double>(pictures * out * (in / groups)) * static_cast<double>(kh * kw * out_h() * out_w());
    }
    // "16x120x12x80 to 480, 5x5, stride 2, 120 groups"
    std::string name() const {
        const auto n = [](std::size_t size) { return std::to_string(size); };
        return n(pictures) + "x" + n(in) + "x" + n(h) + "x" + n(w) + " to " + n(out) + ", " + n(kh) + "x" + n(kw) +
               (stride > 1 ? ", stride " + n(stride) : "") + (groups > 1 ? ", " + n(groups) + " groups" : "");
    }
};

// Of networks that find and read text, then of those that classify pictures.
inline const std::vector<Convolution> convolutions = {
    {1, 3, 640, 640, 16, 3, 3, 2},       {1, 16, 320, 320, 16, 3, 3, 1, 16},
    {1, 16, 320, 320, 32, 1, 1},         {1, 64, 160, 160, 64, 3, 3},
    {1, 64, 160, 160, 64, 3, 3, 1, 64},  {1, 96, 80, 80, 96, 5, 5, 1, 96},
    {1, 96, 160, 160, 96, 5, 5, 2, 96},  {1, 256, 40, 40, 256, 1, 1},
    {1, 256, 40, 40, 64, 9, 9},          {1, 64, 80, 80, 128, 3, 3},
    {1, 96, 160, 160, 24, 3, 3},         {1, 24, 320, 320, 4, 1, 1},
    {1, 120, 12, 80, 480, 1, 1},         {16, 120, 12, 80, 480, 1, 1},
    {1, 240, 12, 80, 240, 5, 5, 1, 240}, {16, 240, 12, 80, 240, 5, 5, 1, 240},
    {1, 480, 1, 80, 120, 1, 3},          {1, 3, 224, 224, 64, 7, 7, 2},
    {1, 64, 56, 56, 64, 3, 3},           {1, 128, 28, 28, 128, 3, 3},
    {1, 256, 14, 14, 1024, 1, 1},        {1, 512, 14, 14, 512, 3, 3},
    {1, 512, 7, 7, 512, 3, 3},           {1, 2048, 7, 7, 512, 1, 1},
    {1, 512, 28, 28, 1024, 1, 1, 2},     {1, 256, 56, 56, 256, 3, 3},
    {8, 256, 56, 56, 256, 3, 3},         {1, 128, 56, 56, 128, 3, 3, 1, 32}};

// A convolution's tensors on a backend.
struct Operands {
    Tensor x, weight;
    Conv2dOptions options;  // with the bias and where the result goes

    Operands(Backend& backend, const Convolution& c) : options(c.options()) {
        const auto values = [&](Shape shape) {
            std::vector<float> list(shape.size());
            for (std::size_t i = 0; i < list.size(); i++) list[i] = static_cast<float>(i * 7 % 13) - 6;
            return backend.upload(list, shape);
        };
        x = values({c.pictures, c.in, c.h, c.w});
        weight = values({c.out, c.in / c.groups, c.kh, c.kw});
        options.bias = values({c.out});
        options.out = backend.conv2d(x, weight, options);
    }
};

// Of one run among many in a row, the best of three rows of about `budget` seconds; of one run where that takes longer.
template <typename Work>
double seconds_each(Backend& backend, double budget, const Work& work) {
    const auto run = [&](std::int64_t n) {
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < n; i++) work();
        backend.finish();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    run(1);  // compiles
    std::int64_t n = 1;
    double took = run(n);
    while (took < budget / 4) took = run(n *= 2);
    if (took < budget) n *= 4;
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; i++) best = std::min(best, run(n) / static_cast<double>(n));
    return best;
}

}  // namespace shunt::cli
