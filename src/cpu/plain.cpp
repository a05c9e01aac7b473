// plain: every operator as its formula, in double, one thread, fixed order, no fused multiply-add:
// the same bits on every machine, and the yardstick of every other backend. Meant to be read.
#include "cpu/plain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/activation.hpp"
#include "cpu/index.hpp"

namespace shunt::cpu {
namespace {

struct Values final : Storage {
    std::vector<double> f;         // of an f32 tensor: never rounded to float
    std::vector<std::uint32_t> u;  // of a u32 tensor
};

std::span<double> f(const Tensor& t) {
    return std::span(static_cast<Values&>(*t.storage).f).subspan(t.offset, t.size());
}

std::span<std::uint32_t> u(const Tensor& t) {
    return std::span(static_cast<Values&>(*t.storage).u).subspan(t.offset, t.size());
}

double derivative(Activation kind, double y, double dy) {
    switch (kind) {
        case Activation::none: return dy;
        case Activation::relu: return y > 0 ? dy : 0;
        case Activation::tanh: return dy * (1 - y * y);
        case Activation::sigmoid: return dy * y * (1 - y);
        default: return dy;  // refused before
    }
}

// A matrix whose rows and columns may change places.
struct Matrix {
    std::span<const double> values;
    std::size_t row_stride, col_stride;
    double at(std::size_t row, std::size_t col) const { return values[row * row_stride + col * col_stride]; }
};

Matrix matrix(std::span<const double> values, std::size_t stored_cols, bool transposed) {
    return transposed ? Matrix{values, 1, stored_cols} : Matrix{values, stored_cols, 1};
}

class Plain final : public Backend {
public:
    std::string_view name() const override { return "plain"; }

protected:
    std::shared_ptr<Storage> allocate(std::size_t count, Type type) override {
        auto storage = std::make_shared<Values>();
        if (type == Type::u32) {
            storage->u.resize(count);
        } else {
#ifdef SHUNT_FILL_NAN
            storage->f.resize(count, std::numeric_limits<double>::quiet_NaN());
#else
            storage->f.resize(count);
#endif
        }
        return storage;
    }

    void run_write(const Tensor& to, std::span<const double> values) override {
        std::ranges::copy(values, f(to).begin());
    }
    void run_write(const Tensor& to, std::span<const float> values) override {
        std::ranges::copy(values, f(to).begin());
    }
    void run_write(const Tensor& to, std::span<const std::uint32_t> values) override {
        std::ranges::copy(values, u(to).begin());
    }

    void run_copy(const Tensor& from, const Tensor& to) override {
        if (from.type == Type::u32) {
            std::ranges::copy(u(from), u(to).begin());
        } else {
            std::ranges::copy(f(from), f(to).begin());
        }
    }

    std::vector<double> run_read(const Tensor& t) override {
        if (t.type == Type::u32) return {u(t).begin(), u(t).end()};
        return {f(t).begin(), f(t).end()};
    }

    void run_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& o) override {
        const Tensor& c = o.out;
        const std::size_t m = c.shape[c.shape.rank() - 2], n = c.cols();
        const std::size_t k = o.trans_a ? a.shape[a.shape.rank() - 2] : a.cols();
        const std::size_t batch = c.size() / (m * n);
        const bool one_a = a.shape.rank() == 2, one_b = b.shape.rank() == 2;
        for (std::size_t member = 0; member < batch; member++) {
            const Matrix A = matrix(f(a).subspan(one_a ? 0 : member * m * k, m * k), a.cols(), o.trans_a);
            const Matrix B = matrix(f(b).subspan(one_b ? 0 : member * k * n, k * n), b.cols(), o.trans_b);
            const std::span<double> C = f(c).subspan(member * m * n, m * n);
            for (std::size_t i = 0; i < m; i++) {
                for (std::size_t j = 0; j < n; j++) {
                    double sum = o.accumulate ? C[i * n + j] : o.bias.exists() ? f(o.bias)[j] : 0;
                    for (std::size_t l = 0; l < k; l++) sum += A.at(i, l) * B.at(l, j);
                    C[i * n + j] = activated(o.activation, sum);
                }
            }
        }
    }

    void run_affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, Activation activation,
                         const AffineGrad& out) override {
        const std::size_t batch = x.rows(), n_in = x.cols(), n_out = dy.cols();
        std::ranges::fill(f(out.dw), 0);
        std::ranges::fill(f(out.db), 0);
        if (out.dx.exists()) std::ranges::fill(f(out.dx), 0);
        const auto X = f(x), W = f(w), dY = f(dy), dW = f(out.dw), db = f(out.db);
        for (std::size_t s = 0; s < batch; s++) {
            for (std::size_t j = 0; j < n_out; j++) {
                const double d = dY[s * n_out + j];
                db[j] += d;
                for (std::size_t i = 0; i < n_in; i++) dW[j * n_in + i] += d * X[s * n_in + i];
                if (!out.dx.exists()) continue;
                for (std::size_t i = 0; i < n_in; i++) f(out.dx)[s * n_in + i] += d * W[j * n_in + i];
            }
        }
        if (!out.dx.exists()) return;
        const auto dX = f(out.dx);
        for (std::size_t i = 0; i < dX.size(); i++) dX[i] = derivative(activation, X[i], dX[i]);
    }

    void run_conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& o, const Tensor& y) override {
        const std::size_t height = x.shape[2], width = x.shape[3], in_group = weight.shape[1];
        const std::size_t out_group = weight.shape[0] / o.groups, kh = weight.shape[2], kw = weight.shape[3];
        const auto X = f(x), W = f(weight), Y = f(y);
        std::size_t at = 0;
        for (std::size_t picture = 0; picture < y.shape[0]; picture++) {
            for (std::size_t filter = 0; filter < y.shape[1]; filter++) {
                for (std::size_t row = 0; row < y.shape[2]; row++) {
                    for (std::size_t col = 0; col < y.shape[3]; col++) {
                        double sum = o.bias.exists() ? f(o.bias)[filter] : 0;
                        for (std::size_t c = 0; c < in_group; c++) {
                            const std::size_t plane = picture * x.shape[1] + filter / out_group * in_group + c;
                            for (std::size_t ky = 0; ky < kh; ky++) {
                                for (std::size_t kx = 0; kx < kw; kx++) {
                                    // unsigned: above and left of the picture wraps to past its end
                                    const std::size_t in_row = row * o.stride[0] + ky * o.dilation[0] - o.pad[0];
                                    const std::size_t in_col = col * o.stride[1] + kx * o.dilation[1] - o.pad[1];
                                    if (in_row >= height || in_col >= width) continue;
                                    sum += X[(plane * height + in_row) * width + in_col] *
                                           W[((filter * in_group + c) * kh + ky) * kw + kx];
                                }
                            }
                        }
                        Y[at++] = activated(o.activation, sum);
                    }
                }
            }
        }
    }

    void run_activate(const ActivationOptions& o, const Tensor& x, const Tensor& y) override {
        std::ranges::transform(f(x), f(y).begin(), [&](double v) { return activated(o, v); });
    }

    void run_activate_grad(Activation kind, const Tensor& y, const Tensor& dy, const Tensor& dx) override {
        std::ranges::transform(f(y), f(dy), f(dx).begin(),
                               [kind](double v, double d) { return derivative(kind, v, d); });
    }

    void run_embed(const Tensor& table, const Tensor& tokens, const Tensor& y) override {
        const std::size_t d = table.cols();
        const auto T = u(tokens);
        for (std::size_t t = 0; t < T.size(); t++) {
            checked_index(T[t], table.rows(), "embed: token");
            std::ranges::copy(f(table).subspan(T[t] * d, d), f(y).subspan(t * d, d).begin());
        }
    }

    void run_embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out) override {
        const std::size_t d = out.cols();
        const auto T = u(tokens);
        std::ranges::fill(f(out), 0);
        for (std::size_t t = 0; t < T.size(); t++) {
            checked_index(T[t], out.rows(), "embed_grad: token");
            for (std::size_t k = 0; k < d; k++) f(out)[T[t] * d + k] += f(dy)[t * d + k];
        }
    }

    void run_gather(const Tensor& x, const Tensor& rows, const Tensor& y) override {
        const std::size_t cols = x.cols();
        for (std::size_t i = 0; i < rows.size(); i++) {
            const std::size_t row = u(rows)[i];
            checked_index(row, x.rows(), "gather: row");
            if (x.type == Type::u32) {
                std::ranges::copy(u(x).subspan(row * cols, cols), u(y).subspan(i * cols, cols).begin());
            } else {
                std::ranges::copy(f(x).subspan(row * cols, cols), f(y).subspan(i * cols, cols).begin());
            }
        }
    }

    void run_softmax_ce(const Tensor& logits, const Tensor& classes, const LossOptions& o, const Loss& out) override {
        const std::size_t n_classes = logits.cols();
        std::vector<double> p(n_classes);
        for (std::size_t i = 0; i < logits.rows(); i++) {
            const std::size_t s = sample(o, i, classes.size());
            const auto z = f(logits).subspan(i * n_classes, n_classes);
            const std::size_t right = u(classes)[s];
            checked_index(right, n_classes, "softmax_ce: class");
            const double top = *std::ranges::max_element(z);
            double sum = 0;
            for (std::size_t j = 0; j < n_classes; j++) sum += p[j] = std::exp(z[j] - top);
            for (double& v : p) v /= sum;
            const double w = o.weights.exists() ? f(o.weights)[s] : 1;
            f(out.losses)[i] = -w * std::log(p[right] + 1e-300);
            if (!out.gradient.exists()) continue;
            p[right] -= 1;
            for (std::size_t j = 0; j < n_classes; j++) f(out.gradient)[i * n_classes + j] = w == 1 ? p[j] : w * p[j];
        }
    }

    // One running sum over all cells, divided once: it stands in the first row's place, the other
    // rows add 0 to it.
    void run_mse(const Tensor& outputs, const Tensor& targets, const LossOptions& o, const Loss& out) override {
        const std::size_t cols = outputs.cols();
        double sum = 0;
        for (std::size_t i = 0; i < outputs.rows(); i++) {
            const std::size_t s = sample(o, i, targets.rows());
            const double w = o.weights.exists() ? f(o.weights)[s] : 1;
            for (std::size_t j = 0; j < cols; j++) {
                const double d = f(outputs)[i * cols + j] - f(targets)[s * cols + j];
                sum += w * d * d;
                if (out.gradient.exists()) f(out.gradient)[i * cols + j] = w * 2 * d / static_cast<double>(cols);
            }
            f(out.losses)[i] = 0;
        }
        f(out.losses)[0] = sum / static_cast<double>(cols);
    }

    void run_update(const UpdateOptions& o, const Tensor& values, const Tensor& gradients, const Tensor& m,
                    const Tensor& v) override {
        const auto P = f(values);
        if (o.decay != 1) {
            for (double& p : P.first(o.n_decayed)) p *= o.decay;
        }
        if (o.rule == UpdateRule::sgd) {
            for (std::size_t i = 0; i < P.size(); i++) {
                f(m)[i] = o.momentum * f(m)[i] - o.lr * o.scale * f(gradients)[i];
                P[i] += f(m)[i];
            }
        }
        if (o.rule == UpdateRule::adam) {
            const auto G = f(gradients), M = f(m), V = f(v);
            for (std::size_t i = 0; i < P.size(); i++) {
                const double g = o.scale * G[i];
                M[i] = o.beta1 * M[i] + (1 - o.beta1) * g;
                V[i] = o.beta2 * V[i] + (1 - o.beta2) * g * g;
                P[i] -= o.rate * M[i] / (std::sqrt(V[i]) + o.epsilon);
            }
        }
    }

private:
    static std::size_t sample(const LossOptions& o, std::size_t row, std::size_t n) {
        return o.rows.exists() ? checked_index(u(o.rows)[row], n, "loss: sample") : row;
    }
};

}  // namespace

std::shared_ptr<Backend> make_plain(const BackendOptions&) {
    return std::make_shared<Plain>();
}

}  // namespace shunt::cpu
