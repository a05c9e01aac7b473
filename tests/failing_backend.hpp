// A backend that does what another one does, and fails when a test says so.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shunt/backend.hpp"

namespace shunt::test {

// Of the backend "test card", which can be opened only while one of these lives.
struct Failures {
    static inline Failures* now = nullptr;

    explicit Failures(std::string backend = "plain") : inner(std::move(backend)) {
        static const bool registered = [] {
            register_backend("test card", [](const BackendOptions& options) { return make(options); });
            return true;
        }();
        static_cast<void>(registered);
        now = this;
    }
    ~Failures() { now = nullptr; }
    Failures(const Failures&) = delete;
    Failures& operator=(const Failures&) = delete;

    std::string inner;
    std::int64_t at = std::numeric_limits<std::int64_t>::max();    // the call that fails, from 0
    std::int64_t then = std::numeric_limits<std::int64_t>::max();  // and a later one
    Fault fault = Fault::device_lost;                              // a lost one is lost for good
    bool forever = false;                                          // so do all later calls
    std::int64_t every = 0;                                        // each so many-th call fails too; 0: none
    std::chrono::microseconds pause{0};                            // that each fifth call takes
    int most_opened = std::numeric_limits<int>::max();
    std::size_t most_values = std::numeric_limits<std::size_t>::max();  // of a tensor

    bool over = false;  // nothing fails any more

    std::int64_t calls = 0;
    bool happened = false;
    int opened = 0;
    std::size_t largest = 0;  // tensor that was asked for

private:
    static std::shared_ptr<Backend> make(const BackendOptions& options);
};

class FailingBackend final : public Backend {
public:
    explicit FailingBackend(std::shared_ptr<Backend> inner) : inner_(std::move(inner)) {}

    std::string_view name() const override { return "test card"; }
    void finish() override { inner_->finish(); }

protected:
    std::shared_ptr<Storage> allocate(std::size_t count, Type type) override {
        call();
        Failures::now->largest = std::max(Failures::now->largest, count);
        if (count > Failures::now->most_values) throw Error(Fault::out_of_memory, "Too much for this card.");
        return inner_->empty({count}, type).storage;
    }
    void run_write(const Tensor& to, std::span<const double> values) override { call(), inner_->write(to, values); }
    void run_write(const Tensor& to, std::span<const float> values) override {
        call(), inner_->write(to, std::vector<double>(values.begin(), values.end()));
    }
    void run_write(const Tensor& to, std::span<const std::uint32_t> values) override {
        call(), inner_->write(to, values);
    }
    void run_copy(const Tensor& from, const Tensor& to) override { call(), inner_->copy(from, to); }
    std::vector<double> run_read(const Tensor& t) override { return call(), inner_->read(t); }
    void run_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) override {
        call(), inner_->matmul(a, b, options);
    }
    void run_affine_grad(const Tensor& x, const Tensor& w, const Tensor& dy, Activation activation,
                         const AffineGrad& out) override {
        call();
        const AffineGradOptions options{out.dw, out.db, out.dx.exists(), activation};
        const Tensor dx = inner_->affine_grad(x, w, dy, options).dx;
        if (out.dx.exists()) inner_->copy(dx, out.dx);
    }
    void run_conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options, const Tensor& y) override {
        call(), inner_->copy(inner_->conv2d(x, weight, options), y);
    }
    void run_activate(const ActivationOptions& options, const Tensor& x, const Tensor& y) override {
        call(), inner_->copy(inner_->activate(options, x), y);
    }
    void run_activate_grad(Activation kind, const Tensor& y, const Tensor& dy, const Tensor& dx) override {
        call(), inner_->copy(inner_->activate_grad(kind, y, dy), dx);
    }
    void run_embed(const Tensor& table, const Tensor& tokens, const Tensor& y) override {
        call(), inner_->copy(inner_->embed(table, tokens), y);
    }
    void run_embed_grad(const Tensor& tokens, const Tensor& dy, const Tensor& out) override {
        call(), inner_->embed_grad(tokens, dy, out);
    }
    void run_gather(const Tensor& x, const Tensor& rows, const Tensor& y) override {
        call(), inner_->copy(inner_->gather(x, rows), y);
    }
    void run_softmax_ce(const Tensor& logits, const Tensor& classes, const LossOptions& o, const Loss& out) override {
        call();
        const Loss loss = inner_->softmax_ce(logits, classes, o);
        if (out.gradient.exists()) inner_->copy(loss.gradient, out.gradient);
    }
    void run_mse(const Tensor& outputs, const Tensor& targets, const LossOptions& o, const Loss& out) override {
        call();
        const Loss loss = inner_->mse(outputs, targets, o);
        if (out.gradient.exists()) inner_->copy(loss.gradient, out.gradient);
    }
    void run_update(const UpdateOptions& options, const Tensor& values, const Tensor& gradients, const Tensor& m,
                    const Tensor& v) override {
        call(), inner_->update(options, values, gradients, m, v);
    }

private:
    void call() {
        Failures& f = *Failures::now;
        const std::int64_t number = f.calls++;
        if (f.over && !lost_) return;
        if (f.pause.count() > 0 && number % 5 == 0) std::this_thread::sleep_for(f.pause);
        if (lost_ || number == f.at || number == f.then || (f.forever && number > f.at) ||
            (f.every > 0 && number % f.every == f.every - 1)) {
            f.happened = true;
            lost_ = f.fault == Fault::device_lost;
            throw Error(f.fault, "This card fails at call " + std::to_string(number) + ".");
        }
    }

    std::shared_ptr<Backend> inner_;
    bool lost_ = false;
};

inline std::shared_ptr<Backend> Failures::make(const BackendOptions& options) {
    if (!now) throw Error(Fault::no_gpu, "No test is using the failing backend.");
    if (now->opened++ >= now->most_opened) throw Error(Fault::no_gpu, "The card does not come back.");
    return std::make_shared<FailingBackend>(make_backend(now->inner, options));
}

}  // namespace shunt::test
