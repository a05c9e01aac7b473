// The public face of Backend: shapes checked, results made, empty work left out.
#include <algorithm>
#include <limits>

#include "core/conv_shape.hpp"
#include "shunt/backend.hpp"

namespace shunt {
namespace {

[[noreturn]] void refuse(std::string_view what) {
    throw Error(Fault::bad_argument, std::string(what));
}

void expect(bool fits, const char* op, const std::string& sentence) {
    if (!fits) refuse(std::string(op) + ": " + sentence);
}

void expect_type(const Tensor& t, Type type, const char* op, const char* name) {
    expect(t.exists(), op, std::string(name) + " is not given.");
    expect(t.type == type, op, std::string(name) + (type == Type::u32 ? " must hold u32." : " must hold f32."));
}

void expect_size(const Tensor& t, std::size_t size, const char* op, const char* name) {
    expect_type(t, Type::f32, op, name);
    expect(t.size() == size, op,
           std::string(name) + " " + t.shape.str() + " must have " + std::to_string(size) + " values.");
}

// The sizes before the last two: equal, or absent on one side.
Shape batch_shape(const Tensor& a, const Tensor& b) {
    const Tensor& wider = a.shape.rank() >= b.shape.rank() ? a : b;
    const Tensor& other = a.shape.rank() >= b.shape.rank() ? b : a;
    Shape batch;
    for (std::size_t axis = 0; axis + 2 < wider.shape.rank(); axis++) batch.push_back(wider.shape[axis]);
    if (other.shape.rank() > 2) {
        expect(other.shape.rank() == wider.shape.rank(), "matmul",
               "a " + a.shape.str() + " and b " + b.shape.str() + " have different numbers of batch sizes.");
        for (std::size_t axis = 0; axis < batch.rank(); axis++) {
            expect(batch[axis] == other.shape[axis], "matmul",
                   "the batch sizes of a " + a.shape.str() + " and b " + b.shape.str() + " differ.");
        }
    }
    return batch;
}

void expect_gradient(Activation kind, const char* op) {
    if (has_gradient(kind)) return;
    throw Error(Fault::unsupported, std::string(op) + ": there is no gradient of " + std::string(to_string(kind)) +
                                        ", only of relu, tanh and sigmoid.");
}

}  // namespace

std::string_view to_string(Activation kind) {
    switch (kind) {
        case Activation::none: return "none";
        case Activation::relu: return "relu";
        case Activation::tanh: return "tanh";
        case Activation::sigmoid: return "sigmoid";
        case Activation::leaky_relu: return "leaky_relu";
        case Activation::relu6: return "relu6";
        case Activation::hard_sigmoid: return "hard_sigmoid";
        case Activation::hard_swish: return "hard_swish";
        case Activation::gelu: return "gelu";
        case Activation::gelu_tanh: return "gelu_tanh";
        case Activation::silu: return "silu";
        case Activation::softplus: return "softplus";
        case Activation::elu: return "elu";
        case Activation::mish: return "mish";
    }
    refuse("An Activation that is none of its enumeration.");
}

bool has_gradient(Activation kind) {
    return kind == Activation::none || kind == Activation::relu || kind == Activation::tanh ||
           kind == Activation::sigmoid;
}

// --- values --------------------------------------------------------------------------------------

Tensor Backend::empty(Shape shape, Type type) {
    try {
        return {shape, type, 0, allocate(shape.size(), type)};
    } catch (const std::exception& error) {  // bad_alloc, length_error
        if (dynamic_cast<const Error*>(&error)) throw;
        throw Error(Fault::out_of_memory, "There is no memory for a tensor of " + shape.str() + " values.");
    }
}

Tensor Backend::zeros(Shape shape) {
    Tensor t = empty(shape);
    if (t.size() > 0) run_write(t, std::span<const double>(std::vector<double>(t.size(), 0.0)));
    return t;
}

namespace {
template <typename T>
void expect_fits(std::span<const T> values, const Shape& shape) {
    expect(values.size() == shape.size(), "upload",
           std::to_string(values.size()) + " values do not fill a tensor of " + shape.str() + ".");
}
}  // namespace

Tensor Backend::upload(std::span<const double> values, Shape shape) {
    expect_fits(values, shape);
    Tensor t = empty(shape);
    if (t.size() > 0) run_write(t, values);
    return t;
}

Tensor Backend::upload(std::span<const float> values, Shape shape) {
    expect_fits(values, shape);
    Tensor t = empty(shape);
    if (t.size() > 0) run_write(t, values);
    return t;
}

Tensor Backend::upload(std::span<const std::uint32_t> values, Shape shape) {
    expect_fits(values, shape);
    Tensor t = empty(shape, Type::u32);
    if (t.size() > 0) run_write(t, values);
    return t;
}

void Backend::write(const Tensor& to, std::span<const double> values) {
    expect_size(to, values.size(), "write", "the tensor");
    if (to.size() > 0) run_write(to, values);
}

void Backend::write(const Tensor& to, std::span<const float> values) {
    expect_size(to, values.size(), "write", "the tensor");
    if (to.size() > 0) run_write(to, values);
}

void Backend::write(const Tensor& to, std::span<const std::uint32_t> values) {
    expect_type(to, Type::u32, "write", "the tensor");
    expect_fits(values, to.shape);
    if (to.size() > 0) run_write(to, values);
}

void Backend::copy(const Tensor& from, const Tensor& to) {
    expect(from.exists() && to.exists() && from.size() == to.size() && from.type == to.type, "copy",
           "from " + from.shape.str() + " to " + to.shape.str() + ": sizes and types must be equal.");
    if (to.size() > 0) run_copy(from, to);
}

std::vector<double> Backend::read(const Tensor& t) {
    expect(t.exists(), "read", "the tensor is not given.");
    return t.size() > 0 ? run_read(t) : std::vector<double>();
}

void Backend::read(const Tensor& t, std::span<float> to) {
    expect_size(t, to.size(), "read", "the tensor");
    if (t.size() > 0) run_read(t, to);
}

void Backend::run_read(const Tensor& t, std::span<float> to) {
    std::ranges::transform(run_read(t), to.begin(), [](double value) { return static_cast<float>(value); });
}

// --- operators -----------------------------------------------------------------------------------

Tensor Backend::matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
    const char* op = "matmul";
    expect_type(a, Type::f32, op, "a");
    expect_type(b, Type::f32, op, "b");
    expect(a.shape.rank() >= 2 && b.shape.rank() >= 2, op,
           "a " + a.shape.str() + " and b " + b.shape.str() + " must have at least two sizes.");
    const auto last = [](const Tensor& t, std::size_t back) { return t.shape[t.shape.rank() - back]; };
    const std::size_t m = last(a, options.trans_a ? 1 : 2), k = last(a, options.trans_a ? 2 : 1);
    const std::size_t n = last(b, options.trans_b ? 2 : 1), k_b = last(b, options.trans_b ? 1 : 2);
    expect(k == k_b, op,
           "a " + a.shape.str() + (options.trans_a ? "ᵀ" : "") + " and b " + b.shape.str() +
               (options.trans_b ? "ᵀ" : "") + " do not share the inner size.");
    Shape shape = batch_shape(a, b);
    shape.push_back(m);
    shape.push_back(n);

    MatmulOptions checked = options;
    if (options.bias.exists()) expect_size(options.bias, n, op, "bias");
    expect(!options.accumulate || (options.out.exists() && !options.bias.exists()), op,
           "accumulate needs out, and takes no bias.");
    if (options.out.exists()) {
        expect_size(options.out, shape.size(), op, "out");
        checked.out.shape = shape;
    } else {
        checked.out = empty(shape);
    }
    if (checked.out.size() > 0) run_matmul(a, b, checked);
    return checked.out;
}

AffineGrad Backend::affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, const AffineGradOptions& options) {
    const char* op = "affine_grad";
    expect_gradient(options.activation, op);
    expect_type(x, Type::f32, op, "x");
    expect_type(w, Type::f32, op, "w");
    expect_type(dy, Type::f32, op, "dy");
    const std::size_t batch = x.rows(), n_in = x.cols(), n_out = dy.cols();
    expect(dy.rows() == batch && w.cols() == n_in && w.rows() == n_out, op,
           "x " + x.shape.str() + ", w " + w.shape.str() + " and dy " + dy.shape.str() +
               " must be [batch, n_in], [n_out, n_in] and [batch, n_out].");
    AffineGrad out{options.dw, options.db, {}};
    if (out.dw.exists()) expect_size(out.dw, n_out * n_in, op, "dw");
    if (out.db.exists()) expect_size(out.db, n_out, op, "db");
    if (!out.dw.exists()) out.dw = empty({n_out, n_in});
    if (!out.db.exists()) out.db = empty({1, n_out});
    if (options.need_dx) out.dx = empty({batch, n_in});
    if (n_out == 0 && out.dx.size() > 0) write(out.dx, std::vector<double>(out.dx.size(), 0.0));  // sums of nothing
    if (n_out > 0) run_affine_grad(x, w, dy, options.need_dx ? options.activation : Activation::none, out);
    return out;
}

Tensor Backend::conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options) {
    const char* op = "conv2d";
    expect_type(x, Type::f32, op, "x");
    expect_type(weight, Type::f32, op, "weight");
    expect(x.shape.rank() == 4 && weight.shape.rank() == 4, op,
           "x " + x.shape.str() + " and weight " + weight.shape.str() + " must have four sizes.");
    const std::size_t filters = weight.shape[0], groups = options.groups;
    check_groups(x.shape[1], weight.shape, "weight", groups);
    if (options.bias.exists()) expect_size(options.bias, filters, op, "bias");
    const Shape made{x.shape[0], filters,
                     conv_out(x.shape[2], weight.shape[2], options.stride[0], options.pad[0], options.dilation[0]),
                     conv_out(x.shape[3], weight.shape[3], options.stride[1], options.pad[1], options.dilation[1])};
    const Tensor y = options.out.exists() ? options.out : empty(made);
    expect(y.type == Type::f32 && y.shape == made, op, "out " + y.shape.str() + " must be f32 " + made.str() + ".");
    if (y.size() > 0 && x.size() > 0 && weight.size() > 0) run_conv2d(x, weight, options, y);
    if (y.size() > 0 && (x.size() == 0 || weight.size() == 0)) {  // sums of nothing are those of a zero each
        run_conv2d(zeros({y.shape[0], groups, y.shape[2], y.shape[3]}), zeros({filters, 1, 1, 1}),
                   {.bias = options.bias, .groups = groups, .activation = options.activation}, y);
    }
    return y;
}

Tensor Backend::activate(const ActivationOptions& options, const Tensor& x) {
    expect_type(x, Type::f32, "activate", "x");
    Tensor y = empty(x.shape);
    if (y.size() > 0) run_activate(options, x, y);
    return y;
}

Tensor Backend::activate_grad(Activation kind, const Tensor& y, const Tensor& dy) {
    expect_gradient(kind, "activate_grad");
    expect_type(y, Type::f32, "activate_grad", "y");
    expect_size(dy, y.size(), "activate_grad", "dy");
    Tensor dx = empty(y.shape);
    if (dx.size() > 0) run_activate_grad(kind, y, dy, dx);
    return dx;
}

Tensor Backend::embed(const Tensor& table, const Tensor& tokens) {
    expect_type(table, Type::f32, "embed", "table");
    expect_type(tokens, Type::u32, "embed", "tokens");
    Tensor y = empty({tokens.rows(), tokens.cols() * table.cols()});
    if (y.size() > 0) run_embed(table, tokens, y);
    return y;
}

void Backend::embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out) {
    expect_type(tokens, Type::u32, "embed_grad", "tokens");
    expect_type(out, Type::f32, "embed_grad", "out");
    expect_size(dy, tokens.size() * out.cols(), "embed_grad", "dy");
    if (out.size() > 0) run_embed_grad(tokens, dy, out);
}

Tensor Backend::gather(const Tensor& x, const Tensor& rows) {
    expect(x.exists(), "gather", "x is not given.");
    expect_type(rows, Type::u32, "gather", "rows");
    Tensor y = empty({rows.size(), x.cols()}, x.type);
    if (y.size() > 0) run_gather(x, rows, y);
    return y;
}

namespace {

// What both losses ask of their options; fills in where the losses go.
LossOptions checked_loss(Backend& backend, const Tensor& outputs, std::size_t n, const LossOptions& options,
                         const char* op) {
    const std::size_t batch = outputs.rows();
    expect(batch == 0 || outputs.cols() > 0, op, "outputs " + outputs.shape.str() + " have no columns.");
    LossOptions checked = options;
    if (options.rows.exists()) {
        expect_type(options.rows, Type::u32, op, "rows");
        expect(options.rows.size() == batch, op,
               "rows " + options.rows.shape.str() + " must have one row for each of " + std::to_string(batch) +
                   " samples.");
    } else {
        expect(n == batch, op, std::to_string(n) + " answers for " + std::to_string(batch) + " rows of outputs.");
    }
    if (options.weights.exists()) expect_size(options.weights, n, op, "weights");
    if (options.losses.exists()) expect_size(options.losses, batch, op, "losses");
    if (!options.losses.exists()) checked.losses = backend.empty({batch});
    return checked;
}

}  // namespace

Loss Backend::softmax_ce(const Tensor& logits, const Tensor& classes, const LossOptions& options) {
    expect_type(logits, Type::f32, "softmax_ce", "logits");
    expect_type(classes, Type::u32, "softmax_ce", "classes");
    const LossOptions checked = checked_loss(*this, logits, classes.size(), options, "softmax_ce");
    Loss out{checked.losses, options.gradient ? empty(logits.shape) : Tensor{}};
    if (logits.size() > 0) run_softmax_ce(logits, classes, checked, out);
    return out;
}

Loss Backend::mse(const Tensor& outputs, const Tensor& targets, const LossOptions& options) {
    expect_type(outputs, Type::f32, "mse", "outputs");
    expect_type(targets, Type::f32, "mse", "targets");
    expect(targets.cols() == outputs.cols(), "mse",
           "targets " + targets.shape.str() + " and outputs " + outputs.shape.str() + " differ in columns.");
    const LossOptions checked = checked_loss(*this, outputs, targets.rows(), options, "mse");
    Loss out{checked.losses, options.gradient ? empty(outputs.shape) : Tensor{}};
    if (outputs.size() > 0) run_mse(outputs, targets, checked, out);
    return out;
}

void Backend::update(const UpdateOptions& options, const Tensor& values, const Tensor& gradients, const Tensor& m,
                     const Tensor& v) {
    expect_type(values, Type::f32, "update", "values");
    expect(options.n_decayed <= values.size(), "update",
           std::to_string(options.n_decayed) + " values to decay of " + std::to_string(values.size()) + ".");
    if (options.rule != UpdateRule::decay) {
        expect_size(gradients, values.size(), "update", "gradients");
        expect_size(m, values.size(), "update", "m");
    }
    if (options.rule == UpdateRule::adam) expect_size(v, values.size(), "update", "v");
    if (values.size() > 0) run_update(options, values, gradients, m, v);
}

// --- thin functions ------------------------------------------------------------------------------

Tensor affine(Backend& backend, const Tensor& x, const Tensor& w, const Tensor& b) {
    return backend.matmul(x, w, {.trans_b = true, .bias = b});
}

void decay(Backend& backend, const Tensor& values, double factor) {
    backend.update({.rule = UpdateRule::decay, .decay = factor, .n_decayed = values.size()}, values);
}

void sgd_update(Backend& backend, const Tensor& values, const Tensor& gradients, const Tensor& velocity, double lr,
                double momentum, double scale) {
    backend.update({.rule = UpdateRule::sgd, .scale = scale, .lr = lr, .momentum = momentum}, values, gradients,
                   velocity);
}

void adam_update(Backend& backend, const Tensor& values, const Tensor& gradients, const Tensor& m, const Tensor& v,
                 double rate, double beta1, double beta2, double epsilon, double scale) {
    backend.update(
        {.rule = UpdateRule::adam, .scale = scale, .rate = rate, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon},
        values, gradients, m, v);
}

double total(Backend& backend, const Tensor& losses) {
    double sum = 0;
    for (double loss : backend.read(losses)) sum += loss;
    return sum;
}

std::vector<std::uint32_t> argmax_rows(Backend& backend, const Tensor& t) {
    const std::vector<double> values = backend.read(t);
    const std::size_t cols = t.cols();
    std::vector<std::uint32_t> best;
    for (std::size_t row = 0; cols > 0 && row < t.rows(); row++) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * cols);
        best.push_back(
            static_cast<std::uint32_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(cols)) - first));
    }
    return best;
}

}  // namespace shunt
