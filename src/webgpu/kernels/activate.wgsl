// y[i] = f(x[i])
//
// One invocation per value.
struct Params { n: u32, x0: u32, y0: u32, kind: u32, alpha: f32, beta: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * 64u + lane;
    if (i >= p.n) { return; }
    y[p.y0 + i] = activate(p.kind, p.alpha, p.beta, x[p.x0 + i]);
}
