// The convolutions of a network, one after the other on resident tensors, as one number to compare with others'.
//
// convolutions_of LIST [--backend gpu] [--each]
//
// A line of LIST: n c h w  filters kh kw  stride_h stride_w  pad_h pad_w  dilation_h dilation_w  groups, as
// bench/peers/onnx_convolutions.py writes it, which also times them by ONNX Runtime. --each: a line for each, too.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "bench/convolution_list.hpp"

namespace {

using namespace shunt::bench;
using Clock = std::chrono::steady_clock;

constexpr int repeats = 10, rounds = 9;

// Of one pass over `all`; the median of nine rounds.
double seconds_of(shunt::Backend& backend, std::span<const Listed> all, int passes) {
    std::vector<double> times;
    for (int i = 0; i <= rounds; i++) {
        const auto start = Clock::now();
        for (int pass = 0; pass < passes; pass++)
            for (const Listed& one : all) backend.conv2d(one.x, one.weight, one.options);
        backend.finish();
        const double took = std::chrono::duration<double>(Clock::now() - start).count() / passes;
        if (i > 0) times.push_back(took);  // the first one compiles
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
}

int measure(const std::string& path, const std::string& name, bool each) {
    const auto backend = shunt::make_backend(name);
    const std::vector<Listed> all = read_list(*backend, path);
    if (each) {
        for (const Listed& one : all)
            std::printf("%9.1f us  %s\n", 1e6 * seconds_of(*backend, {&one, 1}, 10 * repeats), one.line.c_str());
    }
    std::printf("%s: %zu convolutions by %s: %.1f us\n", path.c_str(), all.size(), name.c_str(),
                1e6 * seconds_of(*backend, all, repeats));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::string path, backend = "gpu";
    bool each = false;
    for (int i = 1; i < argc; i++) {
        const std::string argument = argv[i];
        if (argument == "--each") {
            each = true;
        } else if (argument == "--backend" && i + 1 < argc) {
            backend = argv[++i];
        } else {
            path = argument;
        }
    }
    try {
        return measure(path, backend, each);
    } catch (const shunt::Error& error) {
        std::fprintf(stderr, "convolutions_of: %s\n", error.what());
        return 1;
    }
}
