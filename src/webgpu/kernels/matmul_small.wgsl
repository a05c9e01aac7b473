// c[i][j] = epilogue(Σ_k a[i][k]·b[k][j]): products too small to fill a card with large tiles
//
// One workgroup per tile of 16×16 outputs, one an invocation, 112 of k at a time through workgroup
// memory (14.5 KiB; rows padded by a vec4 against bank conflicts): what counts is how often a group
// waits for memory. With flag 8 the first column of groups leaves Σ_k a[i][k] at c[s0 + i] too.
struct Params {
    m: u32, n: u32, k: u32, a0: u32, a_row: u32, a_col: u32, b0: u32, b_row: u32, b_col: u32, c0: u32, c_row: u32,
    e0: u32, e_row: u32,
    flags: u32,  // 1: bias, 2: accumulate, 4: through the derivative, from outputs e, 8: row sums of a
    kind: u32, s0: u32,
}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> e: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

const depth = 112u;
const stride = 29u;  // vec4s a row, with the padding
var<workgroup> a_tile: array<vec4<f32>, 464>;  // [16 rows][k]
var<workgroup> b_tile: array<vec4<f32>, 464>;  // [16 columns][k]

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = group.y * 16u + lane / 16u;
    let j = group.x * 16u + lane % 16u;
    let sums = (p.flags & 8u) != 0u && group.x == 0u && lane % 16u == 0u;
    var total = vec4<f32>();
    var row_sum = vec4<f32>();
    for (var k0 = 0u; k0 < p.k; k0 += depth) {
        // 1792 values of each tile, seven an invocation; neighbours read neighbours in memory.
        for (var q = 0u; q < 7u; q += 1u) {
            let at = q * 256u + lane;
            var r = at / depth;
            var k = at % depth;
            if (p.a_col != 1u) { r = at % 16u; k = at / 16u; }
            var value = 0.0;
            if (group.y * 16u + r < p.m && k0 + k < p.k) {
                value = a[p.a0 + (group.y * 16u + r) * p.a_row + (k0 + k) * p.a_col];
            }
            a_tile[r * stride + k / 4u][k % 4u] = value;
            r = at / depth;
            k = at % depth;
            if (p.b_row != 1u) { r = at % 16u; k = at / 16u; }
            value = 0.0;
            if (group.x * 16u + r < p.n && k0 + k < p.k) {
                value = b[p.b0 + (k0 + k) * p.b_row + (group.x * 16u + r) * p.b_col];
            }
            b_tile[r * stride + k / 4u][k % 4u] = value;
        }
        workgroupBarrier();
        let a_at = (lane / 16u) * stride;
        let b_at = (lane % 16u) * stride;
        for (var k = 0u; k < 28u; k += 4u) {
            total = fma(a_tile[a_at + k], b_tile[b_at + k], total);
            total = fma(a_tile[a_at + k + 1u], b_tile[b_at + k + 1u], total);
            total = fma(a_tile[a_at + k + 2u], b_tile[b_at + k + 2u], total);
            total = fma(a_tile[a_at + k + 3u], b_tile[b_at + k + 3u], total);
        }
        if (sums) {
            for (var k = 0u; k < 28u; k += 1u) { row_sum += a_tile[a_at + k]; }
        }
        workgroupBarrier();
    }
    if (i >= p.m) { return; }
    if (sums) {
        var all = (row_sum.x + row_sum.y) + (row_sum.z + row_sum.w);
        if ((p.flags & 2u) != 0u) { all += c[p.s0 + i]; }
        c[p.s0 + i] = all;
    }
    if (j >= p.n) { return; }
    let at = p.c0 + i * p.c_row + j;
    var value = (total.x + total.y) + (total.z + total.w);
    if ((p.flags & 1u) != 0u) { value += e[p.e0 + j]; }
    if ((p.flags & 2u) != 0u) { value += c[at]; }
    if ((p.flags & 4u) != 0u) {
        value = derivative(p.kind, e[p.e0 + i * p.e_row + j], value);
    } else {
        value = apply(p.kind, value);
    }
    c[at] = value;
}
