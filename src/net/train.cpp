// The training loop: epochs of shuffled batches, validation, patience, and when to stop.
//
// Samples are uploaded once; an epoch sends its order, and reads its losses back once at the end.
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "net/auto.hpp"
#include "net/impl.hpp"
#include "net/samples.hpp"

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

// One call of train.
class Run {
public:
    Run(Network::Impl& net, const Samples& samples, const TrainOptions& options)
        : net_(net),
          o_(options),
          backend_(*net.backend),
          optimizer_(options, net.backend, {{net.values, net.gradients, net.n_decayed}}),
          data_(net.upload(samples)),
          order_(samples.n),
          rows_(backend_.empty({samples.n}, Type::u32)),
          losses_(backend_.empty({samples.n})),
          before_(backend_.empty(net.values.shape)) {
        if (options.validate && options.validate->n > 0) validation_ = net.upload(*options.validate);
        if (options.patience) best_weights_ = backend_.empty(net.values.shape);
        std::iota(order_.begin(), order_.end(), 0);
    }

    TrainResult operator()() {
        net_.history.clear();
        for (std::int64_t epoch = 1; epoch <= o_.epochs; epoch++) {
            const bool complete = run_epoch(epoch);
            if (complete || epoch == 1) result_.loss = mean_;
            if (complete) net_.history.push_back({epoch, mean_, validate()});
            if (complete && ends_after(epoch)) break;
            if (o_.stop.stop_requested()) {
                result_.stopped = Stopped::interrupted;
                break;
            }
            optimizer_.lr *= o_.lr_decay;
        }
        result_.best_epoch = static_cast<std::int64_t>(net_.history.size());
        if (best_epoch_ > 0) {
            backend_.copy(best_weights_, net_.values);
            result_.best_epoch = best_epoch_;
        }
        result_.history = net_.history;
        return result_;
    }

private:
    // False when it was stopped before its last step. Sets mean_.
    bool run_epoch(std::int64_t epoch) {
        net_.random.shuffle(std::span(order_));
        backend_.write(rows_, std::span<const std::uint32_t>(order_));
        backend_.copy(net_.values, before_);
        const std::size_t batch =
            static_cast<std::size_t>(std::min<std::int64_t>(o_.batch, std::numeric_limits<std::int32_t>::max()));
        const std::size_t steps = (data_.n + batch - 1) / batch;
        std::size_t done = 0;
        for (std::size_t first = 0; first < data_.n; first += batch) {
            step(first, std::min(batch, data_.n - first));
            done++;
            if (o_.on_step) {
                o_.on_step((epoch - 1) * static_cast<std::int64_t>(steps) + static_cast<std::int64_t>(done),
                           o_.epochs * static_cast<std::int64_t>(steps));
            }
            if (o_.stop.stop_requested()) break;
        }
        mean_ = mean_loss(epoch, done, batch);
        return done == steps;
    }

    void step(std::size_t first, std::size_t count) {
        const Tensor rows = rows_.view(first, {count});
        const Tensor x = backend_.gather(data_.inputs, rows);
        const std::vector<Tensor> outputs = net_.forward_stages(x);
        const Loss loss = net_.loss_of(
            outputs.back(), data_, {.weights = data_.weights, .rows = rows, .losses = losses_.view(first, {count})});
        net_.backward(x, outputs, loss.gradient);
        optimizer_.step(1 / static_cast<double>(count));
        net_.generation++;
    }

    // Losses add up within each batch, then over the batches, in order.
    double mean_loss(std::int64_t epoch, std::size_t steps, std::size_t batch) {
        const std::size_t n = std::min(steps * batch, data_.n);
        const std::vector<double> losses = backend_.read(losses_.view(0, {n}));
        double sum = 0;
        for (std::size_t step = 0; step < steps; step++) {
            double of_batch = 0;
            for (std::size_t i = step * batch; i < std::min((step + 1) * batch, n); i++) of_batch += losses[i];
            if (!std::isfinite(of_batch)) diverged(epoch, step + 1, steps);
            sum += of_batch;
        }
        return sum / static_cast<double>(n);
    }

    [[noreturn]] void diverged(std::int64_t epoch, std::size_t step, std::size_t steps) {
        backend_.copy(best_epoch_ > 0 ? best_weights_ : before_, net_.values);
        throw Error(Fault::bad_data,
                    "The loss is no longer a finite number at epoch " + std::to_string(epoch) + ", step " +
                        std::to_string(step) + " of " + std::to_string(steps) +
                        ": a lower learning rate or scaled inputs help. The network has the weights of " +
                        (best_epoch_ > 0 ? "its best epoch." : "before that epoch."));
    }

    std::optional<double> validate() const {
        if (validation_.n == 0) return {};
        return net_.summed_loss(validation_) / static_cast<double>(validation_.n);
    }

    bool ends_after(std::int64_t epoch) {
        const std::optional<double> held = net_.history.back().validation;
        if (o_.patience && out_of_patience(epoch, o_.watch ? o_.watch(mean_, held) : held.value_or(mean_))) {
            result_.stopped = Stopped::patience;
        } else if (o_.on_epoch && !o_.on_epoch(net_.history.back())) {
            result_.stopped = Stopped::on_epoch;
        } else if (o_.target_loss && mean_ <= *o_.target_loss) {
            result_.stopped = Stopped::target_loss;
        } else {
            return false;
        }
        return true;
    }

    bool out_of_patience(std::int64_t epoch, double watched) {
        if (best_epoch_ == 0 || watched < best_ - o_.min_delta) {
            best_ = watched;
            best_epoch_ = epoch;
            stale_ = 0;
            backend_.copy(net_.values, best_weights_);
            return false;
        }
        return ++stale_ >= *o_.patience;
    }

    Network::Impl& net_;
    const TrainOptions& o_;
    Backend& backend_;
    Optimizer optimizer_;
    Data data_, validation_;
    std::vector<std::uint32_t> order_;
    Tensor rows_, losses_;  // of the epoch under way
    Tensor before_, best_weights_;
    double mean_ = 0, best_ = 0;
    std::int64_t best_epoch_ = 0, stale_ = 0;
    TrainResult result_;
};

}  // namespace

TrainResult Network::train(const Samples& samples, const TrainOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    check(options);
    check_inputs(samples, impl_->input);
    check_answers(samples, impl_->loss, impl_->n_out);
    if (samples.n == 0 && options.epochs > 0) throw Error(Fault::bad_data, "Training needs at least one sample.");
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
