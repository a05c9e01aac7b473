// Convolutions on a card, the ways and tiles beside the chosen one: `shunt bench conv` has the figures of what is
// chosen. A line for each convolution with the way that was chosen and its microseconds, and one with all the others.
//
// convolution [SECONDS [LIST]]
//
// With a LIST of bench/peers/onnx_convolutions.py, those of it.
#include "webgpu/convolution.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/convolution_list.hpp"
#include "cli/convolutions.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/product.hpp"

namespace {

using namespace shunt;
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

struct Timed {
    Backend& backend;
    Launcher& card;
    double budget;
};

void measure(const Timed& on, const std::string& what, const Tensor& x, const Tensor& weight, const Conv2dOptions& o) {
    const ConvolutionShape shape = shape_of(x, weight, o, o.out);
    const double chosen = cli::seconds_each(on.backend, on.budget, [&] { on.backend.conv2d(x, weight, o); });
    std::printf("%-44s %9.1f us  %s\n   ", what.c_str(), 1e6 * chosen, name(choose_convolution(shape)).c_str());
    for (const ConvolutionChoice& choice : others(shape)) {
        const double other =
            cli::seconds_each(on.backend, on.budget, [&] { convolution(on.card, x, weight, o, o.out, &choice); });
        std::printf(" %s: %.1f", name(choice).c_str(), 1e6 * other);
    }
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const TriedBackend card = try_backend("gpu");
    if (!card.backend) {
        std::printf("No card: %s\n", card.reason.c_str());
        return 0;
    }
    const Timed on{*card.backend, *launcher_of(*card.backend), argc > 1 ? std::atof(argv[1]) : 0.01};
    if (argc > 2) {
        for (const bench::Listed& c : bench::read_list(on.backend, argv[2], true))
            measure(on, c.line, c.x, c.weight, c.options);
        return 0;
    }
    for (const cli::Convolution& c : cli::convolutions) {
        const cli::Operands o(on.backend, c);
        measure(on, c.name(), o.x, o.weight, o.options);
    }
}
