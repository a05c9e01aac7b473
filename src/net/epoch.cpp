// Epochs on a backend: see shunt/epoch.hpp.
#include "shunt/epoch.hpp"

#include <algorithm>
#include <string>

namespace shunt {
namespace {

void expect(bool fits, const char* call, const std::string& sentence) {
    if (!fits) throw Error(Fault::bad_argument, std::string(call) + ": " + sentence);
}

// Values per sample.
std::size_t each(std::size_t values, std::size_t n, const char* what) {
    expect(n == 0 ? values == 0 : values % n == 0, "epoch_data",
           std::to_string(values) + " " + what + " are not the same number for each of " + std::to_string(n) +
               " samples.");
    return n == 0 ? 0 : values / n;
}

void expect_one_each(std::size_t values, std::size_t n, const char* what) {
    expect(values == n, "epoch_data",
           std::to_string(values) + " " + what + " for " + std::to_string(n) + " samples; each needs one.");
}

void expect_inside(const EpochData& data, std::size_t start, std::size_t count, const char* call) {
    expect(start <= data.n && count <= data.n - start, call,
           std::to_string(count) + " positions from " + std::to_string(start) + " on are past the end of " +
               std::to_string(data.n) + " samples.");
}

// Rows of a matrix, or values of a list.
Tensor part(const Tensor& t, std::size_t start, std::size_t count) {
    if (t.shape.rank() == 1) return t.view(start, {count});
    return t.view(start * t.cols(), {count, t.cols()});
}

template <typename LossOf>
Tensor loss_at(const Tensor& outputs, const EpochData& data, std::size_t start, bool gradient, const char* call,
               LossOf loss_of) {
    const std::size_t count = outputs.rows();
    expect(data.answers.exists(), call, "these samples have no answers.");
    expect_inside(data, start, count, call);
    LossOptions options{.weights = data.weights, .losses = part(data.losses, start, count), .gradient = gradient};
    if (data.rows.exists()) {
        options.rows = part(data.rows, start, count);
        return loss_of(data.answers, options).gradient;
    }
    if (data.weights.exists()) options.weights = part(data.weights, start, count);
    return loss_of(part(data.answers, start, count), options).gradient;
}

}  // namespace

EpochData epoch_data(Backend& backend, const Samples& s) {
    expect(s.tokens.empty() || s.inputs.empty(), "epoch_data", "samples have inputs or tokens, not both.");
    expect(s.classes.empty() || s.targets.empty(), "epoch_data", "samples have classes or targets, not both.");
    expect(s.n == 0 || !s.tokens.empty() || !s.inputs.empty(), "epoch_data", "the samples have no inputs.");
    EpochData data;
    data.n = s.n;
    if (s.tokens.empty()) {
        data.inputs = backend.upload(s.inputs, {s.n, each(s.inputs.size(), s.n, "inputs")});
    } else {
        data.inputs = backend.upload(s.tokens, {s.n, each(s.tokens.size(), s.n, "tokens")});
    }
    if (!s.classes.empty()) {
        expect_one_each(s.classes.size(), s.n, "classes");
        data.answers = backend.upload(s.classes, {s.n});
        data.n_classes = std::size_t{std::ranges::max(s.classes)} + 1;
    } else if (!s.targets.empty()) {
        data.answers = backend.upload(s.targets, {s.n, each(s.targets.size(), s.n, "targets")});
    }
    if (!s.weights.empty()) {
        expect_one_each(s.weights.size(), s.n, "weights");
        data.weights = backend.upload(s.weights, {s.n});
    }
    data.losses = backend.zeros({s.n});
    return data;
}

void epoch_order(Backend& backend, EpochData& data, std::span<const std::uint32_t> order) {
    expect(order.size() == data.n, "epoch_order",
           "an order of " + std::to_string(order.size()) + " for " + std::to_string(data.n) + " samples.");
    const auto past = std::ranges::find_if(order, [&](std::uint32_t row) { return row >= data.n; });
    expect(past == order.end(), "epoch_order",
           "there is no sample " + std::to_string(past == order.end() ? 0 : *past) + " among " +
               std::to_string(data.n) + ".");
    if (!data.rows.exists()) data.rows = backend.empty({data.n}, Type::u32);
    backend.write(data.rows, order);
    backend.write(data.losses, std::vector<double>(data.n, 0.0));
}

Tensor batch_at(Backend& backend, const EpochData& data, std::size_t start, std::size_t count) {
    expect_inside(data, start, count, "batch_at");
    if (!data.rows.exists()) return part(data.inputs, start, count);
    return backend.gather(data.inputs, part(data.rows, start, count));
}

Tensor softmax_ce_at(Backend& backend, const Tensor& logits, const EpochData& data, std::size_t start, bool gradient) {
    expect(data.n_classes <= logits.cols(), "softmax_ce_at",
           "the samples have the class " + std::to_string(data.n_classes - 1) + "; there are logits for " +
               std::to_string(logits.cols()) + ".");
    return loss_at(logits, data, start, gradient, "softmax_ce_at",
                   [&](const Tensor& classes, const LossOptions& options) {
                       return backend.softmax_ce(logits, classes, options);
                   });
}

Tensor mse_at(Backend& backend, const Tensor& outputs, const EpochData& data, std::size_t start, bool gradient) {
    return loss_at(outputs, data, start, gradient, "mse_at", [&](const Tensor& targets, const LossOptions& options) {
        return backend.mse(outputs, targets, options);
    });
}

std::vector<double> epoch_loss(Backend& backend, const EpochData& data, std::size_t batch) {
    expect(batch > 0, "epoch_loss", "a batch has at least one sample.");
    expect(data.losses.exists(), "epoch_loss", "these are no samples of epoch_data.");
    const std::vector<double> losses = backend.read(part(data.losses, 0, data.n));
    std::vector<double> sums;
    for (std::size_t i = 0; i < losses.size(); i++) {
        if (i % batch == 0) sums.push_back(0);
        sums.back() += losses[i];
    }
    return sums;
}

}  // namespace shunt
