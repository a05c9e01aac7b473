// How work is cut to a card's limits: pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace shunt::webgpu {

// `groups` workgroups as a grid whose every side is at most `most`; it may hold some more than asked
// for. Kernels number them along x, then y, then z. The caller keeps groups <= most³.
inline std::array<std::uint32_t, 3> fold(std::uint64_t groups, std::uint32_t most) {
    if (groups <= most) return {static_cast<std::uint32_t>(groups), 1, 1};
    const std::uint64_t rows = (groups + most - 1) / most;
    if (rows <= most) return {most, static_cast<std::uint32_t>(rows), 1};
    return {most, most, static_cast<std::uint32_t>((rows + most - 1) / most)};
}

// A block of a product whose operands each fit into a binding and whose tiles fit into a grid.
struct ProductBlock {
    std::uint64_t m = 0, n = 0, k = 0;
};

struct ProductLimits {
    std::uint64_t most_values = 0;  // in a binding
    std::uint64_t most_rows = 0;    // of c in a grid, and columns
    std::uint64_t most_k = 0;       // a loop can do
};

// Sizes are halved until the spans fit: rows of a where they are contiguous, else k, and so on.
inline ProductBlock block_of(std::uint64_t m, std::uint64_t n, std::uint64_t k, bool trans_a, bool trans_b,
                             const ProductLimits& limits) {
    ProductBlock b{std::min(m, limits.most_rows), std::min(n, limits.most_rows),
                   std::clamp<std::uint64_t>(k, 1, limits.most_k)};
    const auto span = [](std::uint64_t rows, std::uint64_t cols, std::uint64_t stride) {
        return rows == 0 || cols == 0 ? 0 : (rows - 1) * stride + cols;
    };
    const auto halve = [](std::uint64_t& size) { size = (size + 1) / 2; };
    while (b.m > 1 && span(b.m, b.n, n) > limits.most_values) halve(b.m);
    while (b.n > 1 && span(b.m, b.n, n) > limits.most_values) halve(b.n);
    while (true) {
        const std::uint64_t a = trans_a ? span(b.k, b.m, m) : span(b.m, b.k, k);
        if (a <= limits.most_values) break;
        if (!trans_a && b.m > 1) {
            halve(b.m);
        } else if (b.k > 1) {
            halve(b.k);
        } else {
            halve(b.m);
        }
    }
    while (true) {
        const std::uint64_t bb = trans_b ? span(b.n, b.k, k) : span(b.k, b.n, n);
        if (bb <= limits.most_values) break;
        if (trans_b && b.n > 1) {
            halve(b.n);
        } else if (b.k > 1) {
            halve(b.k);
        } else {
            halve(b.n);
        }
    }
    return b;
}

}  // namespace shunt::webgpu
