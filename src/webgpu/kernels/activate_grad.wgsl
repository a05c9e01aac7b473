// dx[i] = f'(y[i])·dy[i]
//
// One invocation per value.
struct Params { n: u32, y0: u32, dy0: u32, dx0: u32, kind: u32 }
@group(0) @binding(0) var<storage, read> y: array<f32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * 64u + lane;
    if (i >= p.n) { return; }
    dx[p.dx0 + i] = derivative(p.kind, y[p.y0 + i], dy[p.dy0 + i]);
}
