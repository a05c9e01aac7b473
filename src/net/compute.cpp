// Forward, loss and backward over the stages of a network.
#include "net/feed.hpp"
#include "net/impl.hpp"

namespace shunt {

std::size_t Network::Impl::n_in() const {
    return static_cast<std::size_t>(input.is_tokens() ? input.tokens.count : input.size);
}

std::vector<Tensor> Network::Impl::forward_stages(const Tensor& x) const {
    std::vector<Tensor> outputs;
    for (const Stage& stage : stages) {
        const Tensor& in = outputs.empty() ? x : outputs.back();
        Tensor y;
        switch (stage.kind) {
            case Stage::Kind::dense:
                y = backend->matmul(
                    in, value(stage.first_param),
                    {.trans_b = true, .bias = value(stage.first_param + 1), .activation = stage.activation});
                break;
            case Stage::Kind::embed:
                y = backend->embed(value(stage.first_param), in);
                if (stage.activation != Activation::none) y = backend->activate(stage.activation, y);
                break;
            case Stage::Kind::activation: y = backend->activate(stage.activation, in); break;
        }
        outputs.push_back(std::move(y));
    }
    return outputs;
}

Tensor Network::Impl::forward(const Tensor& x) const {
    return forward_stages(x).back();
}

Tensor Network::Impl::loss_at(const Tensor& outputs, const EpochData& data, std::size_t start, bool gradient) const {
    return loss == LossKind::softmax ? softmax_ce_at(*backend, outputs, data, start, gradient)
                                     : mse_at(*backend, outputs, data, start, gradient);
}

void Network::Impl::backprop(const EpochData& data, std::size_t start, std::size_t count) {
    const Tensor x = batch_at(*backend, data, start, count);
    const std::vector<Tensor> outputs = forward_stages(x);
    backward(x, outputs, loss_at(outputs.back(), data, start, true));
}

void Network::Impl::backward(const Tensor& x, const std::vector<Tensor>& outputs, const Tensor& d_loss) {
    // dy is the gradient of what stage i computes before its activation.
    Tensor dy = d_loss;
    if (stages.back().activation != Activation::none)
        dy = backend->activate_grad(stages.back().activation, outputs.back(), dy);
    for (std::size_t i = stages.size(); i-- > 0;) {
        const Stage& stage = stages[i];
        const Tensor& in = i == 0 ? x : outputs[i - 1];
        const Activation before = i == 0 ? Activation::none : stages[i - 1].activation;
        switch (stage.kind) {
            case Stage::Kind::dense:
                dy = backend
                         ->affine_grad(in, value(stage.first_param), dy,
                                       {.dw = gradient(stage.first_param),
                                        .db = gradient(stage.first_param + 1),
                                        .need_dx = i > 0,
                                        .activation = before})
                         .dx;
                break;
            case Stage::Kind::embed: backend->embed_grad(in, dy, gradient(stage.first_param)); break;
            case Stage::Kind::activation:
                if (before != Activation::none) dy = backend->activate_grad(before, in, dy);
                break;
        }
    }
}

double Network::Impl::summed_loss(Feed& samples, std::size_t n) const {
    for (std::size_t first = 0; first < n; first += chunk_size) {
        const auto [data, start, count] = samples.at(first);
        loss_at(forward(batch_at(*backend, data, start, count)), data, start, false);
    }
    double sum = 0;
    for (double of_chunk : samples.losses()) sum += of_chunk;
    return sum;
}

std::vector<double> Network::Impl::forward_all(const Samples& samples) const {
    Feed feed(*backend, samples, chunk_size, {.answers = false});
    std::vector<double> all;
    all.reserve(samples.n * n_out);
    for (std::size_t first = 0; first < samples.n; first += chunk_size) {
        const auto [data, start, count] = feed.at(first);
        const std::vector<double> some = backend->read(forward(batch_at(*backend, data, start, count)));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace shunt
