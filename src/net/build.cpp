// From a list of layers to stages, parameters and initial weights.
#include <algorithm>
#include <cmath>

#include "net/impl.hpp"

namespace shunt {
namespace {

[[noreturn]] void refuse(std::size_t layer, const Layer& l, const std::string& why) {
    throw Error(Fault::bad_argument, "Layer " + std::to_string(layer) + " (" + to_string(l) + ") " + why);
}

Activation activation_of(LayerKind kind) {
    switch (kind) {
        case LayerKind::relu: return Activation::relu;
        case LayerKind::tanh: return Activation::tanh;
        case LayerKind::sigmoid: return Activation::sigmoid;
        default: return Activation::none;
    }
}

}  // namespace

void Network::Impl::build() {
    std::size_t size = input.is_tokens() ? 0 : static_cast<std::size_t>(input.size);  // 0: still tokens
    for (std::size_t i = 0; i < layers.size(); i++) {
        const Layer& layer = layers[i];
        const bool sized = layer.kind == LayerKind::dense || layer.kind == LayerKind::embed;
        if (sized && layer.size < 1) refuse(i, layer, "needs a size of 1 or more.");
        if (size == 0 && layer.kind != LayerKind::embed)
            refuse(i, layer, "cannot take tokens: an embedding (embed:D) has to come first.");
        const std::size_t n = static_cast<std::size_t>(layer.size);
        if (layer.kind == LayerKind::embed) {
            if (i > 0 || size != 0) refuse(i, layer, "works on tokens only, as the first layer.");
            stages.push_back({Stage::Kind::embed, Activation::none, params.size()});
            params.push_back({i, "E", {static_cast<std::size_t>(input.tokens.vocab), n}});
            size = Shape{static_cast<std::size_t>(input.tokens.count), n}.size();
        } else if (layer.kind == LayerKind::dense) {
            stages.push_back({Stage::Kind::dense, Activation::none, params.size()});
            params.push_back({i, "W", {n, size}});
            params.push_back({i, "b", {1, n}});
            size = n;
        } else if (!stages.empty() && stages.back().activation == Activation::none) {
            stages.back().activation = activation_of(layer.kind);
        } else {
            stages.push_back({Stage::Kind::activation, activation_of(layer.kind), 0});
        }
    }
    n_out = size;
}

void Network::Impl::place() {
    offsets.assign(params.size(), 0);
    std::size_t end = 0;
    const auto put = [&](bool biases) {
        for (std::size_t p = 0; p < params.size(); p++) {
            if ((params[p].name == "b") != biases) continue;
            offsets[p] = end;
            end += (params[p].shape.size() + alignment - 1) / alignment * alignment;
        }
    };
    put(false);
    n_decayed = end;
    put(true);
    values = backend->zeros({end});
    gradients = backend->zeros({end});
}

std::vector<DenseLayer> Network::Impl::dense_layers() const {
    std::vector<DenseLayer> dense;
    for (const Stage& stage : stages) {
        if (stage.kind != Stage::Kind::dense) return {};
        const Shape& w = params[stage.first_param].shape;
        dense.push_back({w[1], w[0], offsets[stage.first_param], offsets[stage.first_param + 1], stage.activation});
    }
    return dense;
}

void Network::Impl::initialise() {
    Weights weights;
    for (const Parameter& p : params) {
        std::vector<double> w(p.shape.size(), 0.0);
        if (p.name == "W") {  // Glorot and Bengio 2010, uniform
            const double limit = std::sqrt(6 / static_cast<double>(p.shape[0] + p.shape[1]));
            for (double& v : w) v = (2 * random.uniform() - 1) * limit;
        } else if (p.name == "E") {
            for (double& v : w) v = 0.1 * random.normal();
        }
        weights.push_back(std::move(w));
    }
    write(weights);
}

Weights Network::Impl::read(const Tensor& all) const {
    const std::vector<double> flat = backend->read(all);
    Weights weights;
    for (std::size_t p = 0; p < params.size(); p++) {
        const auto first = flat.begin() + static_cast<std::ptrdiff_t>(offsets[p]);
        weights.emplace_back(first, first + static_cast<std::ptrdiff_t>(params[p].shape.size()));
    }
    return weights;
}

void Network::Impl::write(const Weights& weights) {
    std::vector<double> flat(values.size(), 0.0);
    for (std::size_t p = 0; p < params.size(); p++) {
        std::ranges::copy(weights[p], flat.begin() + static_cast<std::ptrdiff_t>(offsets[p]));
    }
    backend->write(values, flat);
    if (can_fail()) kept = weights;
}

}  // namespace shunt
