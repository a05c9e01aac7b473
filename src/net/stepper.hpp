// One training step after the other on samples that are on the backend: what train runs and auto times.
#pragma once

#include "net/feed.hpp"
#include "net/impl.hpp"

namespace shunt {

class Stepper {
public:
    // `batch`: the most samples of a step.
    Stepper(Network::Impl& net, const TrainOptions& options, std::size_t batch)
        : optimizer(options, net.backend, {{net.values, net.gradients, net.n_decayed}}),
          net_(net),
          at_once_{.layers = net.dense_layers(),
                   .softmax = net.loss == LossKind::softmax,
                   .values = net.values,
                   .gradients = net.gradients,
                   .m = optimizer.m(0),
                   .v = optimizer.v(0),
                   .batch = batch} {}

    void step(const Feed::Batch& batch) {
        const UpdateOptions update = optimizer.next(1 / static_cast<double>(batch.count));
        if (step_at_once(batch, update)) return;
        net_.backprop(batch.data, batch.start, batch.count);
        optimizer.apply(update);
    }

    Optimizer optimizer;

private:
    bool step_at_once(const Feed::Batch& batch, const UpdateOptions& update) {
        if (at_once_.layers.empty()) return false;
        at_once_.inputs = batch.data.inputs;
        at_once_.answers = batch.data.answers;
        at_once_.weights = batch.data.weights;
        at_once_.rows = batch.data.rows.view(batch.start, {batch.count});
        at_once_.losses = batch.data.losses.view(batch.start, {batch.count});
        at_once_.update = update;
        if (net_.backend->train_step(at_once_)) return true;
        at_once_.layers.clear();
        return false;
    }

    Network::Impl& net_;
    TrainStep at_once_;  // for a backend that takes steps as a whole; no layers: it does not
};

}  // namespace shunt
