// The second kernel of step_text.hpp: gradients and update.
#include <string_view>

#include "webgpu/step_text.hpp"

namespace shunt::webgpu {
namespace {

// Samples s, s + 4, s + 8, … of this slice: sixteen loads at a time, then four, then one.
std::string sum_text(std::string_view load, std::string_view use) {
    std::string out = "        var s = slice;\n";
    for (std::uint32_t block : {16u, 4u, 1u}) {
        out += "        for (; s + " + std::to_string(4 * (block - 1)) +
               "u < p.count; s += " + std::to_string(4 * block) + "u) {\n";
        for (std::uint32_t k = 0; k < block; k++) {
            const std::string n = std::to_string(k);
            out += "            let at" + n + " = (s + " + std::to_string(4 * k) + "u) * row_size;\n";
            out += replaced(load, '#', n);
        }
        for (std::uint32_t k = 0; k < block; k++) out += replaced(use, '#', std::to_string(k));
        out += "        }\n";
    }
    return out;
}

// Which values an invocation computes: by the number of its workgroup, layer after layer.
std::string places_text(const Layers& layers, bool in_fours) {
    const StepRow row = step_row(layers);
    std::string out;
    std::uint64_t first = 0;
    const auto branch = [&](std::uint64_t items, std::string_view inside, Words words) {
        const std::uint64_t groups = (items + 63) / 64;
        words.insert({{"first", first}, {"end", first + groups}, {"items", items}});
        out += put(std::string(first == 0 ? "    if" : " else if") + R"( (group < $end) {
        let item = (group - $first) * 64u + lane;
        if (item < $items) {
)" + std::string(inside) +
                       "        }\n    }",
                   words);
        first += groups;
    };
    for (std::size_t l = 0; l < layers.size(); l++) {
        const DenseLayer& layer = layers[l];
        branch(layer.n_out * quads(layer.n_in),
               std::string(R"(            kind = 1u;
            let o = item / $quads;
            let i = item % $quads;
            x = $x + i;
            d = $d + o / 4u;
            c = o % 4u;
)") + (in_fours ? "            at = $w / 4u + item;\n"
                : "            at = $w + o * $n_in + 4u * i;\n            left = $n_in - 4u * i;\n"),
               {{"quads", quads(layer.n_in)},
                {"x", row.inputs[l]},
                {"d", row.gradients[l]},
                {"w", layer.w},
                {"n_in", layer.n_in}});
        branch(quads(layer.n_out),
               std::string("            kind = 2u;\n            d = $d + item;\n") +
                   (in_fours ? "            at = $b / 4u + item;\n"
                             : "            at = $b + 4u * item;\n            left = $n_out - 4u * item;\n"),
               {{"d", row.gradients[l]}, {"b", layer.b}, {"n_out", layer.n_out}});
    }
    return out + "\n";
}

// Reading and writing four values of one of the arrays that stand beside each other.
std::string access_text(bool in_fours) {
    std::string out;
    for (const char* name : {"values", "gradients", "m", "v"}) {
        const std::string a(name);
        if (in_fours) {
            out += "fn load_" + a + "(at: u32, left: u32) -> vec4<f32> { return " + a + "[at]; }\n";
            out += "fn store_" + a + "(at: u32, left: u32, x: vec4<f32>) { " + a + "[at] = x; }\n";
            continue;
        }
        out += "fn load_" + a + "(at: u32, left: u32) -> vec4<f32> {\n    var x = vec4<f32>();\n" +
               "    for (var c = 0u; c < min(left, 4u); c += 1u) { x[c] = " + a + "[at + c]; }\n    return x;\n}\n";
        out += "fn store_" + a + "(at: u32, left: u32, x: vec4<f32>) {\n" +
               "    for (var c = 0u; c < min(left, 4u); c += 1u) { " + a + "[at + c] = x[c]; }\n}\n";
    }
    return out;
}

}  // namespace

std::string weights_text(const Layers& layers) {
    const bool in_fours = in_quads(layers);
    const std::string type = in_fours ? "array<vec4<f32>>;\n" : "array<f32>;\n";
    return "@group(0) @binding(0) var<storage, read> batch: array<vec4<f32>>;\n"
           "@group(0) @binding(1) var<storage, read_write> values: " +
           type + "@group(0) @binding(2) var<storage, read_write> gradients: " + type +
           "@group(0) @binding(3) var<storage, read_write> m: " + type +
           "@group(0) @binding(4) var<storage, read_write> v: " + type + R"(
struct Params {
    count: u32, rule: u32, decay: f32, scale: f32, momentum: f32, rate: f32,
    beta1: f32, rest1: f32, beta2: f32, rest2: f32, epsilon: f32,
}
@group(0) @binding(5) var<uniform> p: Params;
var<workgroup> part: array<vec4<f32>, 192>;
)" + access_text(in_fours) +
           put(R"(
const row_size = $row;

// 64 places a workgroup, each by four invocations with every fourth sample.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let group = group_id.x;
    let lane = t % 64u;
    let slice = t / 64u;
    var kind = 0u;   // 1 weights, 2 biases
    var x = 0u;      // of the row: four inputs
    var d = 0u;      // of the row: the output's gradient is in this vec4, at c
    var c = 0u;
    var at = 0u;     // of the values
    var left = 4u;   // of the values from there on
)",
               {{"row", step_row(layers).size}}) +
           places_text(layers, in_fours) + R"(
    // Asked for before the sum, which hides the wait.
    var value = vec4<f32>();
    var m0 = vec4<f32>();
    var v0 = vec4<f32>();
    if (slice == 0u && kind != 0u) {
        value = load_values(at, left);
        m0 = load_m(at, left);
        if (p.rule == 2u) { v0 = load_v(at, left); }
    }
    var sum = vec4<f32>();
    if (kind == 1u) {
)" +
           sum_text("            let x# = batch[at# + x];\n            let d# = batch[at# + d][c];\n",
                    "            sum = fma(x#, vec4(d#), sum);\n") +
           "    } else if (kind == 2u) {\n" +
           sum_text("            let d# = batch[at# + d];\n", "            sum += d#;\n") +
           R"(    }
    if (slice > 0u) { part[(slice - 1u) * 64u + lane] = sum; }
    workgroupBarrier();
    if (slice != 0u || kind == 0u) { return; }
    let gradient = (sum + part[lane]) + (part[64u + lane] + part[128u + lane]);
    store_gradients(at, left, gradient);
    if (kind == 1u) { value *= p.decay; }
    if (p.rule == 1u) {
        m0 = p.momentum * m0 - p.rate * gradient;
        value += m0;
    } else {
        let g = p.scale * gradient;
        m0 = p.beta1 * m0 + p.rest1 * g;
        v0 = p.beta2 * v0 + p.rest2 * g * g;
        store_v(at, left, v0);
        value -= p.rate * m0 / (sqrt(v0) + p.epsilon);
    }
    store_m(at, left, m0);
    store_values(at, left, value);
}
)";
}

}  // namespace shunt::webgpu
