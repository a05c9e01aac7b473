// See report.hpp.
#include "offload/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "core/json.hpp"
#include "core/text.hpp"

namespace shunt::offload {
namespace {

constexpr std::array<std::string_view, n_whys> names = {"faster", "weight missing", "uncertain", "demanded",
                                                        "empty",  "no card",        "resting",   "quarantined",
                                                        "failed", "timed out",      "wrong"};
constexpr std::array<std::string_view, n_whys> sentences = {
    "",
    "the card would be faster if it had the weight, which is not worth sending yet",
    "the card may be faster, within the uncertainty of the figures",
    "the card was demanded",
    "there was nothing to compute",
    "there is no card",
    "the card failed a moment ago",
    "the kernel gave a wrong result before",
    "the card failed",
    "the card did not answer in time",
    "the card's result was wrong"};
constexpr std::array<std::string_view, 4> kinds = {"matmul", "conv2d", "depthwise conv2d", "activate"};

std::uint64_t sum(const std::array<std::uint64_t, n_whys>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::string_view name_of(Side side) {
    return side == Side::gpu ? "card" : "CPU";
}

std::string shape_of(const Decision& d) {
    const auto size = [&](std::size_t i) { return std::to_string(d.sizes[i]); };
    switch (d.kind) {
        case Kind::matmul: return size(0) + "x" + size(2) + " by " + size(2) + "x" + size(1);
        case Kind::conv2d:
        case Kind::depthwise:
            return size(0) + "x" + size(1) + "x" + size(2) + "x" + size(3) + " to " + size(4) + ", " + size(5) + "x" +
                   size(6) + (d.sizes[7] > 1 ? ", stride " + size(7) : "") +
                   (d.kind == Kind::conv2d && d.sizes[8] > 1 ? ", " + size(8) + " groups" : "");
        case Kind::activate: return std::string(to_string(d.activation)) + " of " + size(0);
    }
    return "";
}

// Decisions alike: of one operator and shape, for one side and reason.
struct Alike {
    Decision newest;
    std::size_t n = 0;
    double least = std::numeric_limits<double>::infinity(), most = 0;  // seconds, where they are known

    void add(const Decision& d) {
        newest = d;
        n++;
        if (d.measured <= 0) return;
        least = std::min(least, d.measured), most = std::max(most, d.measured);
    }
    bool takes(const Decision& d) const {
        return d.kind == newest.kind && d.side == newest.side && d.why == newest.why && d.sizes == newest.sizes &&
               d.activation == newest.activation;
    }
};

std::string line_of(const Alike& all) {
    const Decision& d = all.newest;
    const Prediction& p = d.predicted;
    std::string text = std::string(kinds[static_cast<std::size_t>(d.kind)]) + " " + shape_of(d) + ": ";
    if (d.why != Why::empty && d.why != Why::no_card) {
        text += "CPU " + time_in_words(p.cpu) + ", card " + time_in_words(p.gpu()) + " (";
        const std::array<std::pair<std::string_view, double>, 6> terms = {{{"queue", p.queue},
                                                                           {"round trip", p.latency},
                                                                           {"upload", p.upload},
                                                                           {"weight", p.weight},
                                                                           {"computing", p.kernel},
                                                                           {"download", p.download}}};
        std::string parts;
        for (const auto& [term, seconds] : terms)
            if (seconds > 0) parts += (parts.empty() ? "" : ", ") + std::string(term) + " " + time_in_words(seconds);
        text += parts + "); ";
    }
    text += "on the " + std::string(name_of(d.side));
    if (d.why != Why::faster) text += ": " + std::string(sentences[static_cast<std::size_t>(d.why)]);
    if (all.n > 1) text += ", " + std::to_string(all.n) + " times";
    if (all.most == 0) return text;
    text += ", took " + time_in_words(all.least);
    return text + (all.most > all.least ? " to " + time_in_words(all.most) : "");
}

}  // namespace

std::uint64_t Report::add(const Decision& decision) {
    const std::lock_guard lock(mutex_);
    ring_[n_ % kept] = decision;
    counts_[static_cast<std::size_t>(decision.side)][static_cast<std::size_t>(decision.why)]++;
    return n_++;
}

void Report::measured(std::uint64_t number, double seconds) {
    const std::lock_guard lock(mutex_);
    if (number < n_ && n_ - number <= kept) ring_[number % kept].measured = seconds;
}

std::uint64_t Report::count(Side side) const {
    const std::lock_guard lock(mutex_);
    return sum(counts_[static_cast<std::size_t>(side)]);
}

Report::Moment Report::now() const {
    Moment moment;
    moment.last.reserve(kept);
    const std::lock_guard lock(mutex_);
    moment.counts = counts_;
    for (std::uint64_t i = n_ > kept ? n_ - kept : 0; i < n_; i++) moment.last.push_back(ring_[i % kept]);
    return moment;
}

std::string Report::text(const std::string& card) const {
    const auto [counts, decisions] = now();
    const auto& on_cpu = counts[static_cast<std::size_t>(Side::cpu)];
    const auto& on_card = counts[static_cast<std::size_t>(Side::gpu)];
    std::string text = "Offload to " + card + ": " + counted(sum(on_card), "operator") + " on the card, " +
                       std::to_string(sum(on_cpu)) + " on the CPU.\n";
    for (std::size_t why = 1; why < n_whys; why++) {
        for (Side side : {Side::gpu, Side::cpu}) {
            if (const std::uint64_t n = counts[static_cast<std::size_t>(side)][why]; n > 0)
                text += "  " + std::to_string(n) + " on the " + std::string(name_of(side)) + ": " +
                        std::string(sentences[why]) + "\n";
        }
    }
    if (!decisions.empty()) text += "The last " + counted(decisions.size(), "decision") + ":\n";
    std::vector<Alike> lines;  // a model's operators come again and again: a line for each, with the newest prediction
    for (const Decision& d : decisions) {
        const auto found = std::ranges::find_if(lines, [&](const Alike& line) { return line.takes(d); });
        (found == lines.end() ? lines.emplace_back() : *found).add(d);
    }
    for (const Alike& line : lines) text += "  " + line_of(line) + "\n";
    return text;
}

std::string Report::json(const std::string& card, const Costs& costs) const {
    const auto [counts, decisions] = now();
    nlohmann::ordered_json json;
    json["card"] = card;
    for (Side side : {Side::gpu, Side::cpu}) {
        const auto& of_side = counts[static_cast<std::size_t>(side)];
        auto& to = json[side == Side::gpu ? "on_card" : "on_cpu"] = {{"count", sum(of_side)}};
        for (std::size_t why = 0; why < n_whys; why++) to[std::string(names[why])] = of_side[why];
    }
    for (const CostField& field : cost_fields()) json["costs"][std::string(field.name)] = costs.*field.value;
    json["decisions"] = nlohmann::ordered_json::array();
    for (const Decision& d : decisions) {
        const Prediction& p = d.predicted;
        json["decisions"].push_back({{"operator", kinds[static_cast<std::size_t>(d.kind)]},
                                     {"shape", shape_of(d)},
                                     {"side", d.side == Side::gpu ? "card" : "cpu"},
                                     {"why", names[static_cast<std::size_t>(d.why)]},
                                     {"cpu", p.cpu},
                                     {"card", p.gpu()},
                                     {"queue", p.queue},
                                     {"latency", p.latency},
                                     {"upload", p.upload},
                                     {"weight", p.weight},
                                     {"kernel", p.kernel},
                                     {"download", p.download},
                                     {"measured", d.measured}});
    }
    return to_json(json, 1);
}

}  // namespace shunt::offload
