// A trial: training steps on the first eight batches, in the order given, without a random number.
#include "net/trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/random.hpp"
#include "core/stopwatch.hpp"
#include "net/samples.hpp"
#include "net/stepper.hpp"

namespace shunt {
namespace {

constexpr std::size_t n_batches = 8;
constexpr std::size_t most_validation = 4 * chunk_size;

class Steps final : public Trial {
public:
    Steps(Network::Impl& net, const Samples& samples, const TrainOptions& options)
        : net_(net),
          on_(*net.backend),
          samples_(samples),
          o_(options),
          batch_(static_cast<std::size_t>(options.batch)),
          steps_(net, options, batch_) {
        const Samples first = first_of(samples, batch_ * n_batches);
        const Stopwatch watch;
        data_ = epoch_data(on_, first);
        std::vector<std::uint32_t> order(data_.n);
        std::iota(order.begin(), order.end(), 0);
        epoch_order(on_, data_, order);
        on_.finish();
        cost_.sample = watch.seconds() / static_cast<double>(data_.n);
    }

    double probe() override {
        net_.backprop(data_, 0, 16);
        on_.finish();
        const Stopwatch watch;
        net_.backprop(data_, 0, 16);
        on_.finish();
        return watch.seconds();
    }

    double step() override { return first_ = std::min(first_, round(1)); }

    decide::TrainingCost measure(double limit, double bar) override {
        cost_.step = seconds_of_a_step(limit, bar);
        cost_.epoch = seconds_of_an_epochs_end(limit);
        cost_.validation =
            o_.validate && o_.validate->n > 0 ? seconds_of_a_loss(limit) : cost_.step / 3 / static_cast<double>(batch_);
        return cost_;
    }

private:
    double round(std::size_t count) {
        const Stopwatch watch;
        for (std::size_t i = 0; i < count; i++) {
            steps_.step({data_, next_ * batch_, batch_});
            next_ = (next_ + 1) % n_batches;
        }
        on_.finish();
        return watch.seconds();
    }

    // Rounds that double up to an epoch's steps: as in training, the next steps are recorded while these
    // run, and the card is waited for at the end. The fastest round counts.
    double seconds_of_a_step(double limit, double bar) {
        constexpr double settled = 0.05, least = 0.3;
        const double most = std::ceil(static_cast<double>(samples_.n) / static_cast<double>(batch_));
        const Stopwatch watch;
        const double pessimistic = first_;
        double best = std::numeric_limits<double>::infinity();
        int dull = 0;
        for (double count = o_.settle.timed; dull < 2 || watch.seconds() < least; count *= 2) {
            const double room = (limit - watch.seconds()) / std::min(best, pessimistic);
            if (best < pessimistic && room < 1) break;
            const auto n = static_cast<std::size_t>(std::clamp(room, 1.0, std::min(count, most)));
            const double step = round(n) / static_cast<double>(n);
            dull = step < best * (1 - settled) ? 0 : dull + 1;
            best = std::min(best, step);
            if (watch.seconds() >= limit || (bar > 0 && !decide::close_to(best, bar))) break;
        }
        return best;
    }

    // What an epoch does beside its steps, with as many samples as the run has. The second time counts,
    // unless the first one took long.
    double seconds_of_an_epochs_end(double limit) {
        EpochData all;
        all.n = samples_.n;
        all.losses = on_.empty({all.n});
        std::vector<std::uint32_t> order(all.n);
        std::iota(order.begin(), order.end(), 0);
        Random random(0);
        const Tensor before = on_.empty(net_.values.shape);
        double seconds = 0;
        for (int i = 0; i < 2 && seconds < limit / 4; i++) {
            const Stopwatch watch;
            random.shuffle(std::span(order));
            epoch_order(on_, all, order);
            on_.copy(net_.values, before);
            epoch_loss(on_, all, batch_);
            seconds = watch.seconds();
        }
        return seconds;
    }

    double seconds_of_a_loss(double limit) {
        const Samples held = first_of(*o_.validate, std::min(o_.validate->n, most_validation));
        Feed feed(on_, held, chunk_size);
        double seconds = 0;
        for (int i = 0; i < 2 && seconds < limit / 4; i++) {
            const Stopwatch watch;
            net_.summed_loss(feed, held.n);
            seconds = watch.seconds();
        }
        return seconds / static_cast<double>(held.n);
    }

    Network::Impl& net_;
    Backend& on_;
    const Samples& samples_;
    const TrainOptions& o_;
    std::size_t batch_;
    Stepper steps_;
    EpochData data_;
    std::size_t next_ = 0;  // batch
    double first_ = std::numeric_limits<double>::infinity();
    decide::TrainingCost cost_;
};

}  // namespace

std::unique_ptr<Trial> make_trial(Network::Impl& net, const Samples& samples, const TrainOptions& options) {
    return std::make_unique<Steps>(net, samples, options);
}

}  // namespace shunt
