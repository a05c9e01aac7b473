// What a network is made of, for the files of net/.
#pragma once

#include <memory>
#include <vector>

#include "core/random.hpp"
#include "shunt/network.hpp"

namespace shunt {

// A dense layer or an embedding together with the activation that follows it, or an activation
// that follows neither. One stage is one operator forward and one backward.
struct Stage {
    enum class Kind { dense, embed, activation };
    Kind kind = Kind::dense;
    Activation activation = Activation::none;
    std::size_t first_param = 0;  // of W or E; b is the next one
};

// Samples on the backend.
struct Data {
    Tensor inputs;   // f32 [n, n_in] or u32 [n, tokens]
    Tensor answers;  // u32 classes [n] or f32 targets [n, n_out]; does not exist when only inputs matter
    Tensor weights;  // f32 [n], or does not exist: all 1
    std::size_t n = 0;
};

struct Network::Impl {
    Input input;
    LossKind loss = LossKind::softmax;
    double seed = 1;
    std::vector<Layer> layers;
    std::shared_ptr<Backend> backend;
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
    std::size_t rows_on_cpu = 0;
    bool rows_on_cpu_measured = false;

    void build();       // stages and params from layers; refuses what does not fit together
    void initialise();  // draws the initial weights
    void place();       // offsets and the two tensors

    Tensor value(std::size_t param) const { return values.view(offsets[param], params[param].shape); }
    Tensor gradient(std::size_t param) const { return gradients.view(offsets[param], params[param].shape); }
    Weights read(const Tensor& all) const;
    void write(const Weights& weights);

    // Places the network on another backend. Where that fails it stays where it is.
    void move_to(std::shared_ptr<Backend> to, const Weights& weights);
    void start_on(const std::string& remembered);  // a backend that "auto" settled on before it was saved

    Impl& answering(const Samples& samples);  // this one or its twin

    std::size_t n_in() const;
    Data upload_inputs(const Samples& samples) const;
    Data upload(const Samples& samples) const;  // with answers and weights

    // Outputs of all stages (outputs.back() are the network's), or of the last one alone.
    std::vector<Tensor> forward_stages(const Tensor& x) const;
    Tensor forward(const Tensor& x) const;
    Loss loss_of(const Tensor& outputs, const Data& data, const LossOptions& options) const;
    void backward(const Tensor& x, const std::vector<Tensor>& outputs, const Tensor& d_loss);
    double summed_loss(const Data& data) const;  // chunk by chunk, no gradients
    std::vector<double> forward_all(const Data& data) const;
};

// Samples a chunk where no batch is given: losses, predictions.
constexpr std::size_t chunk_size = 256;

}  // namespace shunt
