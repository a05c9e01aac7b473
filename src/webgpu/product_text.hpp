// The texts of the kernels for products: a family whose loops are unrolled, one text a tile and form.
#pragma once

#include <cstdint>
#include <string>

namespace shunt::webgpu {

// A workgroup computes bm×bn outputs, bk of k at a time. An invocation has tm×tn of them, and there
// are `slices` groups of such invocations, each taking bk/slices of every bk; their sums are joined in
// order at the end. tm and tn are multiples of 4, and so is bk/slices.
struct Tile {
    std::uint32_t bm, bn, bk, tm, tn, slices;

    constexpr std::uint32_t invocations() const { return (bm / tm) * (bn / tn) * slices; }
    constexpr std::uint32_t workgroup_bytes() const { return (bm + bn) * bk * 4; }
    bool operator==(const Tile&) const = default;
};

// Rows and columns of a convolution's kernel.
struct Window {
    std::uint32_t rows = 0, cols = 0;

    bool operator==(const Window&) const = default;
};

// What else a text depends on. `fours`: read, or written, four values at a time; see in_fours.
struct ProductForm {
    bool trans_a = false, trans_b = false;
    bool a_fours = false, b_fours = false, c_fours = false;
    bool row_sums = false;  // leaves Σ_k a[i][k] at c[s0 + i] too
    bool row_bias = false;  // e is a bias for rows of c, not for columns
    bool batch = false;     // a product for each z of the grid
    // Given: b is a picture, read as the matrix of all places of this window, and the product is the
    // picture's convolution with the filters a. With row_bias and batch, without b_fours and c_fours.
    Window window = {};
    bool any_activation = false;  // not only those with a gradient: training's texts stay short

    bool operator==(const ProductForm&) const = default;
};

// As the texts have them.
struct ProductParams {
    std::uint32_t m, n, k, a0, a_stride, b0, b_stride, c0, c_stride, e0, e_stride, flags, kind, s0;
    float alpha, beta;
    // With `batch`: product z has member (z + turn) % members of a and e.
    std::uint32_t turn, members, a_each, b_each, c_each, e_each;
    // With `window`: the first column's place in the output, sizes of the picture (of a channel:
    // b_stride), columns of the output.
    std::uint32_t first, h, w, ow, sh, sw, ph, pw, dh, dw;
};

// Whether rows of `length` values, `stride` apart, the first at `first`, are whole aligned fours.
constexpr bool in_fours(std::uint64_t first, std::uint64_t stride, std::uint64_t length) {
    return first % 4 == 0 && stride % 4 == 0 && length % 4 == 0;
}

// WGSL, to stand after common.wgsl. Bindings a, b, e, c and the Params of product.cpp.
std::string product_text(const Tile& tile, const ProductForm& form);

// A name for it, such as product_64x64x16_8x8_1_nt_ab.
std::string product_name(const Tile& tile, const ProductForm& form);

}  // namespace shunt::webgpu
