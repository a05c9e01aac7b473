// What a network is made of, for the files of net/.
#pragma once

#include <memory>
#include <vector>

#include "core/random.hpp"
#include "shunt/epoch.hpp"

namespace shunt {

// A dense layer or an embedding together with the activation that follows it, or an activation
// that follows neither. One stage is one operator forward and one backward.
struct Stage {
    enum class Kind { dense, embed, activation };
    Kind kind = Kind::dense;
    Activation activation = Activation::none;
    std::size_t first_param = 0;  // of W or E; b is the next one
};

class Feed;

// A backend that the network chose: options that a person gave may name a card, which these two refuse.
inline std::shared_ptr<Backend> open_backend(const std::string& name, BackendOptions options) {
    if (name == "cpu" || name == "plain") options.adapter.clear();
    return make_backend(name, options);
}

struct Network::Impl {
    Input input;
    LossKind loss = LossKind::softmax;
    double seed = 1;
    std::vector<Layer> layers;
    std::shared_ptr<Backend> backend;
    std::string opened_as;  // the backend's name in the registry, to open it again
    BackendOptions backend_options;
    bool is_auto = false;
    Random random;

    std::vector<Stage> stages;
    std::vector<Parameter> params;
    std::size_t n_out = 0;

    // All parameters stand in one tensor, so that one update reaches all, those that decay first and
    // the biases after them; each starts at a multiple of `alignment` values. Gradients alike. The
    // gaps are zero in both, and stay so.
    static constexpr std::size_t alignment = 64;
    Tensor values, gradients;
    std::vector<std::size_t> offsets;  // of each parameter
    std::size_t n_decayed = 0;

    std::uint64_t generation = 0;
    std::vector<Epoch> history;

    std::optional<Settled> settled;
    std::string settled_on;

    // On a card, for what the CPU answers faster (answer.cpp): the same network there.
    std::unique_ptr<Impl> twin;
    std::optional<std::uint64_t> twin_generation;  // of the weights that it has
    bool written_by_others = false;                // Network::value was handed out: the card alone has the weights
    std::size_t rows_on_cpu = 0;
    bool rows_on_cpu_measured = false;

    void build();       // stages and params from layers; refuses what does not fit together
    void initialise();  // draws the initial weights
    void place();       // offsets and the two tensors

    Tensor value(std::size_t param) const { return values.view(offsets[param], params[param].shape); }
    Tensor gradient(std::size_t param) const { return gradients.view(offsets[param], params[param].shape); }
    Weights read(const Tensor& all) const;
    void write(const Weights& weights);

    // The layers as Backend::train_step takes them; none where one of them is not dense.
    std::vector<DenseLayer> dense_layers() const;

    // --- on a card that fails (recovery.cpp) ---

    // The weights on the host, of the construction, the latest set_weights, train or snapshot within
    // it. Kept only where a backend can fail: plain and cpu do not.
    Weights kept;
    bool training = false;        // then train recovers, and nobody else
    bool gradients_lost = false;  // they were on a card that failed

    bool can_fail() const;
    void keep();                 // reads the weights to the host
    void keep(Weights weights);  // the same, where they have been read

    // Places the network on another backend. Where that fails it stays where it is.
    void move_to(std::shared_ptr<Backend> to, const Weights& weights);

    // Runs `work`. Where the card fails, opens it again, puts back the weights and runs it once more.
    template <typename Work>
    auto surviving(const Work& work) {
        try {
            return work();
        } catch (const Error& error) {
            if (training || !is_failure(error)) throw;
            reopen(error);
        }
        return work();
    }
    bool is_failure(const Error& error) const;  // of the card, so that opening it again may help
    void reopen(const Error& because);

    // --- auto (auto.cpp, answer.cpp) ---

    void start_on(const std::string& remembered);  // a backend that "auto" settled on before it was saved
    Impl& answering(const Samples& samples);       // this one or its twin

    std::size_t n_in() const;

    // Outputs of all stages (outputs.back() are the network's), or of the last one alone.
    std::vector<Tensor> forward_stages(const Tensor& x) const;
    Tensor forward(const Tensor& x) const;
    Tensor loss_at(const Tensor& outputs, const EpochData& data, std::size_t start, bool gradient) const;
    void backward(const Tensor& x, const std::vector<Tensor>& outputs, const Tensor& d_loss);
    void backprop(const EpochData& data, std::size_t start, std::size_t count);  // forward, loss and backward
    double summed_loss(Feed& samples, std::size_t n) const;                      // chunk by chunk, no gradients
    std::vector<double> forward_all(const Samples& samples) const;
};

// Samples a chunk where no batch is given: losses, predictions.
constexpr std::size_t chunk_size = 256;

}  // namespace shunt
