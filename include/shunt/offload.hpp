// Transparent offload: products, convolutions and activations of a program, each on the card where that is
// faster, and on the CPU with the right result where it is not, or where the card fails.
//
//     auto worker = offload::SharedWorker::open();          // none, and the reason, where there is no card
//     offload::GpuBackend card(worker);                     // measures what things cost, or loads it
//     if (auto c = card.matmul(a, b, true)) use(*c);        // empty: declined or failed; compute it yourself
//
//     offload::ScopedAccelerator use_card(card);            // or let every call ask the card, and else the CPU:
//     auto y = ops::conv2d(x, w, bias, {.stride = {2, 2}, .pad = {1, 1}});
//
// docs/offload.md has the whole story. All values are floats in the program's own memory, row-major.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shunt/backend.hpp"
#include "shunt/offload_costs.hpp"
#include "shunt/weight.hpp"

namespace shunt::offload {

// Values and their shape.
struct Array {
    std::vector<float> values;
    Shape shape;
};

// Somebody else's values and their shape; with a Weight, the name that the card is to know them by.
struct View {
    std::span<const float> values;
    Shape shape;
    std::optional<Weight> weight = {};

    View(std::span<const float> v, Shape s) : values(v), shape(s) {}
    View(std::span<const float> v, Shape s, const Weight& w) : values(v), shape(s), weight(w) {}
    View(const Array& a) : values(a.values), shape(a.shape) {}
};

struct ConvOptions {
    std::array<std::size_t, 2> stride = {1, 1};
    std::array<std::size_t, 2> pad = {0, 0};  // zeros on either side
    std::array<std::size_t, 2> dilation = {1, 1};
    std::size_t groups = 1;
    ActivationOptions activation = {};
};

// What is offered each heavy operator, and may decline. What it declines, or fails at, leaves the
// arguments as they were; last_error() tells of a failure. bad_argument for shapes that do not fit.
class Accelerator {
public:
    virtual ~Accelerator() = default;

    // a [m, k] · b [k, n]. b_is_weight: the caller's promise that the values of b stay as they are, where they are.
    virtual std::optional<Array> matmul(const View& a, const View& b, bool b_is_weight = false) = 0;

    // Cross-correlation, zero padding. x [c, h, w] or a batch [n, c, h, w], w [o, c/groups, kh, kw], bias [o] or
    // none → [o, oh, ow] or [n, o, oh, ow]. In one dimension x is [c, l] or [n, c, l] and w [o, c/groups, kl];
    // the second of each option then counts. Weights and bias are taken to stay as they are.
    virtual std::optional<Array> conv2d(const View& x, const View& w, std::span<const float> bias = {},
                                        const ConvOptions& options = {}) = 0;

    // In place; false: not done.
    virtual bool activate(std::span<float> values, const ActivationOptions& activation) = 0;

    // The newest error of the card. Later successes do not clear it.
    virtual std::optional<std::string> last_error() const { return {}; }

    // What ops:: computed on the CPU because this declined, and how long it took.
    virtual void computed_on_cpu(double) {}
};

struct CardOptions {
    BackendOptions card = {};
    std::size_t weight_bytes = std::size_t{1} << 30;  // of weights on the card, at most
    std::string backend = "gpu";                      // or one that a program registered
};

// The thread that owns the card, and the weights on it. Copies are the same one; it ends with the last copy, and waits
// for a card that does not answer two seconds at most.
class SharedWorker {
public:
    // Nothing is thrown: without a card there is none, and a reason.
    static SharedWorker open(const CardOptions& options = {});

    explicit operator bool() const { return impl_ != nullptr; }
    const std::string& reason() const { return reason_; }
    bool broken() const { return broken_; }  // there is a card, and it does not work

private:
    friend class GpuBackend;
    struct Impl;
    std::shared_ptr<Impl> impl_;
    std::string reason_;
    bool broken_ = false;
};

enum class Policy {
    silent,  // failures show in last_error() and the report
    warn,    // and are told to Options::warn, each text once
    strict,  // nothing is declined: the card, or an Error
};

enum class Verify {
    off,
    sampled,  // the first of each kind and shape, then as many as take 1 % of the time
    always,
};

struct Options {
    Policy policy = Policy::silent;
    std::function<void(const std::string&)> warn = {};  // called by the threads that fail, several at once
    Verify verify = Verify::off;
    std::optional<Costs> costs = {};                      // instead of measured ones; bad_argument for impossible ones
    bool measure = false;                                 // anew, also where costs were stored before
    bool live = true;                                     // costs are corrected by what calls took
    std::chrono::milliseconds least_wait{10000};          // the shortest deadline of a call: compiling takes time
    std::function<void(const std::string&)> at_end = {};  // gets the report when the backend goes
};

// How a backend came by its costs.
struct CostsOrigin {
    bool measured = false;      // by this backend; else they were given, or are those kept by an earlier one
    bool shortened = false;     // the card lost its first product tenfold: the rest is taken to lose as much
    std::string file = {};      // where measured ones are kept for the next one; empty: nowhere
    std::string not_kept = {};  // why
};

// Offers to the card what it does faster, by measured costs. Any thread; the calls queue for the card.
class GpuBackend final : public Accelerator {
public:
    // Measures (some 100 ms, and what compiling takes), unless costs are given or were stored before. Without a card
    // it declines everything; so it does where the card fails at being measured, and last_error() says why.
    explicit GpuBackend(const SharedWorker& worker, const Options& options = {});
    ~GpuBackend() override;

    std::optional<Array> matmul(const View& a, const View& b, bool b_is_weight = false) override;
    std::optional<Array> conv2d(const View& x, const View& w, std::span<const float> bias = {},
                                const ConvOptions& options = {}) override;
    bool activate(std::span<float> values, const ActivationOptions& activation) override;
    std::optional<std::string> last_error() const override;
    void computed_on_cpu(double seconds) override;

    Costs costs() const;
    CostsOrigin costs_origin() const;
    std::uint64_t offloaded() const;  // operators that ran on the card
    std::string report() const;       // what was decided and why, for people
    std::string report_json() const;  // the same as data

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Installs an accelerator for what this thread computes with ops::, or for the whole process; a thread's own comes
// first. The newest one counts; they may go in any order. The accelerator has to outlive it, and one of the process the
// calls that other threads have begun; one of a thread goes on that thread.
class ScopedAccelerator {
public:
    enum class Scope { thread, process };
    explicit ScopedAccelerator(Accelerator& accelerator, Scope scope = Scope::thread);
    ~ScopedAccelerator();
    ScopedAccelerator(const ScopedAccelerator&) = delete;
    ScopedAccelerator& operator=(const ScopedAccelerator&) = delete;

private:
    friend struct Installed;
    const Scope scope_;
    Accelerator& accelerator_;
    ScopedAccelerator* before_ = nullptr;
};

// The one that ops:: would ask; null: none.
Accelerator* current_accelerator();

}  // namespace shunt::offload

// The operators of Accelerator, answered always: by the installed one, or else by the CPU.
namespace shunt::ops {

using offload::Array;
using offload::View;

Array matmul(const View& a, const View& b, bool b_is_weight = false);
Array conv2d(const View& x, const View& w, std::span<const float> bias = {}, const offload::ConvOptions& options = {});
void activate(std::span<float> values, const ActivationOptions& activation);

}  // namespace shunt::ops
