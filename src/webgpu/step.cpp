// See step.hpp.
#include "webgpu/step.hpp"

#include <algorithm>

namespace shunt::webgpu {

Rates rates_of(const UpdateOptions& o) {
    const auto f = [](double x) { return static_cast<float>(x); };
    return {f(o.decay),  f(o.scale),     f(o.momentum), f(o.rule == UpdateRule::sgd ? o.lr * o.scale : o.rate),
            f(o.beta1),  f(1 - o.beta1), f(o.beta2),    f(1 - o.beta2),
            f(o.epsilon)};
}

void NarrowStep::prepare(Launcher& card, const TrainStep& step) {
    const WGPULimits& have = card.limits();
    const StepLimits limits{std::min(have.maxComputeInvocationsPerWorkgroup, have.maxComputeWorkgroupSizeX),
                            have.maxComputeWorkgroupStorageSize, card.most_groups()};
    const bool narrow = is_narrow(step.layers, step.batch, limits);
    if (!narrow || layers_ != step.layers || softmax_ != step.softmax) samples_ = weights_ = nullptr;
    layers_ = step.layers;
    softmax_ = step.softmax;
    batch_ = 0;
    if (narrow) {
        rows_ = card.empty({step.batch, 4 * step_row(layers_).size});
        if (!weights_) weights_ = &card.made_kernel("train_step: weights", weights_text(layers_));
        if (!samples_) samples_ = &card.made_kernel("train_step: samples", samples_text(layers_, softmax_, limits));
    }
    batch_ = step.batch;
}

bool NarrowStep::run(Launcher& card, const TrainStep& s) {
    const std::uint64_t count = s.losses.size();
    if (layers_ != s.layers || softmax_ != s.softmax || batch_ != s.batch) prepare(card, s);
    if (!samples_ || s.update.rule == UpdateRule::decay || std::max(s.values.size(), rows_.size()) > card.most_values())
        return false;
    const auto whole = [&](const Tensor& t) { return card.slice(t, 0, t.size()); };
    const auto given = [&](const Tensor& t, int unused) { return t.exists() ? whole(t) : card.nothing(unused); };
    const Slice inputs = whole(s.inputs), rows = given(s.rows, 0), answers = whole(s.answers), losses = whole(s.losses),
                weights = given(s.weights, 0);
    if (inputs.first % 4 != 0 || s.values.offset != 0) return false;  // no tensor of a network's
    struct {
        std::uint32_t weighted, by_rows, inputs0, rows0, answers0, weights0, losses0;
    } samples{s.weights.exists() ? 1u : 0u,
              s.rows.exists() ? 1u : 0u,
              inputs.first,
              rows.first,
              answers.first,
              weights.first,
              losses.first};
    card.run(*samples_, {inputs, rows, answers, weights, whole(s.values), whole(rows_), losses}, samples,
             {u32(count), 1, 1});
    struct {
        std::uint32_t count, rule;
        Rates rates;
    } update{u32(count), static_cast<std::uint32_t>(s.update.rule), rates_of(s.update)};
    card.run(*weights_, {whole(rows_), whole(s.values), whole(s.gradients), whole(s.m), given(s.v, 1)}, update,
             {step_groups(layers_), 1, 1});
    return true;
}

}  // namespace shunt::webgpu
