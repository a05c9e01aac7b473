// Network: made, asked, and its weights read and set. Training is in train.cpp, the file in file.cpp.
#include "shunt/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/finite.hpp"
#include "core/text.hpp"
#include "net/feed.hpp"
#include "net/impl.hpp"
#include "net/samples.hpp"

namespace shunt {
namespace {

void check(const Input& input) {
    if (input.is_tokens()) {
        if (input.tokens.count < 1 || input.tokens.vocab < 1 || input.tokens.vocab > 0xffffffff) {
            throw Error(Fault::bad_argument,
                        "A token input needs at least 1 token a sample and a vocabulary of 1 to 2^32 - 1; given are " +
                            std::to_string(input.tokens.count) + " and " + std::to_string(input.tokens.vocab) + ".");
        }
    } else if (input.size < 1) {
        throw Error(Fault::bad_argument,
                    "The input must be a number of values per sample (1 or more) or Tokens{count, vocab}; given is " +
                        std::to_string(input.size) + ".");
    }
}

void check_param(std::size_t param, std::size_t n) {
    if (param < n) return;
    throw Error(Fault::bad_argument, "There is no parameter " + std::to_string(param) + "; the network has " +
                                         std::to_string(n) + ", counted from 0.");
}

std::string chosen_backend(const std::string& named) {
    if (!named.empty()) return named;
    const std::string preferred = environment("SHUNT_BACKEND");
    return preferred.empty() ? "auto" : preferred;
}

// softmax of each row, in double, the maximum subtracted first.
void to_probabilities(std::span<double> outputs, std::size_t n_out) {
    for (; !outputs.empty(); outputs = outputs.subspan(n_out)) {
        const auto row = outputs.first(n_out);
        if (!all_finite(row)) {
            std::ranges::fill(row, std::numeric_limits<double>::quiet_NaN());
            continue;
        }
        const double top = *std::ranges::max_element(row);
        double sum = 0;
        for (double& v : row) sum += v = std::exp(v - top);
        for (double& v : row) v /= sum;
    }
}

Samples one(std::span<const double> input) {
    Samples s;
    s.inputs.assign(input.begin(), input.end());
    s.n = 1;
    return s;
}

Samples one(std::span<const float> input) {
    Samples s;
    s.inputs.assign(input.begin(), input.end());
    s.n = 1;
    return s;
}

Samples one(std::span<const std::uint32_t> tokens) {
    Samples s;
    s.tokens.assign(tokens.begin(), tokens.end());
    s.n = 1;
    return s;
}

}  // namespace

Network::Network(const NetworkOptions& options) : impl_(std::make_unique<Impl>()) {
    check(options.input);
    if (options.layers.empty())
        throw Error(Fault::bad_argument, "A network needs at least one layer, such as dense(8).");
    if (!std::isfinite(options.seed)) throw Error(Fault::bad_argument, "The seed must be a finite number.");
    impl_->input = options.input;
    impl_->loss = options.loss;
    impl_->seed = options.seed;
    impl_->layers = options.layers;
    impl_->opened_as = chosen_backend(options.backend);
    impl_->is_auto = impl_->opened_as == "auto";
    impl_->backend_options = {.threads = options.threads, .adapter = options.adapter};
    impl_->backend = make_backend(impl_->opened_as, impl_->backend_options);
    impl_->random = Random(options.seed);
    impl_->build();
    impl_->place();
    impl_->initialise();
}

Network Network::from_state(const NetworkState& state, const std::string& backend, int threads,
                            const std::string& adapter) {
    if (state.version != 1) {
        throw Error(Fault::unsupported, "This network state has version " + std::to_string(state.version) +
                                            "; this program reads version 1.");
    }
    Network net({state.input, state.layers, state.loss, state.seed, backend, threads, adapter});
    net.set_weights(state.weights);
    net.impl_->settled_on = state.settled_on;
    if (net.impl_->is_auto) net.impl_->start_on(state.settled_on);
    net.impl_->generation = 0;
    return net;
}

Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

double Network::backprop(const Samples& samples) {
    check_inputs(samples, impl_->input);
    check_answers(samples, impl_->loss, impl_->n_out);
    if (samples.n == 0) throw Error(Fault::bad_argument, "backprop needs at least one sample.");
    const double loss = impl_->surviving([&] {
        const EpochData data = epoch_data(*impl_->backend, samples);
        impl_->backprop(data, 0, data.n);
        return epoch_loss(*impl_->backend, data, data.n).front();
    });
    impl_->gradients_lost = false;
    return loss;
}

std::vector<double> Network::forward_all(const Samples& samples) const {
    check_inputs(samples, impl_->input);
    return impl_->surviving([&] { return impl_->answering(samples).forward_all(samples); });
}

std::vector<double> Network::predict_all(const Samples& samples) const {
    std::vector<double> outputs = forward_all(samples);
    if (impl_->loss == LossKind::softmax) to_probabilities(outputs, impl_->n_out);
    return outputs;
}

std::vector<double> Network::forward(std::span<const double> input) const {
    return forward_all(one(input));
}
std::vector<double> Network::forward(std::span<const float> input) const {
    return forward_all(one(input));
}
std::vector<double> Network::forward(std::span<const std::uint32_t> tokens) const {
    return forward_all(one(tokens));
}
std::vector<double> Network::predict(std::span<const double> input) const {
    return predict_all(one(input));
}
std::vector<double> Network::predict(std::span<const float> input) const {
    return predict_all(one(input));
}
std::vector<double> Network::predict(std::span<const std::uint32_t> tokens) const {
    return predict_all(one(tokens));
}

std::vector<std::uint32_t> Network::classify_all(const Samples& samples) const {
    const std::vector<double> outputs = forward_all(samples);
    std::vector<std::uint32_t> classes;
    for (std::span<const double> rest(outputs); !rest.empty(); rest = rest.subspan(impl_->n_out)) {
        const auto row = rest.first(impl_->n_out);
        const auto top = static_cast<std::uint32_t>(std::ranges::max_element(row) - row.begin());
        classes.push_back(all_finite(row) ? top : no_class);
    }
    return classes;
}

std::uint32_t Network::classify(std::span<const double> input) const {
    return classify_all(one(input)).front();
}
std::uint32_t Network::classify(std::span<const float> input) const {
    return classify_all(one(input)).front();
}
std::uint32_t Network::classify(std::span<const std::uint32_t> tokens) const {
    return classify_all(one(tokens)).front();
}

double Network::accuracy(const Samples& samples) const {
    if (impl_->loss != LossKind::softmax)
        throw Error(Fault::bad_argument, "Accuracy is for networks with the loss softmax.");
    if (samples.n == 0) throw Error(Fault::bad_argument, "Accuracy needs at least one sample.");
    check_answers(samples, impl_->loss, impl_->n_out);
    const std::vector<std::uint32_t> answers = classify_all(samples);
    std::size_t right = 0;
    for (std::size_t i = 0; i < samples.n; i++) right += answers[i] == samples.classes[i] ? 1 : 0;
    return static_cast<double>(right) / static_cast<double>(samples.n);
}

double Network::loss(const Samples& samples) const {
    check_inputs(samples, impl_->input);
    check_answers(samples, impl_->loss, impl_->n_out);
    if (samples.n == 0) return 0;
    return impl_->surviving([&] {
        Impl& on = impl_->answering(samples);
        Feed feed(*on.backend, samples, chunk_size);
        return on.summed_loss(feed, samples.n);
    });
}

std::size_t Network::n_in() const {
    return impl_->n_in();
}
std::size_t Network::n_out() const {
    return impl_->n_out;
}
const Input& Network::input() const {
    return impl_->input;
}
const std::vector<Layer>& Network::layers() const {
    return impl_->layers;
}
LossKind Network::loss_kind() const {
    return impl_->loss;
}
double Network::seed() const {
    return impl_->seed;
}
std::vector<Parameter> Network::params() const {
    return impl_->params;
}
Weights Network::weights() const {
    return impl_->surviving([&] { return impl_->read(impl_->values); });
}
Weights Network::gradients() const {
    if (impl_->gradients_lost) throw Error(Fault::device_lost, "The gradients were lost with the card they were on.");
    return impl_->read(impl_->gradients);
}
Tensor Network::value(std::size_t param) {
    check_param(param, impl_->params.size());
    impl_->written_by_others = true;
    return impl_->value(param);
}
Tensor Network::gradient(std::size_t param) {
    check_param(param, impl_->params.size());
    return impl_->gradient(param);
}
std::shared_ptr<Backend> Network::shared_backend() const {
    return impl_->backend;
}
std::string_view Network::backend() const {
    return impl_->backend->name();
}
std::uint64_t Network::generation() const {
    return impl_->generation;
}
const std::vector<Epoch>& Network::history() const {
    return impl_->history;
}
const std::optional<Settled>& Network::settled() const {
    return impl_->settled;
}
const std::string& Network::settled_on() const {
    return impl_->settled_on;
}

std::size_t Network::n_params() const {
    std::size_t n = 0;
    for (const Parameter& p : impl_->params) n += p.shape.size();
    return n;
}

Network& Network::set_weights(const Weights& weights) {
    const std::vector<Parameter>& params = impl_->params;
    if (weights.size() != params.size()) {
        throw Error(Fault::bad_argument, "The network has " + std::to_string(params.size()) +
                                             " parameter tensors; given are " + std::to_string(weights.size()) +
                                             " lists.");
    }
    for (std::size_t p = 0; p < params.size(); p++) {
        if (weights[p].size() == params[p].shape.size()) continue;
        throw Error(Fault::bad_argument, "Parameter " + params[p].name + " of layer " +
                                             std::to_string(params[p].layer) + " has " +
                                             std::to_string(params[p].shape.size()) + " values; given are " +
                                             std::to_string(weights[p].size()) + ".");
    }
    impl_->surviving([&] { impl_->write(weights); });
    impl_->generation++;
    return *this;
}

NetworkState Network::state() const {
    return {1, impl_->input, impl_->loss, impl_->seed, impl_->layers, weights(), impl_->settled_on};
}

std::vector<std::string> freeze_weights(const Weights& weights) {
    static_assert(std::endian::native == std::endian::little);
    std::vector<std::string> bytes;
    for (const auto& list : weights)
        bytes.emplace_back(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(double));
    return bytes;
}

Weights thaw_weights(std::span<const std::string> bytes) {
    Weights weights;
    for (const std::string& list : bytes) {
        if (list.size() % sizeof(double) != 0) {
            throw Error(Fault::bad_data, std::to_string(list.size()) + " bytes are no whole number of doubles.");
        }
        std::vector<double> values(list.size() / sizeof(double));
        std::memcpy(values.data(), list.data(), list.size());
        weights.push_back(std::move(values));
    }
    return weights;
}

}  // namespace shunt
