// cpu: float32. Products, convolutions, tanh and sigmoid by oneDNN, the rest by loops; as many
// threads as the work pays for.
#include "cpu/fast.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "cpu/dnnl.hpp"
#include "cpu/index.hpp"
#include "cpu/loops.hpp"
#include "cpu/pool.hpp"
#include "cpu/threads.hpp"

namespace shunt::cpu {
namespace {

struct Values : Storage {
    explicit Values(void* at) : block(at) {}
    void* block;  // of floats or tokens
};

struct Pooled final : Values {
    Pooled(std::shared_ptr<Pool> from, std::size_t n) : Values(from->take(n)), pool(std::move(from)), count(n) {}
    ~Pooled() override { pool->give_back(block, count); }

    std::shared_ptr<Pool> pool;
    std::size_t count;
};

void* block(const Tensor& t) {
    return static_cast<const Values&>(*t.storage).block;
}
float* f(const Tensor& t) {
    return static_cast<float*>(block(t)) + t.offset;
}
std::uint32_t* u(const Tensor& t) {
    return static_cast<std::uint32_t*>(block(t)) + t.offset;
}

std::int64_t i64(std::size_t n) {
    return static_cast<std::int64_t>(n);
}

// Those that oneDNN does, as a product's or convolution's last step too.
bool by_dnnl(Activation kind) {
    return kind == Activation::tanh || kind == Activation::sigmoid;
}

class Fast final : public Backend {
public:
    explicit Fast(const BackendOptions& options) : most_threads_(most_threads(options.threads)) {}

    std::string_view name() const override { return "cpu"; }

    Tensor borrow(std::span<float> values, Shape shape) override {
        return Tensor{{values.size()}, Type::f32, 0, std::make_shared<Values>(values.data())}.view(0, shape);
    }

protected:
    std::shared_ptr<Storage> allocate(std::size_t count, Type type) override {
        auto storage = std::make_shared<Pooled>(pool_, count);
#ifdef SHUNT_FILL_NAN
        if (type == Type::f32) {
            std::fill_n(static_cast<float*>(storage->block), count, std::numeric_limits<float>::quiet_NaN());
        }
#else
        static_cast<void>(type);
#endif
        return storage;
    }

    void run_write(const Tensor& to, std::span<const double> values) override {
        loops::to_float(values, f(to));
    }
    void run_write(const Tensor& to, std::span<const float> values) override {
        std::ranges::copy(values, f(to));
    }
    void run_write(const Tensor& to, std::span<const std::uint32_t> values) override {
        std::ranges::copy(values, u(to));
    }
    void run_copy(const Tensor& from, const Tensor& to) override {
        std::memmove(f(to), f(from), to.size() * sizeof(float));
    }

    std::vector<double> run_read(const Tensor& t) override {
        if (t.type == Type::u32) return {u(t), u(t) + t.size()};
        return {f(t), f(t) + t.size()};
    }
    void run_read(const Tensor& t, std::span<float> to) override {
        std::copy_n(f(t), t.size(), to.data());
    }

    void run_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& o) override {
        const Tensor& c = o.out;
        Product p{
            .m = i64(c.shape[c.shape.rank() - 2]), .n = i64(c.cols()), .trans_a = o.trans_a, .trans_b = o.trans_b};
        p.k = i64(o.trans_a ? a.shape[a.shape.rank() - 2] : a.cols());
        p.batch = i64(c.size()) / (p.m * p.n);
        p.one_a = a.shape.rank() == 2;
        p.one_b = b.shape.rank() == 2;
        if (p.one_b && !o.trans_a && !p.one_a) {  // one b for all: the batch is more rows
            p.m *= p.batch;
            p.batch = 1;
        }
        if (p.batch == 1) p.one_a = p.one_b = false;
        p.accumulate = o.accumulate;
        p.bias = o.bias.exists();
        const int threads =
            product_threads(static_cast<std::size_t>(p.batch * p.m), c.cols(), static_cast<std::size_t>(p.k));
        const bool fused = p.k > 0 && by_dnnl(o.activation.kind);
        if (fused) p.activation = o.activation.kind;
        if (p.k > 0) {
            dnnl_.run(p, threads, f(a), f(b), p.bias ? f(o.bias) : nullptr, f(c));
        } else {  // sums of nothing
            for (std::size_t row = 0; row < c.rows() && !o.accumulate; row++) {
                if (p.bias) std::copy_n(f(o.bias), c.cols(), f(c) + row * c.cols());
                if (!p.bias) std::fill_n(f(c) + row * c.cols(), c.cols(), 0.0f);
            }
        }
        if (!fused) activate(o.activation, f(c), f(c), c.size());
    }

    void run_affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, Activation activation,
                         const AffineGrad& out) override {
        const std::size_t batch = x.rows(), n_in = x.cols(), n_out = dy.cols();
        if (batch == 0) {
            std::fill_n(f(out.dw), n_out * n_in, 0.0f);
        } else if (n_in > 0) {
            dnnl_.run(Product{.m = i64(n_out), .n = i64(n_in), .k = i64(batch), .trans_a = true},
                      product_threads(n_out, n_in, batch), f(dy), f(x), nullptr, f(out.dw));
        }
        parallel(
            n_out,
            [&](std::size_t first, std::size_t n) {
                loops::column_sums(f(dy) + first, batch, n, n_out, f(out.db) + first);
            },
            batch);
        if (!out.dx.exists() || out.dx.size() == 0) return;
        dnnl_.run(Product{.m = i64(batch), .n = i64(n_in), .k = i64(n_out)}, product_threads(batch, n_in, n_out), f(dy),
                  f(w), nullptr, f(out.dx));
        if (activation != Activation::none) grad(activation, f(x), f(out.dx), f(out.dx), out.dx.size());
    }

    void run_conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y) override {
        Convolution v{.n = i64(x.shape[0]),
                      .c = i64(x.shape[1]),
                      .h = i64(x.shape[2]),
                      .w = i64(x.shape[3]),
                      .filters = i64(y.shape[1]),
                      .kh = i64(weight.shape[2]),
                      .kw = i64(weight.shape[3]),
                      .groups = i64(o.groups),
                      .stride_h = i64(o.stride[0]),
                      .stride_w = i64(o.stride[1]),
                      .pad_h = i64(o.pad[0]),
                      .pad_w = i64(o.pad[1]),
                      .dilation_h = i64(o.dilation[0]),
                      .dilation_w = i64(o.dilation[1]),
                      .out_h = i64(y.shape[2]),
                      .out_w = i64(y.shape[3]),
                      .bias = o.bias.exists()};
        const bool fused = o.activation.kind == Activation::tanh;  // a convolution's sigmoid makes 0 of NaN
        if (fused) v.activation = o.activation.kind;
        dnnl_.run(v, product_threads(y.size(), weight.shape[1], weight.shape[2] * weight.shape[3] * 17), f(x),
                  f(weight), v.bias ? f(o.bias) : nullptr, f(y));
        if (!fused) activate(o.activation, f(y), f(y), y.size());
    }

    void run_activate(const ActivationOptions& options, const Tensor& x, const Tensor& y) override {
        activate(options, f(x), f(y), y.size());
    }

    void run_activate_grad(Activation kind, const Tensor& y, const Tensor& dy, const Tensor& dx) override {
        grad(kind, f(y), f(dy), f(dx), dx.size());
    }

    void run_embed(const Tensor& table, const Tensor& tokens, const Tensor& y) override {
        rows_of(f(table), table.rows(), table.cols(), u(tokens), tokens.size(), f(y), "embed: token");
    }

    void run_embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out) override {
        const std::size_t d = out.cols();
        std::fill_n(f(out), out.size(), 0.0f);
        for (std::size_t t = 0; t < tokens.size(); t++) {
            checked_index(u(tokens)[t], out.rows(), "embed_grad: token");
            loops::add(f(dy) + t * d, f(out) + u(tokens)[t] * d, d);
        }
    }

    void run_gather(const Tensor& x, const Tensor& rows, const Tensor& y) override {
        // Tokens are moved as they are: four bytes are four bytes.
        rows_of(f(x), x.rows(), x.cols(), u(rows), rows.size(), f(y), "gather: row");
    }

    void run_softmax_ce(const Tensor& logits, const Tensor& classes, const LossOptions& o, const Loss& out) override {
        constexpr std::size_t cost_of_exp = 16;  // in values moved
        for (std::size_t i = 0; i < logits.rows(); i++) {
            checked_index(u(classes)[sample(o, i, classes.size())], logits.cols(), "softmax_ce: class");
        }
        parallel(
            logits.rows(), [&](std::size_t first, std::size_t n) { softmax_rows(logits, classes, o, out, first, n); },
            logits.cols() * cost_of_exp);
    }

    void run_mse(const Tensor& outputs, const Tensor& targets, const LossOptions& o, const Loss& out) override {
        const std::size_t n = outputs.cols();
        const float cols = static_cast<float>(n);
        for (std::size_t i = 0; i < outputs.rows(); i++) {
            const std::size_t s = sample(o, i, targets.rows());
            const float w = o.weights.exists() ? f(o.weights)[s] : 1;
            const float *y = f(outputs) + i * n, *t = f(targets) + s * n;
            double sum = 0;
            for (std::size_t j = 0; j < n; j++) {
                const float d = y[j] - t[j];
                sum += static_cast<double>(d) * static_cast<double>(d);
                if (out.gradient.exists()) f(out.gradient)[i * n + j] = w * 2 * d / cols;
            }
            f(out.losses)[i] = static_cast<float>(static_cast<double>(w) * sum / static_cast<double>(n));
        }
    }

    void run_update(const UpdateOptions& o, const Tensor& values, const Tensor& gradients, const Tensor& m,
                    const Tensor& v) override {
        const auto at = [](const Tensor& t, std::size_t first) { return t.exists() ? f(t) + first : nullptr; };
        parallel(values.size(), [&](std::size_t first, std::size_t n) {
            const std::size_t decayed = o.n_decayed > first ? std::min(o.n_decayed - first, n) : 0;
            loops::update(o, n, decayed, f(values) + first, at(gradients, first), at(m, first), at(v, first));
        });
    }

private:
    int threads() const {
        return threads_lost_by_fork() ? 1 : most_threads_;
    }

    int product_threads(std::size_t m, std::size_t n, std::size_t k) const {
        const int t = threads_for_product(m, n, k, threads());
        if (t > 1) note_threads_in_use();
        return t;
    }

    // work(first, count) over [0, n) in as many ranges as threads, each a multiple of 64 values.
    template <typename Work>
    void parallel(std::size_t n, const Work& work, std::size_t values_each = 1) const {
        const int t = threads_for_values(n * values_each, threads());
        if (t == 1) return work(0, n);
        note_threads_in_use();
        const std::size_t grain = values_each >= 64 ? 1 : 64;
        const std::size_t parts = static_cast<std::size_t>(t);
        const std::size_t share = ((n + parts - 1) / parts + grain - 1) / grain * grain;
#pragma omp parallel for num_threads(t) schedule(static, 1)
        for (int part = 0; part < t; part++) {
            const std::size_t first = std::min(n, static_cast<std::size_t>(part) * share);
            work(first, std::min(share, n - first));
        }
    }

    void activate(const ActivationOptions& options, const float* x, float* y, std::size_t n) {
        if (options.kind == Activation::none) {
            if (x != y) std::memcpy(y, x, n * sizeof(float));
        } else if (by_dnnl(options.kind)) {
            const int t = threads_for_values(n, threads());
            if (t > 1) note_threads_in_use();
            dnnl_.run(Elementwise{i64(n), options.kind}, t, x, y);
        } else {
            parallel(n, [&](std::size_t first, std::size_t count) {
                loops::activate(options, x + first, y + first, count);
            });
        }
    }

    void grad(Activation kind, const float* y, const float* dy, float* dx, std::size_t n) const {
        parallel(n, [&](std::size_t first, std::size_t count) {
            loops::activate_grad(kind, y + first, dy + first, dx + first, count);
        });
    }

    void rows_of(const float* x, std::size_t n_rows, std::size_t cols, const std::uint32_t* rows, std::size_t n,
                 float* y, const char* what) const {
        for (std::size_t i = 0; i < n; i++) checked_index(rows[i], n_rows, what);
        parallel(
            n,
            [&](std::size_t first, std::size_t count) {
                for (std::size_t i = first; i < first + count; i++) {
                    std::memcpy(y + i * cols, x + rows[i] * cols, cols * sizeof(float));
                }
            },
            cols);
    }

    static void softmax_rows(const Tensor& logits, const Tensor& classes, const LossOptions& o, const Loss& out,
                             std::size_t first, std::size_t count) {
        const std::size_t n = logits.cols();
        for (std::size_t i = first; i < first + count; i++) {
            const std::size_t s = sample(o, i, classes.size()), right = u(classes)[s];
            const float* z = f(logits) + i * n;
            const float top = *std::max_element(z, z + n);
            float* d = out.gradient.exists() ? f(out.gradient) + i * n : nullptr;
            double sum = 0;
            for (std::size_t j = 0; j < n; j++) {
                const float e = std::exp(z[j] - top);
                sum += static_cast<double>(e);
                if (d) d[j] = e;
            }
            const float w = o.weights.exists() ? f(o.weights)[s] : 1;
            // −ln p without p, which a float rounds to 0 from 104 on; plain's limit of −ln 1e-300 is kept.
            const double loss = std::min(std::log(sum) - static_cast<double>(z[right] - top), 690.7755278982137);
            f(out.losses)[i] = static_cast<float>(static_cast<double>(w) * loss);
            const float share = static_cast<float>(1 / sum);
            for (std::size_t j = 0; d && j < n; j++) d[j] = w * (d[j] * share - (j == right ? 1.0f : 0.0f));
        }
    }

    static std::size_t sample(const LossOptions& o, std::size_t row, std::size_t n) {
        return o.rows.exists() ? checked_index(u(o.rows)[row], n, "loss: sample") : row;
    }

    int most_threads_;
    std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
    Dnnl dnnl_;
};

}  // namespace

std::shared_ptr<Backend> make_fast(const BackendOptions& options) {
    return std::make_shared<Fast>(options);
}

}  // namespace shunt::cpu
