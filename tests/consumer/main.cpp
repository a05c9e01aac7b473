// Hello, world: a network learns XOR, and a table is read.
#include <iostream>
#include <shunt/shunt.hpp>

int main() {
    using namespace shunt;
    Samples samples;
    samples.add({0, 0}, 0).add({0, 1}, 1).add({1, 0}, 1).add({1, 1}, 0);
    Network net({.input = 2, .layers = {dense(8), shunt::tanh(), dense(2)}, .seed = 1});
    TrainOptions options;
    options.epochs = 400;
    options.batch = 4;
    options.lr = 0.02;
    const TrainResult result = net.train(samples, options);
    const Table table = read_csv("a,b\n1,2\n3,4\n", "here");
    std::cout << "loss " << result.loss << ", accuracy " << net.accuracy(samples) << ", rows " << table.rows << '\n';
    return net.accuracy(samples) == 1 && table.rows == 2 ? 0 : 1;
}
