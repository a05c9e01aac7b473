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
    let e = exp(-min(abs(x), 200.0));  // 0 at the end
    return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

// Those with a gradient, as Activation counts them: 0 none, 1 relu, 2 tanh, 3 sigmoid. NaN passes through.
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

// x·S(x) with S(x) + S(−x) = 1 is max(0, x) − a·S(−a), a = |x|, which a limit on a keeps from ∞·0. Here
// S(−a) = sigmoid(−z).
fn swish_of(x: f32, a: f32, z: f32) -> f32 {
    let e = exp(-z);
    return max(x, 0.0) - a * (e / (1.0 + e));
}

// S(−a) = erfc(a/√2) / 2 = exp(−a²/2)·p(t), fitted to 7e-9 in S up to a = 1 and in a·S beyond, and to 4e-6
// relative.
fn gelu_of(x: f32, a: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.33 * a);
    let q = -0.104638696 + t * (0.343177438 + t * (-0.225606233 + t * 0.0464267358));
    let p = -0.000107705018 + t * (0.133766174 + t * (0.114478879 + t * (0.192503393 + t * q)));
    return max(x, 0.0) - a * (exp(-0.5 * a * a) * p);
}

// ln(1 + e) = 2·atanh(s), fitted to 4e-9: the built-in log may be off by 5e-7 near 1.
fn softplus_of(x: f32, a: f32) -> f32 {
    let e = exp(-a);
    let s = e / (2.0 + e);
    let u = s * s;
    return max(x, 0.0) + s * (2.0 + u * (0.66666317 + u * (0.400249094 + u * (0.279606014 + u * 0.281783342))));
}

// tanh(ln(1 + v)) = (v² + 2·v) / (v² + 2·v + 2), v = exp(x): x < 0 has it, x ≥ 0 one minus it, both in exp(−a).
fn mish_of(x: f32, a: f32) -> f32 {
    let e = exp(-a);
    let rest = select(2.0 * e * e, e * (e + 2.0), x < 0.0);
    return max(x, 0.0) - a * (rest / (rest + select(1.0 + 2.0 * e, 2.0, x < 0.0)));
}

// exp(x) − 1 for x ≤ 0: near 0 that difference has no digits.
fn expm1_of(x: f32) -> f32 {
    let series = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666667 + x * (0.0083333333 + x * 0.0013888889)))));
    return select(exp(x) - 1.0, series, x > -0.3);
}

// Any activation. NaN passes through.
fn activate(kind: u32, alpha: f32, beta: f32, x: f32) -> f32 {
    if (kind < 4u || is_nan(x)) { return apply(kind, x); }
    let a = min(abs(x), 200.0);  // exp(−200) is 0
    switch (kind) {
        case 4u: { return select(x, alpha * x, x < 0.0); }                               // leaky_relu
        case 5u: { return clamp(x, 0.0, 6.0); }                                          // relu6
        case 6u: { return clamp(alpha * x + beta, 0.0, 1.0); }                           // hard_sigmoid
        case 7u: { return max(x, -3.0) * clamp(x * 0.16666667 + 0.5, 0.0, 1.0); }        // hard_swish, no −∞·0
        case 8u: { return gelu_of(x, a); }                                               // gelu
        case 9u: { return swish_of(x, a, a * (1.59576912 + 0.0713548163 * a * a)); }     // gelu_tanh
        case 10u: { return swish_of(x, a, a); }                                          // silu
        case 11u: { return softplus_of(x, a); }                                          // softplus
        case 12u: { return select(x, alpha * expm1_of(max(x, -200.0)), x < 0.0); }       // elu
        default: { return mish_of(x, a); }                                               // mish
    }
}

