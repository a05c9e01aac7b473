// shunt calibrate: what operators cost on the CPU and on the card, in units that a person reads.
#include <chrono>
#include <functional>

#include "commands.hpp"
#include "conditions.hpp"
#include "print.hpp"
#include "shunt/file.hpp"
#include "shunt/offload.hpp"

namespace shunt::cli {
namespace {

using namespace offload;

struct Asked {
    std::string adapter, costs, output;
    bool json = false;
};

// --- from which size on the card is taken --------------------------------------------------------

constexpr std::size_t largest_product = 16384, largest_picture = 2048;
constexpr std::size_t act_step = 1024, largest_act = 65536 * act_step;  // 256 MiB

// An operator by its size n. From some size on the card may be the faster side.
struct Sized {
    const char* name;  // in JSON
    const char* words;
    std::size_t step, most;
    std::function<bool(const Costs&, std::size_t n, bool kept)> on_card;
    bool has_weight = true;
};

const std::vector<Sized>& all_sized() {
    const auto convolution = [](std::size_t groups) {
        return [groups](const Costs& c, std::size_t n, bool kept) {
            const ConvShape s{.c = 64, .h = n, .w = n, .o = 64, .kh = 3, .kw = 3, .groups = groups, .oh = n, .ow = n};
            return conv_on_gpu(c, s, kept);
        };
    };
    static const std::vector<Sized> all = {
        {"product", "product of n×n by n×n", 1, largest_product,
         [](const Costs& c, std::size_t n, bool kept) { return gemm_on_gpu(c, {.m = n, .n = n, .k = n}, kept); }},
        {"row", "product of a row of n by n×n", 1, largest_product,
         [](const Costs& c, std::size_t n, bool kept) { return gemm_on_gpu(c, {.m = 1, .n = n, .k = n}, kept); }},
        {"convolution", "3×3 convolution, 64 channels of n×n to 64", 1, largest_picture, convolution(1)},
        {"depthwise", "3×3 depthwise, 64 channels of n×n", 1, largest_picture, convolution(64)},
        {"gelu", "gelu of n values", act_step, largest_act,
         [](const Costs& c, std::size_t n, bool) { return act_on_gpu(c, n, Activation::gelu); }, false},
    };
    return all;
}

// The least size from which on the card is taken for every one up to `most`. Padding to whole tiles makes smaller
// ones go back and forth, so it is looked for from above.
std::optional<std::size_t> from_where(const Sized& s, const Costs& costs, bool kept) {
    std::size_t n = s.most;
    while (n >= s.step && s.on_card(costs, n, kept)) n -= s.step;
    if (n == s.most) return std::nullopt;
    return n + s.step;
}

std::string where_in_words(const Sized& s, const Costs& costs, bool kept) {
    const std::optional<std::size_t> n = from_where(s, costs, kept);
    if (!n) return "never, up to " + std::to_string(s.most);
    return *n == 1 ? "always" : "from n = " + std::to_string(*n) + " on";
}

std::string sides_in_words(const Costs& costs) {
    std::vector<std::vector<std::string>> rows = {{"The card is faster at", "its weight kept there", "sent each time"}};
    for (const Sized& s : all_sized()) {
        rows.push_back({s.words, where_in_words(s, costs, true)});
        if (s.has_weight) rows.back().push_back(where_in_words(s, costs, false));
    }
    return in_columns(rows, {false, false, false});
}

Json sides_as_json(const Costs& costs) {
    Json out;
    for (const Sized& s : all_sized()) {
        const auto from = [&](bool kept) {
            const auto n = from_where(s, costs, kept);
            return n ? Json(*n) : Json(nullptr);
        };
        out[s.name]["up_to"] = s.most;
        out[s.name][s.has_weight ? "weight_kept" : "from"] = from(true);
        if (s.has_weight) out[s.name]["weight_sent"] = from(false);
    }
    return out;
}

// --- the figures ---------------------------------------------------------------------------------

// Of a cost for each unit of work; 0 where the rest of it hid the work.
std::string rate(double cost, double units, const std::string& unit) {
    return cost > 0 ? rate_in_words(units / cost, unit) : "too fast to tell";
}

std::string transfer(double each_byte, double fixed) {
    return rate(each_byte, 1, "B/s") + (fixed > 0 ? " and " + time_in_words(fixed) : "");
}

std::string figures_in_words(const Costs& c) {
    const auto flops = [](double cost) { return rate(cost, 2, "FLOP/s"); };
    const auto values = [](double cost) { return rate(cost, 1, "values/s"); };
    const std::string tile = short_text(c.tile_m) + "×" + short_text(c.tile_n);
    return in_columns(
        {{"", "CPU", "card"},
         {"an operator, at least", time_in_words(c.cpu_fixed), time_in_words(c.gpu_fixed)},
         {"a round trip", "", time_in_words(c.latency)},
         {"sending", "", transfer(c.up, c.up_fixed)},
         {"fetching", "", transfer(c.down, c.down_fixed)},
         {"memory", rate(c.cpu_byte, 1, "B/s"), ""},
         {"products", flops(c.cpu_gemm), flops(c.gpu_gemm) + ", tiles of " + tile},
         {"narrow products, each k", "", c.gpu_step > 0 ? time_in_words(c.gpu_step) : ""},
         {"3×3 convolutions", flops(c.cpu_conv), "as products, and"},
         {"gathering their windows", "", values(c.gpu_col)},
         {"depthwise convolutions", flops(c.cpu_depthwise > 0 ? c.cpu_depthwise : c.cpu_conv), flops(c.gpu_direct)},
         {"gelu", values(c.cpu_act), values(c.gpu_act)},
         {"relu", values(c.cpu_act_cheap > 0 ? c.cpu_act_cheap : c.cpu_act), values(c.gpu_act)}},
        {false, false, false});
}

std::string costs_in_words(const Costs& costs) {
    return figures_in_words(costs) + "\n" + sides_in_words(costs) +
           "Faster means by more than the figures' uncertainty of " + short_text(100 * costs.spread) + " %.\n";
}

void add_costs(Json& out, const Costs& costs) {
    out["spread"] = costs.spread;
    out["costs"] = Json::parse(costs_json(costs));
    out["card_faster_from"] = sides_as_json(costs);
}

// --- measuring -----------------------------------------------------------------------------------

struct Measured {
    Costs costs;
    CostsOrigin origin;
    double seconds = 0;  // compiling included
};

Measured measure(const SharedWorker& worker) {
    const auto start = std::chrono::steady_clock::now();
    const GpuBackend card(worker, {.measure = true});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (const auto error = card.last_error()) throw Error(Fault::gpu_broken, "The card cannot be measured: " + *error);
    return {card.costs(), card.costs_origin(), seconds};
}

std::string in_words(const Asked& c, const Measured& m) {
    std::string out = in_words(conditions(true, c.adapter)) + "Measured in " + time_in_words(m.seconds) + ".\n";
    if (m.origin.shortened)
        out +=
            "The card took ten times as long as the CPU for its first product. The rest of it was not measured: its\n"
            "other work is taken to lose as much, and its transfers to be as fast as this machine's memory.\n";
    out += "\n" + costs_in_words(m.costs) + "\n";
    if (!m.origin.file.empty()) out += "Kept in " + m.origin.file + ", where offload finds them.\n";
    if (!c.output.empty()) out += "Written to " + c.output + ", for load_costs() and Options::costs.\n";
    return out;
}

Json as_json(const Asked& c, const Measured& m) {
    const auto name = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    Json out = as_json(conditions(true, c.adapter));
    out["seconds"] = m.seconds;
    out["shortened"] = m.origin.shortened;
    add_costs(out, m.costs);
    out["kept_in"] = name(m.origin.file);
    out["not_kept"] = name(m.origin.not_kept);
    out["written_to"] = name(c.output);
    return out;
}

int measure_and_tell(const Asked& c) {
    if (!c.output.empty()) check_writable(c.output);
    const SharedWorker worker = SharedWorker::open({.card = {.adapter = c.adapter}});
    if (!worker) throw Error(worker.broken() ? Fault::gpu_broken : Fault::no_gpu, worker.reason());
    const Measured m = measure(worker);
    if (!c.output.empty()) save_costs(m.costs, c.output);
    print(c.json ? to_json_text(as_json(c, m)) : in_words(c, m));
    if (m.origin.not_kept.empty()) return 0;
    const bool written = !c.output.empty();  // the figures were not lost
    note(std::string("shunt: ") + (written ? "note: " : "") + "the costs are not kept for offload, which goes on " +
         "with what it had: " + one_line(m.origin.not_kept) + "\n");
    return written ? 0 : 1;
}

int tell_of_file(const Asked& c) {
    const Costs costs = load_costs(c.costs);
    if (!c.json) {
        print(costs_in_words(costs));
        return 0;
    }
    Json out;
    out["read_from"] = c.costs;
    add_costs(out, costs);
    print(to_json_text(out));
    return 0;
}

}  // namespace

int calibrate(Arguments arguments) {
    Asked c;
    CommandLine line("calibrate", "[options]",
                     "Measures anew what operators cost on the CPU and on the card, and keeps the costs where offload\n"
                     "finds them: by these it chooses a side for each product, convolution and activation.");
    line.group("Options");
    line.text("--adapter", c.adapter, "NAME", "the card, by number or part of its name in shunt devices");
    line.text("-o,--output", c.output, "FILE", "write the costs here too, as JSON that load_costs() reads");
    line.text("--costs", c.costs, "FILE", "measure nothing: show the costs in this file");
    line.flag("--json", c.json, "print one JSON document; costs are in seconds, by the names of Costs");
    line.example("shunt calibrate -o costs.json");
    line.example("shunt calibrate --costs costs.json");
    if (!line.parse(arguments)) return 0;
    for (const auto& [option, value] : {std::pair{"--adapter", &c.adapter}, {"--output", &c.output}}) {
        if (!c.costs.empty() && !value->empty())
            line.refuse_usage("--costs shows a file and measures nothing: " + std::string(option) +
                              " does not go with it.");
    }
    return c.costs.empty() ? measure_and_tell(c) : tell_of_file(c);
}

}  // namespace shunt::cli
