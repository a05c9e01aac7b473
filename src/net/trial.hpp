// Timing the backend that a network is on, by the run's own training steps.
#pragma once

#include <memory>

#include "decide/choose.hpp"
#include "net/impl.hpp"

namespace shunt {

// Changes the weights, and nothing else that lasts. Tests have trials of their own.
class Trial {
public:
    virtual ~Trial() = default;

    // Seconds of forward and backward of 16 samples, after they were run once.
    virtual double probe() = 0;

    // Runs one step; seconds of the shortest so far, from the first call of the backend to its end.
    virtual double step() = 0;

    // All of it, in about `limit` seconds; steps that take more than thrice `bar` (0: none) are not
    // timed any longer. After step().
    virtual decide::TrainingCost measure(double limit, double bar) = 0;
};

// Uploads the first eight batches. `samples` and `options` have to outlive it.
std::unique_ptr<Trial> make_trial(Network::Impl& net, const Samples& samples, const TrainOptions& options);

}  // namespace shunt
