// y[j] (+)= Σ_s x[s][j]
//
// One workgroup for 16 columns: 16 lanes of rows a column, their sums joined in a fixed order.
struct Params { rows: u32, cols: u32, accumulate: u32, x0: u32, y0: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> sums: array<f32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let j = group_number(group, groups) * 16u + lane % 16u;
    var sum = 0.0;
    if (j < p.cols) {
        for (var s = lane / 16u; s < p.rows; s += 16u) { sum += x[p.x0 + s * p.cols + j]; }
    }
    sums[lane] = sum;
    workgroupBarrier();
    if (lane < 16u && j < p.cols) {
        var all = 0.0;
        for (var part = 0u; part < 16u; part += 1u) { all += sums[part * 16u + lane]; }
        if (p.accumulate != 0u) { all += y[p.y0 + j]; }
        y[p.y0 + j] = all;
    }
}
