// See shunt/offload_costs.hpp.
#include "offload/costs.hpp"

#include <algorithm>
#include <cmath>

#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "core/text.hpp"
#include "shunt/file.hpp"

namespace shunt::offload {
namespace {

double f(std::size_t n) {
    return static_cast<double>(n);
}

double padded(double n, double to) {
    return to > 1 ? std::ceil(n / to) * to : n;
}

// A product on the card: all of its tiles at the full rate, or its steps along k one after the other.
double product_on_card(const Costs& c, double m, double n, double k) {
    return c.gpu_fixed + std::max(padded(m, c.tile_m) * padded(n, c.tile_n) * k * c.gpu_gemm, k * c.gpu_step);
}

double on_cpu(const Costs& c, double arithmetic, double values) {
    return c.cpu_fixed + std::max(arithmetic, 4 * values * c.cpu_byte);
}

double up(const Costs& c, double values) {
    return c.up_fixed + 4 * values * c.up;
}
double down(const Costs& c, double values) {
    return c.down_fixed + 4 * values * c.down;
}

bool cheap(Activation kind) {
    return kind == Activation::none || kind == Activation::relu || kind == Activation::relu6 ||
           kind == Activation::leaky_relu || kind == Activation::hard_sigmoid || kind == Activation::hard_swish;
}

}  // namespace

const std::vector<CostField>& cost_fields() {
    static const std::vector<CostField> fields = {
        {"latency", &Costs::latency},
        {"up", &Costs::up},
        {"down", &Costs::down},
        {"gpu_gemm", &Costs::gpu_gemm},
        {"gpu_direct", &Costs::gpu_direct},
        {"gpu_col", &Costs::gpu_col},
        {"cpu_gemm", &Costs::cpu_gemm},
        {"cpu_conv", &Costs::cpu_conv},
        {"cpu_act", &Costs::cpu_act},
        {"gpu_act", &Costs::gpu_act},
        {"up_fixed", &Costs::up_fixed},
        {"down_fixed", &Costs::down_fixed},
        {"gpu_step", &Costs::gpu_step},
        {"cpu_fixed", &Costs::cpu_fixed},
        {"gpu_fixed", &Costs::gpu_fixed},
        {"cpu_byte", &Costs::cpu_byte},
        {"cpu_depthwise", &Costs::cpu_depthwise},
        {"cpu_act_cheap", &Costs::cpu_act_cheap},
        {"tile_m", &Costs::tile_m},
        {"tile_n", &Costs::tile_n},
        {"spread", &Costs::spread},
    };
    return fields;
}

std::string to_string(const Costs& costs) {
    std::string text;
    for (const CostField& field : cost_fields())
        text += std::string(field.name) + std::string(16 - field.name.size(), ' ') + to_text(costs.*field.value) + "\n";
    return text;
}

Costs load_costs(const std::string& path) {
    const nlohmann::json json = parse_json(read_file(path), path);
    const JsonValue all(json, path);
    if (!json.is_object()) all.refuse("is not an object");
    Costs costs;
    for (const CostField& field : cost_fields()) {
        const JsonValue value = all.at(std::string(field.name));
        costs.*field.value = value.number();
        if (costs.*field.value < 0) value.refuse("is negative");
    }
    for (const auto& [name, unused] : json.items()) {
        const auto known = [&](const CostField& field) { return field.name == name; };
        if (std::ranges::none_of(cost_fields(), known)) all.at(name).refuse("is no cost");
    }
    return costs;
}

std::string costs_json(const Costs& costs) {
    nlohmann::ordered_json json;
    for (const CostField& field : cost_fields()) json[std::string(field.name)] = costs.*field.value;
    return to_json(json, 1) + "\n";
}

void check_costs(const Costs& costs) {
    for (const CostField& field : cost_fields()) {
        const double value = costs.*field.value;
        if (std::isfinite(value) && value >= 0) continue;
        throw Error(Fault::bad_argument, "The costs' " + std::string(field.name) + " is " + to_text(value) +
                                             ", and not a number of at least 0.");
    }
}

void save_costs(const Costs& costs, const std::string& path) {
    OutputFile file(path);
    file.write(costs_json(costs));
    file.commit();
}

double ConvShape::macs() const {
    return f(n) * f(o) * f(c) / f(groups) * f(kh) * f(kw) * f(oh) * f(ow);
}

Prediction predict_gemm(const Costs& c, const GemmShape& s) {
    const double m = f(s.m), n = f(s.n), k = f(s.k);
    return {.cpu = on_cpu(c, m * n * k * c.cpu_gemm, m * k + k * n + m * n),
            .latency = c.latency,
            .upload = up(c, m * k),
            .weight = up(c, k * n),
            .kernel = product_on_card(c, m, n, k),
            .download = down(c, m * n)};
}

Prediction predict_conv(const Costs& c, const ConvShape& s) {
    const double x = f(s.n) * f(s.c) * f(s.h) * f(s.w), y = f(s.n) * f(s.o) * f(s.oh) * f(s.ow);
    const double w = f(s.o) * f(s.c) / f(s.groups) * f(s.kh) * f(s.kw), groups = f(s.groups);
    const double depth = f(s.c) / groups * f(s.kh) * f(s.kw), places = f(s.oh) * f(s.ow);
    double kernel = 0;
    if (s.depthwise()) {
        kernel = c.gpu_fixed + s.macs() * c.gpu_direct;
    } else {
        // The groups' and the pictures' products are tiles of one grid.
        const double tiles = groups * f(s.n);
        kernel = product_on_card(c, padded(f(s.o) / groups, c.tile_m) * tiles, places, depth);
        if (!s.as_product) kernel += f(s.n) * f(s.c) * f(s.kh) * f(s.kw) * places * c.gpu_col;
    }
    const double cpu_mac = s.depthwise() && c.cpu_depthwise > 0 ? c.cpu_depthwise : c.cpu_conv;
    return {.cpu = on_cpu(c, s.macs() * cpu_mac, x + w + y),
            .latency = c.latency,
            .upload = up(c, x),
            .weight = up(c, w + f(s.o)),
            .kernel = kernel,
            .download = down(c, y)};
}

Prediction predict_act(const Costs& c, Activation kind, std::size_t n) {
    const double cpu_each = cheap(kind) && c.cpu_act_cheap > 0 ? c.cpu_act_cheap : c.cpu_act;
    return {.cpu = on_cpu(c, f(n) * cpu_each, 2 * f(n)),
            .latency = c.latency,
            .upload = up(c, f(n)),
            .kernel = c.gpu_fixed + f(n) * c.gpu_act,
            .download = down(c, f(n))};
}

bool faster_on_gpu(const Costs& costs, double cpu, double gpu) {
    return gpu * (1 + costs.spread) < cpu;
}

bool gemm_on_gpu(const Costs& costs, const GemmShape& shape, bool cached_b) {
    const Prediction p = predict_gemm(costs, shape);
    return faster_on_gpu(costs, p.cpu, cached_b ? p.resident() : p.gpu());
}

bool conv_on_gpu(const Costs& costs, const ConvShape& shape, bool cached_w) {
    const Prediction p = predict_conv(costs, shape);
    return faster_on_gpu(costs, p.cpu, cached_w ? p.resident() : p.gpu());
}

bool act_on_gpu(const Costs& costs, std::size_t n, Activation kind) {
    const Prediction p = predict_act(costs, kind, n);
    return faster_on_gpu(costs, p.cpu, p.gpu());
}

}  // namespace shunt::offload
