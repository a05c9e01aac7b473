// Products: cut into blocks that fit into bindings and grids.
#include "webgpu/product.hpp"

#include "webgpu/product_text.hpp"

namespace shunt::webgpu {
namespace {

std::uint64_t span(std::uint64_t rows, std::uint64_t cols, std::uint64_t stride) {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * stride + cols;
}

struct Params {
    std::uint32_t m, n, k, a0, a_row, a_col, b0, b_row, b_col, c0, c_row, e0, e_row, flags, kind, s0;
};

// One member of a batch: where its matrices begin, and their sizes.
class Member {
public:
    Member(Launcher& card, const Tensor& a, const Tensor& b, const Tensor& c, ProductBlock sizes, bool trans_a,
           bool trans_b, const Epilogue& epilogue)
        : card_(card), a_(a), b_(b), c_(c), s_(sizes), trans_a_(trans_a), trans_b_(trans_b), e_(epilogue) {
        p_.a_row = trans_a ? 1 : u32(s_.k), p_.a_col = trans_a ? u32(s_.m) : 1;
        p_.b_row = trans_b ? 1 : u32(s_.n), p_.b_col = trans_b ? u32(s_.k) : 1;
        p_.c_row = p_.e_row = u32(s_.n);
    }

    void run(std::uint64_t a_first, std::uint64_t b_first, std::uint64_t c_first) {
        const ProductBlock block = block_of(s_.m, s_.n, s_.k, trans_a_, trans_b_,
                                            {card_.most_values(), std::uint64_t{16} * card_.most_groups(), 131072});
        for (std::uint64_t i = 0; i < s_.m; i += block.m) {
            for (std::uint64_t j = 0; j < s_.n; j += block.n) {
                for (std::uint64_t l = 0; l == 0 || l < s_.k; l += block.k) {
                    run_block({i, j, l},
                              {std::min(block.m, s_.m - i), std::min(block.n, s_.n - j), std::min(block.k, s_.k - l)},
                              a_first + i * p_.a_row + l * p_.a_col, b_first + l * p_.b_row + j * p_.b_col,
                              c_first + i * s_.n + j);
                }
            }
        }
    }

private:
    // `at` is where the block begins, `size` its sizes; pieces of k after the first add to the ones before.
    void run_block(ProductBlock at, ProductBlock size, std::uint64_t a_at, std::uint64_t b_at, std::uint64_t c_at) {
        const bool last = at.k + size.k >= s_.k, none = size.k == 0;
        const std::uint64_t c_span = span(size.m, size.n, s_.n);
        const Slice a = none
                            ? card_.nothing(0)
                            : card_.slice(a_, a_at, trans_a_ ? span(size.k, size.m, s_.m) : span(size.m, size.k, s_.k));
        const Slice b = none
                            ? card_.nothing(0)
                            : card_.slice(b_, b_at, trans_b_ ? span(size.n, size.k, s_.k) : span(size.k, size.n, s_.n));
        const Slice c = card_.slice(c_, c_at, c_span);
        const Slice e = e_.bias.exists()      ? card_.slice(e_.bias, at.n, size.n)
                        : e_.outputs.exists() ? card_.slice(e_.outputs, c_at, c_span)
                                              : card_.nothing(0);
        p_.m = u32(size.m), p_.n = u32(size.n), p_.k = u32(size.k);
        p_.a0 = a.first, p_.b0 = b.first, p_.c0 = c.first, p_.e0 = e.first;
        p_.flags = (e_.bias.exists() && at.k == 0 ? 1u : 0u) | (e_.accumulate || at.k > 0 ? 2u : 0u) |
                   (e_.outputs.exists() && last ? 4u : 0u);
        p_.kind = last ? static_cast<std::uint32_t>(e_.activation) : 0;
        if (e_.row_sums.exists()) {
            p_.flags |= 8u;
            p_.s0 = card_.slice(e_.row_sums, at.m, size.m).first;
        }
        const std::size_t choice = choose_tile(size.m, size.n);
        const Tile& tile = tiles[choice];
        const bool in_quads = (a.first | b.first) % 4 == 0 && whole_quads(trans_a_, size.m, s_.m, size.k, s_.k) &&
                              whole_quads(!trans_b_, size.n, s_.n, size.k, s_.k);
        card_.run(kernel(choice, in_quads), {a, b, e, c}, p_,
                  {u32((size.n + tile.bn - 1) / tile.bn), u32((size.m + tile.bm - 1) / tile.bm), 1});
    }

    // Whether what is contiguous in an operand comes in whole vec4s: `outer` of rows of `outer_all`, or k.
    static bool whole_quads(bool along, std::uint64_t outer, std::uint64_t outer_all, std::uint64_t k,
                            std::uint64_t k_all) {
        return (along ? outer | outer_all : k | k_all) % 4 == 0;
    }

    const Kernel& kernel(std::size_t choice, bool in_quads) {
        const Kernel*& made =
            card_.products[choice * 8 + (trans_a_ ? 4u : 0u) + (trans_b_ ? 2u : 0u) + (in_quads ? 1u : 0u)];
        if (!made) made = &card_.made_kernel("matmul", product_text(tiles[choice], trans_a_, trans_b_, in_quads));
        return *made;
    }

    Launcher& card_;
    const Tensor &a_, &b_, &c_;
    ProductBlock s_;
    bool trans_a_, trans_b_;
    const Epilogue& e_;
    Params p_{};
};

}  // namespace

void product(Launcher& card, const Tensor& a, const Tensor& b, const Tensor& c, bool trans_a, bool trans_b,
             const Epilogue& epilogue) {
    const auto shares = [&](const Tensor& t) { return t.exists() && t.storage == c.storage; };
    if (shares(a) || shares(b) || shares(epilogue.bias) || shares(epilogue.outputs)) {
        // A dispatch cannot read and write one buffer.
        const Tensor apart = card.empty(c.shape);
        if (epilogue.accumulate) card.copy(c, apart);
        product(card, a, b, apart, trans_a, trans_b, epilogue);
        return card.copy(apart, c);
    }
    const std::uint64_t m = c.shape[c.shape.rank() - 2], n = c.cols(),
                        k = trans_a ? a.shape[a.shape.rank() - 2] : a.cols();
    const std::uint64_t a_each = a.shape.rank() == 2 ? 0 : m * k, b_each = b.shape.rank() == 2 ? 0 : k * n;
    Member member(card, a, b, c, {m, n, k}, trans_a, trans_b, epilogue);
    for (std::uint64_t i = 0; i < c.size() / (m * n); i++) member.run(i * a_each, i * b_each, i * m * n);
}

}  // namespace shunt::webgpu
