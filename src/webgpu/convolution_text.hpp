// The texts of the kernels for convolutions of few channels and filters: unrolled, one for each window.
#pragma once

#include <string>

#include "webgpu/product_text.hpp"

namespace shunt::webgpu {

// An invocation has `down` outputs of a column, one below the other, of one filter, and reads each
// value of the picture once for all of them.
struct DirectForm {
    Window window;
    std::uint32_t stride = 1, dilation = 1;  // of rows
    std::uint32_t down = 1;

    bool operator==(const DirectForm&) const = default;
};

struct DirectParams {
    std::uint32_t n, oh, ow, h, w, sw, ph, pw, dw, n_c, flags, kind, x0, w0, b0, y0;
    // Channels of a group in x and in a filter; filters of a group, and filters in all; that of z = 0.
    std::uint32_t in_group, out_group, filters, turn;
    float alpha, beta;
};

// How many rows of the picture an invocation reads.
std::uint32_t rows_read(const DirectForm& form);

// WGSL, to stand after common.wgsl. Bindings x, weight, bias, y and DirectParams.
std::string direct_text(const DirectForm& form);

std::string direct_name(const DirectForm& form);  // such as direct_3x3_s1_d1_4

}  // namespace shunt::webgpu
