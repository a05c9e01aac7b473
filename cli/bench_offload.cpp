// shunt bench offload: what offload's choices are worth. Products and convolutions of sizes drawn log-uniformly, every
// other one with its weight on the card already. Each is timed on the CPU, on the card (transfers counted), and as
// ops:: with an accelerator that decides, checks samples and learns: nine times in turn after a first round, medians.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>

#include "commands.hpp"
#include "conditions.hpp"
#include "print.hpp"
#include "shunt/file.hpp"
#include "shunt/offload.hpp"

namespace shunt::cli {
namespace {

using namespace offload;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 9;
constexpr double most_regret = 1.10;
constexpr Range at_least_1000 = {"a number of at least 1000", [](double x) { return x >= 1000; }};  // drawn soon enough

struct Asked {
    std::string adapter;
    std::int64_t seed = 1;
    std::array<std::int64_t, 2> counts = {60, 60};  // of products and of convolutions
    double most = 4e9;
    bool json = false, quiet = false;
};

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// --- the operators -------------------------------------------------------------------------------

struct Case {
    std::string name;
    bool resident = false;
    std::function<void()> run;  // by ops::, with what is installed
};

class Draw {
public:
    Draw(std::int64_t seed, double most) : generator_(static_cast<std::uint64_t>(seed)), most_(most) {}

    // `resident`: one name for the weight; else a new one at each call, so that it has to be sent.
    Case product(bool resident) {
        std::size_t m, n, k;
        do {
            m = log_uniform(1, 2048), n = log_uniform(8, 4096), k = log_uniform(8, 4096);
        } while (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > most_);
        return {"matmul " + std::to_string(m) + "x" + std::to_string(k) + " by " + std::to_string(n), resident,
                [m, n, k, resident, a = values(m * k), b = values(k * n), kept = Weight()] {
                    ops::matmul({a, {m, k}}, {b, {k, n}, resident ? kept : Weight()});
                }};
    }

    Case convolution(bool resident) {
        while (true) {
            const std::size_t c = log_uniform(1, 384), size = log_uniform(7, 192), kernel = 1 + 2 * (generator_() % 3);
            const bool depthwise = generator_() % 4 == 0;
            const std::size_t o = depthwise ? c : log_uniform(1, 384), stride = 1 + generator_() % 2, pad = kernel / 2;
            const std::size_t each = depthwise ? 1 : c;
            const double macs = static_cast<double>(o * each * kernel * kernel) * static_cast<double>(size * size) /
                                static_cast<double>(stride * stride);
            if (macs > most_) continue;
            const ConvOptions options{.stride = {stride, stride},
                                      .pad = {pad, pad},
                                      .groups = depthwise ? c : 1,
                                      .activation = Activation::hard_swish};
            return {"conv2d " + std::to_string(c) + "x" + std::to_string(size) + "x" + std::to_string(size) + " to " +
                        std::to_string(o) + ", " + std::to_string(kernel) + "x" + std::to_string(kernel) + " s" +
                        std::to_string(stride) + (depthwise ? " depthwise" : ""),
                    resident,
                    [=, x = values(c * size * size), w = values(o * each * kernel * kernel), bias = values(o),
                     kept = Weight()] {
                        ops::conv2d({x, {c, size, size}}, {w, {o, each, kernel, kernel}, resident ? kept : Weight()},
                                    bias, options);
                    }};
        }
    }

private:
    std::size_t log_uniform(double least, double most) {
        std::uniform_real_distribution<double> draw(std::log(least), std::log(most + 1));
        return static_cast<std::size_t>(std::exp(draw(generator_)));
    }

    std::vector<float> values(std::size_t n) {
        std::vector<float> v(n);
        std::uniform_real_distribution<float> draw(-1, 1);
        for (float& x : v) x = draw(generator_);
        return v;
    }

    std::mt19937_64 generator_;
    const double most_;
};

// --- their times ---------------------------------------------------------------------------------

// Seconds of an operator, or of all of a kind.
struct Times {
    double cpu = 0, card = 0, chosen = 0, faster = 0;  // the faster of the first two, summed one by one

    double regret() const { return chosen / faster; }
    bool holds() const { return faster == 0 || regret() <= most_regret; }
    void operator+=(const Times& t) { cpu += t.cpu, card += t.card, chosen += t.chosen, faster += t.faster; }
};

double median(std::array<double, rounds> times) {
    std::ranges::sort(times);
    return times[rounds / 2];
}

// Every other round goes the other way: what comes after the card finds its caches cold, and that is to meet the CPU
// alone as often as what was chosen.
Times time(const Case& c, Accelerator& card, Accelerator& decides) {
    const std::array<Accelerator*, 3> sides = {nullptr, &card, &decides};
    std::array<std::array<double, rounds>, 3> times{};
    for (int round = -1; round < rounds; round++) {
        for (std::size_t i = 0; i < sides.size(); i++) {
            const std::size_t side = round % 2 == 0 ? i : sides.size() - 1 - i;
            std::optional<ScopedAccelerator> use;
            if (sides[side] != nullptr) use.emplace(*sides[side]);
            const auto start = Clock::now();
            c.run();
            if (round >= 0) times[side][static_cast<std::size_t>(round)] = since(start);
        }
    }
    const double cpu = median(times[0]), gpu = median(times[1]);
    return {.cpu = cpu, .card = gpu, .chosen = median(times[2]), .faster = std::min(cpu, gpu)};
}

std::string in_words(const Case& c, const Times& t) {
    return padded(c.name, 44) + (c.resident ? " kept  CPU " : " sent  CPU ") + padded(time_in_words(t.cpu), 9, true) +
           "  card " + padded(time_in_words(t.card), 9, true) + "  chosen " + padded(time_in_words(t.chosen), 9, true) +
           (t.holds() ? "\n" : "  *\n");
}

std::string in_words(const std::string& what, const Times& t) {
    if (t.faster == 0) return "";
    return what + ": the CPU alone " + time_in_words(t.cpu) + ", the card alone " + time_in_words(t.card) +
           ", the faster of each " + time_in_words(t.faster) + ", as chosen " + time_in_words(t.chosen) + ": " +
           short_text(t.regret()) + "\n";
}

Json as_json(const Times& t) {
    return {{"cpu", t.cpu}, {"card", t.card}, {"faster", t.faster}, {"chosen", t.chosen}, {"regret", t.regret()}};
}

// --- the run -------------------------------------------------------------------------------------

class Bench {
public:
    explicit Bench(const Asked& asked) : asked_(asked), draw_(asked.seed, asked.most) {}

    int operator()(const SharedWorker& worker) {
        const auto start = Clock::now();
        GpuBackend decides(worker, {.verify = Verify::sampled, .measure = true});
        if (const auto error = decides.last_error())
            throw Error(Fault::gpu_broken, "The card cannot be measured: " + *error);
        open(decides, since(start));
        GpuBackend card(worker, {.policy = Policy::strict, .costs = decides.costs()});
        for (std::size_t kind = 0; kind < names.size(); kind++) {
            for (std::int64_t i = 0; i < asked_.counts[kind]; i++) {
                const bool resident = i % 2 == 0;
                show(kind, kind == 0 ? draw_.product(resident) : draw_.convolution(resident), card, decides);
            }
        }
        return close(decides);
    }

private:
    static constexpr std::array names = {"products", "convolutions"};

    // The lines of operators are the result, and with --json the progress.
    void line(const std::string& text) {
        if (asked_.quiet) return;
        asked_.json ? note(text) : print(text);
    }

    void open(const GpuBackend& decides, double seconds) {
        const std::string not_kept = decides.costs_origin().not_kept;
        const Conditions where = conditions(true, asked_.adapter);
        document_ = cli::as_json(where);
        document_["seed"] = asked_.seed;
        document_["most"] = asked_.most;
        document_["rounds"] = rounds;
        document_["calibration"] = {{"seconds", seconds}, {"costs", Json::parse(costs_json(decides.costs()))}};
        document_["operators"] = Json::array();
        const std::string text = cli::in_words(where) + "Calibrated in " + time_in_words(seconds) + ", uncertain by " +
                                 short_text(100 * decides.costs().spread) + " %.\n" +
                                 (not_kept.empty() ? "" : "Not kept: " + one_line(not_kept) + "\n");
        asked_.json ? line(text) : print(text);
        line("Medians of " + std::to_string(rounds) +
             "; kept: the weight is on the card; sent: at each call; *: chosen took more than " + to_text(most_regret) +
             " of the faster side.\n\n");
    }

    void show(std::size_t kind, const Case& c, GpuBackend& card, GpuBackend& decides) {
        const Times times = time(c, card, decides);
        sums_[kind] += times;
        line(in_words(c, times));
        document_["operators"].push_back({{"operator", c.name}, {"weight", c.resident ? "kept" : "sent"}});
        document_["operators"].back().update(as_json(times));
    }

    int close(const GpuBackend& decides) {
        std::string text, too_much;
        for (std::size_t kind = 0; kind < names.size(); kind++) {
            text += in_words(names[kind], sums_[kind]);
            document_[names[kind]] = sums_[kind].faster > 0 ? as_json(sums_[kind]) : Json(nullptr);
            if (!sums_[kind].holds()) too_much += (too_much.empty() ? "" : " and ") + std::string(names[kind]);
        }
        const std::optional<std::string> error = decides.last_error();
        document_["last_error"] = error ? Json(*error) : Json(nullptr);
        document_["most_regret"] = most_regret;
        print(asked_.json ? to_json_text(document_) : (asked_.quiet ? "" : "\n") + text);
        if (error) note("shunt: note: the card failed on the way: " + one_line(*error) + "\n");
        if (too_much.empty()) return 0;
        note("shunt: what was chosen for " + too_much + " took more than " + to_text(most_regret) +
             " of the faster sides' time.\n");
        return 1;
    }

    const Asked asked_;
    Draw draw_;
    std::array<Times, 2> sums_{};
    Json document_;
};

}  // namespace

int bench_offload(Arguments arguments) {
    Asked a;
    CommandLine line(
        "bench offload", "[options]",
        "Draws products and convolutions, and compares what offload chooses for them with the CPU alone, the\n"
        "card alone, and the faster of the two; transfers are counted. Measures costs anew, and keeps them.\n"
        "Exit 1 where what was chosen took more than 1.10 of the faster sides' time.");
    line.group("Options");
    line.whole("--products", a.counts[0], 0, "N", "how many (60)");
    line.whole("--convolutions", a.counts[1], 0, "N", "how many (60)");
    line.real("--most", a.most, at_least_1000, "N", "multiply-adds of one (4e9)");
    line.whole("--seed", a.seed, 0, "N", "of their sizes and values (1)");
    line.text("--adapter", a.adapter, "NAME", "the card, by number or part of its name in shunt devices");
    line.flag("--json", a.json, "print one JSON document; times are in seconds");
    line.flag("--quiet", a.quiet, "the sums, without a line for each operator");
    line.example("shunt bench offload --products 20 --convolutions 20 --most 1e8");
    if (!line.parse(arguments)) return 0;
    if (a.counts[0] + a.counts[1] == 0)
        line.refuse_usage("--products 0 and --convolutions 0 leave nothing to measure.");

    const SharedWorker worker =
        SharedWorker::open({.card = {.adapter = a.adapter}, .weight_bytes = std::size_t{4} << 30});
    if (!worker) throw Error(worker.broken() ? Fault::gpu_broken : Fault::no_gpu, worker.reason());
    return Bench(a)(worker);
}

}  // namespace shunt::cli
