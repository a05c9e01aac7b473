// Convolutions: which way, and how they are cut into pieces that fit into bindings and grids.
#include "webgpu/convolution.hpp"

#include <algorithm>
#include <cmath>

#include "webgpu/product.hpp"
#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {
namespace {

std::uint64_t up(std::uint64_t n, std::uint64_t d) {
    return (n + d - 1) / d;
}

DirectForm direct_form(const ConvolutionShape& s, std::uint32_t down) {
    return {{u32(s.kh), u32(s.kw)}, u32(s.stride[0]), u32(s.dilation[0]), down};
}

// As many outputs below each other as make for the fewest reads.
std::uint32_t choose_down(const ConvolutionShape& s) {
    std::uint32_t best = 1;
    std::uint64_t least = s.oh * s.kh;
    for (std::uint32_t down : {2u, 4u}) {
        const std::uint64_t reads = up(s.oh, down) * rows_read(direct_form(s, down));
        if (reads < least) best = down, least = reads;
    }
    return best;
}

// A tile, the share of a chip's arithmetic that it reaches where there are many groups of it, and how
// many of them a processor needs for that.
struct Candidate {
    Tile tile;
    double share, needed;
};

// Of one H200: docs/decisions.md says which of them follow from measurements.
constexpr double processors = 132, multiply_adds_a_microsecond = 2.2e5;  // of a processor
constexpr Candidate candidates[] = {{large_tile, 0.65, 2}, {middle_tile, 0.57, 2.7}, {flat_tile, 0.5, 2.7},
                                    {low_tile, 0.35, 2.7}, {small_tile, 0.44, 2},    {thin_tile, 0.15, 1.5}};

// Microseconds that a dispatch with this tile takes.
double estimated(const ConvolutionShape& s, const Candidate& c, std::uint32_t parts) {
    const Tile& t = c.tile;
    const auto groups =
                   static_cast<double>(up(s.out_group, t.bm) * up(s.out_plane(), t.bn) * s.pictures * s.groups * parts),
               work = static_cast<double>(t.bm * t.bn * up(s.k() / parts, t.bk) * t.bk);
    return work * std::max(std::ceil(groups / processors), c.needed) / c.share / multiply_adds_a_microsecond;
}

// Another dispatch, which reads all parts.
double estimated_join(const ConvolutionShape& s, std::uint32_t parts) {
    const auto values = static_cast<double>((parts + 1) * s.pictures * s.out_group * s.out_plane());
    return 5 + values / 5e5;
}

ConvolutionChoice choose_tile_and_parts(const ConvolutionShape& s) {
    ConvolutionChoice best;
    double least = 0;
    for (std::uint32_t parts : {1u, 2u, 4u, 8u, 16u}) {
        if (parts > 1 && (s.groups > 1 || s.in_group % parts != 0 || s.k() / parts < 256)) continue;
        for (const Candidate& c : candidates) {
            const double cost = estimated(s, c, parts) + (parts > 1 ? estimated_join(s, parts) : 0);
            if (least == 0 || cost < least) best = {ConvolutionWay::window, c.tile, 1, parts}, least = cost;
        }
    }
    return best;
}

}  // namespace

ConvolutionShape shape_of(const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y) {
    ConvolutionShape s{};
    s.pictures = x.shape[0], s.h = x.shape[2], s.w = x.shape[3], s.oh = y.shape[2], s.ow = y.shape[3];
    s.groups = o.groups, s.in_group = weight.shape[1], s.out_group = weight.shape[0] / o.groups;
    s.kh = weight.shape[2], s.kw = weight.shape[3];
    s.stride = {o.stride[0], o.stride[1]}, s.pad = {o.pad[0], o.pad[1]}, s.dilation = {o.dilation[0], o.dilation[1]};
    return s;
}

bool ConvolutionShape::one_value() const {
    return window() == 1 && stride == std::array<std::uint64_t, 2>{1, 1} && oh == h && ow == w && groups == 1;
}

bool ConvolutionShape::whole_picture() const {
    return kh == h && kw == w && oh * ow == 1 && pad == std::array<std::uint64_t, 2>{0, 0} && groups == 1 &&
           (dilation == std::array<std::uint64_t, 2>{1, 1} || window() == 1);
}

ConvolutionChoice choose_convolution(const ConvolutionShape& s) {
    if (s.whole_picture()) return {ConvolutionWay::dense, choose_tile(s.pictures, s.out_group)};
    // With so few filters a tile would be mostly empty; longer sums are better split over a workgroup.
    if (s.out_group <= 4 && s.k() <= 128 && s.window() <= 64) return {ConvolutionWay::direct, {}, choose_down(s)};
    ConvolutionChoice choice = choose_tile_and_parts(s);
    // Where rows are not in fours, windows read neighbours by neighbours.
    if (s.one_value() && s.out_plane() % 4 == 0 && choice.parts == 1) choice.way = ConvolutionWay::product;
    return choice;
}

ConvolutionPiece piece_of(const ConvolutionShape& s, const ConvolutionLimits& limits) {
    const std::uint64_t most = limits.most_values, largest = std::max({s.in_plane(), s.out_plane(), s.window()});
    if (largest > most) {
        throw Error(Fault::unsupported, "conv2d: a plane of " + std::to_string(largest) +
                                            " values is past what the card takes in one binding, " +
                                            std::to_string(most) + ".");
    }
    constexpr std::uint64_t most_k = 131072;  // a loop's turns
    ConvolutionPiece p{};
    p.filters = std::min(s.out_group, limits.filters_in_z ? limits.most_groups : limits.most_groups * limits.rows);
    p.places = std::min(s.out_plane(), limits.most_groups * limits.places);
    p.channels = std::min(s.in_group, std::max<std::uint64_t>(1, most_k / s.window()));
    const std::uint64_t each = std::max(s.in_group * s.in_plane(), s.out_group * s.out_plane());
    if (p.filters == s.out_group && p.channels == s.in_group && each <= most &&
        s.groups * s.out_group * s.k() <= most) {
        p.groups = std::min({s.pictures * s.groups, most / each,
                             limits.filters_in_z ? limits.most_groups / s.out_group : limits.most_groups});
        return p;
    }
    p.groups = 1;
    p.channels = std::min(p.channels, most / s.in_plane());
    p.filters = std::min(p.filters, most / s.out_plane());
    const auto weights = [&] { return (p.filters - 1) * s.k() + p.channels * s.window(); };
    while (p.filters > 1 && weights() > most) p.filters = up(p.filters, 2);
    while (p.channels > 1 && weights() > most) p.channels = up(p.channels, 2);
    return p;
}

namespace {

// The pieces of a convolution, each with what it reads and writes.
class Pieces {
public:
    Pieces(Launcher& card, const ConvolutionShape& shape, const Tensor& x, const Tensor& weight,
           const Conv2dOptions& options, const Tensor& y, const ConvolutionChoice& choice)
        : card_(card), s_(shape), x_(x), weight_(weight), o_(options), y_(y), choice_(choice) {
        w_stride_ = s_.k();
        w_each_ = s_.out_group * s_.k();
    }

    void run() {
        const bool direct = choice_.way == ConvolutionWay::direct;
        const Tile& t = choice_.tile;
        // A direct one folds its places into two sides of a grid.
        const std::uint64_t places = direct ? s_.out_plane() : t.bn;
        ConvolutionPiece each = piece_of(s_, {card_.most_values(), card_.most_groups(), t.bm, places, direct});
        if (choice_.parts > 1) {
            if (std::max(choice_.parts * y_.size(), weight_.size()) <= card_.most_values()) return run_parts();
            each.groups = 1;  // one part after the other
            each.channels = std::min(each.channels, s_.in_group / choice_.parts);
        }
        for (std::uint64_t g = 0; g < s_.pictures * s_.groups; g += each.groups) {
            for (std::uint64_t f = 0; f < s_.out_group; f += each.filters) {
                for (std::uint64_t at = 0; at < s_.out_plane(); at += each.places) {
                    for (std::uint64_t c = 0; c < s_.in_group; c += each.channels) {
                        from_ = {g, f, at, c};
                        size_ = {std::min(each.groups, s_.pictures * s_.groups - g),
                                 std::min(each.filters, s_.out_group - f), std::min(each.places, s_.out_plane() - at),
                                 std::min(each.channels, s_.in_group - c)};
                        bind();
                        direct ? run_direct() : run_window();
                    }
                }
            }
        }
    }

private:
    // Parts are groups of channels that have all filters, side by side in the rows of the weights.
    void run_parts() {
        ConvolutionShape each = s_;
        each.groups = choice_.parts;
        each.in_group = s_.in_group / choice_.parts;
        const Tensor sums = card_.empty({s_.pictures, choice_.parts, s_.out_group, s_.out_plane()});
        const Conv2dOptions bare;
        Pieces parts(card_, each, x_, weight_, bare, sums, {ConvolutionWay::window, choice_.tile});
        parts.w_stride_ = s_.k();
        parts.w_each_ = each.k();
        parts.run();
        const Slice ss = card_.slice(sums, 0, sums.size()), ys = card_.slice(y_, 0, y_.size());
        const Slice bs = o_.bias.exists() ? card_.slice(o_.bias, 0, o_.bias.size()) : card_.nothing(0);
        struct {
            std::uint32_t n, plane, filters, parts, flags, kind, s0, b0, y0;
            float alpha, beta;
        } params{u32(y_.size()),
                 u32(s_.out_plane()),
                 u32(s_.out_group),
                 choice_.parts,
                 o_.bias.exists() ? 1u : 0u,
                 kind_of(o_.activation.kind),
                 ss.first,
                 bs.first,
                 ys.first,
                 o_.activation.alpha,
                 o_.activation.beta};
        card_.run("join", {ss, bs, ys}, params, card_.grid(y_.size()));
    }

    // With more than one group, the weights of all and the first one's number; else those of the piece.
    void bind() {
        const bool one = size_.groups == 1;
        const std::uint64_t group = from_.groups % s_.groups, filter = group * s_.out_group + from_.filters;
        turn_ = one ? 0 : group;
        xs_ = card_.slice(x_, (from_.groups * s_.in_group + from_.channels) * s_.in_plane(),
                          (one ? size_.channels : size_.groups * s_.in_group) * s_.in_plane());
        ys_ = card_.slice(y_, (from_.groups * s_.out_group + from_.filters) * s_.out_plane(),
                          (one ? size_.filters : size_.groups * s_.out_group) * s_.out_plane());
        ws_ = one ? card_.slice(weight_, group * w_each_ + from_.filters * w_stride_ + from_.channels * s_.window(),
                                (size_.filters - 1) * w_stride_ + size_.channels * s_.window())
                  : card_.slice(weight_, 0, weight_.size());
        bs_ = !o_.bias.exists() ? card_.nothing(0)
              : one             ? card_.slice(o_.bias, filter, size_.filters)
                                : card_.slice(o_.bias, 0, o_.bias.size());
    }

    std::uint32_t flags() const {
        return (o_.bias.exists() && from_.channels == 0 ? 1u : 0u) | (from_.channels > 0 ? 2u : 0u);
    }
    bool last() const { return from_.channels + size_.channels == s_.in_group; }
    std::uint32_t kind() const { return last() ? kind_of(o_.activation.kind) : 0; }

    void run_window() {
        const Tile& t = choice_.tile;
        ProductParams p{};
        p.m = u32(size_.filters), p.n = u32(size_.places), p.k = u32(size_.channels * s_.window());
        p.a0 = ws_.first, p.a_stride = u32(w_stride_);
        p.b0 = xs_.first, p.b_stride = u32(s_.in_plane());
        p.c0 = u32(ys_.first + from_.places), p.c_stride = u32(s_.out_plane());
        p.e0 = bs_.first;
        p.flags = flags(), p.kind = kind(), p.alpha = o_.activation.alpha, p.beta = o_.activation.beta;
        p.turn = u32(turn_), p.members = size_.groups == 1 ? 1 : u32(s_.groups);
        p.a_each = u32(w_each_), p.b_each = u32(s_.in_group * s_.in_plane());
        p.c_each = u32(s_.out_group * s_.out_plane()), p.e_each = u32(s_.out_group);
        p.first = u32(from_.places), p.h = u32(s_.h), p.w = u32(s_.w), p.ow = u32(s_.ow);
        p.sh = u32(s_.stride[0]), p.sw = u32(s_.stride[1]), p.ph = u32(s_.pad[0]), p.pw = u32(s_.pad[1]);
        p.dh = u32(s_.dilation[0]), p.dw = u32(s_.dilation[1]);
        ProductForm form{.row_bias = true, .batch = true, .window = {u32(s_.kh), u32(s_.kw)}};
        form.a_fours = in_fours(ws_.first, p.a_stride, p.k);
        form.any_activation = last() && !has_gradient(o_.activation.kind);
        card_.run(product_kernel(card_, t, form), {ws_, xs_, bs_, ys_}, p,
                  {u32(up(p.n, t.bn)), u32(up(p.m, t.bm)), u32(size_.groups)});
    }

    void run_direct() {
        const DirectForm form = direct_form(s_, choice_.down);
        const std::array<std::uint64_t, 2> number{std::uint64_t{1} << 63 | s_.kh << 40 | s_.kw << 16 | choice_.down,
                                                  s_.stride[0] << 32 | s_.dilation[0]};
        const Kernel*& kernel = card_.made[number];
        if (!kernel) kernel = &card_.made_kernel(direct_name(form), direct_text(form));
        DirectParams p{};
        p.n = u32(up(s_.oh, form.down) * s_.ow);
        p.oh = u32(s_.oh), p.ow = u32(s_.ow), p.h = u32(s_.h), p.w = u32(s_.w);
        p.sw = u32(s_.stride[1]), p.ph = u32(s_.pad[0]), p.pw = u32(s_.pad[1]), p.dw = u32(s_.dilation[1]);
        p.n_c = u32(size_.channels), p.flags = flags(), p.kind = kind();
        p.x0 = xs_.first, p.w0 = ws_.first, p.b0 = bs_.first, p.y0 = ys_.first;
        p.in_group = u32(s_.in_group), p.out_group = u32(s_.out_group);
        p.filters = size_.groups == 1 ? u32(size_.filters) : u32(s_.groups * s_.out_group);
        p.turn = u32(turn_ * s_.out_group);
        p.alpha = o_.activation.alpha, p.beta = o_.activation.beta;
        Grid grid = fold(up(p.n, 64), card_.most_groups());
        grid[2] = u32(size_.groups * size_.filters);
        card_.run(*kernel, {xs_, ws_, bs_, ys_}, p, grid);
    }

    Launcher& card_;
    const ConvolutionShape s_;
    const Tensor &x_, &weight_;
    const Conv2dOptions& o_;
    const Tensor& y_;
    const ConvolutionChoice choice_;
    ConvolutionPiece from_{}, size_{};
    std::uint64_t turn_ = 0;
    std::uint64_t w_stride_ = 0, w_each_ = 0;  // between the weights of filters, and of groups
    Slice xs_, ws_, bs_, ys_;
};

}  // namespace

void convolution(Launcher& card, const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y,
                 const ConvolutionChoice* forced) {
    const auto shares = [&](const Tensor& t) { return t.exists() && t.storage == y.storage; };
    if (shares(x) || shares(weight) || shares(o.bias)) {  // a dispatch cannot read and write one buffer
        const Tensor apart = card.empty(y.shape);
        convolution(card, x, weight, o, apart, forced);
        return card.copy(apart, y);
    }
    const ConvolutionShape s = shape_of(x, weight, o, y);
    const ConvolutionChoice choice = forced ? *forced : choose_convolution(s);
    const Epilogue epilogue{
        .bias = o.bias, .row_bias = choice.way == ConvolutionWay::product, .activation = o.activation};
    const Tensor filters = weight.view(0, {s.out_group * s.groups, s.k()});
    if (choice.way == ConvolutionWay::dense) {
        product(card, x.view(0, {s.pictures, s.k()}), filters, y.view(0, {s.pictures, s.out_group}), false, true,
                epilogue, &choice.tile);
    } else if (choice.way == ConvolutionWay::product) {
        product(card, filters, x.view(0, {s.pictures, s.in_group, s.in_plane()}),
                y.view(0, {s.pictures, s.out_group, s.out_plane()}), false, false, epilogue, &choice.tile);
    } else {
        Pieces(card, s, x, weight, o, y, choice).run();
    }
}

}  // namespace shunt::webgpu
