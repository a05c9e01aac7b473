// GpuBackend: decides by costs, hands work to the card's thread, and answers for what comes back.
#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "core/forks.hpp"
#include "core/stopwatch.hpp"
#include "core/text.hpp"
#include "core/worker.hpp"
#include "decide/machine.hpp"
#include "decide/measured.hpp"
#include "offload/calibrate.hpp"
#include "offload/card.hpp"
#include "offload/report.hpp"
#include "offload/shapes.hpp"
#include "offload/trust.hpp"
#include "offload/verify.hpp"
#include "offload/weights.hpp"
#include "offload/works.hpp"

namespace shunt::offload {
namespace {

// What a thread was last declined, for when it says how long the CPU took.
struct Declined {
    const void* by = nullptr;
    std::uint64_t number = 0;
    Correction::Key shape;
    double predicted = 0;
};
thread_local Declined declined;

}  // namespace

struct SharedWorker::Impl {
    explicit Impl(const CardOptions& o)
        : facts(decide::machine(o.backend, o.card)),
          weights(std::make_shared<WeightCache>(o.weight_bytes)),
          worker([o, kept = weights] { return Card(o.backend, o.card, kept); },
                 {.name = "shunt-offload", .end_wait = std::chrono::seconds(2)}) {}

    const decide::Machine facts;
    const std::shared_ptr<WeightCache> weights;
    Quarantine quarantine;
    std::atomic<std::int64_t> waiting = 0;  // ns that the work in the line is expected to take
    Worker<Card> worker;
};

SharedWorker SharedWorker::open(const CardOptions& options) {
    SharedWorker opened;
    try {
        opened.impl_ = std::make_shared<Impl>(options);
    } catch (const Error& error) {
        opened.reason_ = error.what();
        opened.broken_ = error.fault() != Fault::no_gpu;
    } catch (const std::exception& error) {
        opened.reason_ = std::string("The card's thread cannot be started: ") + error.what() + ".";
        opened.broken_ = true;
    }
    return opened;
}

struct GpuBackend::Impl {
    Impl(const SharedWorker& w, const Options& o) : card(w.impl_), options(o), reason(w.reason()) {
        if (options.costs) check_costs(*options.costs);
        if (!card) {
            if (w.broken()) failed(reason);
            return;
        }
        try {
            costs = options.costs ? *options.costs : known_costs();
            works = true;
        } catch (const Error& error) {
            reason = error.what();
            failed(reason);
        }
    }

    Costs known_costs() {
        const std::string key =
            "offload; " + card->facts.facts + "; " + decide::machine("cpu", {}).facts + "; shunt " SHUNT_VERSION;
        if (const auto found = options.measure ? std::nullopt : decide::recall(key).figures) {
            Costs known;
            bool all = true;
            for (const CostField& field : cost_fields()) {
                const auto figure = found->find(std::string(field.name));
                all = all && figure != found->end() && figure->second >= 0;
                if (all) known.*field.value = figure->second;
            }
            if (all) return known;
        }
        const auto cpu = make_backend("cpu");
        const OnCard on_card = [&](const std::function<void(Backend&)>& work) {
            card->worker.call([&](Card& c) { work(c.backend()); });
        };
        const Calibration measured = calibrate(*cpu, on_card, card->facts.software ? 1.0 : 0.1);
        origin = {.measured = true, .shortened = measured.hopeless, .not_kept = keep(key, measured.costs)};
        if (origin.not_kept.empty()) origin.file = decide::measured_file();
        return measured.costs;
    }

    // The reason where that is not done.
    static std::string keep(const std::string& key, const Costs& measured) {
        if (measured.spread > most_spread)
            return "The figures differ by " + to_text(std::round(100 * measured.spread)) +
                   " % from one time to the next, more than " + to_text(100 * most_spread) +
                   " %: something else was using the machine.";
        decide::Figures figures;
        for (const CostField& field : cost_fields()) figures[std::string(field.name)] = measured.*field.value;
        return decide::remember(key, figures);
    }

    void failed(const std::string& what) {
        bool is_new = false;
        {
            const std::lock_guard lock(error_mutex);
            last_error = what;
            if (options.policy == Policy::warn && told.size() < 1000) is_new = told.insert(what).second;
        }
        if (is_new && options.warn) options.warn(what);
    }

    // --- after a fork ---------------------------------------------------------------------------
    // Asked before any lock: the parent's other threads may have held them when it forked.

    bool forked() const { return born != forks(); }

    static std::string after_fork() {
        return "This offload was started before a fork, and is the parent's alone: this process has to start its own.";
    }

    std::nullopt_t decline_after_fork() const {
        declined.by = nullptr;
        if (options.policy == Policy::strict) throw Error(Fault::device_lost, after_fork());
        return std::nullopt;
    }

    // --- deciding ------------------------------------------------------------------------------

    struct Verdict {
        Decision decision;
        double predicted_cpu = 0, predicted_gpu = 0;  // before corrections
        std::optional<WeightKey> weight;
        bool send_weight = false;
    };

    void decide_side(Verdict& v, Correction::Key shape, const KernelShape& kernel, const View* weight) {
        Decision& d = v.decision;
        Prediction& p = d.predicted;
        v.predicted_cpu = p.cpu, v.predicted_gpu = p.gpu();
        d.side = Side::cpu;
        if (d.why == Why::empty) return;
        if (!works) {
            d.why = Why::no_card;
            return;
        }
        if (card->quarantine.holds(kernel)) {
            d.why = Why::quarantined;
            return;
        }
        p.queue = 1e-9 * static_cast<double>(card->waiting.load(std::memory_order_relaxed));
        correct(p, shape);
        const bool strict = options.policy == Policy::strict;
        if (!strict && choose(shape, p.cpu, weight ? p.resident() : p.gpu()) == Side::cpu) {
            d.why = (weight ? p.resident() : p.gpu()) < p.cpu ? Why::uncertain : Why::faster;
            return;
        }
        if (card->worker.broken()) {
            d.why = Why::resting;
            return;
        }
        if (weight && !has_weight(v, *weight, strict)) {
            d.why = Why::weight_missing;
            return;
        }
        d.side = Side::gpu;
        d.why = strict ? Why::demanded : Why::faster;
    }

    // Whether the call is to go to the card, as far as its weight is concerned.
    bool has_weight(Verdict& v, const View& weight, bool strict) {
        Prediction& p = v.decision.predicted;
        const std::size_t bytes = weight.values.size_bytes();
        v.weight = weight.weight ? key_of(*weight.weight, bytes) : keys.key_of(weight.values);
        if (!v.weight) return strict || faster_on_gpu(costs, p.cpu, p.gpu());  // it is sent with every call
        const WeightDecision w = card->weights->decide(
            *v.weight, {strict ? std::numeric_limits<double>::infinity() : p.cpu, p.resident(), p.weight});
        v.send_weight = w.choice == WeightChoice::upload;
        if (w.choice == WeightChoice::resident) v.predicted_gpu -= p.weight, p.weight = 0;
        return w.choice != WeightChoice::cpu;
    }

    void correct(Prediction& p, Correction::Key shape) {
        const std::lock_guard lock(correction_mutex);
        p.cpu *= correction.factor(shape, Side::cpu);
        const double factor = correction.factor(shape, Side::gpu);
        for (double* term : {&p.latency, &p.upload, &p.weight, &p.kernel, &p.download}) *term *= factor;
    }

    Side choose(Correction::Key shape, double cpu, double gpu) {
        const std::lock_guard lock(correction_mutex);
        const Side side = correction.choose(shape, costs, cpu, gpu);
        correction.took(shape, side);
        return side;
    }

    void measured(Correction::Key shape, Side side, double predicted, double seconds) {
        if (!options.live) return;
        const std::lock_guard lock(correction_mutex);
        correction.measured(shape, side, predicted, seconds);
    }

    // --- doing ---------------------------------------------------------------------------------

    // Empty: declined or failed. `make_work(key, send)` is the work, `check(values)` what is wrong with its result.
    template <typename MakeWork, typename Check>
    std::optional<std::vector<float>> offer(const Decision& asked, Correction::Key shape, const KernelShape& kernel,
                                            const View* weight, const MakeWork& make_work, const Check& check) {
        if (forked()) return decline_after_fork();
        Verdict v{.decision = asked};
        decide_side(v, shape, kernel, weight);
        if (v.decision.side == Side::cpu) return decline(v, shape);
        const Stopwatch watch;
        std::string error;
        auto values = run(v, make_work(v.weight, v.send_weight), error);
        v.decision.measured = watch.seconds();
        if (values) {
            measured(shape, Side::gpu, v.predicted_gpu, v.decision.measured);
            if (is_wrong(kernel, *values, v.decision.measured, check, error)) {
                v.decision.why = Why::wrong;
                values.reset();
            }
        }
        if (!values) {
            v.decision.side = Side::cpu;
            v.decision.measured = 0;
            if (v.send_weight) card->weights->not_kept(*v.weight);
            if (v.decision.why != Why::resting) failed(error);
            if (options.policy == Policy::strict) {
                report.add(v.decision);
                throw Error(v.decision.why == Why::timed_out ? Fault::timed_out : Fault::gpu_broken, error);
            }
            return decline(v, shape);
        }
        report.add(v.decision);
        return values;
    }

    std::nullopt_t decline(const Verdict& v, Correction::Key shape) {
        if (options.policy == Policy::strict && v.decision.why != Why::empty) {
            report.add(v.decision);
            refuse(v.decision.why);
        }
        declined = {this, report.add(v.decision), shape, v.predicted_cpu};
        return std::nullopt;
    }

    [[noreturn]] void refuse(Why why) const {
        if (why == Why::no_card) throw Error(Fault::no_gpu, "Nothing can be computed on the card: " + reason);
        if (why == Why::resting)
            throw Error(Fault::gpu_broken, "The card failed a moment ago, and is left alone for now.");
        throw Error(Fault::gpu_broken, "This kernel gave a wrong result before, and is not used any more.");
    }

    struct Result {
        std::vector<float> values;
        std::optional<Error> no_memory;  // for this operator: the card is as good as before for the next one
    };

    std::optional<std::vector<float>> run(Verdict& v, Work work, std::string& error) {
        const double expected = v.decision.predicted.gpu();
        const auto wait = std::max<std::chrono::nanoseconds>(
            options.least_wait, std::chrono::nanoseconds(static_cast<std::int64_t>(20e9 * std::min(expected, 1e6))));
        const auto ns = static_cast<std::int64_t>(1e9 * (expected - v.decision.predicted.queue));
        const auto caller = std::make_shared<Caller>();
        card->waiting += ns;
        auto answer = card->worker.call_timeout(
            [caller, work = std::move(work)](Card& c) -> Result {
                try {
                    return {c.run(*caller, work), {}};
                } catch (const Error& thrown) {
                    if (thrown.fault() != Fault::out_of_memory) throw;
                    return {{}, thrown};
                }
            },
            wait);
        card->waiting -= ns;
        caller->leave();
        switch (answer.outcome) {
            case Outcome::done:
                if (!answer.value->no_memory) return std::move(answer.value->values);
                error = answer.value->no_memory->what();
                v.decision.why = Why::failed;
                break;
            case Outcome::failed:
                error = what(answer.error);
                v.decision.why = Why::failed;
                break;
            case Outcome::timed_out:
            case Outcome::not_begun:
                error = "The card has not answered within " +
                        time_in_words(std::chrono::duration<double>(wait).count()) + ".";
                v.decision.why = Why::timed_out;
                break;
            case Outcome::declined:
                error = "The card failed a moment ago, and is left alone for now.";
                v.decision.why = Why::resting;
                break;
        }
        return std::nullopt;
    }

    static std::string what(const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const std::exception& thrown) {
            return thrown.what();
        } catch (const Left&) {
            return "The caller has left.";
        }
    }

    template <typename Check>
    bool is_wrong(const KernelShape& kernel, const std::vector<float>& values, double seconds, const Check& check,
                  std::string& error) {
        if (options.verify == Verify::off) return false;
        if (options.verify == Verify::sampled && !sampler.due(kernel)) {
            sampler.spent(kernel, seconds);
            return false;
        }
        const Stopwatch watch;
        const std::optional<Wrong> wrong = check(values, CheckOptions{.seed = ++checks});
        sampler.spent(kernel, seconds, watch.seconds());
        if (!wrong) return false;
        error = "The card computed something wrong: " + wrong->text();
        card->quarantine.add(kernel, wrong->text());
        return true;
    }

    const unsigned born = forks();
    const std::shared_ptr<SharedWorker::Impl> card;
    const Options options;
    std::string reason;  // why it does not work
    Costs costs;
    CostsOrigin origin;
    bool works = false;
    ContentKeys keys;
    std::mutex correction_mutex;
    Correction correction;
    Sampler sampler;
    Report report;
    std::atomic<std::uint64_t> checks = 0;
    mutable std::mutex error_mutex;
    std::optional<std::string> last_error;
    std::set<std::string> told;
};

GpuBackend::GpuBackend(const SharedWorker& worker, const Options& options)
    : impl_(std::make_unique<Impl>(worker, options)) {}

GpuBackend::~GpuBackend() {
    if (!impl_->options.at_end) return;
    try {
        impl_->options.at_end(report());
    } catch (...) {  // nobody is left to be told, and a destructor that throws ends the program
    }
}

std::optional<Array> GpuBackend::matmul(const View& a, const View& b, bool b_is_weight) {
    const ProductCall call = product_call(a, b);
    Decision d = decision_of(call);
    d.predicted = predict_gemm(impl_->costs, {call.m, call.n, call.k});
    auto values = impl_->offer(
        d, Correction::of(GemmShape{call.m, call.n, call.k}), kernel_of(call), b_is_weight || b.weight ? &b : nullptr,
        [&](const auto& key, bool keep) { return work_of(call, a, b, key, keep); },
        [&](const auto& c, const CheckOptions& o) { return check(call, a, b, c, o); });
    if (!values) return std::nullopt;
    return Array{std::move(*values), {call.m, call.n}};
}

std::optional<Array> GpuBackend::conv2d(const View& x, const View& w, std::span<const float> bias,
                                        const ConvOptions& options) {
    const ConvCall call = conv_call(x, w, bias, options);
    const ConvShape shape = call.shape();
    Decision d = decision_of(call);
    d.predicted = predict_conv(impl_->costs, shape);
    auto values = impl_->offer(
        d, Correction::of(shape), kernel_of(call), &w,
        [&](const auto& key, bool keep) { return work_of(call, x, w, bias, key, keep); },
        [&](const auto& y, const CheckOptions& o) { return check(call, x, w, bias, y, o); });
    if (!values) return std::nullopt;
    return Array{std::move(*values), call.result};
}

bool GpuBackend::activate(std::span<float> values, const ActivationOptions& activation) {
    expect_there(values, "activate", "values");
    Decision d = decision_of(values.size(), activation.kind);
    d.predicted = predict_act(impl_->costs, activation.kind, values.size());
    const std::span<const float> x = values;
    const auto y = impl_->offer(
        d, Correction::of(activation.kind, values.size()), kernel_of(values.size(), activation), nullptr,
        [&](const auto&, bool) { return work_of(x, activation); },
        [&](const auto& result, const CheckOptions& o) { return check(x, result, activation, o); });
    if (!y) return false;
    std::ranges::copy(*y, values.begin());
    return true;
}

std::optional<std::string> GpuBackend::last_error() const {
    if (impl_->forked()) return impl_->after_fork();
    const std::lock_guard lock(impl_->error_mutex);
    return impl_->last_error;
}

void GpuBackend::computed_on_cpu(double seconds) {
    if (declined.by != impl_.get()) return;
    impl_->report.measured(declined.number, seconds);
    impl_->measured(declined.shape, Side::cpu, declined.predicted, seconds);
    declined.by = nullptr;
}

Costs GpuBackend::costs() const {
    return impl_->costs;
}

CostsOrigin GpuBackend::costs_origin() const {
    return impl_->origin;
}

std::uint64_t GpuBackend::offloaded() const {
    return impl_->forked() ? 0 : impl_->report.count(Side::gpu);
}

std::string GpuBackend::report() const {
    if (impl_->forked()) return impl_->after_fork() + "\n";
    return impl_->report.text(impl_->card ? impl_->card->facts.name : "no card (" + impl_->reason + ")");
}

std::string GpuBackend::report_json() const {
    if (impl_->forked()) return Report().json("", impl_->costs);
    return impl_->report.json(impl_->card ? impl_->card->facts.name : "", impl_->costs);
}

}  // namespace shunt::offload
