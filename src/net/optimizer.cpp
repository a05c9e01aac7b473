// sgd with momentum and adam, with decoupled weight decay. The arithmetic is Backend::update.
#include <cmath>

#include "shunt/network.hpp"

namespace shunt {
namespace {

void check(bool fits, const char* name, double value, const char* range) {
    if (fits) return;
    throw Error(Fault::bad_argument, std::string(name) + " " + std::to_string(value) + " is not " + range + ".");
}

}  // namespace

Optimizer::Optimizer(const TrainOptions& options, std::shared_ptr<Backend> backend, std::vector<Parameter> parameters)
    : options_(options), backend_(std::move(backend)), parameters_(std::move(parameters)) {
    if (!backend_) throw Error(Fault::bad_argument, "An optimizer needs a backend.");
    const bool adam = options_.optimizer == OptimizerKind::adam;
    lr = options_.lr.value_or(adam ? 0.005 : 0.1);
    check(std::isfinite(lr) && lr >= 0, "The learning rate", lr, "a finite number from 0 on");
    check(options_.momentum >= 0 && options_.momentum < 1, "momentum", options_.momentum, "in [0, 1)");
    check(options_.beta1 >= 0 && options_.beta1 < 1, "beta1", options_.beta1, "in [0, 1)");
    check(options_.beta2 >= 0 && options_.beta2 < 1, "beta2", options_.beta2, "in [0, 1)");
    check(std::isfinite(options_.epsilon) && options_.epsilon > 0, "epsilon", options_.epsilon, "above 0");
    check(std::isfinite(options_.weight_decay) && options_.weight_decay >= 0, "weight_decay", options_.weight_decay,
          "a finite number from 0 on");
    for (const Parameter& p : parameters_) {
        m_.push_back(backend_->zeros(p.value.shape));
        v_.push_back(adam ? backend_->zeros(p.value.shape) : Tensor{});
    }
}

UpdateOptions Optimizer::next(double scale) {
    t_++;
    const double t = static_cast<double>(t_);
    return {.rule = options_.optimizer == OptimizerKind::adam ? UpdateRule::adam : UpdateRule::sgd,
            .scale = scale,
            .lr = lr,
            .momentum = options_.momentum,
            .rate = lr * std::sqrt(1 - std::pow(options_.beta2, t)) / (1 - std::pow(options_.beta1, t)),
            .beta1 = options_.beta1,
            .beta2 = options_.beta2,
            .epsilon = options_.epsilon,
            .decay = 1 - lr * options_.weight_decay};
}

void Optimizer::step(double scale) {
    apply(next(scale));
}

void Optimizer::apply(UpdateOptions update) {
    for (std::size_t i = 0; i < parameters_.size(); i++) {
        update.n_decayed = parameters_[i].n_decayed;
        backend_->update(update, parameters_[i].value, parameters_[i].gradient, m_[i], v_[i]);
    }
}

Optimizer::State Optimizer::state() const {
    State state{lr, t_, {}, {}};
    for (const Tensor& m : m_) state.m.push_back(backend_->read(m));
    for (const Tensor& v : v_) {
        if (v.exists()) state.v.push_back(backend_->read(v));
    }
    return state;
}

void Optimizer::set_state(const State& state) {
    const std::size_t n = m_.size(), n_v = options_.optimizer == OptimizerKind::adam ? n : 0;
    bool fits = state.m.size() == n && state.v.size() == n_v;
    for (std::size_t i = 0; fits && i < n; i++) {
        fits = state.m[i].size() == m_[i].size() && (n_v == 0 || state.v[i].size() == v_[i].size());
    }
    if (!fits)
        throw Error(Fault::bad_argument, "The state is that of an optimizer of another kind or other parameters.");
    for (std::size_t i = 0; i < n; i++) {
        backend_->write(m_[i], state.m[i]);
        if (n_v > 0) backend_->write(v_[i], state.v[i]);
    }
    lr = state.lr;
    t_ = state.steps;
}

}  // namespace shunt
