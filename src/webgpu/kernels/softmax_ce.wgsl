// losses[i] = −w_s·ln(softmax(z_i)[class_s]),  d[i] = w_s·(softmax(z_i) − onehot),  s = rows[i] or i
//
// One workgroup per row of logits; maxima and sums of its lanes joined in a fixed order. The loss is
// taken from the logits, not from p, which a float rounds to 0; at most −ln 1e-300.
struct Params {
    batch: u32, cols: u32,
    flags: u32,  // 1: weights, 2: rows, 4: gradient
    z0: u32, classes0: u32, weights0: u32, rows0: u32, losses0: u32, d0: u32,
}
@group(0) @binding(0) var<storage, read> z: array<f32>;
@group(0) @binding(1) var<storage, read> classes: array<u32>;
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
    let start = p.z0 + row * p.cols;
    var sample = row;
    if ((p.flags & 2u) != 0u) { sample = rows[p.rows0 + row]; }
    var w = 1.0;
    if ((p.flags & 1u) != 0u) { w = weights[p.weights0 + sample]; }
    let right = classes[p.classes0 + sample];

    var top = z[start];
    for (var j = lane; j < p.cols; j += 64u) { top = max(top, z[start + j]); }
    part[lane] = top;
    workgroupBarrier();
    for (var k = 0u; k < 64u; k += 1u) { top = max(top, part[k]); }
    workgroupBarrier();
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += 64u) { sum += exp(z[start + j] - top); }
    part[lane] = sum;
    workgroupBarrier();
    sum = 0.0;
    for (var k = 0u; k < 64u; k += 1u) { sum += part[k]; }

    if ((p.flags & 4u) != 0u) {
        for (var j = lane; j < p.cols; j += 64u) {
            d[p.d0 + row * p.cols + j] = w * (exp(z[start + j] - top) / sum - select(0.0, 1.0, j == right));
        }
    }
    if (lane == 0u) {
        var loss = log(sum) - (z[start + right] - top);
        if (loss > 690.77553) { loss = 690.77553; }
        losses[p.losses0 + row] = w * loss;
    }
}
