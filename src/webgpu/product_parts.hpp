// What the texts of products are put together from; product_text.cpp replaces every $key.
#pragma once

#include <string_view>

namespace shunt::webgpu::parts {

inline constexpr std::string_view head = R"(// c[i][j] = epilogue(Σ_k a[i][k]·b[k][j]), by src/webgpu/product_text.cpp
struct Params {
    m: u32, n: u32, k: u32, a0: u32, a_stride: u32, b0: u32, b_stride: u32, c0: u32, c_stride: u32,
    e0: u32, e_stride: u32,
    flags: u32,  // 1: bias, 2: accumulate, 4: through the derivative, from outputs e
    kind: u32, s0: u32, alpha: f32, beta: f32,
    turn: u32, members: u32, a_each: u32, b_each: u32, c_each: u32, e_each: u32,  // of a batch
    first: u32, h: u32, w: u32, ow: u32, sh: u32, sw: u32, ph: u32, pw: u32, dh: u32, dw: u32,  // of a window
}
@group(0) @binding(0) var<storage, read> a: array<$A>;
@group(0) @binding(1) var<storage, read> b: array<$B>;
@group(0) @binding(2) var<storage, read> e: array<$E>;
@group(0) @binding(3) var<storage, read_write> c: array<$C>;
@group(0) @binding(4) var<uniform> p: Params;

var<workgroup> tile: array<vec4<f32>, $SIZE>;

fn activated(x: f32) -> f32 { return $F; }
)";

// Four values from an outer place and k on, in the direction of memory.
inline constexpr std::string_view load_fours = R"(
fn load_$x(outer: u32, k: u32) -> vec4<f32> {
    if (outer >= p.$size || k >= p.k) { return vec4<f32>(); }
    return $x[($first + $far * p.$x_stride + $near) / 4u];
}
)";
inline constexpr std::string_view load_ones = R"(
fn load_one_$x(outer: u32, k: u32) -> f32 {
    if (outer >= p.$size || k >= p.k) { return 0.0; }
    return $x[$first + $far * p.$x_stride + $near];
}

fn load_$x(outer: u32, k: u32) -> vec4<f32> {
    return vec4(load_one_$x(outer, k), load_one_$x($1), load_one_$x($2), load_one_$x($3));
}
)";

// For products z of a batch, where a, b, c and e begin.
inline constexpr std::string_view batch_places = R"(
var<private> a0: u32;
var<private> b0: u32;
var<private> c0: u32;
var<private> e0: u32;

fn find_places(z: u32) {
    let member = (z + p.turn) % p.members;
    a0 = p.a0 + member * p.a_each;
    b0 = p.b0 + z * p.b_each;
    c0 = p.c0 + z * p.c_each;
    e0 = p.e0 + member * p.e_each;
}
)";

inline constexpr std::string_view finish_fours = R"(
fn finish(i: u32, j: u32, sum: vec4<f32>) {
    if (i >= p.m || j >= p.n) { return; }
    let at = ($c0 + i * p.c_stride + j) / 4u;
    var value = sum;
    if ((p.flags & 1u) != 0u) { value += $bias; }
    if ((p.flags & 2u) != 0u) { value += c[at]; }
$derive    value = vec4(activated(value.x), activated(value.y), activated(value.z), activated(value.w));
    c[at] = value;
}
)";
inline constexpr std::string_view derive_fours = R"(    if ((p.flags & 4u) != 0u) {
        let y = e[($e0 + i * p.e_stride + j) / 4u];
        c[at] = vec4(derivative(p.kind, y.x, value.x), derivative(p.kind, y.y, value.y),
                     derivative(p.kind, y.z, value.z), derivative(p.kind, y.w, value.w));
        return;
    }
)";
inline constexpr std::string_view finish_ones = R"(
fn finish_one(i: u32, j: u32, sum: f32) {
    if (i >= p.m || j >= p.n) { return; }
    let at = $c0 + i * p.c_stride + j;
    var value = sum;
    if ((p.flags & 1u) != 0u) { value += $bias; }
    if ((p.flags & 2u) != 0u) { value += c[at]; }
$derive    c[at] = activated(value);
}

fn finish(i: u32, j: u32, sum: vec4<f32>) {
    finish_one(i, j, sum.x);
    finish_one(i, j + $apartu, sum.y);
    finish_one(i, j + 2u * $apartu, sum.z);
    finish_one(i, j + 3u * $apartu, sum.w);
}
)";
inline constexpr std::string_view derive_ones = R"(    if ((p.flags & 4u) != 0u) {
        c[at] = derivative(p.kind, e[$e0 + i * p.e_stride + j], value);
        return;
    }
)";

// b as the matrix of a window: row k = (channel, ky, kx), columns are places of the window. The four
// columns of a vec4 lie $apart apart, so that neighbours in a workgroup read and write neighbours in
// memory. Rows and columns above and left of the picture wrap to past its end.
inline constexpr std::string_view load_window = R"(
struct Places { at: vec4<u32>, row: vec4<u32>, col: vec4<u32> }

fn places(outer: u32) -> Places {
    let j = outer + vec4(0u, 1u, 2u, 3u) * $apartu;
    let place = j + p.first;
    let out_row = place / p.ow;
    let row = out_row * p.sh - p.ph;
    let col = (place - out_row * p.ow) * p.sw - p.pw;
    return Places($first + row * p.w + col, select(vec4(0x80000000u), row, j < vec4(p.n)), col);
}

fn pixel(inside: bool, at: u32) -> f32 {
    if (inside) { return b[at]; }
    return 0.0;
}

fn load_b(place: Places, k: u32) -> vec4<f32> {
    if (k >= p.k) { return vec4<f32>(); }
    let tap = k % $windowu;
    let down = tap / $colsu * p.dh;
    let right = tap % $colsu * p.dw;
    let at = place.at + (k / $windowu * p.b_stride + down * p.w + right);
    let inside = (place.row + down < vec4(p.h)) & (place.col + right < vec4(p.w));
    return vec4(pixel(inside.x, at.x), pixel(inside.y, at.y), pixel(inside.z, at.z), pixel(inside.w, at.w));
}
)";

}  // namespace shunt::webgpu::parts
