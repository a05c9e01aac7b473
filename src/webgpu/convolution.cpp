// Convolutions: which way, and how they are cut into pieces that fit into bindings and grids.
#include "webgpu/convolution.hpp"

#include "webgpu/product.hpp"
#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {
namespace {

ConvolutionShape shape_of(const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y) {
    ConvolutionShape s{};
    s.pictures = x.shape[0], s.h = x.shape[2], s.w = x.shape[3], s.oh = y.shape[2], s.ow = y.shape[3];
    s.groups = o.groups, s.in_group = weight.shape[1], s.out_group = weight.shape[0] / o.groups;
    s.kh = weight.shape[2], s.kw = weight.shape[3];
    s.stride = {o.stride[0], o.stride[1]}, s.pad = {o.pad[0], o.pad[1]}, s.dilation = {o.dilation[0], o.dilation[1]};
    return s;
}

void by_window(Launcher& card, const ConvolutionShape& s, const Tensor& x, const Tensor& weight, const Conv2dOptions& o,
               const Tensor& y, const Tile& tile) {
    const Slice xs = card.slice(x, 0, x.size()), ws = card.slice(weight, 0, weight.size());
    const Slice bs = o.bias.exists() ? card.slice(o.bias, 0, o.bias.size()) : card.nothing(0);
    const Slice ys = card.slice(y, 0, y.size());
    ProductParams p{};
    p.m = u32(s.out_group), p.n = u32(s.out_plane()), p.k = u32(s.k());
    p.a0 = ws.first, p.a_stride = p.k;
    p.b0 = xs.first, p.b_stride = u32(s.in_plane());
    p.c0 = ys.first, p.c_stride = p.n;
    p.e0 = bs.first;
    p.flags = o.bias.exists() ? 1 : 0;
    p.kind = kind_of(o.activation);
    p.members = u32(s.groups);
    p.a_each = u32(s.out_group * s.k()), p.b_each = u32(s.in_group * s.in_plane()),
    p.c_each = u32(s.out_group * s.out_plane()), p.e_each = u32(s.out_group);
    p.h = u32(s.h), p.w = u32(s.w), p.ow = u32(s.ow);
    p.sh = u32(s.stride[0]), p.sw = u32(s.stride[1]), p.ph = u32(s.pad[0]), p.pw = u32(s.pad[1]),
    p.dh = u32(s.dilation[0]), p.dw = u32(s.dilation[1]);
    ProductForm form{.row_bias = true, .batch = true, .window = {u32(s.kh), u32(s.kw)}};
    form.a_fours = in_fours(ws.first, p.a_stride, p.k);
    card.run(product_kernel(card, tile, form), {ws, xs, bs, ys}, p,
             {u32((p.n + tile.bn - 1) / tile.bn), u32((p.m + tile.bm - 1) / tile.bm), u32(s.pictures * s.groups)});
}

}  // namespace

ConvolutionChoice choose_convolution(const ConvolutionShape&) {
    return {ConvolutionWay::window, thin_tile};
}

void convolution(Launcher& card, const Tensor& x, const Tensor& weight, const Conv2dOptions& options, const Tensor& y,
                 const ConvolutionChoice* forced) {
    const ConvolutionShape s = shape_of(x, weight, options, y);
    const ConvolutionChoice choice = forced ? *forced : choose_convolution(s);
    by_window(card, s, x, weight, options, y, choice.tile);
}

}  // namespace shunt::webgpu
