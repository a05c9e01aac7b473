// Microseconds of one training step, through Network::train: the whole epoch over its steps.
// Prints `shunt network batch microseconds_per_step`, the median over epochs after a warm-up.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "shunt/network.hpp"

namespace {

struct Work {
    std::vector<std::int64_t> sizes;
    std::int64_t batch;
    std::size_t steps;  // in an epoch
};

double microseconds_per_step(const Work& work, const std::string& backend) {
    using clock = std::chrono::steady_clock;
    const std::size_t n = static_cast<std::size_t>(work.batch) * work.steps,
                      n_in = static_cast<std::size_t>(work.sizes[0]);
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    shunt::Samples samples;
    samples.n = n;
    samples.inputs.resize(n * n_in);
    for (double& x : samples.inputs) x = normal(random);
    for (std::size_t i = 0; i < n; i++)
        samples.classes.push_back(static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(work.sizes.back()));

    std::vector<shunt::Layer> layers;
    for (std::size_t i = 1; i < work.sizes.size(); i++) {
        if (i > 1) layers.push_back(shunt::relu());
        layers.push_back(shunt::dense(work.sizes[i]));
    }
    shunt::Network net({.input = work.sizes[0], .layers = layers, .backend = backend});
    std::vector<double> epochs;
    auto last = clock::now();
    net.train(samples, {.epochs = 10, .batch = work.batch, .lr = 1e-3, .on_epoch = [&](const shunt::Epoch&) {
                            const auto now = clock::now();
                            epochs.push_back(std::chrono::duration<double, std::micro>(now - last).count());
                            last = now;
                            return true;
                        }});
    std::sort(epochs.begin() + 1, epochs.end());  // the first one is the warm-up
    return epochs[1 + (epochs.size() - 1) / 2] / static_cast<double>(work.steps);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string backend = argc > 1 ? argv[1] : "cpu";
    std::vector<Work> all = {{{784, 128, 128, 10}, 64, 100},
                             {{784, 512, 512, 10}, 256, 40},
                             {{7, 32, 32, 2}, 16, 1000},
                             {{4, 24, 24, 2}, 16, 1000}};
    if (backend == "gpu") all.insert(all.begin() + 2, {{784, 2048, 2048, 10}, 1024, 10});
    for (const Work& work : all) {
        std::string name;
        for (std::int64_t size : work.sizes) name += (name.empty() ? "" : "-") + std::to_string(size);
        std::printf("shunt-%s %s %lld %.1f\n", backend.c_str(), name.c_str(), static_cast<long long>(work.batch),
                    microseconds_per_step(work, backend));
        std::fflush(stdout);
    }
}
