// gpu: every operator as dispatches over buffers on the card, cut to the card's limits.
#include "webgpu/backend.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "webgpu/convolution.hpp"
#include "webgpu/launcher.hpp"
#include "webgpu/product.hpp"
#include "webgpu/step.hpp"
#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {
namespace {

constexpr std::uint64_t most_turns = 65535;  // of an invocation's loops, all together: lavapipe stops there

class Gpu final : public Backend {
public:
    explicit Gpu(const DeviceOptions& options) : card_(options) {}

    std::string_view name() const override { return "gpu"; }
    void finish() override { card_.recorder().finish(); }
    bool train_step(const TrainStep& step) override;
    Launcher& card() { return card_; }

protected:
    std::shared_ptr<Storage> allocate(std::size_t count, Type type) override {
        auto values = card_.storage(count);
#ifdef SHUNT_FILL_NAN
        if (type == Type::f32 && count > 0) {
            card_.fill(Tensor{{count}, type, 0, values},
                       std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN()));
        }
#else
        static_cast<void>(type);
#endif
        return values;
    }

    void run_write(const Tensor& to, std::span<const double> values) override {
        run_write(to, std::span<const float>(std::vector<float>(values.begin(), values.end())));
    }
    void run_write(const Tensor& to, std::span<const float> values) override {
        send(to, std::as_bytes(values));
    }
    void run_write(const Tensor& to, std::span<const std::uint32_t> values) override {
        send(to, std::as_bytes(values));
    }

    std::vector<double> run_read(const Tensor& t) override {
        if (t.type == Type::u32) {
            std::vector<std::uint32_t> values(t.size());
            receive(t, std::as_writable_bytes(std::span(values)));
            return {values.begin(), values.end()};
        }
        std::vector<float> values(t.size());
        run_read(t, values);
        return {values.begin(), values.end()};
    }
    void run_read(const Tensor& t, std::span<float> to) override {
        receive(t, std::as_writable_bytes(to));
    }

    void run_copy(const Tensor& from, const Tensor& to) override {
        card_.copy(from, to);
    }

    void run_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& o) override {
        product(card_, a, b, o.out, o.trans_a, o.trans_b,
                {.bias = o.bias, .activation = o.activation, .accumulate = o.accumulate});
    }

    void run_affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, Activation activation,
                         const AffineGrad& out) override {
        const Tensor dy2 = as_matrix(dy), x2 = as_matrix(x), w2 = as_matrix(w);
        const Tensor dw = out.dw.view(0, {dy2.cols(), x2.cols()});
        // The bias gradients are the row sums of dyᵀ, and come with dw where both are in one binding.
        const bool with_dw = out.dw.storage == out.db.storage && dw.size() > 0 && dy.size() > 0 &&
                             block(out.dw).bytes / 4 <= card_.most_values() && dy.size() <= card_.most_values() &&
                             x.size() <= card_.most_values();
        if (dw.size() > 0) {
            product(card_, dy2, x2, dw, true, false, {.row_sums = with_dw ? out.db : Tensor{}});
        }
        if (!with_dw) column_sums(dy2, out.db);
        if (!out.dx.exists() || out.dx.size() == 0) return;
        product(card_, dy2, w2, out.dx.view(0, {x2.rows(), x2.cols()}), false, false,
                {.activation = activation, .outputs = activation == Activation::none ? Tensor{} : x2});
    }

    void run_conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y) override {
        convolution(card_, x, weight, o, y);
    }

    void run_activate(const ActivationOptions& o, const Tensor& x, const Tensor& y) override {
        card_.each(x.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const Slice in = card_.slice(x, first, n), out = card_.slice(y, first, n);
            struct {
                std::uint32_t n, x0, y0, kind;
                float alpha, beta;
            } params{u32(n), in.first, out.first, kind_of(o.kind), o.alpha, o.beta};
            card_.run("activate", {in, out}, params, card_.grid(n));
        });
    }

    void run_activate_grad(Activation kind, const Tensor& y, const Tensor& dy, const Tensor& dx) override {
        card_.each(y.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const Slice ys = card_.slice(y, first, n), dys = card_.slice(dy, first, n), dxs = card_.slice(dx, first, n);
            struct {
                std::uint32_t n, y0, dy0, dx0, kind;
            } params{u32(n), ys.first, dys.first, dxs.first, kind_of(kind)};
            card_.run("activate_grad", {ys, dys, dxs}, params, card_.grid(n));
        });
    }

    void run_embed(const Tensor& table, const Tensor& tokens, const Tensor& y) override {
        run_gather(table, tokens, y);
    }

    void run_embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out) override {
        const std::uint64_t d = out.cols(), n_tokens = tokens.size();
        if (n_tokens == 0) return card_.fill(out, 0);
        const std::uint64_t tokens_each = std::clamp<std::uint64_t>(card_.most_values() / d, 1, most_turns);
        card_.each(out.rows(), d, [&](std::uint64_t first, std::uint64_t n) {
            for (std::uint64_t t = 0; t < n_tokens; t += tokens_each) {
                const std::uint64_t count = std::min(tokens_each, n_tokens - t);
                const Slice ts = card_.slice(tokens, t, count), dys = card_.slice(dy, t * d, count * d),
                            outs = card_.slice(out, first * d, n * d);
                struct {
                    std::uint32_t n, d, first, n_tokens, accumulate, tokens0, dy0, out0;
                } params{u32(n * d), u32(d), u32(first), u32(count), t > 0 ? 1u : 0u, ts.first, dys.first, outs.first};
                card_.run("embed_grad", {ts, dys, outs}, params, card_.grid(n * d));
            }
        });
    }

    void run_gather(const Tensor& x, const Tensor& rows, const Tensor& y) override {
        const std::uint64_t cols = x.cols(), n_rows = rows.size();
        if (y.storage == x.storage)
            throw Error(Fault::bad_argument, "gather: its result cannot be part of what it reads.");
        card_.each(n_rows, cols, [&](std::uint64_t out_first, std::uint64_t out_n) {
            card_.each(x.rows(), cols, [&](std::uint64_t first, std::uint64_t n) {
                const Slice xs = card_.slice(x, first * cols, n * cols), rs = card_.slice(rows, out_first, out_n);
                const Slice ys = card_.slice(y, out_first * cols, out_n * cols);
                struct {
                    std::uint32_t n, cols, first, n_rows, x0, rows0, y0;
                } params{u32(out_n * cols), u32(cols), u32(first), u32(n), xs.first, rs.first, ys.first};
                card_.run("gather", {xs, rs, ys}, params, card_.grid(out_n * cols));
            });
        });
    }

    void run_softmax_ce(const Tensor& logits, const Tensor& classes, const LossOptions& o, const Loss& out) override {
        loss("softmax_ce", logits, classes, 1, o, out);
    }
    void run_mse(const Tensor& outputs, const Tensor& targets, const LossOptions& o, const Loss& out) override {
        loss("mse", outputs, targets, targets.cols(), o, out);
    }

    void run_update(const UpdateOptions& o, const Tensor& values, const Tensor& gradients, const Tensor& m,
                    const Tensor& v) override {
        struct {
            std::uint32_t n, n_decayed, rule, values0, g0, m0, v0;
            Rates rates;
        } params{.rule = static_cast<std::uint32_t>(o.rule), .rates = rates_of(o)};
        card_.each(values.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const auto part = [&](const Tensor& t, int unused) {
                return t.exists() ? card_.slice(t, first, n) : card_.nothing(unused);
            };
            const Slice p = card_.slice(values, first, n), g = part(gradients, 0), ms = part(m, 1), vs = part(v, 2);
            params.n = u32(n);
            params.n_decayed = o.n_decayed > first ? u32(std::min<std::uint64_t>(o.n_decayed - first, n)) : 0;
            params.values0 = p.first, params.g0 = g.first, params.m0 = ms.first, params.v0 = vs.first;
            card_.run("update", {p, g, ms, vs}, params, card_.grid(n));
        });
    }

private:
    void send(const Tensor& to, std::span<const std::byte> bytes) {
        card_.with_memory([&] { card_.recorder().write(block(to), to.offset * 4, bytes); });
    }
    void receive(const Tensor& from, std::span<std::byte> bytes) {
        card_.with_memory([&] { card_.recorder().read(block(from), from.offset * 4, bytes); });
    }

    static Tensor as_matrix(const Tensor& t) {
        return t.view(0, {t.rows(), t.cols()});
    }

    void column_sums(const Tensor& x, const Tensor& sums) {
        const std::uint64_t rows = x.rows(), cols = x.cols();
        if (rows == 0) return card_.fill(sums, 0);
        const std::uint64_t rows_each =
            std::clamp<std::uint64_t>(card_.most_values() / cols, 1, 16 * (most_turns - 32));
        for (std::uint64_t first = 0; first < rows; first += rows_each) {
            const std::uint64_t n = std::min(rows_each, rows - first);
            const Slice xs = card_.slice(x, first * cols, n * cols), ys = card_.slice(sums, 0, cols);
            struct {
                std::uint32_t rows, cols, accumulate, x0, y0;
            } params{u32(n), u32(cols), first > 0 ? 1u : 0u, xs.first, ys.first};
            card_.run("column_sums", {xs, ys}, params, fold((cols + 15) / 16, card_.most_groups()));
        }
    }

    void loss(std::string_view name, const Tensor& outputs, const Tensor& answers, std::uint64_t per_answer,
              const LossOptions& o, const Loss& out);

    Launcher card_;
    NarrowStep step_;
};

bool Gpu::train_step(const TrainStep& step) {
    if (std::max(step.inputs.size(), step.answers.size()) <= card_.most_values() || !step.rows.exists())
        return step_.run(card_, step);
    // More samples than a binding holds: those of this step, one after the other.
    TrainStep apart = step;
    const auto of_step = [&](const Tensor& t, std::size_t cols) {
        return gather(t.view(0, {t.size() / cols, cols}), step.rows);
    };
    apart.inputs = of_step(step.inputs, step.inputs.cols());
    apart.answers = of_step(step.answers, step.softmax ? 1 : step.answers.cols());
    if (step.weights.exists()) apart.weights = of_step(step.weights, 1);
    apart.rows = {};
    return step_.run(card_, apart);
}

void Gpu::loss(std::string_view name, const Tensor& outputs, const Tensor& answers, std::uint64_t per_answer,
               const LossOptions& given, const Loss& out) {
    LossOptions o = given;
    Tensor chosen = answers;
    if (o.rows.exists() && (answers.size() > card_.most_values() || answers.rows() > card_.most_values())) {
        // More answers than a binding holds: those of this batch, one after the other.
        chosen = gather(answers.view(0, {answers.size() / per_answer, per_answer}), o.rows);
        if (o.weights.exists()) o.weights = gather(o.weights.view(0, {o.weights.size(), 1}), o.rows);
        o.rows = {};
    }
    const std::uint64_t cols = outputs.cols();
    card_.each(outputs.rows(), cols, [&](std::uint64_t first, std::uint64_t n) {
        const bool by_rows = o.rows.exists();
        const Slice z = card_.slice(outputs, first * cols, n * cols);
        const Slice t =
            by_rows ? card_.slice(chosen, 0, chosen.size()) : card_.slice(chosen, first * per_answer, n * per_answer);
        const Slice w = !o.weights.exists() ? card_.nothing(0)
                        : by_rows           ? card_.slice(o.weights, 0, o.weights.size())
                                            : card_.slice(o.weights, first, n);
        const Slice r = by_rows ? card_.slice(o.rows, first, n) : card_.nothing(0);
        const Slice l = card_.slice(out.losses, first, n);
        const Slice d = out.gradient.exists() ? card_.slice(out.gradient, first * cols, n * cols) : card_.nothing(1);
        struct {
            std::uint32_t batch, cols, flags, z0, answers0, weights0, rows0, losses0, d0;
        } params{u32(n),
                 u32(cols),
                 (o.weights.exists() ? 1u : 0u) | (by_rows ? 2u : 0u) | (out.gradient.exists() ? 4u : 0u),
                 z.first,
                 t.first,
                 w.first,
                 r.first,
                 l.first,
                 d.first};
        card_.run(name, {z, t, w, r, l, d}, params, fold(n, card_.most_groups()));
    });
}

}  // namespace

std::shared_ptr<Backend> make_gpu(const BackendOptions& options, const DeviceOptions& given) {
    DeviceOptions device = given;
    if (device.adapter.empty()) device.adapter = options.adapter;
    return std::make_shared<Gpu>(device);
}

Launcher* launcher_of(Backend& backend) {
    auto* gpu = dynamic_cast<Gpu*>(&backend);
    return gpu ? &gpu->card() : nullptr;
}

}  // namespace shunt::webgpu
