// What everything computes on: each operator once, in its widest form.
//
// The public functions check shapes, make the results and hand over to the run_… function of the
// backend; so a backend holds arithmetic alone, and a wrong shape is one error on all of them.
// Adding an operator: declare it here, write it in src/cpu/plain.cpp, add a row to
// tests/operator_cases.cpp, then the other backends. CONTRIBUTING.md has the recipe.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/error.hpp"
#include "shunt/tensor.hpp"

namespace shunt {

// f(x). NaN passes through, ±∞ give the limits (NaN where they meet an alpha of 0), nothing overflows on the
// way. cpu and gpu are within 4e-7·(1 + |f(x)|) of plain (seen from −100 to 100: 1e-7, on lavapipe 1.3e-7),
// and keep their digits near 0; below 1e-36 a result may be 0.
enum class Activation {
    none,          // x
    relu,          // max(0, x)
    tanh,          // (exp(2·x) − 1) / (exp(2·x) + 1)
    sigmoid,       // 1 / (1 + exp(−x))
    leaky_relu,    // x < 0 ? alpha·x : x; alpha 0.01
    relu6,         // min(6, max(0, x))
    hard_sigmoid,  // max(0, min(1, alpha·x + beta)); alpha 0.2, beta 0.5. PyTorch's alpha is 1/6
    hard_swish,    // x·max(0, min(1, x/6 + 0.5))
    gelu,          // x/2·(1 + erf(x/√2))
    gelu_tanh,     // x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
    silu,          // x / (1 + exp(−x))
    softplus,      // ln(1 + exp(x))
    elu,           // x < 0 ? alpha·(exp(x) − 1) : x; alpha 1
    mish,          // x·tanh(ln(1 + exp(x)))
};

std::string_view to_string(Activation kind);

// Whether its derivative is at hand: that of none, relu, tanh and sigmoid, which follows from the output.
// The others are for inference.
bool has_gradient(Activation kind);

// An activation with its parameters; a kind alone has those that stand beside it above.
struct ActivationOptions {
    Activation kind;
    float alpha, beta;

    constexpr ActivationOptions(Activation k = Activation::none)
        : ActivationOptions(k, k == Activation::leaky_relu     ? 0.01f
                               : k == Activation::hard_sigmoid ? 0.2f
                                                               : 1) {}
    constexpr ActivationOptions(Activation k, float a, float b = 0.5f) : kind(k), alpha(a), beta(b) {}
    auto operator<=>(const ActivationOptions&) const = default;
};

struct MatmulOptions {
    bool trans_a = false;               // a is stored [k, m]
    bool trans_b = false;               // b is stored [n, k]
    Tensor bias = {};                   // [n], added to every row
    ActivationOptions activation = {};  // applied last
    bool accumulate = false;            // start from what `out` holds; not with a bias
    Tensor out = {};                    // where the result goes; not given: a new tensor
};

struct AffineGradOptions {
    Tensor dw = {};  // where they go, shaped as w and as [n_out]; not given: new tensors
    Tensor db = {};
    bool need_dx = true;
    // When x came out of an activation, dx goes through its derivative too: it is then the gradient
    // before that activation.
    Activation activation = Activation::none;
};

struct AffineGrad {
    Tensor dw, db;
    Tensor dx;  // does not exist unless it was needed
};

struct Conv2dOptions {
    Tensor bias = {};  // [out_channels]
    std::array<std::size_t, 2> stride = {1, 1};
    std::array<std::size_t, 2> pad = {0, 0};  // zeros above and below, left and right
    std::array<std::size_t, 2> dilation = {1, 1};
    std::size_t groups = 1;
    ActivationOptions activation = {};
    Tensor out = {};  // [n, o, oh, ow], where the result goes; not given: a new tensor
};

struct LossOptions {
    Tensor weights = {};   // [n] factors of the samples' loss and gradient; not given: 1
    Tensor rows = {};      // u32 [batch], the sample that row i belongs to; not given: i. Past the last
                           // sample: plain and cpu refuse it, a card cannot
    Tensor losses = {};    // [batch], where the losses go; not given: a new tensor
    bool gradient = true;  // false: the loss alone
};

struct Loss {
    Tensor losses;    // [batch], added up in order they are the summed loss (see total). A row's own,
                      // except after mse on plain: the whole sum stands in the first place, 0 in the others
    Tensor gradient;  // of the summed loss, shaped as the outputs
};

enum class UpdateRule { decay, sgd, adam };

struct UpdateOptions {
    UpdateRule rule = UpdateRule::adam;
    double scale = 1;     // of the gradient: 1 / samples
    double lr = 0;        // sgd
    double momentum = 0;  // sgd
    double rate = 0;      // adam: lr·sqrt(1 − beta2^t) / (1 − beta1^t)
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double decay = 1;  // factor on the first n_decayed values, before the rule
    std::size_t n_decayed = 0;
};

// A dense layer of a network whose parameters stand in one tensor.
struct DenseLayer {
    std::size_t n_in = 0, n_out = 0;
    std::size_t w = 0, b = 0;  // where its weights [n_out, n_in] and biases [n_out] begin there
    Activation activation = Activation::none;

    bool operator==(const DenseLayer&) const = default;
};

// One step of training: the forward pass of a batch, its loss, all gradients and the update.
struct TrainStep {
    std::vector<DenseLayer> layers;
    bool softmax = true;              // softmax_ce, else mse
    Tensor values, gradients, m, v;   // of all parameters; v for adam alone
    Tensor inputs, answers, weights;  // of all samples; weights as in LossOptions
    std::size_t batch = 0;            // the most samples of a step in this run: the choice of kernels depends on it
    Tensor rows;                      // u32 [n], this step's samples; not given: the first n
    Tensor losses;                    // [n], where their losses go
    UpdateOptions update;             // n_decayed is not looked at: weights decay, biases do not
};

class Backend {
public:
    virtual ~Backend() = default;

    virtual std::string_view name() const = 0;

    // --- values ------------------------------------------------------------------------------

    Tensor empty(Shape shape, Type type = Type::f32);  // values undefined; NaN in test builds
    Tensor zeros(Shape shape);
    Tensor upload(std::span<const double> values, Shape shape);
    Tensor upload(std::span<const float> values, Shape shape);
    Tensor upload(std::span<const std::uint32_t> values, Shape shape);  // a u32 tensor
    void write(const Tensor& to, std::span<const double> values);       // in place
    void write(const Tensor& to, std::span<const float> values);
    void write(const Tensor& to, std::span<const std::uint32_t> values);
    void copy(const Tensor& from, const Tensor& to);  // same size and type
    std::vector<double> read(const Tensor& t);        // waits for it; u32 too
    void read(const Tensor& t, std::span<float> to);  // f32 alone, as many values as there are
    // A tensor over the caller's own memory, which has to outlive it, on backends that compute in the host's
    // floats; from the others it does not exist.
    virtual Tensor borrow(std::span<float>, Shape) { return {}; }
    virtual void finish() {}  // waits for everything

    // --- operators ---------------------------------------------------------------------------

    // c[i][j] = activation(bias[j] + Σ_k a[i][k]·b[k][j]). Sizes before the last two are a batch:
    // equal in a and b, or absent in one of them, which is then used for every member.
    Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

    // The gradients of y = x·wᵀ + b (x [batch, n_in], w [n_out, n_in]), given dy [batch, n_out]:
    // dw = dyᵀ·x, db[j] = Σ_s dy[s][j], dx = dy·w.
    AffineGrad affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, const AffineGradOptions& options = {});

    // Cross-correlation, zero padding. x [n, c, h, w], weight [o, c/groups, kh, kw] → [n, o, oh, ow],
    // oh = floor((h + 2·pad − dilation·(kh − 1) − 1) / stride) + 1.
    Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options = {});

    // y = f(x), see Activation.
    Tensor activate(const ActivationOptions& options, const Tensor& x);

    // From the *output* y: relu: y > 0 ? dy : 0. tanh: dy·(1 − y²). sigmoid: dy·y·(1 − y). Others, here
    // and in affine_grad, are an Error, unsupported.
    Tensor activate_grad(Activation kind, const Tensor& y, const Tensor& dy);

    // y[s][t·d + k] = table[tokens[s][t]][k]. Tokens past the table: plain and cpu refuse them; a
    // card cannot, so networks check them before upload.
    Tensor embed(const Tensor& table, const Tensor& tokens);

    // dtable, shaped as `out` [v, d]: the rows of dy added up by token, in order.
    void embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out);

    // y[i] = x[rows[i]], rows u32; x f32 or u32. Rows past the last: plain and cpu refuse them; a card
    // cannot, so they are checked before upload (epoch_order does).
    Tensor gather(const Tensor& x, const Tensor& rows);

    // loss = Σ_s −w_s·ln(softmax(z_s)[class_s]), gradient w·(p − onehot). classes: u32 [n]. Classes past
    // the last column: plain and cpu refuse them; a card cannot, so networks check them before upload.
    // Rows without columns are refused, here and by mse.
    Loss softmax_ce(const Tensor& logits, const Tensor& classes, const LossOptions& options = {});

    // loss = Σ_s w_s·mean_j (y_sj − t_sj)², gradient 2·w·(y − t) / cols. targets: [n, cols].
    Loss mse(const Tensor& outputs, const Tensor& targets, const LossOptions& options = {});

    // All parameters at once, in place. First values[i] *= decay for i < n_decayed, then
    // sgd:  v = momentum·v − lr·scale·g;  p += v                                          (m is v)
    // adam: m = beta1·m + (1−beta1)·ĝ;  v = beta2·v + (1−beta2)·ĝ²;  p −= rate·m / (√v + epsilon)
    // with ĝ = scale·g (Kingma & Ba 2015, with the bias correction in `rate`).
    void update(const UpdateOptions& options, const Tensor& values, const Tensor& gradients = {}, const Tensor& m = {},
                const Tensor& v = {});

    // A whole step in as few dispatches as the backend has for it. False: it has none for this network
    // and batch (always the same answer for the same ones), and nothing was done; the operators above
    // do the same, with other roundings.
    virtual bool train_step(const TrainStep&) { return false; }

protected:
    // What a backend provides. Shapes are checked, results exist, nothing is empty; options.out,
    // dw, db and losses are filled in.
    virtual std::shared_ptr<Storage> allocate(std::size_t count, Type type) = 0;
    virtual void run_write(const Tensor& to, std::span<const double> values) = 0;
    virtual void run_write(const Tensor& to, std::span<const float> values) = 0;
    virtual void run_write(const Tensor& to, std::span<const std::uint32_t> values) = 0;
    virtual void run_copy(const Tensor& from, const Tensor& to) = 0;
    virtual std::vector<double> run_read(const Tensor& t) = 0;
    virtual void run_read(const Tensor& t, std::span<float> to);  // unless written anew: the above, rounded
    virtual void run_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) = 0;
    // dx is wanted where out.dx exists; it then goes through the derivative of `activation`.
    virtual void run_affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, Activation activation,
                                 const AffineGrad& out) = 0;
    virtual void run_conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options, const Tensor& y) = 0;
    virtual void run_activate(const ActivationOptions& options, const Tensor& x, const Tensor& y) = 0;
    virtual void run_activate_grad(Activation kind, const Tensor& y, const Tensor& dy, const Tensor& dx) = 0;
    virtual void run_embed(const Tensor& table, const Tensor& tokens, const Tensor& y) = 0;
    virtual void run_embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out) = 0;
    virtual void run_gather(const Tensor& x, const Tensor& rows, const Tensor& y) = 0;
    virtual void run_softmax_ce(const Tensor& logits, const Tensor& classes, const LossOptions& options,
                                const Loss& out) = 0;
    virtual void run_mse(const Tensor& outputs, const Tensor& targets, const LossOptions& options, const Loss& out) = 0;
    virtual void run_update(const UpdateOptions& options, const Tensor& values, const Tensor& gradients,
                            const Tensor& m, const Tensor& v) = 0;
};

// --- thin functions over the operators, by the names of a textbook -------------------------------

// x·wᵀ + b
Tensor affine(Backend& backend, const Tensor& x, const Tensor& w, const Tensor& b);

void decay(Backend& backend, const Tensor& values, double factor);
void sgd_update(Backend& backend, const Tensor& values, const Tensor& gradients, const Tensor& velocity, double lr,
                double momentum, double scale);
void adam_update(Backend& backend, const Tensor& values, const Tensor& gradients, const Tensor& m, const Tensor& v,
                 double rate, double beta1, double beta2, double epsilon, double scale);

// The summed loss: the losses read back and added in order, in double.
double total(Backend& backend, const Tensor& losses);

// Per row, the index of its first largest value.
std::vector<std::uint32_t> argmax_rows(Backend& backend, const Tensor& t);

// --- the registry --------------------------------------------------------------------------------

struct BackendOptions {
    int threads = 0;           // most CPU threads to use; 0: SHUNT_THREADS, else as many as there are cores
    std::string adapter = {};  // the card, by index or part of its name in list_adapters(); empty: SHUNT_ADAPTER,
                               // else the first discrete or integrated one. Only with gpu and auto.
};

// All names, sorted: cpu, gpu, plain, and what a program registered.
std::vector<std::string> backend_names();

// A backend, or none and the reason. bad_argument for a name that is not known (lists them), and for
// an adapter with a backend that has none.
struct TriedBackend {
    std::shared_ptr<Backend> backend;
    std::string reason;
};
TriedBackend try_backend(std::string_view name, const BackendOptions& options = {});

// The names that work here. Opens each of them.
std::vector<std::string> available_backends();

// A backend, or an Error with the reason. "auto" starts on cpu.
std::shared_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options = {});

// A program's own. `make` throws an Error with the reason where it cannot work. bad_argument for
// "auto" and for a name that is taken.
void register_backend(const std::string& name, std::function<std::shared_ptr<Backend>(const BackendOptions&)> make);

}  // namespace shunt
