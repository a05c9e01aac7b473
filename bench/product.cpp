// Products on a backend: each shape chained n times in one go, long enough for the chain's ends to vanish.
// Prints `m n k form microseconds TFLOP/s`; in the form, a t stands for a transposed operand.
//
// product [BACKEND] [SECONDS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "shunt/backend.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct Work {
    std::size_t m, n, k;
    bool trans_a = false, trans_b = false;
};

// 784-512-512-10 with batch 256 and 784-2048-2048-10 with batch 1024: forward, weight gradients, input
// gradients. Then squares, what is not aligned, and one row.
const std::vector<Work> all = {{256, 512, 784, false, true},
                               {256, 512, 512, false, true},
                               {256, 10, 512, false, true},
                               {512, 784, 256, true, false},
                               {512, 512, 256, true, false},
                               {10, 512, 256, true, false},
                               {256, 512, 512, false, false},
                               {256, 512, 10, false, false},
                               {1024, 2048, 784, false, true},
                               {1024, 2048, 2048, false, true},
                               {2048, 784, 1024, true, false},
                               {2048, 2048, 1024, true, false},
                               {1024, 2048, 2048},
                               {512, 512, 512},
                               {1024, 1024, 1024},
                               {2048, 2048, 2048},
                               {4096, 4096, 4096},
                               {4095, 4095, 4095},
                               {1000, 777, 333},
                               {1, 4096, 4096},
                               {8, 4096, 4096}};

double seconds_each(shunt::Backend& backend, const Work& w, double budget) {
    const auto matrix = [&](std::size_t rows, std::size_t cols) {
        std::vector<float> values(rows * cols);
        for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<float>(i * 7 % 13) - 6;
        return backend.upload(values, {rows, cols});
    };
    const shunt::Tensor a = w.trans_a ? matrix(w.k, w.m) : matrix(w.m, w.k),
                        b = w.trans_b ? matrix(w.n, w.k) : matrix(w.k, w.n), c = backend.zeros({w.m, w.n});
    const auto run = [&](int n) {
        const auto start = clock_type::now();
        for (int i = 0; i < n; i++) backend.matmul(a, b, {.trans_a = w.trans_a, .trans_b = w.trans_b, .out = c});
        backend.finish();
        return std::chrono::duration<double>(clock_type::now() - start).count();
    };
    run(2);
    int n = 1;
    while (run(n) < budget / 4) n *= 2;
    double best = 1e30;
    for (int i = 0; i < 3; i++) best = std::min(best, run(4 * n) / (4 * n));
    return best;
}

}  // namespace

int main(int argc, char** argv) {
    const auto backend = shunt::make_backend(argc > 1 ? argv[1] : "cpu");
    const double budget = argc > 2 ? std::atof(argv[2]) : 0.05;
    for (const Work& w : all) {
        const double seconds = seconds_each(*backend, w, budget);
        const double operations = 2.0 * static_cast<double>(w.m) * static_cast<double>(w.n) * static_cast<double>(w.k);
        std::printf("%5zu %5zu %5zu %s%s %10.1f us %7.2f TFLOP/s\n", w.m, w.n, w.k, w.trans_a ? "t" : "n",
                    w.trans_b ? "t" : "n", 1e6 * seconds, operations / seconds / 1e12);
        std::fflush(stdout);
    }
}
