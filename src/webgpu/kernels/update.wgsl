// value *= decay for i < n_decayed, then by rule (0 decay alone, 1 sgd, 2 adam), with ĝ = scale·g:
// sgd:  m = momentum·m − rate·g;  value += m                       (rate is lr·scale)
// adam: m = beta1·m + rest1·ĝ;  v = beta2·v + rest2·ĝ²;  value −= rate·m / (√v + epsilon)
//
// One invocation per value. rest1 and rest2 are 1 − beta, taken in double: a float's 1 − 0.999 is off.
struct Params {
    n: u32, n_decayed: u32, rule: u32, values0: u32, g0: u32, m0: u32, v0: u32,
    decay: f32, scale: f32, momentum: f32, rate: f32, beta1: f32, rest1: f32, beta2: f32, rest2: f32, epsilon: f32,
}
@group(0) @binding(0) var<storage, read_write> values: array<f32>;
@group(0) @binding(1) var<storage, read> g: array<f32>;
@group(0) @binding(2) var<storage, read_write> m: array<f32>;
@group(0) @binding(3) var<storage, read_write> v: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * 64u + lane;
    if (i >= p.n) { return; }
    var value = values[p.values0 + i];
    if (i < p.n_decayed) { value *= p.decay; }
    if (p.rule == 1u) {
        let step = p.momentum * m[p.m0 + i] - p.rate * g[p.g0 + i];
        m[p.m0 + i] = step;
        value += step;
    } else if (p.rule == 2u) {
        let d = p.scale * g[p.g0 + i];
        let m1 = p.beta1 * m[p.m0 + i] + p.rest1 * d;
        let v1 = p.beta2 * v[p.v0 + i] + p.rest2 * d * d;
        m[p.m0 + i] = m1;
        v[p.v0 + i] = v1;
        value -= p.rate * m1 / (sqrt(v1) + p.epsilon);
    }
    values[p.values0 + i] = value;
}
