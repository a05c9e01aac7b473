// y[r][c] = x[rows[r]][c], bit for bit, where rows[r] is one of the rows from `first` on that x holds
//
// One invocation per value of y. A table larger than a binding comes in several pieces: each writes
// the rows that it has.
struct Params { n: u32, cols: u32, first: u32, n_rows: u32, x0: u32, rows0: u32, y0: u32 }
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * 64u + lane;
    if (i >= p.n) { return; }
    let row = rows[p.rows0 + i / p.cols] - p.first;  // wraps below `first`
    if (row < p.n_rows) { y[p.y0 + i] = x[p.x0 + row * p.cols + i % p.cols]; }
}
