// A feed-forward network: made from a list of layers, trained, asked, saved.
//
// A network is used by one thread at a time. Everything here throws shunt::Error.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/backend.hpp"

namespace shunt {

// --- what a network is made of -------------------------------------------------------------------

enum class LayerKind { dense, embed, relu, tanh, sigmoid };

struct Layer {
    LayerKind kind = LayerKind::dense;
    std::int64_t size = 0;  // outputs of dense, numbers per token of embed

    bool operator==(const Layer&) const = default;
};

inline Layer dense(std::int64_t outputs) {
    return {LayerKind::dense, outputs};
}
inline Layer embed(std::int64_t numbers) {
    return {LayerKind::embed, numbers};
}
inline Layer relu() {
    return {LayerKind::relu};
}
inline Layer tanh() {
    return {LayerKind::tanh};
}
inline Layer sigmoid() {
    return {LayerKind::sigmoid};
}

// "dense:8", "tanh": the same names in C++, in the tool and in the file.
std::string to_string(const Layer& layer);
std::vector<Layer> parse_layers(std::string_view text);  // "dense:8,tanh,dense:2"

enum class LossKind { softmax, mse };
std::string_view to_string(LossKind loss);
LossKind parse_loss(std::string_view text);  // the error lists them

struct Tokens {
    std::int64_t count = 0;  // tokens per sample
    std::int64_t vocab = 0;  // rows of the embedding's table
};

// Numbers per sample, or tokens.
struct Input {
    std::int64_t size = 0;
    Tokens tokens = {};

    Input() = default;
    Input(std::int64_t numbers) : size(numbers) {}
    Input(Tokens t) : tokens(t) {}
    bool is_tokens() const { return tokens.count != 0 || tokens.vocab != 0; }
};

struct NetworkOptions {
    Input input = {};           // required
    std::vector<Layer> layers;  // required
    LossKind loss = LossKind::softmax;
    double seed = 1;           // of the network's own generator: initial weights, then all shuffles
    std::string backend = {};  // plain, cpu, gpu, auto (see SettleOptions); empty: SHUNT_BACKEND, else auto
    int threads = 0;           // as BackendOptions
    std::string adapter = {};  // as BackendOptions
};

// --- samples -------------------------------------------------------------------------------------

// Rows of inputs with their answers. `inputs` or `tokens`, `classes` (softmax) or `targets` (mse);
// fill the vectors or add sample by sample. Lengths and values are checked when they are used.
struct Samples {
    std::vector<double> inputs;          // n × n_in
    std::vector<std::uint32_t> tokens;   // n × tokens per sample
    std::vector<std::uint32_t> classes;  // n, from 0
    std::vector<double> targets;         // n × n_out
    std::vector<double> weights;         // n, or empty: all 1
    std::size_t n = 0;                   // how many there are

    std::size_t size() const { return n; }

    // Refuses a length that differs from the first sample's, and a negative class.
    Samples& add(std::span<const double> input, std::int64_t sample_class, double weight = 1);
    Samples& add(std::span<const double> input, std::span<const double> target, double weight = 1);
    Samples& add(std::span<const float> input, std::int64_t sample_class, double weight = 1);
    Samples& add(std::span<const float> input, std::span<const float> target, double weight = 1);
    Samples& add(std::span<const std::uint32_t> input, std::int64_t sample_class, double weight = 1);
    Samples& add(std::span<const std::uint32_t> input, std::span<const double> target, double weight = 1);
    Samples& add(std::span<const std::uint32_t> input, std::span<const float> target, double weight = 1);
    Samples& add(std::initializer_list<double> input, std::int64_t sample_class, double weight = 1);
    Samples& add(std::initializer_list<double> input, std::initializer_list<double> target, double weight = 1);
};

// --- training ------------------------------------------------------------------------------------

enum class OptimizerKind { sgd, adam };
std::string_view to_string(OptimizerKind kind);
OptimizerKind parse_optimizer(std::string_view text);

struct Epoch {
    std::int64_t epoch = 0;            // from 1
    double loss = 0;                   // mean over the training samples
    std::optional<double> validation;  // mean
};

// How a network created with "auto" settles on cpu or gpu at the start of train(). All trials together
// take a share of the time that the run is expected to take, so that a short run never opens a card.
struct SettleOptions {
    double worth = 2;      // seconds: a run expected to be shorter stays where it is
    int warm_up = 2;       // steps that are not counted
    int timed = 6;         // steps of the first round; each round has twice as many as the one before
    double budget = 0.03;  // share of the expected run that all trials may take
    bool remember = true;  // use what earlier trials on this machine found, and keep what these find
};

// What a network settled on, and why.
struct Settled {
    std::string backend;
    std::int64_t n = 0, batch = 0, steps = 0;        // the work: samples, and steps of the whole run
    std::map<std::string, double> seconds_per_step;  // of those measured; from a single step, where that was enough
    bool from_memory = false;                        // measured by an earlier run
    std::string why;                                 // a sentence: what was measured, or why nothing was
    std::string failure;                             // what a backend said that is there and does not work
};

struct TrainOptions {
    std::int64_t epochs = 10;
    std::int64_t batch = 16;
    OptimizerKind optimizer = OptimizerKind::adam;
    std::optional<double> lr = {};  // not given: adam 0.005, sgd 0.1
    double momentum = 0.9;          // sgd
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double weight_decay = 0;                    // decoupled: values *= 1 − lr·weight_decay; biases are left alone
    double lr_decay = 1;                        // the learning rate times this after each epoch
    const Samples* validate = nullptr;          // held-out samples, their loss taken after each epoch
    std::optional<std::int64_t> patience = {};  // epochs without improvement; then the best weights are restored
    double min_delta = 0;                       // improvement means watched < best − min_delta
    std::optional<double> target_loss = {};     // ends the run when an epoch's mean loss is at most this
    std::stop_token stop = {};                  // ends it after the step under way

    // With patience: what replaces the watched loss (smaller is better).
    std::function<double(double training, std::optional<double> validation)> watch = {};
    std::function<bool(const Epoch&)> on_epoch = {};                          // false ends the run
    std::function<void(std::int64_t step, std::int64_t steps)> on_step = {};  // of the whole run, to show progress

    SettleOptions settle = {};  // of networks created with "auto"
};

enum class Stopped { epochs, patience, on_epoch, target_loss, interrupted };
std::string_view to_string(Stopped reason);

struct TrainResult {
    double loss = 0;  // mean of the last complete epoch (also when better weights were restored); of the
                      // steps that were done where the first epoch was interrupted
    Stopped stopped = Stopped::epochs;
    std::vector<Epoch> history;
    // Whose weights the network has: the best one with patience, else the last complete one; 0 before
    // the first is complete. Interrupted within an epoch and without a best one, it has those of the
    // last step.
    std::int64_t best_epoch = 0;
    double seconds = 0;
    // What went wrong on the way and how it went on, a sentence or two each; empty as a rule. A card
    // that fails is opened again, and training repeats what it lost since the weights were last
    // copied to the host: the same bits as without the failure, and no callback is called twice. Where
    // that does not help it goes on on the backend cpu.
    std::vector<std::string> notes;
};

// Updates tensors by their gradients. A network has one of its own for each train(); this is the
// same one for a program with its own parameters. Of the options it reads those from `optimizer` to
// `weight_decay`.
class Optimizer {
public:
    struct Parameter {
        Tensor value, gradient;
        std::size_t n_decayed = 0;  // how many values from the start weight decay applies to
    };

    Optimizer(const TrainOptions& options, std::shared_ptr<Backend> backend, std::vector<Parameter> parameters);

    void step(double scale = 1);  // scale: 1 / samples for summed gradients

    // step() in two: counts a step, and does it. Between them is room for a backend's train_step, with
    // the moments of parameter `i` (v for adam alone).
    UpdateOptions next(double scale);
    void apply(UpdateOptions update);
    const Tensor& m(std::size_t i) const { return m_[i]; }
    const Tensor& v(std::size_t i) const { return v_[i]; }

    double lr = 0;  // read at each step

    // All that it remembers from step to step, and going on from that.
    struct State {
        double lr = 0;
        std::int64_t steps = 0;
        std::vector<std::vector<double>> m, v;  // the moments, one list a parameter; v is empty for sgd
    };
    State state() const;
    void set_state(const State& state);  // bad_argument unless it comes from the same kind and parameters

private:
    TrainOptions options_;
    std::shared_ptr<Backend> backend_;
    std::vector<Parameter> parameters_;
    std::vector<Tensor> m_, v_;
    std::int64_t t_ = 0;
};

// --- the network ---------------------------------------------------------------------------------

using Weights = std::vector<std::vector<double>>;  // one list a parameter tensor, in params order

// What a network is, without a backend, an optimizer or its generator's state.
struct NetworkState {
    int version = 1;
    Input input;
    LossKind loss = LossKind::softmax;
    double seed = 1;
    std::vector<Layer> layers;
    Weights weights;
    std::string settled_on = {};  // the backend that "auto" settled on; empty: none
};

// Weights as little-endian doubles, one byte string a list, and back.
std::vector<std::string> freeze_weights(const Weights& weights);
Weights thaw_weights(std::span<const std::string> bytes);

struct Parameter {
    std::size_t layer = 0;
    std::string name;  // "W", "b" or "E"
    Shape shape;       // W [n_out, n_in], b [1, n_out], E [vocab, numbers]
};

class Network {
public:
    explicit Network(const NetworkOptions& options);
    // backend: as NetworkOptions. Where it is auto, the network starts on the backend that it had
    // settled on, if that works here; settled() then says so.
    static Network from_state(const NetworkState& state, const std::string& backend = "", int threads = 0,
                              const std::string& adapter = "");
    ~Network();
    Network(Network&&) noexcept;
    Network& operator=(Network&&) noexcept;

    // Trains and returns how it went. Optimizer state starts at zero; the weights and the generator
    // go on from where they are. The final weights are in the network.
    // Samples that do not fit on the card are sent to it piece by piece.
    TrainResult train(const Samples& samples, const TrainOptions& options = {});

    // Forward, loss and backward without an update: gradients() are summed over the samples.
    double backprop(const Samples& samples);

    // Raw outputs of one sample (the logits under softmax).
    std::vector<double> forward(std::span<const double> input) const;
    std::vector<double> forward(std::span<const float> input) const;
    std::vector<double> forward(std::span<const std::uint32_t> tokens) const;

    // Probabilities under softmax (computed in double from the logits; all NaN where an output is not
    // finite), the outputs under mse.
    std::vector<double> predict(std::span<const double> input) const;
    std::vector<double> predict(std::span<const float> input) const;
    std::vector<double> predict(std::span<const std::uint32_t> tokens) const;

    // A network that auto has put on a card answers a few samples on the CPU, which then has a copy of
    // the weights, and many on the side that was measured to be faster.

    // The same for many samples, row after row [n × n_out]. Answers in `samples` are not looked at.
    std::vector<double> forward_all(const Samples& samples) const;
    std::vector<double> predict_all(const Samples& samples) const;

    // Ties: the lowest class. An output that is not finite (the input overflows inside the network): no_class.
    static constexpr std::uint32_t no_class = 0xffffffff;
    std::uint32_t classify(std::span<const double> input) const;
    std::uint32_t classify(std::span<const float> input) const;
    std::uint32_t classify(std::span<const std::uint32_t> tokens) const;
    std::vector<std::uint32_t> classify_all(const Samples& samples) const;
    double accuracy(const Samples& samples) const;  // share of samples with the right class
    double loss(const Samples& samples) const;      // summed, not the mean

    std::size_t n_in() const;  // numbers, or tokens, per sample
    std::size_t n_out() const;
    std::size_t n_params() const;
    const Input& input() const;
    const std::vector<Layer>& layers() const;
    LossKind loss_kind() const;
    double seed() const;
    std::vector<Parameter> params() const;  // in layer order, W before b

    // Where a card fails outside of train, it is opened again, once, with the weights it had; then
    // the error is thrown. Gradients cannot be brought back: device_lost until the next backprop.
    Weights weights() const;
    Weights gradients() const;  // of the latest backprop or training step
    Network& set_weights(const Weights& weights);

    // The values of params()[param] and their gradients where the backend keeps them, for a program's
    // own operators and kernels between training calls or in on_step: what they write is what the
    // network goes on with, not counted by generation(). bad_argument past the last parameter.
    Tensor value(std::size_t param);
    Tensor gradient(std::size_t param);
    std::shared_ptr<Backend> shared_backend() const;  // what they belong to

    std::string_view backend() const;           // the name of the one it is on now
    std::uint64_t generation() const;           // +1 for each training step and each set_weights
    const std::vector<Epoch>& history() const;  // of the latest train

    // How the latest train() chose the backend. None where one was named, and where there were fewer
    // than eight batches to measure with.
    const std::optional<Settled>& settled() const;
    const std::string& settled_on() const;  // the backend, also of earlier runs; empty: none

    NetworkState state() const;

    // One safetensors file with a description inside. Written under a temporary name, then renamed.
    const Network& save(const std::string& file) const;
    static Network load(const std::string& file, const std::string& backend = "", int threads = 0,
                        const std::string& adapter = "");

    struct Impl;  // src/net/impl.hpp

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace shunt
