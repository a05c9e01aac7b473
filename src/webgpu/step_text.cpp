// See step_text.hpp.
#include "webgpu/step_text.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace shunt::webgpu {
namespace {

// sum = fma(`use`, sum) for `turns` places, @ in both texts; # in `use` is what `load` gave. Eight loads
// at a time before the first is used: a step is as long as its chain of waits. The last place may be
// only for lanes with place·turn + lane < `last_guarded`.
std::string unrolled(std::uint32_t turns, std::uint32_t last_guarded, std::string_view load, std::string_view use) {
    const auto one = [](std::string_view text, const std::string& q, const std::string& w) {
        return replaced(replaced(text, '#', w), '@', q);
    };
    constexpr std::uint32_t block = 8;
    const std::uint32_t sure = last_guarded ? turns - 1 : turns, full = sure / block * block;
    std::string out;
    const auto lines = [&](std::uint32_t first, std::uint32_t n, const std::string& base) {
        for (std::uint32_t k = 0; k < n; k++)
            out += "let w" + std::to_string(k) + " = " + one(load, "(" + base + std::to_string(first + k) + "u)", "") +
                   ";\n";
        for (std::uint32_t k = 0; k < n; k++)
            out += "sum = fma(" + one(use, "(" + base + std::to_string(first + k) + "u)", "w" + std::to_string(k)) +
                   ", sum);\n";
    };
    if (full > 0) {
        out += "for (var q = 0u; q < " + std::to_string(full) + "u; q += " + std::to_string(block) + "u) {\n";
        lines(0, block, "q + ");
        out += "}\n";
    }
    if (sure > full) {
        out += "{\n";
        lines(full, sure - full, "");
        out += "}\n";
    }
    if (last_guarded) {
        out += "if (" + std::to_string(turns - 1) + "u * turn + lane < " + std::to_string(last_guarded) + "u) {\n";
        lines(turns - 1, 1, "");
        out += "}\n";
    }
    return out;
}

// How a layer's sums are shared among a workgroup's invocations.
struct Shares {
    std::uint32_t lanes = 1;   // forward: invocations an output
    std::uint32_t slices = 1;  // backward: parts of the sum over the outputs
};

Shares shares_of(const DenseLayer& layer, std::uint32_t threads) {
    Shares s;
    const std::uint32_t n_in = quads(layer.n_in), n_out = static_cast<std::uint32_t>(layer.n_out);
    while (s.lanes < 16 && 2 * s.lanes * n_out <= threads && 2 * s.lanes <= n_in) s.lanes *= 2;
    s.slices = std::clamp(threads / n_in, 1u, std::min(16u, n_out));
    return s;
}

std::uint32_t parts_of(const Layers& layers, std::uint32_t threads) {
    std::uint32_t most = 0;
    for (std::size_t l = 0; l < layers.size(); l++) {
        const Shares s = shares_of(layers[l], threads);
        most = std::max(most, s.lanes * (4 * quads(layers[l].n_out) + 4));
        if (l > 0) most = std::max(most, 4 * (s.slices * quads(layers[l].n_in) + 8));
    }
    return most;
}

std::string values_text(const Layers& layers) {
    if (in_quads(layers)) {
        return R"(
fn value(i: u32) -> f32 { return values[i / 4u][i % 4u]; }
fn value4(first: u32, i: u32, n: u32) -> vec4<f32> { return values[first / 4u + i]; }
)";
    }
    return R"(
fn value(i: u32) -> f32 { return values[i]; }
fn value_below(first: u32, i: u32, n: u32) -> f32 {
    if (i < n) { return values[first + i]; }
    return 0.0;
}
fn value4(first: u32, i: u32, n: u32) -> vec4<f32> {
    return vec4(value_below(first, 4u * i, n), value_below(first, 4u * i + 1u, n),
                value_below(first, 4u * i + 2u, n), value_below(first, 4u * i + 3u, n));
}
)";
}

std::string forward_text(const DenseLayer& layer, std::uint32_t from, std::uint32_t to, std::uint32_t threads) {
    const Shares s = shares_of(layer, threads);
    const std::uint32_t n_in = quads(layer.n_in), turns = (n_in + s.lanes - 1) / s.lanes;
    const Words words = {{"n_in", layer.n_in},
                         {"n_out", layer.n_out},
                         {"w", layer.w},
                         {"b", layer.b},
                         {"from", from},
                         {"to", to},
                         {"lanes", s.lanes},
                         {"stride", 4 * quads(layer.n_out) + 4},
                         {"padded", 4 * quads(layer.n_out)},
                         {"kind", kind_of(layer.activation)}};
    return put(R"(
    {
        let o = t / $lanes;
        let lane = t % $lanes;
        let turn = $lanes;
        if (o < $n_out) {
            var sum = vec4<f32>();
)" +
                   unrolled(turns, n_in % s.lanes ? n_in : 0, "value4($w + o * $n_in, @ * turn + lane, $n_in)",
                            "#, row[$from + @ * turn + lane]") +
                   R"(
            part[lane * $stride + o] = (sum.x + sum.y) + (sum.z + sum.w);
        }
        workgroupBarrier();
        if (t < $padded) {
            var y = 0.0;
            if (t < $n_out) {
                y = value($b + t);
                for (var k = 0u; k < $lanes; k += 1u) { y += part[k * $stride + t]; }
                y = apply($kind, y);
            }
            row[$to + t / 4u][t % 4u] = y;
        }
        workgroupBarrier();
    }
)",
               words);
}

// The gradient before the activation of the layer below: dx[i] = derivative(Σ_o d[o]·w[o][i]).
std::string backward_text(const DenseLayer& layer, Activation below, std::uint32_t inputs, std::uint32_t from,
                          std::uint32_t to, std::uint32_t threads) {
    const Shares s = shares_of(layer, threads);
    const std::uint32_t n_in = quads(layer.n_in), n_out = static_cast<std::uint32_t>(layer.n_out),
                        turns = (n_out + s.slices - 1) / s.slices;
    const Words words = {
        {"n_in", layer.n_in}, {"w", layer.w},          {"from", from},       {"to", to},
        {"slices", s.slices}, {"quads", n_in},         {"padded", 4 * n_in}, {"stride", s.slices * n_in + 8},
        {"inputs", inputs},   {"kind", kind_of(below)}};
    return put(R"(
    {
        let i = t % $quads;
        let lane = t / $quads;
        let turn = $slices;
        if (lane < $slices) {
            var sum = vec4<f32>();
)" +
                   unrolled(turns, n_out % s.slices ? n_out : 0, "value4($w + (@ * turn + lane) * $n_in, i, $n_in)",
                            "vec4(row_at($from, @ * turn + lane)), #") +
                   R"(
            let at = lane * $quads + i;
            part[at] = sum.x;
            part[$stride + at] = sum.y;
            part[2u * $stride + at] = sum.z;
            part[3u * $stride + at] = sum.w;
        }
        workgroupBarrier();
        if (t < $padded) {
            var dy = 0.0;
            for (var k = 0u; k < $slices; k += 1u) { dy += part[t % 4u * $stride + k * $quads + t / 4u]; }
            row[$to + t / 4u][t % 4u] = derivative($kind, row_at($inputs, t), dy);
        }
        workgroupBarrier();
    }
)",
               words);
}

// The outputs' place in the row receives the loss's gradient.
std::string loss_text(const DenseLayer& last, bool softmax, std::uint32_t at) {
    const Words words = {
        {"n", last.n_out}, {"padded", 4 * quads(last.n_out)}, {"at", at}, {"kind", kind_of(last.activation)}};
    const char* softmax_part = R"(
        let right = answers[p.answers0 + sample];
        var top = row_at($at, 0u);
        for (var j = 1u; j < $n; j += 1u) { top = max(top, row_at($at, j)); }
        if (t < $n) { part[t] = exp(row_at($at, t) - top); }
        workgroupBarrier();
        if (t < $n) {
            var sum = 0.0;
            for (var j = 0u; j < $n; j += 1u) { sum += part[j]; }
            d = weight * (part[t] / sum - select(0.0, 1.0, t == right));
            if (t == right) {
                var loss = log(sum) - (row_at($at, t) - top);
                if (loss > 690.77553) { loss = 690.77553; }
                losses[p.losses0 + s] = weight * loss;
            }
        }
)";
    const char* mse_part = R"(
        if (t < $n) {
            let e = row_at($at, t) - answers[p.answers0 + sample * $n + t];
            part[t] = e * e;
            d = weight * 2.0 * e / f32($n);
        }
        workgroupBarrier();
        if (t == 0u) {
            var sum = 0.0;
            for (var j = 0u; j < $n; j += 1u) { sum += part[j]; }
            losses[p.losses0 + s] = weight * sum / f32($n);
        }
)";
    return put(std::string(R"(
    {
        var weight = 1.0;
        if (p.weighted != 0u) { weight = weights[p.weights0 + sample]; }
        var d = 0.0;
)") + (softmax ? softmax_part : mse_part) +
                   R"(
        workgroupBarrier();
        if (t < $padded) { row[$at + t / 4u][t % 4u] = derivative($kind, row_at($at, t), d); }
        workgroupBarrier();
    }
)",
               words);
}

}  // namespace

bool in_quads(const Layers& layers) {
    return std::ranges::all_of(layers, [](const DenseLayer& l) { return l.n_in % 4 == 0; });
}

StepRow step_row(const Layers& layers) {
    StepRow row;
    for (const DenseLayer& layer : layers) {
        row.inputs.push_back(row.size);
        row.size += quads(layer.n_in);
    }
    for (const DenseLayer& layer : layers) {
        row.gradients.push_back(row.size);
        row.size += quads(layer.n_out);
    }
    return row;
}

std::uint32_t step_threads(const Layers& layers, const StepLimits& limits) {
    std::size_t widest = 16;
    for (const DenseLayer& layer : layers) widest = std::max(widest, layer.n_out);
    const std::uint64_t most = std::bit_floor(std::min<std::uint64_t>(limits.invocations, 1024));
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, std::bit_ceil(4 * widest)));
}

std::uint32_t step_groups(const Layers& layers) {
    std::uint64_t groups = 0;
    for (const DenseLayer& l : layers) groups += (l.n_out * quads(l.n_in) + 63) / 64 + (quads(l.n_out) + 63) / 64;
    return static_cast<std::uint32_t>(groups);
}

bool is_narrow(const Layers& layers, std::uint64_t batch, const StepLimits& limits) {
    std::uint64_t weights = 0;
    const std::uint32_t threads = step_threads(layers, limits);
    for (const DenseLayer& layer : layers) {
        weights += layer.n_in * layer.n_out;
        if (4 * quads(layer.n_out) > threads || weights > 1 << 20 || !has_gradient(layer.activation)) return false;
    }
    if (layers.back().n_out > 64 || batch > limits.groups || step_groups(layers) > limits.groups) return false;
    const std::uint64_t memory =
        16 * std::uint64_t{step_row(layers).size} + 4 * std::uint64_t{parts_of(layers, threads)};
    return memory <= limits.workgroup_memory && batch * weights <= 1 << 24;
}

std::string samples_text(const Layers& layers, bool softmax, const StepLimits& limits) {
    const StepRow row = step_row(layers);
    const std::uint32_t threads = step_threads(layers, limits);
    const DenseLayer& first = layers.front();
    const bool input_quads = first.n_in % 4 == 0;
    const Words words = {{"threads", threads},
                         {"row", row.size},
                         {"parts", parts_of(layers, threads)},
                         {"n_in", first.n_in},
                         {"quads", quads(first.n_in)}};
    std::string text = std::string("@group(0) @binding(0) var<storage, read> inputs: array<") +
                       (input_quads ? "vec4<f32>" : "f32") + R"(>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> answers: array<)" +
                       (softmax ? "u32" : "f32") + R"(>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> values: array<)" +
                       (in_quads(layers) ? "vec4<f32>" : "f32") + R"(>;
@group(0) @binding(5) var<storage, read_write> batch: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> losses: array<f32>;
struct Params { weighted: u32, by_rows: u32, inputs0: u32, rows0: u32, answers0: u32, weights0: u32, losses0: u32 }
@group(0) @binding(7) var<uniform> p: Params;
)" + put("var<workgroup> row: array<vec4<f32>, $row>;\nvar<workgroup> part: array<f32, $parts>;\n", words) +
                       values_text(layers) + R"(
fn row_at(first: u32, i: u32) -> f32 { return row[first + i / 4u][i % 4u]; }
)";
    if (input_quads) {
        text +=
            put("fn input4(sample: u32, i: u32) -> vec4<f32> "
                "{ return inputs[p.inputs0 / 4u + sample * $quads + i]; }\n",
                words);
    } else {
        text += put(R"(
fn input_at(sample: u32, i: u32) -> f32 {
    if (i < $n_in) { return inputs[p.inputs0 + sample * $n_in + i]; }
    return 0.0;
}
fn input4(sample: u32, i: u32) -> vec4<f32> {
    return vec4(input_at(sample, 4u * i), input_at(sample, 4u * i + 1u),
                input_at(sample, 4u * i + 2u), input_at(sample, 4u * i + 3u));
}
)",
                    words);
    }
    text += put(R"(
@compute @workgroup_size($threads)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let s = group.x;
    var sample = s;
    if (p.by_rows != 0u) { sample = rows[p.rows0 + s]; }
    for (var i = t; i < $quads; i += $threads) { row[i] = input4(sample, i); }
    workgroupBarrier();
)",
                words);
    for (std::size_t l = 0; l < layers.size(); l++) {
        const bool last = l + 1 == layers.size();
        text += forward_text(layers[l], row.inputs[l], last ? row.gradients[l] : row.inputs[l + 1], threads);
    }
    text += loss_text(layers.back(), softmax, row.gradients.back());
    for (std::size_t l = layers.size(); l-- > 1;) {
        text += backward_text(layers[l], layers[l - 1].activation, row.inputs[l], row.gradients[l],
                              row.gradients[l - 1], threads);
    }
    return text + put("    for (var i = t; i < $row; i += $threads) { batch[s * $row + i] = row[i]; }\n}\n", words);
}

}  // namespace shunt::webgpu
