// Convolutions on the card.
#pragma once

#include "shunt/backend.hpp"
#include "webgpu/convolution_text.hpp"
#include "webgpu/launcher.hpp"

namespace shunt::webgpu {

struct ConvolutionShape {
    std::uint64_t pictures, h, w, oh, ow;
    std::uint64_t groups, in_group, out_group;  // channels and filters of a group
    std::uint64_t kh, kw;
    std::array<std::uint64_t, 2> stride, pad, dilation;

    std::uint64_t window() const { return kh * kw; }
    std::uint64_t k() const { return in_group * window(); }
    std::uint64_t in_plane() const { return h * w; }
    std::uint64_t out_plane() const { return oh * ow; }
    bool one_value() const;      // a window of one value, at each place of the picture
    bool whole_picture() const;  // a window that is the picture
};

ConvolutionShape shape_of(const Tensor& x, const Tensor& weight, const Conv2dOptions& options, const Tensor& y);

enum class ConvolutionWay {
    dense,    // pictures · filtersᵀ, where the window is the whole picture
    product,  // filters · picture, where the window is one value
    window,   // filters · the matrix of all windows, which the product reads out of the picture
    direct,   // each filter on its own
};

struct ConvolutionChoice {
    ConvolutionWay way = ConvolutionWay::window;
    Tile tile = {};          // of products
    std::uint32_t down = 1;  // of direct: outputs of an invocation
    // Of window, without groups: channels are summed up in so many parts side by side, then joined.
    std::uint32_t parts = 1;

    bool operator==(const ConvolutionChoice&) const = default;
};

// The tiles of convolutions: those of products, and two for few filters and many places.
inline constexpr Tile flat_tile{32, 128, 16, 8, 8, 1}, low_tile{16, 128, 16, 4, 8, 1};

// A function of shape alone, so that sums always run in the same order, however a card's limits cut it.
ConvolutionChoice choose_convolution(const ConvolutionShape& shape);

// What is computed in one dispatch: groups of pictures one after the other, and of each so many filters,
// places and channels. More than one group: all filters and channels.
struct ConvolutionPiece {
    std::uint64_t groups, filters, places, channels;
};

struct ConvolutionLimits {
    std::uint64_t most_values;   // in a binding
    std::uint64_t most_groups;   // along a side of a grid
    std::uint64_t rows, places;  // of outputs in a workgroup
    bool filters_in_z;           // each filter has a place along z, not each group
};

// Error `unsupported`: a plane of a picture, or a window, that no binding holds.
ConvolutionPiece piece_of(const ConvolutionShape& shape, const ConvolutionLimits& limits);

// y = activation(bias + x ⊛ weight), as Backend::conv2d. `forced`: instead of the chosen way, for tests
// and measurements.
void convolution(Launcher& card, const Tensor& x, const Tensor& weight, const Conv2dOptions& options, const Tensor& y,
                 const ConvolutionChoice* forced = nullptr);

}  // namespace shunt::webgpu
