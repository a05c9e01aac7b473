// What every kernel begins with; put in front of each by cmake/embed_wgsl.cmake.

// Work items are numbered along x, then y, then z: no dimension of a grid may pass 65,535 groups.
fn group_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return (group.z * groups.y + group.y) * groups.x + group.x;
}

// x != x is false for NaN on some drivers; the bits are not.
fn is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// Written out: the built-in tanh is off by 1e-5 on some drivers and NaN past 88 on others.
fn tanh_of(x: f32) -> f32 {
    let a = abs(x);
    if (a < 0.25) {
        let s = x * x;
        return x * (1.0 + s * (-0.33333333 + s * (0.13333333 + s * (-0.053968254 + s * 0.021869488))));
    }
    let e = exp(-2.0 * min(a, 20.0));
    return sign(x) * ((1.0 - e) / (1.0 + e));
}

fn sigmoid_of(x: f32) -> f32 {
    let e = exp(-min(abs(x), 80.0));
    return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

// Activation: 0 none, 1 relu, 2 tanh, 3 sigmoid. NaN passes through all of them.
fn apply(kind: u32, x: f32) -> f32 {
    if (kind == 0u || is_nan(x)) { return x; }
    if (kind == 1u) { return max(x, 0.0); }
    if (kind == 2u) { return tanh_of(x); }
    return sigmoid_of(x);
}

// The derivative's share of the gradient, from the output y.
fn derivative(kind: u32, y: f32, dy: f32) -> f32 {
    if (kind == 0u) { return dy; }
    if (kind == 1u) { return select(0.0, dy, y > 0.0); }
    if (kind == 2u) { return dy * (1.0 - y * y); }
    return dy * y * (1.0 - y);
}

