// shunt bench conv: convolutions on tensors that a backend holds, many in a row.
#include <algorithm>
#include <cstdlib>

#include "commands.hpp"
#include "conditions.hpp"
#include "convolutions.hpp"
#include "print.hpp"

namespace shunt::cli {
namespace {

constexpr Range above_0 = {"a number above 0", [](double x) { return x > 0; }};
constexpr Range at_least_1 = {"a number of at least 1", [](double x) { return x >= 1; }};

struct Asked {
    std::string backend, adapter;
    int threads = 0;
    double seconds = 0.01;
    std::optional<double> most;
    bool json = false, quiet = false;
};

std::string parse_name(const std::string& text) {
    const std::vector<std::string> names = backend_names();
    if (std::ranges::find(names, text) != names.end()) return text;
    throw Error(Fault::bad_argument,
                "There is no backend '" + text + "'. There are: " + joined(names) + "." + did_you_mean(text, names));
}

struct Opened {
    std::string name, no_card;  // the reason where a card was looked for
    std::shared_ptr<Backend> backend;
};

// The one that is named, else a card where there is one. A card that does not work is an error.
Opened open(const Asked& c) {
    const char* variable = std::getenv("SHUNT_BACKEND");
    std::string name = !c.backend.empty() ? c.backend : variable == nullptr ? "" : variable;
    if (name == "auto" && c.backend.empty()) name.clear();  // measures a run of training, which this is not
    if (!c.adapter.empty() && c.backend.empty()) name = "gpu";
    if (!name.empty()) return {name, "", make_backend(name, {.threads = c.threads, .adapter = c.adapter})};
    try {
        return {"gpu", "", make_backend("gpu", {})};
    } catch (const Error& error) {
        if (error.fault() != Fault::no_gpu) throw;
        return {"cpu", error.what(), make_backend("cpu", {.threads = c.threads})};
    }
}

double smallest() {
    return std::ranges::min_element(convolutions, {}, &Convolution::macs)->macs();
}

std::string line_of(const Convolution& c, double seconds) {
    return padded(c.name(), 44) + padded(time_in_words(seconds), 12, true) +
           padded(rate_in_words(2 * c.macs() / seconds, "FLOP/s"), 16, true) + "\n";
}

Json as_json(const Convolution& c, double seconds) {
    return {{"pictures", c.pictures}, {"channels", c.in},
            {"height", c.h},          {"width", c.w},
            {"out_channels", c.out},  {"kernel", {c.kh, c.kw}},
            {"stride", c.stride},     {"groups", c.groups},
            {"seconds", seconds},     {"gflop_per_second", 2e-9 * c.macs() / seconds}};
}

std::string opening(const Opened& on, const Conditions& where) {
    std::string out = in_words(where) + "Convolutions with bias and relu on " + on.name +
                      ", what they work on and their results kept there.\n";
    if (!on.no_card.empty()) out += "No card: " + one_line(on.no_card) + "\n";
    return out + "\n";
}

}  // namespace

int bench_conv(Arguments arguments) {
    Asked c;
    CommandLine line("bench conv", "[options]", "Measures convolutions of networks that see, on a backend.");
    line.group("Options");
    line.parsed("--backend", c.backend, parse_name, "NAME", "cpu, gpu, plain (gpu where there is a card, else cpu)");
    line.real("--seconds", c.seconds, above_0, "S", "to run each convolution for, three times over (0.01)");
    line.real("--most", c.most, at_least_1, "N", "leave out those of more multiply-adds than this");
    line.whole("--threads", c.threads, 1, "N", "most CPU threads to use (all)");
    line.text("--adapter", c.adapter, "NAME", "the card, by number or part of its name in shunt devices");
    line.flag("--json", c.json, "print one JSON document");
    line.flag("--quiet", c.quiet, "with --json: no progress");
    line.example("shunt bench conv --backend gpu --seconds 0.1");
    if (!line.parse(arguments)) return 0;
    if (!c.adapter.empty() && !c.backend.empty() && c.backend != "gpu")
        line.refuse_usage("--adapter names a graphics card; --backend " + c.backend + " uses none.");
    const auto small = [&](const Convolution& conv) { return !c.most || conv.macs() <= *c.most; };
    if (std::ranges::none_of(convolutions, small))
        line.refuse_usage("--most " + short_text(*c.most) + " leaves nothing to measure: the smallest has " +
                          short_text(smallest()) + " multiply-adds.");

    const Opened on = open(c);
    const Conditions where = conditions(on.name == "gpu", c.adapter, c.threads);
    const auto tell = [&](const std::string& text) {
        if (!c.json) print(text);
        if (c.json && !c.quiet) note(text);
    };
    tell(opening(on, where));
    Json document = as_json(where);
    document["backend"] = on.name;
    document["convolutions"] = Json::array();
    for (const Convolution& conv : convolutions) {
        if (!small(conv)) continue;
        const Operands operands(*on.backend, conv);
        const double seconds = seconds_each(*on.backend, c.seconds,
                                            [&] { on.backend->conv2d(operands.x, operands.weight, operands.options); });
        tell(line_of(conv, seconds));
        document["convolutions"].push_back(as_json(conv, seconds));
    }
    if (c.json) print(to_json_text(document));
    return 0;
}

}  // namespace shunt::cli
