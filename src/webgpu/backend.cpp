// gpu: every operator as dispatches over buffers on the card, cut to the card's limits.
#include "webgpu/backend.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "webgpu/grid.hpp"
#include "webgpu/recorder.hpp"

namespace shunt::webgpu {
namespace {

const Block& block(const Tensor& t) {
    return static_cast<const Values&>(*t.storage).block;
}
std::uint32_t u32(std::uint64_t n) {
    return static_cast<std::uint32_t>(n);
}
std::uint32_t kind_of(Activation kind) {
    return static_cast<std::uint32_t>(kind);
}

constexpr std::uint64_t most_turns = 65535;  // of an invocation's loops, all together: lavapipe stops there

class Gpu final : public Backend {
public:
    explicit Gpu(const DeviceOptions& options)
        : device_(Device::open(options)), pool_(std::make_shared<Pool>(device_)), recorder_(device_, pool_) {
        const WGPULimits& limits = device_->limits();
        most_groups_ = limits.maxComputeWorkgroupsPerDimension;
        // A window begins up to one alignment before its first value.
        align_ = limits.minStorageBufferOffsetAlignment;
        const std::uint64_t most_bytes =
            std::min<std::uint64_t>(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
        most_values_ = (most_bytes - align_) / 4;
    }

    std::string_view name() const override { return "gpu"; }
    void finish() override { recorder_.finish(); }

protected:
    std::shared_ptr<Storage> allocate(std::size_t count, Type type) override {
        auto values = std::make_shared<Values>(pool_, count * 4);
#ifdef SHUNT_FILL_NAN
        if (type == Type::f32 && count > 0) {
            fill(Tensor{{count}, type, 0, values},
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
        recorder_.write(block(to), to.offset * 4, std::as_bytes(values));
    }
    void run_write(const Tensor& to, std::span<const std::uint32_t> values) override {
        recorder_.write(block(to), to.offset * 4, std::as_bytes(values));
    }

    std::vector<double> run_read(const Tensor& t) override {
        if (t.type == Type::u32) {
            std::vector<std::uint32_t> values(t.size());
            recorder_.read(block(t), t.offset * 4, std::as_writable_bytes(std::span(values)));
            return {values.begin(), values.end()};
        }
        std::vector<float> values(t.size());
        recorder_.read(block(t), t.offset * 4, std::as_writable_bytes(std::span(values)));
        return {values.begin(), values.end()};
    }

    void run_copy(const Tensor& from, const Tensor& to) override {
        if (from.storage == to.storage) {  // one dispatch cannot read and write one buffer
            const Tensor between = empty(from.shape, from.type);
            run_copy(from, between);
            return run_copy(between, to);
        }
        each(from.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const Slice x = slice(from, first, n), y = slice(to, first, n);
            struct {
                std::uint32_t n, x0, y0;
            } params{u32(n), x.first, y.first};
            recorder_.run(kernel("copy"), {x, y}, params, grid(n));
        });
    }

    void run_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& o) override {
        const std::uint64_t m = o.out.shape[o.out.shape.rank() - 2], n = o.out.cols();
        const std::uint64_t k = o.trans_a ? a.shape[a.shape.rank() - 2] : a.cols();
        product(a, b, {m, n, k}, o);
    }

    void run_affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, Activation activation,
                         const AffineGrad& out) override {
        const std::uint64_t batch = x.rows(), n_in = x.cols(), n_out = dy.cols();
        if (out.dw.size() > 0)
            product(as_matrix(dy), as_matrix(x), {n_out, n_in, batch}, {.trans_a = true, .out = out.dw});
        column_sums(dy, out.db);
        if (!out.dx.exists() || out.dx.size() == 0) return;
        product(as_matrix(dy), as_matrix(w), {batch, n_in, n_out}, {.out = out.dx}, activation, x);
    }

    void run_conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y) override;

    void run_activate(Activation kind, const Tensor& x, const Tensor& y) override {
        each(x.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const Slice in = slice(x, first, n), out = slice(y, first, n);
            struct {
                std::uint32_t n, x0, y0, kind;
            } params{u32(n), in.first, out.first, kind_of(kind)};
            recorder_.run(kernel("activate"), {in, out}, params, grid(n));
        });
    }

    void run_activate_grad(Activation kind, const Tensor& y, const Tensor& dy, const Tensor& dx) override {
        each(y.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const Slice ys = slice(y, first, n), dys = slice(dy, first, n), dxs = slice(dx, first, n);
            struct {
                std::uint32_t n, y0, dy0, dx0, kind;
            } params{u32(n), ys.first, dys.first, dxs.first, kind_of(kind)};
            recorder_.run(kernel("activate_grad"), {ys, dys, dxs}, params, grid(n));
        });
    }

    void run_embed(const Tensor& table, const Tensor& tokens, const Tensor& y) override {
        run_gather(table, tokens, y);
    }

    void run_embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out) override {
        const std::uint64_t d = out.cols(), n_tokens = tokens.size();
        if (n_tokens == 0) return fill(out, 0);
        const std::uint64_t tokens_each = std::clamp<std::uint64_t>(most_values_ / d, 1, most_turns);
        each(out.rows(), d, [&](std::uint64_t first, std::uint64_t n) {
            for (std::uint64_t t = 0; t < n_tokens; t += tokens_each) {
                const std::uint64_t count = std::min(tokens_each, n_tokens - t);
                const Slice ts = slice(tokens, t, count), dys = slice(dy, t * d, count * d),
                            outs = slice(out, first * d, n * d);
                struct {
                    std::uint32_t n, d, first, n_tokens, accumulate, tokens0, dy0, out0;
                } params{u32(n * d), u32(d), u32(first), u32(count), t > 0 ? 1u : 0u, ts.first, dys.first, outs.first};
                recorder_.run(kernel("embed_grad"), {ts, dys, outs}, params, grid(n * d));
            }
        });
    }

    void run_gather(const Tensor& x, const Tensor& rows, const Tensor& y) override {
        const std::uint64_t cols = x.cols(), n_rows = rows.size();
        if (y.storage == x.storage)
            throw Error(Fault::bad_argument, "gather: its result cannot be part of what it reads.");
        each(n_rows, cols, [&](std::uint64_t out_first, std::uint64_t out_n) {
            each(x.rows(), cols, [&](std::uint64_t first, std::uint64_t n) {
                const Slice xs = slice(x, first * cols, n * cols), rs = slice(rows, out_first, out_n);
                const Slice ys = slice(y, out_first * cols, out_n * cols);
                struct {
                    std::uint32_t n, cols, first, n_rows, x0, rows0, y0;
                } params{u32(out_n * cols), u32(cols), u32(first), u32(n), xs.first, rs.first, ys.first};
                recorder_.run(kernel("gather"), {xs, rs, ys}, params, grid(out_n * cols));
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
            float decay, scale, momentum, rate, beta1, rest1, beta2, rest2, epsilon;
        } params{};
        const auto f = [](double x) { return static_cast<float>(x); };
        params.rule = static_cast<std::uint32_t>(o.rule);
        params.decay = f(o.decay), params.scale = f(o.scale), params.momentum = f(o.momentum);
        params.rate = f(o.rule == UpdateRule::sgd ? o.lr * o.scale : o.rate);
        params.beta1 = f(o.beta1), params.rest1 = f(1 - o.beta1), params.beta2 = f(o.beta2),
        params.rest2 = f(1 - o.beta2);
        params.epsilon = f(o.epsilon);
        each(values.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const auto part = [&](const Tensor& t, int unused) {
                return t.exists() ? slice(t, first, n) : slice(nothing(unused), 0, 1);
            };
            const Slice p = slice(values, first, n), g = part(gradients, 0), ms = part(m, 1), vs = part(v, 2);
            params.n = u32(n);
            params.n_decayed = o.n_decayed > first ? u32(std::min<std::uint64_t>(o.n_decayed - first, n)) : 0;
            params.values0 = p.first, params.g0 = g.first, params.m0 = ms.first, params.v0 = vs.first;
            recorder_.run(kernel("update"), {p, g, ms, vs}, params, grid(n));
        });
    }

private:
    const Kernel& kernel(std::string_view name) {
        const auto found = kernels_.find(name);
        if (found != kernels_.end()) return *found->second;
        return *kernels_.emplace(name, &device_->kernel(name)).first->second;
    }

    static Tensor as_matrix(const Tensor& t) {
        return t.view(0, {t.rows(), t.cols()});
    }

    // The whole buffer where a binding can hold it, so that few bind groups serve all views of it.
    Slice slice(const Tensor& t, std::uint64_t first, std::uint64_t n) const {
        const Block& b = block(t);
        const std::uint64_t begin = (t.offset + first) * 4;
        if (b.bytes / 4 <= most_values_) return {b.buffer.get(), b.id, 0, b.bytes, u32(begin / 4)};
        const std::uint64_t offset = begin / align_ * align_;
        return {b.buffer.get(), b.id, offset, begin + std::max<std::uint64_t>(n, 1) * 4 - offset,
                u32((begin - offset) / 4)};
    }

    // A small buffer for a binding that a kernel has but this call does not use. A few different
    // ones: a dispatch cannot have one buffer twice where it writes.
    Tensor nothing(int number) {
        Tensor& t = nothing_[static_cast<std::size_t>(number)];
        if (!t.exists()) t = empty({64}, Type::u32);
        return t;
    }

    // 64 invocations a group, one a value.
    Grid grid(std::uint64_t values) const {
        return fold((values + 63) / 64, most_groups_);
    }

    // work(first, n) over [0, n) in pieces of whole rows that fit into a binding and into a grid.
    template <typename Work>
    void each(std::uint64_t n, std::uint64_t cols, const Work& work) {
        const double most_grid = 64.0 * most_groups_ * most_groups_ * most_groups_;
        const auto most = static_cast<std::uint64_t>(std::min({static_cast<double>(most_values_), most_grid, 4e9}));
        if (cols > most) {
            throw Error(Fault::unsupported, "A row of " + std::to_string(cols) + " values is past what the card " +
                                                device_->adapter().name + " takes in one piece, " +
                                                std::to_string(most) + ".");
        }
        const std::uint64_t step = cols == 0 ? n : most / cols;
        for (std::uint64_t first = 0; first < n; first += step) work(first, std::min(step, n - first));
    }

    void fill(const Tensor& t, std::uint32_t bits) {
        each(t.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
            const Slice y = slice(t, first, n);
            struct {
                std::uint32_t n, y0, bits;
            } params{u32(n), y.first, bits};
            recorder_.run(kernel("fill"), {y}, params, grid(n));
        });
    }

    void column_sums(const Tensor& x, const Tensor& sums) {
        const std::uint64_t rows = x.rows(), cols = x.cols();
        if (rows == 0) return fill(sums, 0);
        const std::uint64_t rows_each = std::clamp<std::uint64_t>(most_values_ / cols, 1, 16 * (most_turns - 32));
        for (std::uint64_t first = 0; first < rows; first += rows_each) {
            const std::uint64_t n = std::min(rows_each, rows - first);
            const Slice xs = slice(x, first * cols, n * cols), ys = slice(sums, 0, cols);
            struct {
                std::uint32_t rows, cols, accumulate, x0, y0;
            } params{u32(n), u32(cols), first > 0 ? 1u : 0u, xs.first, ys.first};
            recorder_.run(kernel("column_sums"), {xs, ys}, params, fold((cols + 15) / 16, most_groups_));
        }
    }

    struct Sizes {
        std::uint64_t m, n, k;
    };
    void product(const Tensor& a, const Tensor& b, Sizes s, const MatmulOptions& o,
                 Activation through = Activation::none, const Tensor& outputs = {});
    void loss(std::string_view name, const Tensor& outputs, const Tensor& answers, std::uint64_t per_answer,
              const LossOptions& o, const Loss& out);

    std::shared_ptr<Device> device_;
    std::shared_ptr<Pool> pool_;
    Recorder recorder_;
    std::map<std::string, const Kernel*, std::less<>> kernels_;
    std::array<Tensor, 4> nothing_;
    std::uint32_t most_groups_ = 0;
    std::uint64_t align_ = 256, most_values_ = 0;
};

// c = epilogue(a·b) block by block; pieces of k after the first add to the ones before. `through`:
// the result goes through the derivative of the activation whose outputs are `outputs`.
void Gpu::product(const Tensor& a, const Tensor& b, Sizes s, const MatmulOptions& o, Activation through,
                  const Tensor& outputs) {
    const Tensor& c = o.out;
    if (c.storage == a.storage || c.storage == b.storage || c.storage == o.bias.storage) {
        if (o.accumulate || c.storage == a.storage || c.storage == b.storage || o.bias.exists()) {
            MatmulOptions apart = o;
            apart.out = empty(c.shape);
            if (o.accumulate) run_copy(c, apart.out);
            product(a, b, s, apart, through, outputs);
            return run_copy(apart.out, c);
        }
    }
    const std::uint64_t batch = c.size() / (s.m * s.n);
    const bool one_a = a.shape.rank() == 2, one_b = b.shape.rank() == 2;
    const ProductBlock block =
        block_of(s.m, s.n, s.k, o.trans_a, o.trans_b, {most_values_, std::uint64_t{64} * most_groups_, 131072});
    struct {
        std::uint32_t m, n, k, a0, a_row, a_col, b0, b_row, b_col, c0, c_row, a_batch, b_batch, c_batch, e0, e_row,
            flags, kind;
    } p{};
    p.a_row = o.trans_a ? 1 : u32(s.k), p.a_col = o.trans_a ? u32(s.m) : 1;
    p.b_row = o.trans_b ? 1 : u32(s.n), p.b_col = o.trans_b ? u32(s.k) : 1;
    p.c_row = u32(s.n), p.e_row = u32(s.n);
    const Tensor& e = o.bias.exists() ? o.bias : outputs;
    for (std::uint64_t member = 0; member < batch; member++) {
        for (std::uint64_t i = 0; i < s.m; i += block.m) {
            for (std::uint64_t j = 0; j < s.n; j += block.n) {
                for (std::uint64_t l = 0; l == 0 || l < s.k; l += block.k) {
                    const std::uint64_t bm = std::min(block.m, s.m - i), bn = std::min(block.n, s.n - j);
                    const std::uint64_t bk = std::min(block.k, s.k - l);
                    const auto span = [](std::uint64_t rows, std::uint64_t cols, std::uint64_t stride) {
                        return rows == 0 || cols == 0 ? 0 : (rows - 1) * stride + cols;
                    };
                    const std::uint64_t a_at = (one_a ? 0 : member * s.m * s.k) + i * p.a_row + l * p.a_col;
                    const std::uint64_t b_at = (one_b ? 0 : member * s.k * s.n) + l * p.b_row + j * p.b_col;
                    const std::uint64_t c_at = member * s.m * s.n + i * s.n + j;
                    const Slice as = bk == 0 ? slice(nothing(0), 0, 1)
                                             : slice(a, a_at, o.trans_a ? span(bk, bm, s.m) : span(bm, bk, s.k));
                    const Slice bs = bk == 0 ? slice(nothing(0), 0, 1)
                                             : slice(b, b_at, o.trans_b ? span(bn, bk, s.k) : span(bk, bn, s.n));
                    const Slice cs = slice(c, c_at, span(bm, bn, s.n));
                    const Slice es = o.bias.exists()               ? slice(e, j, bn)
                                     : through != Activation::none ? slice(e, c_at, span(bm, bn, s.n))
                                                                   : slice(nothing(0), 0, 1);
                    const bool last = l + bk >= s.k;
                    p.m = u32(bm), p.n = u32(bn), p.k = u32(bk);
                    p.a0 = as.first, p.b0 = bs.first, p.c0 = cs.first, p.e0 = es.first;
                    p.flags = (o.bias.exists() && l == 0 ? 1u : 0u) | (o.accumulate || l > 0 ? 2u : 0u) |
                              (through != Activation::none && last ? 4u : 0u);
                    p.kind = !last ? 0 : kind_of(through != Activation::none ? through : o.activation);
                    recorder_.run(kernel("matmul"), {as, bs, es, cs}, p, {u32((bn + 63) / 64), u32((bm + 63) / 64), 1});
                }
            }
        }
    }
}

void Gpu::loss(std::string_view name, const Tensor& outputs, const Tensor& answers, std::uint64_t per_answer,
               const LossOptions& given, const Loss& out) {
    LossOptions o = given;
    Tensor chosen = answers;
    if (o.rows.exists() && (answers.size() > most_values_ || answers.rows() > most_values_)) {
        // More answers than a binding holds: those of this batch, one after the other.
        chosen = gather(answers.view(0, {answers.size() / per_answer, per_answer}), o.rows);
        if (o.weights.exists()) o.weights = gather(o.weights.view(0, {o.weights.size(), 1}), o.rows);
        o.rows = {};
    }
    const std::uint64_t cols = outputs.cols();
    each(outputs.rows(), cols, [&](std::uint64_t first, std::uint64_t n) {
        const bool by_rows = o.rows.exists();
        const Slice z = slice(outputs, first * cols, n * cols);
        const Slice t = by_rows ? slice(chosen, 0, chosen.size()) : slice(chosen, first * per_answer, n * per_answer);
        const Slice w = !o.weights.exists() ? slice(nothing(0), 0, 1)
                        : by_rows           ? slice(o.weights, 0, o.weights.size())
                                            : slice(o.weights, first, n);
        const Slice r = by_rows ? slice(o.rows, first, n) : slice(nothing(0), 0, 1);
        const Slice l = slice(out.losses, first, n);
        const Slice d = out.gradient.exists() ? slice(out.gradient, first * cols, n * cols) : slice(nothing(1), 0, 1);
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
        recorder_.run(kernel(name), {z, t, w, r, l, d}, params, fold(n, most_groups_));
    });
}

void Gpu::run_conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y) {
    const std::uint64_t in_group = weight.shape[1], window = weight.shape[2] * weight.shape[3];
    const std::uint64_t picture_in = x.size() / x.shape[0], picture_out = y.size() / y.shape[0];
    // Turns of the loops: one a channel, one a kernel row, one a kernel cell.
    const std::uint64_t channels_each = std::max<std::uint64_t>(1, most_turns / (1 + weight.shape[2] + window) - 1);
    if (picture_in > most_values_) {
        throw Error(Fault::unsupported, "conv2d: a picture of " + std::to_string(picture_in) +
                                            " values is past what the card takes in one binding.");
    }
    const std::uint64_t pictures = std::max<std::uint64_t>(1, most_values_ / std::max(picture_in, picture_out));
    for (std::uint64_t first = 0; first < x.shape[0]; first += pictures) {
        const std::uint64_t n = std::min<std::uint64_t>(pictures, x.shape[0] - first);
        for (std::uint64_t c = 0; c < in_group; c += channels_each) {
            const bool last = c + channels_each >= in_group;
            const Slice xs = slice(x, first * picture_in, n * picture_in), ws = slice(weight, 0, weight.size());
            const Slice bs = o.bias.exists() ? slice(o.bias, 0, o.bias.size()) : slice(nothing(0), 0, 1);
            const Slice ys = slice(y, first * picture_out, n * picture_out);
            struct {
                std::uint32_t n, c, h, w, filters, kh, kw, in_group, out_group, sh, sw, ph, pw, dh, dw, oh, ow, first_c,
                    n_c, flags, kind, x0, w0, b0, y0;
            } params{u32(n * picture_out),
                     u32(x.shape[1]),
                     u32(x.shape[2]),
                     u32(x.shape[3]),
                     u32(y.shape[1]),
                     u32(weight.shape[2]),
                     u32(weight.shape[3]),
                     u32(in_group),
                     u32(y.shape[1] / o.groups),
                     u32(o.stride[0]),
                     u32(o.stride[1]),
                     u32(o.pad[0]),
                     u32(o.pad[1]),
                     u32(o.dilation[0]),
                     u32(o.dilation[1]),
                     u32(y.shape[2]),
                     u32(y.shape[3]),
                     u32(c),
                     u32(std::min(channels_each, in_group - c)),
                     (o.bias.exists() && c == 0 ? 1u : 0u) | (c > 0 ? 2u : 0u),
                     last ? kind_of(o.activation) : 0,
                     xs.first,
                     ws.first,
                     bs.first,
                     ys.first};
            recorder_.run(kernel("conv2d"), {xs, ws, bs, ys}, params, grid(n * picture_out));
        }
    }
}

}  // namespace

std::shared_ptr<Backend> make_gpu(const BackendOptions&, const DeviceOptions& device) {
    return std::make_shared<Gpu>(device);
}

}  // namespace shunt::webgpu
