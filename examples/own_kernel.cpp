// Kernels of the program's own: a few lines of WGSL over buffers that stay on the card. Without a card
// it says so.
#include <cmath>
#include <iostream>
#include <shunt/shunt.hpp>

using namespace shunt;

// y += 2·x
bool saxpy() {
    const std::uint32_t n = 100'000;
    const std::vector<float> xs(n, 1.5f), ones(n, 1.0f);
    const auto gpu = gpu::open();
    const auto x = gpu.buffer(xs), y = gpu.buffer(ones);
    gpu.define("saxpy", {"r:x", "w:y"}, 1, "if (id.x >= p.n0) { return; } y[id.x] += p.f0 * x[id.x];");
    for (int i = 0; i < 10; i++) gpu.dispatch("saxpy", {x, y}, {.n = {n}, .f = {2.0f}}, n);
    const auto answer = y.read<float>();  // the one wait
    std::cout << "ten times 1 += 2 * 1.5 on " << gpu.adapter().name << ": " << answer[n - 1] << "\n";
    return answer[n - 1] == 31;
}

// A network whose weights stay within ±1 while it trains: clipped on the card after each step.
bool clipped_network() {
    Samples samples;
    samples.add({0, 0}, 0).add({0, 1}, 1).add({1, 0}, 1).add({1, 1}, 0);
    Network net({.input = 2, .layers = {dense(16), tanh(), dense(2)}, .seed = 1, .backend = "gpu"});
    const auto gpu = gpu::of(net);
    gpu.define("clip", {"w:w"}, 1, "if (id.x < p.n0) { w[id.x] = clamp(w[id.x], -p.f0, p.f0); }");
    const auto clip = [&](std::int64_t, std::int64_t) {
        for (std::size_t i = 0; i < net.params().size(); i++) {
            const Tensor w = net.value(i);
            gpu.dispatch("clip", {w}, {.n = {static_cast<std::uint32_t>(w.size())}, .f = {1.0f}}, w.size());
        }
    };
    net.train(samples, {.epochs = 300, .batch = 4, .lr = 0.02, .on_step = clip});
    double largest = 0;
    for (const auto& weights : net.weights()) {
        for (double w : weights) largest = std::max(largest, std::abs(w));
    }
    std::cout << "xor with weights of at most " << largest << ": accuracy " << net.accuracy(samples) << "\n";
    return largest <= 1 && net.accuracy(samples) == 1;
}

int main() {
    try {
        return saxpy() && clipped_network() ? 0 : 1;
    } catch (const Error& error) {
        if (error.fault() != Fault::no_gpu) throw;
        std::cout << error.what() << "\n";
    }
}
