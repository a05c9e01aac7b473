// The smallest network: two inputs, one hidden layer, two classes.
#include <array>
#include <iostream>
#include <shunt/shunt.hpp>

int main() {
    using namespace shunt;
    Samples samples;
    samples.add({0, 0}, 0).add({0, 1}, 1).add({1, 0}, 1).add({1, 1}, 0);

    Network net({.input = 2, .layers = {dense(8), tanh(), dense(2)}, .seed = 1});
    const TrainResult result = net.train(samples, {.epochs = 400, .batch = 4, .lr = 0.02});
    std::cout << "loss " << result.loss << " after " << result.history.size() << " epochs, stopped by "
              << to_string(result.stopped) << "\n";

    const auto p = net.predict(std::array{1.0, 0.0});
    std::cout << "1 xor 0 is 1 with probability " << p[1] << "\n";

    net.save("xor.safetensors");
    const Network again = Network::load("xor.safetensors");
    return again.accuracy(samples) == 1 ? 0 : 1;
}
