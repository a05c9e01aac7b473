// The text of the product kernels, and which of them takes a product.
//
// c = epilogue(a·b): a workgroup computes a tile of c, through tiles of a and b in workgroup memory.
// Text, since a product is fast only with its loop over k unrolled, which no shader compiler here does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace shunt::webgpu {

// bm × bn outputs a workgroup and tm × tn an invocation; bk of k at a time. With more than one slice the
// workgroup has that many sets of invocations, each with its share of every bk, and joins their sums in
// order at the end: for products with too few outputs to keep a card busy.
struct Tile {
    std::uint32_t bm = 0, bn = 0, bk = 0, tm = 0, tn = 0, slices = 1;

    std::uint32_t threads() const { return bm / tm * (bn / tn) * slices; }
};

// All of them need at most 16 KiB of workgroup memory and 256 invocations.
inline constexpr std::array<Tile, 4> tiles = {
    {{128, 128, 16, 8, 16, 1}, {64, 64, 16, 8, 8, 1}, {32, 32, 64, 4, 4, 4}, {16, 16, 128, 4, 4, 16}}};

// The largest tile of which there are enough to fill a card (it was measured on one of 132 processors),
// as its place in `tiles`.
std::size_t choose_tile(std::uint64_t m, std::uint64_t n);

// `in_quads`: what is contiguous in a and b comes in whole aligned vec4s.
std::string product_text(const Tile& tile, bool trans_a, bool trans_b, bool in_quads);

}  // namespace shunt::webgpu
