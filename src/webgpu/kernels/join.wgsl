// y[n][f][i] = activation(Σ_part s[n][part][f][i] + bias[f])
//
// One invocation per value of y. The bias is added to the first part, so that the sum is the one of
// parts that are added to y one after the other.
struct Params {
    n: u32, plane: u32, filters: u32, parts: u32,
    flags: u32,  // 1: bias
    kind: u32, s0: u32, b0: u32, y0: u32, alpha: f32, beta: f32,
}
@group(0) @binding(0) var<storage, read> s: array<f32>;
@group(0) @binding(1) var<storage, read> bias: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let at = group_number(group, groups) * 64u + lane;
    if (at >= p.n) { return; }
    let picture = p.filters * p.plane;
    let first = p.s0 + at / picture * p.parts * picture + at % picture;
    var sum = s[first];
    if ((p.flags & 1u) != 0u) { sum += bias[p.b0 + at / p.plane % p.filters]; }
    for (var part = 1u; part < p.parts; part += 1u) { sum += s[first + part * picture]; }
    y[p.y0 + at] = activate(p.kind, p.alpha, p.beta, sum);
}
