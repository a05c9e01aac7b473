// How a network created with "auto" settles on a backend: at the start of train(), by measuring.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decide/machine.hpp"
#include "net/impl.hpp"
#include "net/trial.hpp"

namespace shunt {

// What settling asks for from outside. Tests stand in for cards and clocks.
struct World {
    std::vector<std::string> candidates = {"cpu", "gpu"};  // sorted; beside the one the network is on
    std::function<double()> now;                           // seconds
    std::function<decide::Machine(const std::string& name, const BackendOptions& options)> machine;
    std::function<std::shared_ptr<Backend>(const std::string& name, const BackendOptions& options)> open;
    std::function<std::unique_ptr<Trial>(Network::Impl&, const Samples&, const TrainOptions&)> trial;

    static World real();
};

// Moves the network to where the run will take the least time and sets net.settled. Weights,
// generation and random numbers are as before. A candidate that fails is left out.
void settle(Network::Impl& net, const Samples& samples, const TrainOptions& options,
            const World& world = World::real());

// All that a network's speed depends on, as the beginning of a key: "train; 784; dense:10; …".
std::string work_in_words(const char* what, const Network::Impl& net);

}  // namespace shunt
