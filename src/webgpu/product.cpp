// Products: which kernel, and how they are cut into blocks that fit into bindings and grids.
#include "webgpu/product.hpp"

#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {
namespace {

std::uint64_t span(std::uint64_t rows, std::uint64_t cols, std::uint64_t stride) {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * stride + cols;
}

// A number for each text: looked up in every dispatch, where making a name takes 250 ns.
std::uint64_t number_of(const Tile& t, const ProductForm& form) {
    std::uint64_t number = 0;
    for (std::uint32_t size : {t.bm / 4, t.bn / 4, t.bk / 4, t.tm / 4, t.tn / 4, t.slices}) number = number << 8 | size;
    for (bool bit : {form.trans_a, form.trans_b, form.a_fours, form.b_fours, form.c_fours, form.row_sums, form.row_bias,
                     form.batch, form.any_activation})
        number = number << 1 | (bit ? 1u : 0u);
    return number;
}

// Products of equal sizes, one after the other in a, b and c; or all with the same a, or b.
class Batch {
public:
    Batch(Launcher& card, const Tensor& a, const Tensor& b, const Tensor& c, ProductBlock sizes, bool trans_a,
          bool trans_b, const Epilogue& epilogue, const Tile& tile)
        : card_(card), a_(a), b_(b), c_(c), s_(sizes), trans_a_(trans_a), trans_b_(trans_b), e_(epilogue), tile_(tile) {
        p_.a_stride = u32(trans_a ? s_.m : s_.k);
        p_.b_stride = u32(trans_b ? s_.k : s_.n);
        p_.c_stride = p_.e_stride = u32(s_.n);
        a_each_ = a.shape.rank() == 2 ? 0 : s_.m * s_.k;
        b_each_ = b.shape.rank() == 2 ? 0 : s_.k * s_.n;
        c_each_ = s_.m * s_.n;
    }

    void run() {
        const std::uint64_t most_rows = std::uint64_t{std::min(tile_.bm, tile_.bn)} * card_.most_groups(),
                            members = c_.size() / c_each_;
        const ProductBlock block =
            block_of(s_.m, s_.n, s_.k, trans_a_, trans_b_, {card_.most_values(), most_rows, 131072});
        std::uint64_t together = 1;
        if (block.m == s_.m && block.n == s_.n && block.k >= s_.k && !e_.outputs.exists()) {
            const std::uint64_t largest = std::max({a_each_, b_each_, c_each_});
            together = std::min<std::uint64_t>(card_.most_groups(), card_.most_values() / largest);
        }
        for (std::uint64_t i = 0; i < members; i += together) {
            count_ = std::min(together, members - i);
            run_members(block, i * a_each_, i * b_each_, i * c_each_);
        }
    }

private:
    void run_members(const ProductBlock& block, std::uint64_t a_first, std::uint64_t b_first, std::uint64_t c_first) {
        for (std::uint64_t i = 0; i < s_.m; i += block.m) {
            for (std::uint64_t j = 0; j < s_.n; j += block.n) {
                for (std::uint64_t l = 0; l == 0 || l < s_.k; l += block.k) {
                    run_block({i, j, l},
                              {std::min(block.m, s_.m - i), std::min(block.n, s_.n - j), std::min(block.k, s_.k - l)},
                              a_first + (trans_a_ ? l * s_.m + i : i * s_.k + l),
                              b_first + (trans_b_ ? j * s_.k + l : l * s_.n + j), c_first + i * s_.n + j);
                }
            }
        }
    }

    // `at` is where the block begins, `size` its sizes; pieces of k after the first add to the ones before.
    void run_block(ProductBlock at, ProductBlock size, std::uint64_t a_at, std::uint64_t b_at, std::uint64_t c_at) {
        const bool last = at.k + size.k >= s_.k, none = size.k == 0;
        const std::uint64_t others = count_ - 1, c_span = others * c_each_ + span(size.m, size.n, s_.n),
                            a_span = trans_a_ ? span(size.k, size.m, s_.m) : span(size.m, size.k, s_.k),
                            b_span = trans_b_ ? span(size.n, size.k, s_.k) : span(size.k, size.n, s_.n);
        const Slice a = none ? card_.nothing(0) : card_.slice(a_, a_at, others * a_each_ + a_span);
        const Slice b = none ? card_.nothing(0) : card_.slice(b_, b_at, others * b_each_ + b_span);
        const Slice c = card_.slice(c_, c_at, c_span);
        const Slice e = e_.bias.exists()
                            ? card_.slice(e_.bias, e_.row_bias ? at.m : at.n, e_.row_bias ? size.m : size.n)
                        : e_.outputs.exists() ? card_.slice(e_.outputs, c_at, c_span)
                                              : card_.nothing(0);
        p_.m = u32(size.m), p_.n = u32(size.n), p_.k = u32(size.k);
        p_.a0 = a.first, p_.b0 = b.first, p_.c0 = c.first, p_.e0 = e.first;
        p_.flags = (e_.bias.exists() && at.k == 0 ? 1u : 0u) | (e_.accumulate || at.k > 0 ? 2u : 0u) |
                   (e_.outputs.exists() && last ? 4u : 0u);
        p_.kind = last ? kind_of(e_.activation.kind) : 0;
        p_.alpha = e_.activation.alpha, p_.beta = e_.activation.beta;
        ProductForm form{trans_a_, trans_b_};
        form.a_fours = in_fours(a.first, p_.a_stride, trans_a_ ? size.m : size.k);
        form.b_fours = in_fours(b.first, p_.b_stride, trans_b_ ? size.k : size.n);
        form.c_fours = in_fours(c.first, p_.c_stride, size.n) && (e.first % 4 == 0 || e_.row_bias);
        form.row_sums = e_.row_sums.exists() && at.n == 0;
        if (form.row_sums) p_.s0 = card_.slice(e_.row_sums, at.m, size.m).first;
        form.row_bias = e_.row_bias;
        form.any_activation = last && !has_gradient(e_.activation.kind);
        form.batch = count_ > 1;
        p_.members = a_each_ == 0 ? 1 : u32(count_);
        p_.a_each = u32(a_each_), p_.b_each = u32(b_each_), p_.c_each = u32(c_each_);
        card_.run(product_kernel(card_, tile_, form), {a, b, e, c}, p_,
                  {u32((size.n + tile_.bn - 1) / tile_.bn), u32((size.m + tile_.bm - 1) / tile_.bm), u32(count_)});
    }

    Launcher& card_;
    const Tensor &a_, &b_, &c_;
    ProductBlock s_;
    bool trans_a_, trans_b_;
    const Epilogue& e_;
    const Tile& tile_;
    ProductParams p_{};
    std::uint64_t a_each_ = 0, b_each_ = 0, c_each_ = 0, count_ = 1;  // of the batch, in this dispatch
};

}  // namespace

const Kernel& product_kernel(Launcher& card, const Tile& tile, const ProductForm& form) {
    const Kernel*& made = card.made[{number_of(tile, form), std::uint64_t{form.window.rows} << 32 | form.window.cols}];
    if (!made) made = &card.made_kernel(product_name(tile, form), product_text(tile, form));
    return *made;
}

const Tile& choose_tile(std::uint64_t m, std::uint64_t n) {
    // So many groups fill a card, measured on one with 132 processors. Fewer of the small tile do: the
    // thin one reads twice as much for each output.
    constexpr std::uint64_t enough = 192, enough_small = 64;
    const auto takes = [&](const Tile& t, std::uint64_t groups) {
        return m > t.bm / 2 && n > t.bn / 2 && ((m + t.bm - 1) / t.bm) * ((n + t.bn - 1) / t.bn) >= groups;
    };
    if (takes(large_tile, enough)) return large_tile;
    if (takes(middle_tile, enough)) return middle_tile;
    if (takes(small_tile, enough_small)) return small_tile;
    return thin_tile;
}

void product(Launcher& card, const Tensor& a, const Tensor& b, const Tensor& c, bool trans_a, bool trans_b,
             const Epilogue& epilogue, const Tile* tile) {
    const auto shares = [&](const Tensor& t) { return t.exists() && t.storage == c.storage; };
    if (shares(a) || shares(b) || shares(epilogue.bias) || shares(epilogue.outputs)) {
        // A dispatch cannot read and write one buffer.
        const Tensor apart = card.empty(c.shape);
        if (epilogue.accumulate) card.copy(c, apart);
        product(card, a, b, apart, trans_a, trans_b, epilogue, tile);
        return card.copy(apart, c);
    }
    const std::uint64_t m = c.shape[c.shape.rank() - 2], n = c.cols(),
                        k = trans_a ? a.shape[a.shape.rank() - 2] : a.cols();
    Batch(card, a, b, c, {m, n, k}, trans_a, trans_b, epilogue, tile ? *tile : choose_tile(m, n)).run();
}

}  // namespace shunt::webgpu
