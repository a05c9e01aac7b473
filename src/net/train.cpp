// The training loop: epochs of shuffled batches, validation, patience, and when to stop.
//
// Samples are uploaded once where they fit (feed.hpp); an epoch sends its order, and reads its losses
// back once at the end.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/finite.hpp"
#include "net/auto.hpp"
#include "net/impl.hpp"
#include "net/overflow.hpp"
#include "net/samples.hpp"
#include "net/stepper.hpp"

namespace shunt {
namespace {

void check(const TrainOptions& o) {
    const auto refuse = [](const std::string& what) { throw Error(Fault::bad_argument, what); };
    if (o.epochs < 0) refuse("epochs must be 0 or more; given is " + std::to_string(o.epochs) + ".");
    if (o.batch < 1) refuse("batch must be 1 or more; given is " + std::to_string(o.batch) + ".");
    if (!(o.lr_decay > 0) || !std::isfinite(o.lr_decay))
        refuse("lr_decay must be a finite number above 0; given is " + std::to_string(o.lr_decay) + ".");
    if (!std::isfinite(o.min_delta)) refuse("min_delta must be a finite number.");
    if (o.patience && *o.patience < 0)
        refuse("patience must be 0 or more; given is " + std::to_string(*o.patience) + ".");
    if (o.target_loss && std::isnan(*o.target_loss)) refuse("target_loss must be a number.");
    if (!(o.settle.worth >= 0) || !(o.settle.budget >= 0) || o.settle.warm_up < 0 || o.settle.timed < 1)
        refuse("Settling needs worth, budget and warm_up of 0 or more, and timed of 1 or more.");
}

std::string sentence(const Error& error) {
    const std::string what = error.what();
    return what.ends_with('.') ? what : what + ".";
}

// One call of train.
//
// A card may fail anywhere in it. Then what stands on the backend is made anew from the latest
// snapshot, and the epochs since are run again; being the same operations, they give the same bits.
// What was decided or told after an epoch (history, patience, callbacks) is on the host: it stays,
// and is not done again.
class Run {
public:
    Run(Network::Impl& net, const Samples& samples, const TrainOptions& options)
        : net_(net),
          samples_(samples),
          o_(options),
          batch_(static_cast<std::size_t>(
              std::min<std::int64_t>(options.batch, std::numeric_limits<std::int32_t>::max()))),
          steps_(static_cast<std::int64_t>((samples.n + batch_ - 1) / batch_)),
          order_(samples.n) {
        std::iota(order_.begin(), order_.end(), 0);
        snapshot_ = {0, {}, {}, net.random, order_, net.generation};
        const double bytes = 16.0 * static_cast<double>(net.values.size());  // values, gradients, moments
        next_snapshot_ = Clock::now() + snapshot_spacing * seconds(0.2e-3 + bytes / 1e9);
        net.training = true;
    }
    ~Run() {
        net_.training = net_.gradients_lost = false;
        if (kept_) return;
        try {
            net_.keep();
        } catch (...) {  // then it keeps those of the latest snapshot
        }
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    TrainResult operator()() {
        net_.history.clear();
        while (true) {
            try {
                begin();
                run_epochs();
                finish();
                return result_;
            } catch (const Error& error) {
                on_.reset();
                if (!go_on_after(error)) throw;
            }
        }
    }

private:
    using Clock = std::chrono::steady_clock;
    static Clock::duration seconds(double s) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
    }
    static constexpr int snapshot_spacing = 50;  // times what one takes: 2 % of the time
    static constexpr int most_failures = 3;      // without an epoch of progress

    struct OnBackend {
        Stepper steps;
        Feed samples;
        std::optional<Feed> validation;
        Tensor before, best;  // the weights before this epoch, and the best ones
    };

    // With the weights that the network keeps, all that training goes on from.
    struct Snapshot {
        std::int64_t epoch = 0;  // after this one
        Optimizer::State optimizer;
        std::vector<double> best;
        Random random;
        std::vector<std::uint32_t> order;
        std::uint64_t generation = 0;
    };

    Backend& backend() { return *net_.backend; }

    void begin() {
        on_.emplace(OnBackend{Stepper(net_, o_, std::min(batch_, samples_.n)),
                              Feed(backend(), samples_, batch_, {.whole = whole_}),
                              {},
                              backend().empty(net_.values.shape),
                              {}});
        if (o_.validate && o_.validate->n > 0)
            on_->validation.emplace(backend(), *o_.validate, chunk_size, FeedOptions{.whole = whole_});
        if (o_.patience) on_->best = backend().empty(net_.values.shape);
        if (!again_) return;
        if (!net_.kept.empty()) net_.write(Weights(net_.kept));  // else it has just been moved with them
        if (snapshot_.epoch > 0) on_->steps.optimizer.set_state(snapshot_.optimizer);
        if (!snapshot_.best.empty()) backend().write(on_->best, snapshot_.best);
        net_.random = snapshot_.random;
        order_ = snapshot_.order;
        net_.generation = snapshot_.generation;
    }

    void run_epochs() {
        for (epoch_ = snapshot_.epoch + 1; epoch_ <= o_.epochs; epoch_++) {
            const bool complete = run_epoch();
            if (complete && ends_after_epoch()) return;
            if (!complete && epoch_ == 1) result_.loss = mean_;
            if (!complete || stop_asked()) {
                result_.stopped = Stopped::interrupted;
                return;
            }
            on_->steps.optimizer.lr *= o_.lr_decay;
            if (epoch_ < o_.epochs && net_.can_fail() && Clock::now() >= next_snapshot_) take_snapshot();
        }
    }

    // False when it was stopped before its last step. Sets mean_.
    bool run_epoch() {
        net_.random.shuffle(std::span(order_));
        on_->samples.start(order_);
        backend().copy(net_.values, on_->before);
        const std::int64_t first_step = (epoch_ - 1) * steps_;
        step_ = first_step;
        for (std::size_t first = 0; first < samples_.n; first += batch_) {
            on_->steps.step(on_->samples.at(first));
            net_.generation++;
            step_++;
            if (step_ > seen_step_) {
                if (o_.on_step) o_.on_step(step_, o_.epochs * steps_);
                seen_step_ = step_;
            }
            if (stop_asked()) break;
        }
        mean_ = mean_loss(step_ - first_step);
        return step_ == first_step + steps_;
    }

    // Not while steps are run again: the run ends where it was when it was asked to.
    bool stop_asked() const { return step_ == seen_step_ && o_.stop.stop_requested(); }

    // Losses add up within each batch, then over the batches, in order.
    double mean_loss(std::int64_t steps) {
        const std::vector<double> losses = on_->samples.losses();
        double sum = 0;
        for (std::int64_t step = 0; step < steps; step++) {
            const double of_batch = losses[static_cast<std::size_t>(step)];
            if (!std::isfinite(of_batch))
                diverged("The loss is no longer a finite number at epoch " + std::to_string(epoch_) + ", step " +
                         std::to_string(step + 1) + " of " + std::to_string(steps));
            sum += of_batch;
        }
        return sum / static_cast<double>(std::min(static_cast<std::size_t>(steps) * batch_, samples_.n));
    }

    // Puts back the weights from before the run went wrong, and says whose they are.
    std::string put_back() {
        const bool has_best = best_epoch_ > 0 && best_epoch_ < epoch_;
        backend().copy(has_best ? on_->best : on_->before, net_.values);
        net_.keep();
        kept_ = true;
        return has_best ? "its best epoch" : "before that epoch";
    }

    // `what`: "The loss is no longer a finite number at epoch 3".
    [[noreturn]] void diverged(const std::string& what) {
        throw Error(
            Fault::bad_data,
            what + ": a lower learning rate or scaled inputs help. The network has the weights of " + put_back() + ".");
    }

    [[noreturn]] void validation_failed() {
        Feed training(backend(), samples_, chunk_size, {.whole = false});
        if (std::isfinite(net_.summed_loss(training, samples_.n))) {
            const std::optional<Overflow> overflow = find_overflow(net_, *o_.validate);
            if (overflow) throw ValidationOverflow(epoch_, *overflow, put_back());
        }
        diverged("The validation loss is no longer a finite number after epoch " + std::to_string(epoch_));
    }

    std::optional<double> validate() {
        if (!on_->validation) return {};
        return net_.summed_loss(*on_->validation, o_.validate->n) / static_cast<double>(o_.validate->n);
    }

    // After a complete epoch: what it means for the run.
    bool ends_after_epoch() {
        if (epoch_ > static_cast<std::int64_t>(net_.history.size())) {
            const std::optional<double> held = validate();
            if (held && !std::isfinite(*held)) validation_failed();
            net_.history.push_back({epoch_, mean_, held});
            failures_ = 0;
        }
        const Epoch epoch = net_.history[static_cast<std::size_t>(epoch_ - 1)];
        result_.loss = epoch.loss;
        if (o_.patience && epoch_ > watched_) watch(epoch);
        if (epoch_ == best_epoch_) backend().copy(net_.values, on_->best);
        if (epoch_ == watched_ && stale_ > 0 && stale_ >= *o_.patience) {
            result_.stopped = Stopped::patience;
            return true;
        }
        if (o_.on_epoch && epoch_ > told_) {
            goes_on_ = o_.on_epoch(epoch);
            told_ = epoch_;
        }
        if (epoch_ == told_ && !goes_on_) {
            result_.stopped = Stopped::on_epoch;
        } else if (o_.target_loss && epoch.loss <= *o_.target_loss) {
            result_.stopped = Stopped::target_loss;
        } else {
            return false;
        }
        return true;
    }

    void watch(const Epoch& epoch) {
        const double watched =
            o_.watch ? o_.watch(epoch.loss, epoch.validation) : epoch.validation.value_or(epoch.loss);
        watched_ = epoch_;
        stale_++;
        if (best_epoch_ > 0 && !(watched < best_ - o_.min_delta)) return;
        best_ = watched;
        best_epoch_ = epoch_;
        stale_ = 0;
    }

    // Losses are taken before a step's update: nobody has looked at the last one.
    void check_weights(const Weights& weights) {
        for (const std::vector<double>& values : weights) {
            if (all_finite(values)) continue;
            epoch_ = (step_ - 1) / steps_ + 1;  // the loop, where it ends by itself, is one further
            diverged("The weights are no longer finite numbers after epoch " + std::to_string(epoch_));
        }
    }

    void finish() {
        result_.best_epoch = static_cast<std::int64_t>(net_.history.size());
        if (best_epoch_ > 0) {
            backend().copy(on_->best, net_.values);
            result_.best_epoch = best_epoch_;
        }
        Weights weights = net_.read(net_.values);
        if (step_ > 0) check_weights(weights);
        net_.keep(std::move(weights));
        kept_ = true;
        result_.history = net_.history;
    }

    void take_snapshot() {
        const auto start = Clock::now();
        Snapshot taken{epoch_, on_->steps.optimizer.state(), {}, net_.random, order_, net_.generation};
        if (best_epoch_ > 0) taken.best = backend().read(on_->best);
        net_.keep();  // the last that can fail: the two belong together
        snapshot_ = std::move(taken);
        next_snapshot_ = Clock::now() + snapshot_spacing * (Clock::now() - start);
    }

    // Where the card failed: opens it again, or goes over to the CPU. False where the error is another.
    bool go_on_after(const Error& error) {
        const bool no_memory = net_.can_fail() && error.fault() == Fault::out_of_memory;
        if (!no_memory && !net_.is_failure(error)) return false;
        again_ = true;
        std::string note = "In epoch " + std::to_string(epoch_) + " the backend " + net_.opened_as + " failed: ";
        note += sentence(error);
        const std::string from = snapshot_.epoch == 0
                                     ? "was begun again"
                                     : "was taken up again after epoch " + std::to_string(snapshot_.epoch);
        if (no_memory && whole_) {
            whole_ = false;
            result_.notes.push_back(note + " Training " + from + ", with the samples sent to it piece by piece.");
            return true;
        }
        while (!no_memory && ++failures_ < most_failures) {
            try {
                net_.move_to(open_backend(net_.opened_as, net_.backend_options), Weights(net_.kept));
                result_.notes.push_back(note + " It was opened again, and training " + from + ".");
                return true;
            } catch (const Error& refused) {
                note += " Opening it again failed too: " + sentence(refused);
            }
        }
        net_.move_to(open_backend("cpu", net_.backend_options), Weights(net_.kept));
        whole_ = true;
        result_.notes.push_back(note + " Training " + from + " on the backend cpu.");
        return true;
    }

    Network::Impl& net_;
    const Samples& samples_;
    const TrainOptions& o_;
    const std::size_t batch_;
    const std::int64_t steps_;  // of an epoch
    std::vector<std::uint32_t> order_;
    std::optional<OnBackend> on_;
    bool whole_ = true;  // the samples on the backend, until there is no memory for it
    double mean_ = 0;    // loss of the epoch under way

    // Where the run is, and what it has shown to the outside already.
    std::int64_t epoch_ = 1, step_ = 0, seen_step_ = 0, watched_ = 0, told_ = 0;
    bool goes_on_ = true;
    double best_ = 0;
    std::int64_t best_epoch_ = 0, stale_ = 0;
    TrainResult result_;

    Snapshot snapshot_;
    Clock::time_point next_snapshot_;
    bool again_ = false, kept_ = false;  // kept_: the network keeps the weights that the run ends with
    int failures_ = 0;
};

}  // namespace

TrainResult Network::train(const Samples& samples, const TrainOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    check(options);
    check_inputs(samples, impl_->input);
    check_answers(samples, impl_->loss, impl_->n_out);
    const Optimizer checked(options, impl_->backend, {});  // refuses what it cannot work with
    if (samples.n == 0 && options.epochs > 0) throw Error(Fault::bad_data, "Training needs at least one sample.");
    const auto most_epochs = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(samples.n + 1);
    if (options.epochs > most_epochs)
        throw Error(Fault::bad_argument, "epochs must be at most " + std::to_string(most_epochs) + " for " +
                                             std::to_string(samples.n) + " samples; given is " +
                                             std::to_string(options.epochs) + ".");
    if (samples.n > 0xffffffff) throw Error(Fault::bad_data, "Training takes at most 2^32 - 1 samples.");
    if (options.validate) {
        try {
            check_inputs(*options.validate, impl_->input);
            check_answers(*options.validate, impl_->loss, impl_->n_out);
        } catch (const Error& error) {
            throw error.during("checking the validation samples");
        }
    }
    // Weights that are put back (the best ones, those before an epoch that diverged) count no generation.
    struct Forget {
        Impl& net;
        ~Forget() { net.twin_generation.reset(); }
    } const forget{*impl_};
    if (impl_->is_auto && options.epochs > 0) settle(*impl_, samples, options);
    TrainResult result = Run(*impl_, samples, options)();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

}  // namespace shunt
