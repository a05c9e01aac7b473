// What offload's decisions are worth: products and convolutions of sizes drawn log-uniformly, their weights on the
// card already or not. Each is timed on the CPU, on the card (transfers counted), and as ops:: with an accelerator
// that decides, checks samples and learns: nine times in turn after a first round, medians.
//
// offload [--seed 1] [--products 60] [--convolutions 60] [--most 4e9] [--quiet]
//
// --most: multiply-adds. Prints a line an operator and the sums; fails where what was chosen took more than 1.10 of
// the sum of the faster sides.
#include "shunt/offload.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace shunt;
using namespace shunt::offload;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 9;
constexpr double most_regret = 1.10;

std::mt19937_64 generator(1);

std::size_t log_uniform(double least, double most) {
    std::uniform_real_distribution<double> draw(std::log(least), std::log(most + 1));
    return static_cast<std::size_t>(std::exp(draw(generator)));
}

std::vector<float> values(std::size_t n) {
    std::vector<float> v(n);
    std::uniform_real_distribution<float> draw(-1, 1);
    for (float& x : v) x = draw(generator);
    return v;
}

struct Case {
    std::string name;
    std::function<void()> run;  // by ops::, with what is installed
};

// `resident`: one name for the weight; else a new one at each call, so that it has to be sent.
Case product(double most, bool resident) {
    std::size_t m, n, k;
    do {
        m = log_uniform(1, 2048), n = log_uniform(8, 4096), k = log_uniform(8, 4096);
    } while (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > most);
    return {"matmul " + std::to_string(m) + "x" + std::to_string(k) + " by " + std::to_string(n),
            [m, n, k, a = values(m * k), b = values(k * n), kept = Weight(), resident] {
                ops::matmul({a, {m, k}}, {b, {k, n}, resident ? kept : Weight()});
            }};
}

Case convolution(double most, bool resident) {
    while (true) {
        const std::size_t c = log_uniform(1, 384), size = log_uniform(7, 192), kernel = 1 + 2 * (generator() % 3);
        const bool depthwise = generator() % 4 == 0;
        const std::size_t o = depthwise ? c : log_uniform(1, 384), stride = 1 + generator() % 2, pad = kernel / 2;
        const std::size_t each = depthwise ? 1 : c;
        const double macs = static_cast<double>(o * each * kernel * kernel) * static_cast<double>(size * size) /
                            static_cast<double>(stride * stride);
        if (macs > most || size < kernel) continue;
        const ConvOptions options{.stride = {stride, stride},
                                  .pad = {pad, pad},
                                  .groups = depthwise ? c : 1,
                                  .activation = Activation::hard_swish};
        return {"conv2d " + std::to_string(c) + "x" + std::to_string(size) + "x" + std::to_string(size) + " to " +
                    std::to_string(o) + ", " + std::to_string(kernel) + "x" + std::to_string(kernel) + " s" +
                    std::to_string(stride) + (depthwise ? " depthwise" : ""),
                [=, x = values(c * size * size), w = values(o * each * kernel * kernel), bias = values(o),
                 kept = Weight()] {
                    ops::conv2d({x, {c, size, size}}, {w, {o, each, kernel, kernel}, resident ? kept : Weight()}, bias,
                                options);
                }};
    }
}

double median(std::vector<double> times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
}

struct Sums {
    double cpu = 0, card = 0, best = 0, chosen = 0;
};

void show(const Case& c, bool resident, GpuBackend& card, GpuBackend& decides, Sums& sums, bool quiet) {
    std::vector<double> cpu, gpu, chosen;
    const auto timed = [&](Accelerator* on, std::vector<double>& times) {
        std::optional<ScopedAccelerator> use;
        if (on) use.emplace(*on);
        const auto start = Clock::now();
        c.run();
        times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    };
    for (int i = 0; i <= rounds; i++) {
        if (i == 1) cpu.clear(), gpu.clear(), chosen.clear();
        timed(nullptr, cpu);
        timed(&card, gpu);
        timed(&decides, chosen);
    }
    const double on_cpu = median(cpu), on_card = median(gpu), by_choice = median(chosen);
    sums.cpu += on_cpu, sums.card += on_card, sums.chosen += by_choice, sums.best += std::min(on_cpu, on_card);
    if (quiet) return;
    std::printf("%-48s %-8s cpu %9.1f us  card %9.1f us  chosen %9.1f us%s\n", c.name.c_str(),
                resident ? "resident" : "sent", 1e6 * on_cpu, 1e6 * on_card, 1e6 * by_choice,
                by_choice > most_regret * std::min(on_cpu, on_card) ? "  *" : "");
    std::fflush(stdout);
}

bool sum_up(const char* what, const Sums& s) {
    const double regret = s.chosen / s.best;
    std::printf("%s: cpu alone %.1f ms, card alone %.1f ms, the faster of each %.1f ms, chosen %.1f ms: %.3f%s\n", what,
                1e3 * s.cpu, 1e3 * s.card, 1e3 * s.best, 1e3 * s.chosen, regret,
                regret > most_regret ? "  TOO MUCH" : "");
    return regret <= most_regret;
}

}  // namespace

int main(int argc, char** argv) {
    int products = 60, convolutions = 60;
    double most = 4e9;
    bool quiet = false;
    for (int i = 1; i < argc; i++) {
        const std::string option = argv[i];
        const double value = i + 1 < argc ? std::atof(argv[i + 1]) : 0;
        if (option == "--seed") generator.seed(static_cast<std::uint64_t>(value));
        if (option == "--products") products = static_cast<int>(value);
        if (option == "--convolutions") convolutions = static_cast<int>(value);
        if (option == "--most") most = value;
        if (option == "--quiet") quiet = true;
    }
    const SharedWorker worker = SharedWorker::open({.weight_bytes = std::size_t{4} << 30});
    if (!worker) {
        std::printf("No card: %s\n", worker.reason().c_str());
        return worker.broken() ? 1 : 0;
    }
    const auto start = Clock::now();
    GpuBackend decides(worker, {.verify = Verify::sampled, .measure = true});
    std::printf("calibrated in %.2f s\n%s", std::chrono::duration<double>(Clock::now() - start).count(),
                to_string(decides.costs()).c_str());
    GpuBackend card(worker, {.policy = Policy::strict, .costs = decides.costs()});
    Sums all_products, all_convolutions;
    for (int i = 0; i < products; i++) show(product(most, i % 2 == 0), i % 2 == 0, card, decides, all_products, quiet);
    for (int i = 0; i < convolutions; i++)
        show(convolution(most, i % 2 == 0), i % 2 == 0, card, decides, all_convolutions, quiet);
    const bool a = sum_up("products", all_products), b = sum_up("convolutions", all_convolutions);
    return a && b ? 0 : 1;
}
