// See product_text.hpp.
#include "webgpu/product_text.hpp"

#include <algorithm>

#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {
namespace {

std::string number(std::uint64_t n) {
    return std::to_string(n);
}

// One of a and b. Its outer size is m or n; it stands in memory either with the outer size contiguous
// ("along") or with k contiguous, and in workgroup memory as [k][outer / 4].
struct Operand {
    std::string name, size;   // "a", "m"
    std::uint32_t outer = 0;  // of a tile
    std::uint32_t bk = 0, threads = 0;
    bool along = false, in_quads = false;
    std::uint32_t base = 0;  // of its tile in workgroup memory, in vec4s

    std::uint32_t quads() const { return outer / 4; }
    // What one invocation loads at a time: a vec4 along the outer size, or four rows of four k.
    std::uint32_t pieces() const { return quads() * (along ? bk : bk / 4); }
    std::uint32_t each() const { return (pieces() + threads - 1) / threads; }

    // Four values from (outer, k) on, along what is contiguous; 0 past the end.
    std::string load_function() const {
        const std::string stride = "p." + name + (along == (name == "a") ? "_col" : "_row");
        const std::string at = "p." + name + "0 + " + (along ? "k * " + stride + " + i" : "i * " + stride + " + k");
        const std::string inside = "i < p." + size + " && k < p.k";
        if (in_quads) {
            return "fn load_" + name + "(i: u32, k: u32) -> vec4<f32> {\n    if (" + inside + ") { return " + name +
                   "[(" + at + ") / 4u]; }\n    return vec4<f32>();\n}\n";
        }
        std::string text = "fn one_" + name + "(i: u32, k: u32) -> f32 {\n    if (" + inside + ") { return " + name +
                           "[" + at + "]; }\n    return 0.0;\n}\nfn load_" + name +
                           "(i: u32, k: u32) -> vec4<f32> {\n    return vec4(";
        for (std::uint32_t c = 0; c < 4; c++) {
            const std::string step = c == 0 ? "" : " + " + number(c) + "u";
            text +=
                (c ? ", " : "") + std::string("one_") + name + (along ? "(i" + step + ", k)" : "(i, k" + step + ")");
        }
        return text + ");\n}\n";
    }

    std::string declarations() const {
        std::string text;
        for (std::uint32_t q = 0; q < each(); q++)
            for (std::uint32_t r = 0; r < (along ? 1u : 4u); r++)
                text += "    var " + name + number(q) + number(r) + " = vec4<f32>();\n";
        return text;
    }

    // Of this invocation's piece q: o the outer quad, k of bk. Eight neighbours have neighbouring outer
    // quads, so that they write to different banks; the next eight the next k, so that together they read
    // whole lines.
    std::string places(std::uint32_t q) const {
        const std::uint32_t near = std::min(8u, quads());
        std::string text = "        let q = t + " + number(q * threads) + "u;\n";
        if (along) {
            return text + "        let o = q % " + number(quads()) + "u;\n        let k = q / " + number(quads()) +
                   "u;\n";
        }
        return text + "        let o = q % " + number(near) + "u + q / " + number(near * bk / 4) + "u * " +
               number(near) + "u;\n        let k = q / " + number(near) + "u % " + number(bk / 4) + "u * 4u;\n";
    }
    std::string guard() const {
        return pieces() % threads == 0 ? "        {\n" : "        if (q < " + number(pieces()) + "u) {\n";
    }

    std::string loads(const std::string& k0) const {
        std::string text;
        for (std::uint32_t q = 0; q < each(); q++) {
            text += "    {\n" + places(q) + guard();
            for (std::uint32_t r = 0; r < (along ? 1u : 4u); r++)
                text += "            " + name + number(q) + number(r) + " = load_" + name + "(" + name +
                        "_first + o * 4u + " + number(r) + "u, " + k0 + " + k);\n";
            text += "        }\n    }\n";
        }
        return text;
    }

    std::string stores() const {
        std::string text;
        for (std::uint32_t q = 0; q < each(); q++) {
            const std::string x = name + number(q);
            text += "    {\n" + places(q) + guard();
            text += "            let at = " + number(base) + "u + k * " + number(quads()) + "u + o;\n";
            if (along) {
                text += "            tile[at] = " + x + "0;\n";
            } else {
                for (std::uint32_t c = 0; c < 4; c++) {
                    const std::string part = std::string(".") + "xyzw"[c];
                    text += "            tile[at + " + number(c * quads()) + "u] = vec4(" + x + "0" + part + ", " + x +
                            "1" + part + ", " + x + "2" + part + ", " + x + "3" + part + ");\n";
                }
            }
            text += "        }\n    }\n";
        }
        return text;
    }
};

struct Family {
    Tile t;
    Operand a, b;
    std::uint32_t rows, cols;  // invocations of a slice, along m and n

    std::string sum(std::uint32_t i, std::uint32_t j) const { return "s" + number(i) + "_" + number(j); }
    std::uint32_t tile_quads() const {
        const std::uint32_t join = t.slices == 1 ? 0 : t.slices * t.bm * t.bn / 4;
        return std::max(t.bk * (a.quads() + b.quads()), join);
    }

    std::string header(const std::string& type) const {
        return R"(struct Params {
    m: u32, n: u32, k: u32, a0: u32, a_row: u32, a_col: u32, b0: u32, b_row: u32, b_col: u32, c0: u32, c_row: u32,
    e0: u32, e_row: u32,
    flags: u32,  // 1: bias, 2: accumulate, 4: through the derivative, from outputs e, 8: row sums of a at c[s0 + i]
    kind: u32, s0: u32,
}
@group(0) @binding(0) var<storage, read> a: array<)" +
               type + R"(>;
@group(0) @binding(1) var<storage, read> b: array<)" +
               type + R"(>;
@group(0) @binding(2) var<storage, read> e: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;
var<workgroup> tile: array<vec4<f32>, )" +
               number(tile_quads()) + R"(>;

fn finish(i: u32, j: u32, sum: f32) {
    if (i >= p.m || j >= p.n) { return; }
    let at = p.c0 + i * p.c_row + j;
    var value = sum;
    if ((p.flags & 1u) != 0u) { value += e[p.e0 + j]; }
    if ((p.flags & 2u) != 0u) { value += c[at]; }
    if ((p.flags & 4u) != 0u) {
        value = derivative(p.kind, e[p.e0 + i * p.e_row + j], value);
    } else {
        value = apply(p.kind, value);
    }
    c[at] = value;
}
fn finish_four(i: u32, j: u32, sums: vec4<f32>) {
    finish(i, j, sums.x);
    finish(i, j + 1u, sums.y);
    finish(i, j + 2u, sums.z);
    finish(i, j + 3u, sums.w);
}
)";
    }

    // One k: the invocation's tm values of a times its tn values of b.
    std::string multiply(std::uint32_t k) const {
        std::string text = "        {\n";
        const auto fragment = [&](const Operand& x, const std::string& at, std::uint32_t n, std::uint32_t step) {
            for (std::uint32_t i = 0; i < n; i++)
                text += "            let " + x.name + "f" + number(i) + " = tile[" + at + " + " +
                        number(k * x.quads() + i * step) + "u];\n";
        };
        fragment(a, "a_at", t.tm / 4, rows);
        fragment(b, "b_at", t.tn / 4, cols);
        for (std::uint32_t i = 0; i < t.tm; i++)
            for (std::uint32_t j = 0; j < t.tn / 4; j++)
                text += "            " + sum(i, j) + " = fma(vec4(af" + number(i / 4) + "." + "xyzw"[i % 4] + "), bf" +
                        number(j) + ", " + sum(i, j) + ");\n";
        return text + "        }\n";
    }

    // Σ_k a[i][k] of this tile, by the first column of groups.
    std::string row_sums() const {
        std::string text =
            "        if (sums) {\n            for (var k = 0u; k < " + number(t.bk / t.slices) + "u; k += 1u) {\n";
        for (std::uint32_t i = 0; i < t.tm / 4; i++)
            text += "                r" + number(i) + " += tile[a_at + k * " + number(a.quads()) + "u + " +
                    number(i * rows) + "u];\n";
        return text + "            }\n        }\n";
    }

    std::string main() const {
        std::string text =
            "\n@compute @workgroup_size(" + number(t.threads()) + R"()
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let a_first = group.y * )" +
            number(t.bm) + "u;\n    let b_first = group.x * " + number(t.bn) + "u;\n" + "    let slice = t / " +
            number(rows * cols) + "u;\n    let x = t % " + number(cols) + "u;\n    let y = t % " + number(rows * cols) +
            "u / " + number(cols) + "u;\n" + "    let a_at = slice * " + number(t.bk / t.slices * a.quads()) +
            "u + y;\n    let b_at = " + number(b.base) + "u + slice * " + number(t.bk / t.slices * b.quads()) +
            "u + x;\n" + "    let sums = (p.flags & 8u) != 0u && group.x == 0u && x == 0u;\n";
        for (std::uint32_t i = 0; i < t.tm; i++)
            for (std::uint32_t j = 0; j < t.tn / 4; j++) text += "    var " + sum(i, j) + " = vec4<f32>();\n";
        for (std::uint32_t i = 0; i < t.tm / 4; i++) text += "    var r" + number(i) + " = vec4<f32>();\n";
        text += a.declarations() + b.declarations() + a.loads("0u") + b.loads("0u");
        text += "    for (var k0 = 0u; k0 < p.k; k0 += " + number(t.bk) + "u) {\n";
        text += a.stores() + b.stores() + "        workgroupBarrier();\n";
        // The next tiles are on their way while these are computed with.
        const std::string next = "k0 + " + number(t.bk) + "u";
        text += "        if (" + next + " < p.k) {\n" + a.loads(next) + b.loads(next) + "        }\n";
        for (std::uint32_t k = 0; k < t.bk / t.slices; k++) text += multiply(k);
        return text + row_sums() + "        workgroupBarrier();\n    }\n" + (t.slices == 1 ? write() : join()) + "}\n";
    }

    std::string place(const std::string& i, const std::string& j, const std::string& row,
                      const std::string& col) const {
        return "a_first + (" + row + " + " + i + " / 4u * " + number(rows) + "u) * 4u + " + i + " % 4u, b_first + (" +
               col + " + " + j + " * " + number(cols) + "u) * 4u";
    }

    std::string write_row_sums(const std::string& from) const {
        std::string text;
        for (std::uint32_t i = 0; i < t.tm / 4; i++)
            for (std::uint32_t c = 0; c < 4; c++)
                text += "        finish_sum(a_first + (y + " + number(i * rows) + "u) * 4u + " + number(c) + "u, " +
                        from + number(i) + "." + "xyzw"[c] + ");\n";
        return text;
    }

    std::string write() const {
        std::string text;
        for (std::uint32_t i = 0; i < t.tm; i++)
            for (std::uint32_t j = 0; j < t.tn / 4; j++)
                text +=
                    "    finish_four(" + place(number(i) + "u", number(j) + "u", "y", "x") + ", " + sum(i, j) + ");\n";
        return text + "    if (sums) {\n" + write_row_sums("r") + "    }\n";
    }

    // All slices' sums to workgroup memory, and every output's added up in order.
    std::string join() const {
        std::string text;
        const std::uint32_t each = rows * cols, wide = t.tn / 4, outputs = t.tm * wide * each;
        for (std::uint32_t i = 0; i < t.tm; i++)
            for (std::uint32_t j = 0; j < wide; j++)
                text += "    tile[slice * " + number(outputs) + "u + " + number((i * wide + j) * each) + "u + t % " +
                        number(each) + "u] = " + sum(i, j) + ";\n";
        text +=
            put(R"(    workgroupBarrier();
    for (var w = t; w < $outputs; w += $threads) {
        var total = tile[w];
        for (var s = 1u; s < $slices; s += 1u) { total += tile[s * $outputs + w]; }
        let i = w / $each / $wide;
        let j = w / $each % $wide;
)",
                {{"outputs", outputs}, {"threads", t.threads()}, {"slices", t.slices}, {"each", each}, {"wide", wide}});
        text += "        finish_four(" +
                place("i", "j", "(w % " + number(each) + "u / " + number(cols) + "u)", "(w % " + number(cols) + "u)") +
                ", total);\n    }\n";
        text +=
            "    if ((p.flags & 8u) == 0u || group.x != 0u) { return; }\n    workgroupBarrier();\n    if (sums) {\n";
        for (std::uint32_t i = 0; i < t.tm / 4; i++)
            text += "        tile[slice * " + number(rows * t.tm / 4) + "u + y + " + number(i * rows) + "u] = r" +
                    number(i) + ";\n";
        text += "    }\n    workgroupBarrier();\n    if (sums && slice == 0u) {\n";
        for (std::uint32_t i = 0; i < t.tm / 4; i++) {
            const std::string n = number(i);
            text += "        var total" + n + " = vec4<f32>();\n        for (var s = 0u; s < " + number(t.slices) +
                    "u; s += 1u) { total" + n + " += tile[s * " + number(rows * t.tm / 4) + "u + y + " +
                    number(i * rows) + "u]; }\n";
        }
        return text + write_row_sums("total") + "    }\n";
    }
};

}  // namespace

std::size_t choose_tile(std::uint64_t m, std::uint64_t n) {
    // No tile that would stand half empty, and of the larger ones enough to fill a card.
    constexpr std::array<std::uint64_t, 3> enough = {256, 128, 32};
    for (std::size_t i = 0; i < enough.size(); i++) {
        const Tile& t = tiles[i];
        if (std::min(m, n) > t.bm / 2 && ((m + t.bm - 1) / t.bm) * ((n + t.bn - 1) / t.bn) >= enough[i]) return i;
    }
    return enough.size();
}

std::string product_text(const Tile& t, bool trans_a, bool trans_b, bool in_quads) {
    const Operand a{"a", "m", t.bm, t.bk, t.threads(), trans_a, in_quads, 0};
    const Operand b{"b", "n", t.bn, t.bk, t.threads(), !trans_b, in_quads, t.bk * t.bm / 4};
    const Family family{t, a, b, t.bm / t.tm, t.bn / t.tn};
    return family.header(in_quads ? "vec4<f32>" : "f32") + R"(fn finish_sum(i: u32, sum: f32) {
    if (i >= p.m) { return; }
    var value = sum;
    if ((p.flags & 2u) != 0u) { value += c[p.s0 + i]; }
    c[p.s0 + i] = value;
}
)" + a.load_function() +
           b.load_function() + family.main();
}

}  // namespace shunt::webgpu
