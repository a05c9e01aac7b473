// c[i][j] = epilogue(Σ_k a[i][k]·b[k][j]): large products
//
// One workgroup per tile of 64×64 outputs, 16 of k at a time through workgroup memory (8 KiB); an
// invocation computes 4×4 of them. a and b have strides of their own, which transposes them.
struct Params {
    m: u32, n: u32, k: u32, a0: u32, a_row: u32, a_col: u32, b0: u32, b_row: u32, b_col: u32, c0: u32, c_row: u32,
    e0: u32, e_row: u32,
    flags: u32,  // 1: bias, 2: accumulate, 4: through the derivative, from outputs e
    kind: u32, unused: u32,
}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> e: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

var<workgroup> a_tile: array<vec4<f32>, 256>;  // [k][16 × 4 rows]
var<workgroup> b_tile: array<vec4<f32>, 256>;  // [k][16 × 4 columns]

fn load_a(i: u32, k: u32) -> f32 {
    if (i < p.m && k < p.k) { return a[p.a0 + i * p.a_row + k * p.a_col]; }
    return 0.0;
}

fn load_b(k: u32, j: u32) -> f32 {
    if (j < p.n && k < p.k) { return b[p.b0 + k * p.b_row + j * p.b_col]; }
    return 0.0;
}

fn finish(i: u32, j: u32, sum: f32) {
    if (i >= p.m || j >= p.n) { return; }
    let at = p.c0 + i * p.c_row + j;
    var value = sum;
    if ((p.flags & 1u) != 0u) { value += e[p.e0 + j]; }
    if ((p.flags & 2u) != 0u) { value += c[at]; }
    if ((p.flags & 4u) != 0u) {
        value = derivative(p.kind, e[p.e0 + i * p.e_row + j], value);
    } else {
        value = apply(p.kind, value);
    }
    c[at] = value;
}

fn finish_row(i: u32, j: u32, sums: vec4<f32>) {
    finish(i, j, sums.x);
    finish(i, j + 1u, sums.y);
    finish(i, j + 2u, sums.z);
    finish(i, j + 3u, sums.w);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = group.y * 64u + lane / 16u * 4u;
    let col = group.x * 64u + lane % 16u * 4u;
    // Each invocation loads one vec4 of each tile; which one follows memory, so that neighbours read neighbours.
    var a_k = lane / 16u;
    var a_i = lane % 16u;
    if (p.a_col == 1u) { a_k = lane % 16u; a_i = lane / 16u; }
    var b_k = lane / 16u;
    var b_j = lane % 16u;
    if (p.b_col != 1u) { b_k = lane % 16u; b_j = lane / 16u; }
    let i4 = group.y * 64u + a_i * 4u;
    let j4 = group.x * 64u + b_j * 4u;
    var s0 = vec4<f32>();
    var s1 = vec4<f32>();
    var s2 = vec4<f32>();
    var s3 = vec4<f32>();
    for (var k0 = 0u; k0 < p.k; k0 += 16u) {
        let ka = k0 + a_k;
        let kb = k0 + b_k;
        a_tile[a_k * 16u + a_i] = vec4(load_a(i4, ka), load_a(i4 + 1u, ka),
                                       load_a(i4 + 2u, ka), load_a(i4 + 3u, ka));
        b_tile[b_k * 16u + b_j] = vec4(load_b(kb, j4), load_b(kb, j4 + 1u),
                                       load_b(kb, j4 + 2u), load_b(kb, j4 + 3u));
        workgroupBarrier();
        // Four at a time: lavapipe ends an invocation's loops after 65,535 turns in all.
        for (var k = 0u; k < 256u; k += 64u) {
            let a_at = k + lane / 16u;
            let b_at = k + lane % 16u;
            var x = a_tile[a_at];
            var y = b_tile[b_at];
            s0 = fma(vec4(x.x), y, s0); s1 = fma(vec4(x.y), y, s1); s2 = fma(vec4(x.z), y, s2); s3 = fma(vec4(x.w), y, s3);
            x = a_tile[a_at + 16u];
            y = b_tile[b_at + 16u];
            s0 = fma(vec4(x.x), y, s0); s1 = fma(vec4(x.y), y, s1); s2 = fma(vec4(x.z), y, s2); s3 = fma(vec4(x.w), y, s3);
            x = a_tile[a_at + 32u];
            y = b_tile[b_at + 32u];
            s0 = fma(vec4(x.x), y, s0); s1 = fma(vec4(x.y), y, s1); s2 = fma(vec4(x.z), y, s2); s3 = fma(vec4(x.w), y, s3);
            x = a_tile[a_at + 48u];
            y = b_tile[b_at + 48u];
            s0 = fma(vec4(x.x), y, s0); s1 = fma(vec4(x.y), y, s1); s2 = fma(vec4(x.z), y, s2); s3 = fma(vec4(x.w), y, s3);
        }
        workgroupBarrier();
    }
    finish_row(row, col, s0);
    finish_row(row + 1u, col, s1);
    finish_row(row + 2u, col, s2);
    finish_row(row + 3u, col, s3);
}
