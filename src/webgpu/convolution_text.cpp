// Writes the kernels for convolutions of few channels and filters.
//
// Neighbouring invocations have neighbouring columns, so that all reads and writes run along memory;
// what an invocation reads more than once is what windows below each other share. Sums run over
// channels, rows and columns of the window in order, as in a product.
#include "webgpu/convolution_text.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {
namespace {

constexpr std::string_view head =
    R"(// y[f][i][j] = activation(bias[f] + Σ_c,ky,kx x[c][i·sh + ky·dh − ph][j·sw + kx·dw − pw]·w[f][c][ky][kx]),
// by src/webgpu/convolution_text.cpp
struct Params {
    n: u32, oh: u32, ow: u32, h: u32, w: u32, sw: u32, ph: u32, pw: u32, dw: u32, n_c: u32,
    flags: u32,  // 1: bias, 2: accumulate
    kind: u32, x0: u32, w0: u32, b0: u32, y0: u32,
    in_group: u32, out_group: u32, filters: u32, turn: u32, alpha: f32, beta: f32,
}
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

fn pixel(inside: bool, at: u32) -> f32 {
    if (inside) { return x[at]; }
    return 0.0;
}

fn finish(row: u32, at: u32, filter_: u32, sum: f32) {
    if (row >= p.oh) { return; }
    var value = sum;
    if ((p.flags & 1u) != 0u) { value += bias[p.b0 + filter_]; }
    if ((p.flags & 2u) != 0u) { value += y[at]; }
    y[at] = activate(p.kind, p.alpha, p.beta, value);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let item = (group.y * groups.x + group.x) * 64u + lane;
    if (item >= p.n) { return; }
    let row = item / p.ow * $downu;
    let col = item % p.ow;
    let filter_ = (group.z + p.turn) % p.filters;
    let in_row = row * $strideu - p.ph;  // above the picture it wraps to past its end
    let in_col = col * p.sw - p.pw;
    var x_at = p.x0 + (group.z / p.out_group * p.in_group * p.h + in_row) * p.w + in_col;
    var w_at = p.w0 + filter_ * p.in_group * $tapsu;
)";

// The rows of the picture that an invocation reads, counted from its first.
std::set<std::uint32_t> rows_of(const DirectForm& f) {
    std::set<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < f.down; i++)
        for (std::uint32_t ky = 0; ky < f.window.rows; ky++) rows.insert(i * f.stride + ky * f.dilation);
    return rows;
}

}  // namespace

std::uint32_t rows_read(const DirectForm& f) {
    // Outputs share rows with those a whole number of dilations below them, `apart` further on.
    const std::uint32_t apart = f.dilation / std::gcd(f.stride, f.dilation),
                        fresh = std::min(f.window.rows, f.stride / std::gcd(f.stride, f.dilation));
    return std::min(apart, f.down) * f.window.rows + (f.down - std::min(apart, f.down)) * fresh;
}

std::string direct_text(const DirectForm& f) {
    const std::uint32_t taps = f.window.rows * f.window.cols;
    std::string out = with(head, {{"$down", str(f.down)}, {"$stride", str(f.stride)}, {"$taps", str(taps)}});
    for (std::uint32_t kx = 0; kx < f.window.cols; kx++)
        out += with("    let in$kx = in_col + $kxu * p.dw < p.w;\n", {{"$kx", str(kx)}});
    for (std::uint32_t i = 0; i < f.down; i++) out += "    var sum" + str(i) + " = 0.0;\n";
    out += "    for (var c = 0u; c < p.n_c; c += 1u) {\n";
    for (std::uint32_t t = 0; t < taps; t++) out += with("        let w$t = weight[w_at + $tu];\n", {{"$t", str(t)}});
    for (std::uint32_t row : rows_of(f)) {
        out +=
            with("        let row$r = in_row + $ru < p.h;\n        let at$r = x_at + $ru * p.w;\n", {{"$r", str(row)}});
        for (std::uint32_t kx = 0; kx < f.window.cols; kx++) {
            const std::string value = "v" + str(row) + "_" + str(kx);
            out += with("        let $v = pixel(row$r && in$x, at$r + $xu * p.dw);\n",
                        {{"$v", value}, {"$r", str(row)}, {"$x", str(kx)}});
            for (std::uint32_t i = 0; i < f.down; i++) {
                if (row < i * f.stride || (row - i * f.stride) % f.dilation != 0) continue;
                const std::uint32_t ky = (row - i * f.stride) / f.dilation;
                if (ky >= f.window.rows) continue;
                out += with("        sum$i = fma(w$t, $v, sum$i);\n",
                            {{"$i", str(i)}, {"$t", str(ky * f.window.cols + kx)}, {"$v", value}});
            }
        }
    }
    out += with("        x_at += p.h * p.w;\n        w_at += $tapsu;\n    }\n", {{"$taps", str(taps)}});
    out += "    let y_at = p.y0 + (group.z * p.oh + row) * p.ow + col;\n";
    for (std::uint32_t i = 0; i < f.down; i++)
        out += with("    finish(row + $iu, y_at + $iu * p.ow, filter_, sum$i);\n", {{"$i", str(i)}});
    return out + "}\n";
}

std::string direct_name(const DirectForm& f) {
    return "direct_" + str(f.window.rows) + "x" + str(f.window.cols) + "_s" + str(f.stride) + "_d" + str(f.dilation) +
           "_" + str(f.down);
}

}  // namespace shunt::webgpu
