// Forward, loss and backward over the stages of a network.
#include "net/impl.hpp"

namespace shunt {

std::size_t Network::Impl::n_in() const {
    return static_cast<std::size_t>(input.is_tokens() ? input.tokens.count : input.size);
}

Data Network::Impl::upload_inputs(const Samples& s) const {
    const Shape shape{s.n, n_in()};
    return {input.is_tokens() ? backend->upload(s.tokens, shape) : backend->upload(s.inputs, shape), {}, {}, s.n};
}

Data Network::Impl::upload(const Samples& s) const {
    Data data = upload_inputs(s);
    data.answers =
        loss == LossKind::softmax ? backend->upload(s.classes, {s.n}) : backend->upload(s.targets, {s.n, n_out});
    if (!s.weights.empty()) data.weights = backend->upload(s.weights, {s.n});
    return data;
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

Loss Network::Impl::loss_of(const Tensor& outputs, const Data& data, const LossOptions& options) const {
    return loss == LossKind::softmax ? backend->softmax_ce(outputs, data.answers, options)
                                     : backend->mse(outputs, data.answers, options);
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

double Network::Impl::summed_loss(const Data& data) const {
    double sum = 0;
    for (std::size_t first = 0; first < data.n; first += chunk_size) {
        const std::size_t count = std::min(chunk_size, data.n - first);
        const std::size_t cols = data.inputs.cols(), per_answer = data.answers.size() / data.n;
        const Tensor outputs = forward(data.inputs.view(first * cols, {count, cols}));
        const Data chunk{
            {},
            data.answers.view(first * per_answer, loss == LossKind::softmax ? Shape{count} : Shape{count, per_answer}),
            {},
            count};
        LossOptions options{.gradient = false};
        if (data.weights.exists()) options.weights = data.weights.view(first, {count});
        sum += total(*backend, loss_of(outputs, chunk, options).losses);
    }
    return sum;
}

std::vector<double> Network::Impl::forward_all(const Data& data) const {
    std::vector<double> all;
    all.reserve(data.n * n_out);
    for (std::size_t first = 0; first < data.n; first += chunk_size) {
        const std::size_t count = std::min(chunk_size, data.n - first), cols = data.inputs.cols();
        const std::vector<double> some = backend->read(forward(data.inputs.view(first * cols, {count, cols})));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace shunt
