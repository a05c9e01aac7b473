// Shows what `auto` costs: whole runs, from making the network to its trained weights, on cpu, on gpu
// and on auto, which starts without anything measured before. A run is long enough to take the better
// side --seconds (5). That side is run for an eighth of it before and after auto, the other one for a
// thirtieth, and their times are told for the whole.
//
//     auto [--seconds 60] [--only 784-128-10]
//
// Prints a line a case. In runs of 60 seconds and more it fails where auto took more than 1.05 of the
// better side's time.
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "shunt/network.hpp"

namespace {

using shunt::Network;
using shunt::Samples;
using Clock = std::chrono::steady_clock;

constexpr double most = 1.05, long_run = 60;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Case {
    std::vector<std::int64_t> sizes;
    std::int64_t batch;

    std::string name() const {
        std::string text;
        for (std::int64_t size : sizes) text += (text.empty() ? "" : "-") + std::to_string(size);
        return text;
    }
};

Samples make_samples(const Case& c, std::size_t n) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    Samples samples;
    samples.n = n;
    samples.inputs.resize(n * static_cast<std::size_t>(c.sizes.front()));
    for (double& x : samples.inputs) x = normal(random);
    for (std::size_t i = 0; i < n; i++)
        samples.classes.push_back(static_cast<std::uint32_t>(i % static_cast<std::size_t>(c.sizes.back())));
    return samples;
}

struct Run {
    double seconds = 0, first_epoch = 0;  // in all, and until the end of the first epoch
    std::int64_t epochs = 0;
    std::optional<shunt::Settled> settled;

    double epoch() const { return epochs > 1 ? (seconds - first_epoch) / static_cast<double>(epochs - 1) : seconds; }
    double of(std::int64_t wanted) const { return first_epoch + static_cast<double>(wanted - 1) * epoch(); }
};

// Ends after `epochs`, or with the first epoch after `limit` seconds; at least two epochs.
Run run(const Case& c, const Samples& samples, const std::string& backend, std::int64_t epochs, double limit) {
    std::vector<shunt::Layer> layers;
    for (std::size_t i = 1; i < c.sizes.size(); i++) {
        if (i > 1) layers.push_back(shunt::relu());
        layers.push_back(shunt::dense(c.sizes[i]));
    }
    Run r;
    const auto start = Clock::now();
    Network net({.input = c.sizes[0], .layers = layers, .backend = backend});
    net.train(samples, {.epochs = epochs, .batch = c.batch, .lr = 1e-4, .on_epoch = [&](const shunt::Epoch& e) {
                            r.epochs = e.epoch;
                            r.seconds = since(start);
                            if (e.epoch == 1) r.first_epoch = r.seconds;
                            return e.epoch < 2 || r.seconds < limit;
                        }});
    net.weights();  // waits for them
    r.seconds = since(start);
    r.settled = net.settled();
    return r;
}

bool show(const Case& c, double seconds) {
    // Short runs are for trying the program out: eight batches are the least that auto measures with.
    const std::size_t least = 8 * static_cast<std::size_t>(c.batch);
    const Samples samples = make_samples(c, seconds < 10 ? least : std::max<std::size_t>(least, 16384));
    constexpr std::int64_t endless = std::int64_t{1} << 40;
    std::map<std::string, Run> sides;
    for (const char* name : {"cpu", "gpu"}) {
        if (shunt::try_backend(name).backend) sides[name] = run(c, samples, name, endless, seconds / 30);
    }
    const auto& [better, rough] = *std::ranges::min_element(
        sides, [](const auto& a, const auto& b) { return a.second.epoch() < b.second.epoch(); });
    const auto epochs = std::max<std::int64_t>(2, std::llround(std::ceil(1.05 * seconds / rough.epoch())));
    const double never = 1e9;
    const std::int64_t eighth = std::max<std::int64_t>(2, epochs / 8);
    const Run before = run(c, samples, better, eighth, never);
    const Run settled = run(c, samples, "auto", epochs, never);
    const Run after = run(c, samples, better, eighth, never);

    std::map<std::string, double> times;
    for (const auto& [name, side] : sides) times[name] = side.of(epochs);
    times[better] = (before.of(epochs) + after.of(epochs)) / 2;
    double best = never;
    for (const auto& [name, time] : times) best = std::min(best, time);
    const double ratio = settled.seconds / best;
    std::printf("%-18s batch %-5lld %9lld epochs", c.name().c_str(), static_cast<long long>(c.batch),
                static_cast<long long>(epochs));
    for (const auto& [name, time] : times) std::printf("  %s %9.2f s", name.c_str(), time);
    std::printf(" (%s: %.2f before, %.2f after)", better.c_str(), before.of(epochs), after.of(epochs));
    std::printf("  auto %9.2f s on %s  ratio %.3f%s\n", settled.seconds,
                settled.settled ? settled.settled->backend.c_str() : "cpu", ratio, ratio > most ? "  TOO SLOW" : "");
    if (settled.settled) std::printf("    %s\n", settled.settled->why.c_str());
    std::fflush(stdout);
    return ratio <= most;
}

}  // namespace

int main(int argc, char** argv) {
    double seconds = 5;
    std::string only;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::string(argv[i]) == "--seconds") seconds = std::atof(argv[i + 1]);
        if (std::string(argv[i]) == "--only") only = argv[i + 1];
    }
    char folder[] = "/tmp/shunt-bench-XXXXXX";
    ::setenv("SHUNT_CACHE", ::mkdtemp(folder), 1);
    std::vector<Case> cases;
    for (const auto& sizes :
         std::vector<std::vector<std::int64_t>>{{4, 24, 24, 2}, {7, 32, 32, 2}, {64, 64, 10}, {784, 128, 10}}) {
        for (std::int64_t batch : {16, 256, 4096}) cases.push_back({sizes, batch});
    }
    cases.push_back({{784, 2048, 2048, 10}, 1024});
    bool right = true;
    for (const Case& c : cases) {
        if (only.empty() || only == c.name()) right = show(c, seconds) && right;
    }
    std::filesystem::remove_all(folder);
    return right || seconds < long_run ? 0 : 1;
}
