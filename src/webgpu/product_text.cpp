// Writes the kernels for products.
//
// An operand is stored along its outer size (a transposed, b not) or along k. Either way an invocation
// loads blocks of 4×4 values as four vec4s, turns those along k around in registers, and leaves them in
// workgroup memory as [k][outer / 4]. There the outer place is xor-ed with a number that follows k / 4:
// neither writing along k nor reading along the outer size meets bank conflicts, and no memory goes
// into padding. The next blocks are loaded while the present ones are multiplied.
#include "webgpu/product_text.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "webgpu/product_parts.hpp"
#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {
namespace {

using namespace parts;

// One side of the product, and its part of the tile.
struct Operand {
    std::string x, size;           // names
    std::uint32_t outer, base;     // values along the outer size; where its part begins
    std::uint32_t threads, along;  // invocations along the outer size, values of each
    bool along_k, fours;
    std::string thread, lane;  // the invocation's number along the outer size, and among those that load

    std::uint32_t row() const { return outer / 4; }
    std::uint32_t swizzle() const { return std::gcd(threads, 8u); }
};

class Writer {
public:
    Writer(const Tile& tile, const ProductForm& form)
        : t_(tile),
          form_(form),
          a_{"a", "m", t_.bm, 0, t_.bm / t_.tm, t_.tm, !form.trans_a, form.a_fours, "ty", "lane"},
          b_{"b", "n", t_.bn, t_.bm / 4 * t_.bk, t_.bn / t_.tn, t_.tn, form.trans_b, form.b_fours, "tx", "b_lane"} {}

    std::string text() {
        const auto type = [](bool fours) { return fours ? "vec4<f32>" : "f32"; };
        out_ = with(head, {{"$A", type(a_.fours)},
                           {"$B", type(b_.fours)},
                           {"$C", type(form_.c_fours)},
                           {"$E", type(form_.c_fours && !form_.row_bias)},
                           {"$SIZE", str(t_.workgroup_bytes() / 16)},
                           {"$F", form_.any_activation ? "activate(p.kind, p.alpha, p.beta, x)" : "apply(p.kind, x)"}});
        if (form_.batch) out_ += batch_places;
        load_function(a_);
        if (windowed())
            window_function();
        else
            load_function(b_);
        finish_function();
        finish_rows_function();
        main_function();
        return std::move(out_);
    }

private:
    bool windowed() const { return form_.window != Window{}; }
    // Columns of b between those of a vec4, and between vec4s that follow each other in the tile.
    std::uint32_t apart() const { return windowed() ? b_.row() : 1; }
    std::uint32_t column_step() const { return windowed() ? 1 : 4; }
    std::string first(std::string_view x) const { return (form_.batch ? "" : "p.") + std::string(x) + "0"; }

    void window_function() {
        out_ += with(load_window, {{"$apart", str(apart())},
                                   {"$first", first("b")},
                                   {"$window", str(form_.window.rows * form_.window.cols)},
                                   {"$cols", str(form_.window.cols)}});
    }

    void finish_function() {
        const std::string_view bias = form_.row_bias  ? "e[$e0 + i]"
                                      : form_.c_fours ? "e[($e0 + j) / 4u]"
                                                      : "e[$e0 + j]",
                               derive = form_.row_bias  ? ""
                                        : form_.c_fours ? derive_fours
                                                        : derive_ones;
        const std::string text = with(form_.c_fours ? finish_fours : finish_ones,
                                      {{"$bias", std::string(bias)}, {"$derive", std::string(derive)}});
        out_ += with(text, {{"$c0", first("c")}, {"$e0", first("e")}, {"$apart", str(apart())}});
    }

    void load_function(const Operand& o) {
        const auto next = [&](int q) {
            return o.along_k ? "outer, k + " + std::to_string(q) + "u" : "outer + " + std::to_string(q) + "u, k";
        };
        out_ += with(o.fours ? load_fours : load_ones, {{"$x", o.x},
                                                        {"$size", o.size},
                                                        {"$first", first(o.x)},
                                                        {"$far", o.along_k ? "outer" : "k"},
                                                        {"$near", o.along_k ? "k" : "outer"},
                                                        {"$1", next(1)},
                                                        {"$2", next(2)},
                                                        {"$3", next(3)}});
    }

    // Blocks of 4×4 in an operand's part of the tile, and how many an invocation loads.
    std::uint32_t blocks(const Operand& o) const { return o.outer * t_.bk / 16; }
    std::uint32_t loads(const Operand& o) const { return (blocks(o) + t_.invocations() - 1) / t_.invocations(); }

    template <typename Each>
    void each_load(const Operand& o, const Each& each) {
        for (std::uint32_t q = 0; q < loads(o); q++) {
            const bool some = (q + 1) * t_.invocations() > blocks(o);
            if (some)
                out_ += with("        if ($x_item$q < $blocksu) {\n",
                             {{"$x", o.x}, {"$q", str(q)}, {"$blocks", str(blocks(o))}});
            each(o.x + "_block" + str(q));
            if (some) out_ += "        }\n";
        }
    }

    void declare_loads(const Operand& o, std::string_view first_outer) {
        for (std::uint32_t q = 0; q < loads(o); q++) {
            const bool k_first = o.along_k, pixels = windowed() && o.x == "b";  // neighbours read neighbours
            const std::string place = with(pixels ? "places($first + $x_outer$q)" : "$first + $x_outer$q * 4u",
                                           {{"$first", std::string(first_outer)}, {"$x", o.x}, {"$q", str(q)}});
            out_ += with(R"(    let $x_item$q = $lane + $skipu;
    let $x_outer$q = $x_item$q $outer_ofu;
    let $n_k4 = $x_item$q $k_ofu;
    let $n_outer = $place;
    let $n_at = $baseu + $n_k4 * $fouru + ($x_outer$q ^ ($n_k4 * $spreadu % $swizzleu));
    var $n_0 = vec4<f32>();
    var $n_1 = vec4<f32>();
    var $n_2 = vec4<f32>();
    var $n_3 = vec4<f32>();
)",
                         {{"$lane", o.lane},
                          {"$skip", str(q * t_.invocations())},
                          {"$outer_of", k_first ? "/ " + str(t_.bk / 4) : "% " + str(o.row())},
                          {"$k_of", k_first ? "% " + str(t_.bk / 4) : "/ " + str(o.row())},
                          {"$place", place},
                          {"$base", str(o.base)},
                          {"$four", str(4 * o.row())},
                          {"$spread", str(spread(o))},
                          {"$swizzle", str(o.swizzle())},
                          {"$n", o.x + "_block" + str(q)},
                          {"$x", o.x},
                          {"$q", str(q)}});
        }
    }

    // Where bk / 4 is less than the places to swizzle over, they are spread.
    std::uint32_t spread(const Operand& o) const { return std::max(1u, o.swizzle() * 4 / t_.bk); }

    void load(const Operand& o, std::string_view from) {
        each_load(o, [&](const std::string& name) {
            for (int r = 0; r < 4; r++) {
                const std::string step = r == 0 ? "" : " + " + std::to_string(r) + "u";
                out_ += with("            $n_$r = load_$x($n_outer$o, $from$n_k4 * 4u$k);\n",
                             {{"$n", name},
                              {"$r", std::to_string(r)},
                              {"$x", o.x},
                              {"$from", std::string(from)},
                              {"$o", o.along_k ? step : ""},
                              {"$k", o.along_k ? "" : step}});
            }
        });
    }

    void store(const Operand& o) {
        each_load(o, [&](const std::string& name) {
            for (std::uint32_t r = 0; r < 4; r++) {
                const std::string lane(1, "xyzw"[r]);
                out_ += with(o.along_k ? "            tile[$n_at + $ru] = vec4($n_0.$l, $n_1.$l, $n_2.$l, $n_3.$l);\n"
                                       : "            tile[$n_at + $ru] = $n_$q;\n",
                             {{"$n", name}, {"$r", str(r * o.row())}, {"$q", str(r)}, {"$l", lane}});
            }
        });
    }

    // Where an invocation finds four k's of its outputs, the block k4 of the tile.
    void place(const Operand& o, const std::string& thread) {
        out_ += with("            let $x_at = $baseu + k4 * $fouru + ($thread ^ (k4 * $spreadu % $swizzleu));\n",
                     {{"$x", o.x},
                      {"$base", str(o.base)},
                      {"$four", str(4 * o.row())},
                      {"$thread", thread},
                      {"$spread", str(spread(o))},
                      {"$swizzle", str(o.swizzle())}});
    }

    // each() for every block of four k's that a slice has.
    template <typename Each>
    void each_k4(const std::string& slice, const Each& each) {
        const std::uint32_t in_slice = t_.bk / t_.slices / 4;
        for (std::uint32_t q = 0; q < in_slice; q++) {
            out_ += "        {\n            let k4 = ";
            if (t_.slices > 1) out_ += slice + " * " + str(in_slice) + "u + ";
            out_ += str(q) + "u;\n";
            each();
            out_ += "        }\n";
        }
    }

    void multiply() {
        each_k4("slice", [&] {
            place(a_, a_.thread);
            place(b_, b_.thread);
            for (std::uint32_t k = 0; k < 4; k++) {
                for (const Operand& o : {a_, b_}) {
                    for (std::uint32_t q = 0; q < o.along / 4; q++) {
                        out_ += with("            let $x$k_$q = tile[$x_at + $placeu];\n",
                                     {{"$x", o.x},
                                      {"$k", str(k)},
                                      {"$q", str(q)},
                                      {"$place", str(k * o.row() + q * o.threads)}});
                    }
                }
                for (std::uint32_t i = 0; i < t_.tm; i++) {
                    for (std::uint32_t j = 0; j < t_.tn / 4; j++) {
                        out_ += with("            $c = fma(vec4(a$k_$i.$l), b$k_$j, $c);\n",
                                     {{"$c", sum(i, j)},
                                      {"$k", str(k)},
                                      {"$i", str(i / 4)},
                                      {"$l", std::string(1, "xyzw"[i % 4])},
                                      {"$j", str(j)}});
                    }
                }
            }
        });
    }

    static std::string sum(std::uint32_t i, std::uint32_t j) { return "c" + str(i) + "_" + str(j); }

    // The invocations that add up a's rows: one for four rows and a slice.
    std::uint32_t adders() const { return a_.row() * t_.slices; }

    void add_rows() {
        out_ += "        if (group.x == 0u && lane < " + str(adders()) + "u) {\n";
        each_k4("(lane / " + str(a_.row()) + "u)", [&] {
            place(a_, "(lane % " + str(a_.row()) + "u)");
            for (std::uint32_t k = 0; k < 4; k++)
                out_ += "            row_sum += tile[a_at + " + str(k * a_.row()) + "u];\n";
        });
        out_ += "        }\n";
    }

    void finish_row_sums() {
        out_ += with(R"(    workgroupBarrier();
    if (lane < $addersu) { tile[lane] = row_sum; }
    workgroupBarrier();
    if (group.x == 0u) {
        for (var i = lane; i < min($bmu, p.m - row); i += $invocationsu) {
            var all = tile[i / 4u][i % 4u];
)",
                     {{"$adders", str(adders())}, {"$bm", str(t_.bm)}, {"$invocations", str(t_.invocations())}});
        for (std::uint32_t s = 1; s < t_.slices; s++)
            out_ += "            all += tile[" + str(s * a_.row()) + "u + i / 4u][i % 4u];\n";
        const std::string place =
            form_.c_fours ? "c[(p.s0 + row + i) / 4u][(p.s0 + row + i) % 4u]" : "c[p.s0 + row + i]";
        out_ += "            if ((p.flags & 2u) != 0u) { all += " + place + "; }\n            " + place +
                " = all;\n        }\n    }\n";
    }

    // Rows of an invocation that fit into the tile's memory at a time, all slices of all invocations.
    std::uint32_t rows_a_round() const {
        for (std::uint32_t rows : {4u, 2u})
            if (t_.slices * a_.threads * rows * b_.row() * 16 <= t_.workgroup_bytes()) return rows;
        return 1;
    }

    // Through the tile's memory outputs are joined, and written along memory by few lines of text.
    void finish_rows_function() {
        const std::uint32_t rows = rows_a_round(), all = a_.threads * rows * b_.row();
        out_ += with(R"(
fn finish_rows(row: u32, col: u32, lane: u32) {
    for (var at = lane; at < $allu; at += $invocationsu) {
        var sum = tile[at];
)",
                     {{"$all", str(all)}, {"$invocations", str(t_.invocations())}});
        for (std::uint32_t s = 1; s < t_.slices; s++) out_ += "        sum += tile[at + " + str(s * all) + "u];\n";
        out_ += with(R"(        let i = at / $bn4u;
        finish(row + i / $rowsu * 4u + i % $rowsu, col + at % $bn4u * $stepu, sum);
    }
}
)",
                     {{"$step", str(column_step())}, {"$bn4", str(b_.row())}, {"$rows", str(rows)}});
    }

    void finish_all() {
        const std::uint32_t rows = rows_a_round();
        for (std::uint32_t first = 0; first < t_.tm; first += rows) {
            if (first > 0) out_ += "    workgroupBarrier();\n";
            for (std::uint32_t i = first; i < first + rows; i++) {
                for (std::uint32_t j = 0; j < t_.tn / 4; j++) {
                    out_ += with("    tile[((slice * $threadsu + ty) * $rowsu + $iu) * $bn4u + tx + $ju] = $c;\n",
                                 {{"$threads", str(a_.threads)},
                                  {"$rows", str(rows)},
                                  {"$i", str(i - first)},
                                  {"$bn4", str(b_.row())},
                                  {"$j", str(j * b_.threads)},
                                  {"$c", sum(i, j)}});
                }
            }
            out_ += "    workgroupBarrier();\n    finish_rows(row + " + str(first / 4 * a_.threads * 4 + first % 4) +
                    "u, col, lane);\n";
        }
    }

    void main_function() {
        out_ += with(R"(
@compute @workgroup_size($all)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let slice = lane / $eachu;
    let tx = lane % $eachu % $nxu;
    let ty = lane % $eachu / $nxu;
    let row = group.y * $bmu;
    let col = group.x * $bnu;
    // Where there are fewer blocks than invocations, the last ones load those of b.
    let b_lane = (lane + $turnu) % $allu;
)",
                     {{"$all", str(t_.invocations())},
                      {"$each", str(t_.invocations() / t_.slices)},
                      {"$nx", str(b_.threads)},
                      {"$bm", str(t_.bm)},
                      {"$bn", str(t_.bn)},
                      {"$turn", str(blocks(b_) % t_.invocations())}});
        if (form_.batch) out_ += "    find_places(group.z);\n";
        declare_loads(a_, "row");
        declare_loads(b_, "col");
        for (std::uint32_t i = 0; i < t_.tm; i++)
            for (std::uint32_t j = 0; j < t_.tn / 4; j++) out_ += "    var " + sum(i, j) + " = vec4<f32>();\n";
        if (form_.row_sums) out_ += "    var row_sum = vec4<f32>();\n";
        for (const Operand& o : {a_, b_}) load(o, "");
        out_ += "    for (var k0 = 0u; k0 < p.k; k0 += " + str(t_.bk) + "u) {\n";
        for (const Operand& o : {a_, b_}) store(o);
        out_ +=
            "        workgroupBarrier();\n        let next = k0 + " + str(t_.bk) + "u;\n        if (next < p.k) {\n";
        for (const Operand& o : {a_, b_}) load(o, "next + ");
        out_ += "        }\n";
        if (form_.row_sums) add_rows();
        multiply();
        out_ += "        workgroupBarrier();\n    }\n";
        finish_all();
        if (form_.row_sums) finish_row_sums();
        out_ += "}\n";
    }

    const Tile t_;
    const ProductForm form_;
    const Operand a_, b_;
    std::string out_;
};

}  // namespace

std::string product_text(const Tile& tile, const ProductForm& form) {
    return Writer(tile, form).text();
}

std::string product_name(const Tile& t, const ProductForm& f) {
    std::string name = "product_" + str(t.bm) + "x" + str(t.bn) + "x" + str(t.bk) + "_" + str(t.tm) + "x" + str(t.tn) +
                       "_" + str(t.slices) + "_" + (f.trans_a ? "t" : "n") + (f.trans_b ? "t" : "n") + "_";
    if (f.a_fours) name += "a";
    if (f.b_fours) name += "b";
    if (f.c_fours) name += "c";
    if (f.row_sums) name += "_sums";
    if (f.row_bias) name += "_rows";
    if (f.batch) name += "_batch";
    if (f.any_activation) name += "_any";
    if (f.window != Window{}) name += "_window" + str(f.window.rows) + "x" + str(f.window.cols);
    return name;
}

}  // namespace shunt::webgpu
