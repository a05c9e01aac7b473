// Convolutions on a backend: each one n times in one go on resident tensors. Prints shape, microseconds
// and GFLOP/s; for a card which way was chosen, and behind it the other ways and tiles in microseconds.
//
// convolution [BACKEND] [SECONDS]; without one, on a card where there is one.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "shunt/backend.hpp"
#ifdef SHUNT_BENCH_GPU
#include "webgpu/backend.hpp"
#include "webgpu/convolution.hpp"
#include "webgpu/product.hpp"
#endif

namespace {

using clock_type = std::chrono::steady_clock;

struct Work {
    std::size_t pictures, in, h, w, out, kh, kw, stride = 1, groups = 1;

    shunt::Conv2dOptions options() const {
        shunt::Conv2dOptions o;
        o.stride = {stride, stride}, o.pad = {kh / 2, kw / 2}, o.groups = groups;
        o.activation = shunt::Activation::relu;
        return o;
    }
};

// Of networks that find and read text, then of those that classify pictures.
const std::vector<Work> all = {{1, 3, 640, 640, 16, 3, 3, 2},       {1, 16, 320, 320, 16, 3, 3, 1, 16},
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

double seconds_each(shunt::Backend& backend, double budget, const std::function<void()>& work) {
    const auto run = [&](int n) {
        const auto start = clock_type::now();
        for (int i = 0; i < n; i++) work();
        backend.finish();
        return std::chrono::duration<double>(clock_type::now() - start).count();
    };
    run(1);
    int n = 1;
    while (run(n) < budget / 4) n *= 2;
    double best = 1e30;
    for (int i = 0; i < 3; i++) best = std::min(best, run(4 * n) / (4 * n));
    return best;
}

#ifdef SHUNT_BENCH_GPU
using namespace shunt::webgpu;

std::string name(const ConvolutionChoice& c) {
    const char* const ways[] = {"dense", "product", "window", "direct"};
    std::string text = ways[static_cast<int>(c.way)];
    if (c.way == ConvolutionWay::direct) return text + " " + std::to_string(c.down);
    text += " " + std::to_string(c.tile.bm) + "x" + std::to_string(c.tile.bn);
    return c.parts > 1 ? text + "/" + std::to_string(c.parts) : text;
}

std::vector<ConvolutionChoice> others(const ConvolutionShape& s) {
    std::vector<ConvolutionChoice> list;
    for (const Tile& t : {large_tile, middle_tile, flat_tile, low_tile, small_tile, thin_tile}) {
        if (s.in_group == 1 && t != low_tile) continue;  // depthwise: one will do
        if (s.one_value()) list.push_back({ConvolutionWay::product, t});
        list.push_back({ConvolutionWay::window, t});
        const bool few = s.pictures * s.out_plane() <= 3136 && s.groups == 1;
        for (std::uint32_t parts : {4u, 16u})
            if (few && s.in_group % parts == 0 && s.k() / parts >= 64)
                list.push_back({ConvolutionWay::window, t, 1, parts});
    }
    if (s.k() <= 256 && s.window() <= 64 && s.out_group <= 16)
        for (std::uint32_t down : {1u, 2u, 4u}) list.push_back({ConvolutionWay::direct, {}, down});
    return list;
}
#endif

void measure(shunt::Backend& backend, const Work& w, double budget) {
    const auto values = [&](shunt::Shape shape) {
        std::vector<float> list(shape.size());
        for (std::size_t i = 0; i < list.size(); i++) list[i] = static_cast<float>(i * 7 % 13) - 6;
        return backend.upload(list, shape);
    };
    const shunt::Tensor x = values({w.pictures, w.in, w.h, w.w}), weight = values({w.out, w.in / w.groups, w.kh, w.kw});
    shunt::Conv2dOptions o = w.options();
    o.bias = values({w.out});
    o.out = backend.conv2d(x, weight, o);
    const double seconds = seconds_each(backend, budget, [&] { backend.conv2d(x, weight, o); });
    const double operations = 2.0 * static_cast<double>(o.out.size() * weight.size() / w.out);
    std::printf("%2zux%zux%zux%zu -> %zu %zux%zu s%zu g%zu %9.1f us %8.1f GFLOP/s", w.pictures, w.in, w.h, w.w, w.out,
                w.kh, w.kw, w.stride, w.groups, 1e6 * seconds, operations / seconds / 1e9);
#ifdef SHUNT_BENCH_GPU
    if (Launcher* card = launcher_of(backend)) {
        const ConvolutionShape shape = shape_of(x, weight, o, o.out);
        std::printf("  %s\n   ", name(choose_convolution(shape)).c_str());
        for (const ConvolutionChoice& choice : others(shape)) {
            const double other =
                seconds_each(backend, budget, [&] { convolution(*card, x, weight, o, o.out, &choice); });
            std::printf(" %s: %.1f", name(choice).c_str(), 1e6 * other);
        }
    }
#endif
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const char* found = shunt::try_backend("gpu").backend ? "gpu" : "cpu";
    const auto backend = shunt::make_backend(argc > 1 ? argv[1] : found);
    const double budget = argc > 2 ? std::atof(argv[2]) : 0.01;
    for (const Work& w : all) measure(*backend, w, budget);
}
