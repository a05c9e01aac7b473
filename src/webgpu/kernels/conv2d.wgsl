// y[n][f][i][j] = activation(bias[f] + Σ_c,ky,kx x[n][c][i·sh + ky·dh − ph][j·sw + kx·dw − pw]·w[f][c][ky][kx])
//
// One invocation per value of y. `first_c` and `n_c` are the channels of this piece; a later piece
// adds to what y holds, the last one applies the activation.
struct Params {
    n: u32, c: u32, h: u32, w: u32, filters: u32, kh: u32, kw: u32, in_group: u32, out_group: u32,
    sh: u32, sw: u32, ph: u32, pw: u32, dh: u32, dw: u32, oh: u32, ow: u32, first_c: u32, n_c: u32,
    flags: u32,  // 1: bias, 2: accumulate
    kind: u32, x0: u32, w0: u32, b0: u32, y0: u32,
}
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let at = group_number(group, groups) * 64u + lane;
    if (at >= p.n) { return; }
    let col = at % p.ow;
    let row = at / p.ow % p.oh;
    let filter_ = at / (p.ow * p.oh) % p.filters;
    let picture = at / (p.ow * p.oh * p.filters);
    var sum = 0.0;
    if ((p.flags & 1u) != 0u) { sum = bias[p.b0 + filter_]; }
    if ((p.flags & 2u) != 0u) { sum = y[p.y0 + at]; }
    for (var c = p.first_c; c < p.first_c + p.n_c; c += 1u) {
        let plane = picture * p.c + filter_ / p.out_group * p.in_group + c;
        for (var ky = 0u; ky < p.kh; ky += 1u) {
            let in_row = row * p.sh + ky * p.dh - p.ph;  // above the picture it wraps past its end
            for (var kx = 0u; kx < p.kw; kx += 1u) {
                let in_col = col * p.sw + kx * p.dw - p.pw;
                if (in_row < p.h && in_col < p.w) {
                    sum += x[p.x0 + (plane * p.h + in_row) * p.w + in_col] *
                           weight[p.w0 + ((filter_ * p.in_group + c) * p.kh + ky) * p.kw + kx];
                }
            }
        }
    }
    y[p.y0 + at] = apply(p.kind, sum);
}
