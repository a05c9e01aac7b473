// out[v][k] (+)= Σ over t with tokens[t] = v of dy[t][k], t ascending
//
// One invocation per cell of the table; it looks at all tokens, so that no two write to one cell.
struct Params { n: u32, d: u32, first: u32, n_tokens: u32, accumulate: u32, tokens0: u32, dy0: u32, out0: u32 }
@group(0) @binding(0) var<storage, read> tokens: array<u32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * 64u + lane;
    if (i >= p.n) { return; }
    let v = p.first + i / p.d;
    let k = i % p.d;
    var sum = 0.0;
    if (p.accumulate != 0u) { sum = out[p.out0 + i]; }
    for (var t = 0u; t < p.n_tokens; t += 1u) {
        if (tokens[p.tokens0 + t] == v) { sum += dy[p.dy0 + t * p.d + k]; }
    }
    out[p.out0 + i] = sum;
}
