// Convolutions on the card.
#pragma once

#include "shunt/backend.hpp"
#include "webgpu/launcher.hpp"
#include "webgpu/product_text.hpp"

namespace shunt::webgpu {

struct ConvolutionShape {
    std::uint64_t pictures, h, w, oh, ow;
    std::uint64_t groups, in_group, out_group;  // channels and filters of a group
    std::uint64_t kh, kw;
    std::array<std::uint64_t, 2> stride, pad, dilation;

    std::uint64_t k() const { return in_group * kh * kw; }
    std::uint64_t in_plane() const { return h * w; }
    std::uint64_t out_plane() const { return oh * ow; }
};

enum class ConvolutionWay {
    product,  // filters · picture: a window of one value at each place
    window,   // filters · the matrix of all windows, which the product's loads read from the picture
    direct,   // a filter at a time
};

struct ConvolutionChoice {
    ConvolutionWay way = ConvolutionWay::window;
    Tile tile = {};  // of product and window

    bool operator==(const ConvolutionChoice&) const = default;
};

// A function of shape alone.
ConvolutionChoice choose_convolution(const ConvolutionShape& shape);

// y = activation(bias + x ⊛ weight), as Backend::conv2d. `forced`: instead of the chosen way, for tests
// and measurements.
void convolution(Launcher& card, const Tensor& x, const Tensor& weight, const Conv2dOptions& options, const Tensor& y,
                 const ConvolutionChoice* forced = nullptr);

}  // namespace shunt::webgpu
