// losses[i] = w_s·mean_j (y_ij − t_sj)²,  d[i][j] = 2·w_s·(y_ij − t_sj) / cols,  s = rows[i] or i
//
// One workgroup per row; the sums of its lanes joined in a fixed order.
struct Params {
    batch: u32, cols: u32,
    flags: u32,  // 1: weights, 2: rows, 4: gradient
    y0: u32, targets0: u32, weights0: u32, rows0: u32, losses0: u32, d0: u32,
}
@group(0) @binding(0) var<storage, read> y: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> rows: array<u32>;
@group(0) @binding(4) var<storage, read_write> losses: array<f32>;
@group(0) @binding(5) var<storage, read_write> d: array<f32>;
@group(0) @binding(6) var<uniform> p: Params;

var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let row = group_number(group, groups);
    if (row >= p.batch) { return; }
    var sample = row;
    if ((p.flags & 2u) != 0u) { sample = rows[p.rows0 + row]; }
    var w = 1.0;
    if ((p.flags & 1u) != 0u) { w = weights[p.weights0 + sample]; }
    let cols = f32(p.cols);
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += 64u) {
        let e = y[p.y0 + row * p.cols + j] - targets[p.targets0 + sample * p.cols + j];
        sum += e * e;
        if ((p.flags & 4u) != 0u) { d[p.d0 + row * p.cols + j] = w * 2.0 * e / cols; }
    }
    part[lane] = sum;
    workgroupBarrier();
    if (lane == 0u) {
        sum = 0.0;
        for (var k = 0u; k < 64u; k += 1u) { sum += part[k]; }
        losses[p.losses0 + row] = w * sum / cols;
    }
}
