// Products on the card: each shape many times over in one go, every one after the other, for 50 ms or more.
// Prints `m n k form TFLOP/s microseconds tile`; in the form, a t stands for a transposed operand.
//
// product [TILE [LARGEST]]: TILE, such as 128x64x16:8x8:1 (bm×bn×bk, tm×tn, slices), instead of the one
// that each shape takes, or auto; shapes with a side above LARGEST (default 8192) are left out.
#include "webgpu/product.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace shunt;
using namespace shunt::webgpu;

struct Work {
    std::size_t m, n, k;
    bool trans_a = false, trans_b = false;
};

// 784-512-512-10 with batch 256 and 784-2048-2048-10 with batch 1024: forward, gradients of the weights
// and of the inputs. Then squares, one row, and what is not aligned.
const Work all[] = {
    {256, 512, 784, false, true},
    {256, 512, 512, false, true},
    {256, 10, 512, false, true},
    {512, 784, 256, true, false},
    {512, 512, 256, true, false},
    {10, 512, 256, true, false},
    {256, 512, 512, false, false},
    {256, 512, 10, false, false},
    {1024, 2048, 784, false, true},
    {1024, 2048, 2048, false, true},
    {1024, 10, 2048, false, true},
    {2048, 784, 1024, true, false},
    {2048, 2048, 1024, true, false},
    {10, 2048, 1024, true, false},
    {1024, 2048, 2048, false, false},
    {1024, 2048, 10, false, false},
    {512, 512, 512},
    {1024, 1024, 1024},
    {2048, 2048, 2048},
    {4096, 4096, 4096},
    {8192, 8192, 8192},
    {1, 4096, 4096},
    {4095, 4095, 4095},
};

Tensor random_matrix(Launcher& card, std::size_t rows, std::size_t cols) {
    std::vector<float> values(rows * cols);
    std::uint32_t state = 1;
    for (float& v : values) {
        state = state * 1664525u + 1013904223u;
        v = static_cast<float>(state >> 8) / 8388608.0f - 1;
    }
    const Tensor t = card.empty({rows, cols});
    card.recorder().write(block(t), 0, std::as_bytes(std::span(values)));
    return t;
}

double seconds_each(Launcher& card, const Work& w, const Tile& tile) {
    using clock = std::chrono::steady_clock;
    const Tensor a = w.trans_a ? random_matrix(card, w.k, w.m) : random_matrix(card, w.m, w.k),
                 b = w.trans_b ? random_matrix(card, w.n, w.k) : random_matrix(card, w.k, w.n),
                 c = card.empty({w.m, w.n});
    const auto run = [&](int n) {
        const auto start = clock::now();
        for (int i = 0; i < n; i++) product(card, a, b, c, w.trans_a, w.trans_b, {}, &tile);
        card.recorder().finish();
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    run(1);  // compiles
    int n = 1;
    while (run(n) < 0.05) n *= 2;
    double best = run(n);
    for (int i = 0; i < 3; i++) best = std::min(best, run(n));
    return best / n;
}

}  // namespace

int main(int argc, char** argv) try {
    Tile given{};
    const std::string wanted = argc > 1 ? argv[1] : "auto";
    if (wanted != "auto" && std::sscanf(wanted.c_str(), "%ux%ux%u:%ux%u:%u", &given.bm, &given.bn, &given.bk, &given.tm,
                                        &given.tn, &given.slices) != 6) {
        std::fprintf(stderr, "A tile is auto or like 128x64x16:8x8:1, not %s.\n", wanted.c_str());
        return 2;
    }
    const std::size_t largest = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 8192;
    Launcher card({});
    for (const Work& w : all) {
        if (std::max({w.m, w.n, w.k}) > largest) continue;
        const Tile& t = wanted == "auto" ? choose_tile(w.m, w.n) : given;
        const double seconds = seconds_each(card, w, t);
        const double operations = 2.0 * static_cast<double>(w.m) * static_cast<double>(w.n) * static_cast<double>(w.k);
        std::printf("%5zu %5zu %5zu %s%s %7.2f %10.1f %ux%ux%u:%ux%u:%u\n", w.m, w.n, w.k, w.trans_a ? "t" : "n",
                    w.trans_b ? "t" : "n", operations / seconds / 1e12, 1e6 * seconds, t.bm, t.bn, t.bk, t.tm, t.tn,
                    t.slices);
        std::fflush(stdout);
    }
} catch (const Error& e) {
    std::printf("%s\n", e.what());
    return e.fault() == Fault::no_gpu ? 0 : 1;
}
