// A card that fails at any call of a training, or under a network that is asked.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "card.hpp"
#include "failing_backend.hpp"
#include "networks.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

// A small training in which everything happens that a training can do.
struct Job {
    NetworkOptions network;
    Samples samples, held;
    TrainOptions options;
    std::int64_t on_epoch_stops = 0, step_stops = 0, slow_epoch = 0;
};

Samples numbers(std::size_t n, std::uint64_t seed) {
    Random random(static_cast<double>(seed));
    Samples s;
    for (std::size_t i = 0; i < n; i++) {
        const double a = random.normal(), b = random.normal();
        s.add({a, b}, a * b > 0 ? 1 : 0, 0.5 + random.uniform());
    }
    return s;
}

Samples words(std::size_t n, std::uint64_t seed) {
    Random random(static_cast<double>(seed));
    Samples s;
    for (std::size_t i = 0; i < n; i++) {
        const std::array<std::uint32_t, 2> tokens = {static_cast<std::uint32_t>(random.below(5)),
                                                     static_cast<std::uint32_t>(random.below(5))};
        s.add(tokens, tokens[0] > tokens[1] ? 1 : 0);
    }
    return s;
}

Job softmax_job() {
    Job job;
    job.network = {.input = 2, .layers = {dense(4), tanh(), dense(2)}, .backend = "test card"};
    job.samples = numbers(10, 3);
    job.held = numbers(5, 4);
    job.options = {.epochs = 5, .batch = 4, .weight_decay = 0.01, .lr_decay = 0.9, .patience = 3};
    return job;
}

Job token_job() {
    Job job;
    job.network = {.input = Tokens{2, 5}, .layers = {embed(3), dense(2)}, .backend = "test card"};
    job.samples = words(9, 3);
    job.options = {.epochs = 4, .batch = 4, .optimizer = OptimizerKind::sgd};
    return job;
}

Job mse_job() {
    Job job;
    job.network = {
        .input = 1, .layers = {dense(3), sigmoid(), dense(1)}, .loss = LossKind::mse, .backend = "test card"};
    for (double x : {-1.0, -0.5, 0.0, 0.5, 1.0}) job.samples.add({x}, {x * x});
    job.options = {.epochs = 4, .batch = 2};
    return job;
}

// All that the outside sees of a training.
struct Seen {
    Weights weights, gradients;
    std::vector<Epoch> history;
    std::vector<std::int64_t> epochs, steps;
    std::vector<double> watched;
    Stopped stopped = Stopped::epochs;
    std::int64_t best_epoch = 0;
    double loss = 0;
    std::uint64_t generation = 0;
    std::vector<double> next;  // weights after one more epoch: the random stream goes on too
    std::vector<std::string> notes;
    std::string backend;
    std::int64_t first_call = 0, end_call = 0;  // of the training
};

Seen run(const Job& job) {
    Seen seen;
    Network net(job.network);
    TrainOptions options = job.options;
    if (job.held.n > 0) options.validate = &job.held;
    std::stop_source stop;
    options.stop = stop.get_token();
    options.on_epoch = [&](const Epoch& epoch) {
        if (epoch.epoch == job.slow_epoch) std::this_thread::sleep_for(std::chrono::milliseconds(12));
        const std::vector<double> outputs = net.forward_all(job.samples);  // may throw: no CHECK around it
        CHECK(outputs.size() == job.samples.n * net.n_out());
        seen.epochs.push_back(epoch.epoch);
        return epoch.epoch != job.on_epoch_stops;
    };
    options.on_step = [&](std::int64_t step, std::int64_t) {
        seen.steps.push_back(step);
        if (step == job.step_stops) stop.request_stop();
    };
    if (options.patience) {
        options.watch = [&](double training, std::optional<double> validation) {
            seen.watched.push_back(validation.value_or(training));
            return seen.watched.size() == 2 ? 0.0 : 1.0;  // the second epoch is the best
        };
    }
    Failures::now->over = Failures::now->happened = false;
    seen.first_call = Failures::now->calls;
    const TrainResult result = net.train(job.samples, options);
    seen.end_call = Failures::now->calls;
    Failures::now->over = true;  // a slow machine takes a snapshot more, which shifts the calls
    seen.weights = net.weights();
    seen.gradients = net.gradients();
    seen.history = result.history;
    seen.stopped = result.stopped;
    seen.best_epoch = result.best_epoch;
    seen.loss = result.loss;
    seen.generation = net.generation();
    seen.notes = result.notes;
    seen.backend = net.backend();
    net.train(job.samples, {.epochs = 1, .batch = 3});
    seen.next = net.weights().front();
    return seen;
}

void check_equal(const Seen& a, const Seen& b) {
    CHECK(a.weights == b.weights);
    CHECK(a.gradients == b.gradients);
    CHECK(a.epochs == b.epochs);
    CHECK(a.steps == b.steps);
    CHECK(a.watched == b.watched);
    CHECK(a.stopped == b.stopped);
    CHECK(a.best_epoch == b.best_epoch);
    CHECK(a.loss == b.loss);
    CHECK(a.generation == b.generation);
    CHECK(a.next == b.next);
    CHECK(a.backend == b.backend);
    REQUIRE(a.history.size() == b.history.size());
    for (std::size_t i = 0; i < a.history.size(); i++) {
        CHECK(a.history[i].epoch == b.history[i].epoch);
        CHECK(a.history[i].loss == b.history[i].loss);
        CHECK(a.history[i].validation == b.history[i].validation);
    }
}

// Fails once at every `stride`-th call of the job, each in a run of its own.
void sweep(const Job& job, Fault fault, std::int64_t stride = 1, const std::string& inner = "plain") {
    Failures failures(inner);
    const Seen expected = run(job);
    CHECK(expected.notes.empty());
    failures.fault = fault;
    for (failures.at = expected.first_call; failures.at < expected.end_call; failures.at += stride) {
        INFO(to_string(job.network.layers.back()), ", fault ", static_cast<int>(fault), " at call ", failures.at,
             " of ", expected.end_call);
        failures.calls = 0;
        check_equal(run(job), expected);
    }
}

constexpr std::array faults = {Fault::device_lost, Fault::timed_out, Fault::gpu_broken, Fault::out_of_memory};

}  // namespace

TEST_CASE("a card that fails once, at any call of a training, leaves no trace in the result") {
    for (const Fault fault : faults) {
        for (const Job& job : {softmax_job(), token_job(), mse_job()}) sweep(job, fault);
    }
}

TEST_CASE("a failing card leaves no trace where a callback, a stop token or the loss ends the training") {
    Job job = softmax_job();
    job.on_epoch_stops = 3;
    sweep(job, Fault::device_lost);
    job = softmax_job();
    job.step_stops = 8;  // within the third epoch
    sweep(job, Fault::device_lost);
    job.step_stops = 9;  // at its end
    sweep(job, Fault::timed_out);
    job = mse_job();
    job.options.target_loss = 100;
    sweep(job, Fault::device_lost);
}

TEST_CASE("training goes on from a snapshot where there is one") {
    Job job = softmax_job();
    job.slow_epoch = 2;  // then one is due
    sweep(job, Fault::device_lost, 5);
    Failures failures;
    const Seen expected = run(job);
    failures.calls = 0;
    failures.at = expected.first_call + (expected.end_call - expected.first_call) * 7 / 10;
    const Seen seen = run(job);
    check_equal(seen, expected);
    REQUIRE(seen.notes.size() == 1);
    CHECK(seen.notes[0].find("was taken up again after epoch ") != std::string::npos);
}

TEST_CASE("a loss that diverges on a card that fails is told as ever, and the weights are those before") {
    Failures failures;
    Samples s;
    s.add({1e20}, {1e20}).add({-1e20}, {1e20});
    const NetworkOptions o{.input = 1, .layers = {dense(1)}, .loss = LossKind::mse, .backend = "test card"};
    const TrainOptions sgd{.epochs = 9, .batch = 1, .optimizer = OptimizerKind::sgd, .lr = 1};
    Network expected(o);
    const std::int64_t first = failures.calls;
    CHECK_THROWS_WITH_AS(expected.train(s, sgd), doctest::Contains("no longer a finite number"), Error);
    const std::int64_t end = failures.calls;
    for (std::int64_t at = first; at < end; at++) {
        INFO("call ", at, " of ", end);
        failures.calls = 0;
        failures.at = at;
        Network net(o);
        CHECK_THROWS_WITH_AS(net.train(s, sgd), doctest::Contains("no longer a finite number"), Error);
        failures.at = -1;
        CHECK(net.weights() == expected.weights());
    }
}

TEST_CASE("a card that never works again: training goes on on the backend cpu, and says so") {
    const Job job = softmax_job();
    Failures failures;
    const Seen expected = run(job);
    for (const Fault fault : faults) {
        for (const bool opens : {true, false}) {
            for (std::int64_t at = expected.first_call; at < expected.end_call; at += 7) {
                INFO("fault ", static_cast<int>(fault), " at call ", at, ", opens again: ", opens);
                failures.calls = failures.opened = 0;
                failures.fault = fault;
                failures.at = at;
                failures.forever = true;
                failures.most_opened = opens ? 99 : 1;
                const Seen seen = run(job);
                if (!failures.happened) continue;
                CHECK(seen.backend == "cpu");
                REQUIRE(!seen.notes.empty());
                CHECK(seen.notes.back().find("the backend test card failed: This card fails at call") !=
                      std::string::npos);
                CHECK(seen.notes.back().find("on the backend cpu.") != std::string::npos);
                CHECK((seen.notes.back().find("The card does not come back.") == std::string::npos) ==
                      (opens || fault == Fault::out_of_memory));
                CHECK(failures.opened == (fault == Fault::out_of_memory ? 1 : 3));
                CHECK(seen.epochs == expected.epochs);
                CHECK(seen.steps == expected.steps);
                CHECK(seen.watched.size() == expected.watched.size());
                CHECK(seen.generation == expected.generation);
                CHECK(seen.history.size() == expected.history.size());
                for (std::size_t i = 0; i < seen.weights[0].size(); i++) {
                    CHECK(seen.weights[0][i] == doctest::Approx(expected.weights[0][i]).epsilon(1e-4));
                }
            }
        }
    }
}

TEST_CASE("losses with an epoch of progress between them do not add up") {
    Failures failures;
    Job job = mse_job();
    job.options.epochs = 30;
    const Seen expected = run(job);
    CHECK(expected.notes.empty());
    failures.calls = 0;
    failures.over = false;
    Network net(job.network);
    TrainOptions options = job.options;
    options.on_epoch = [&](const Epoch&) {
        failures.at = failures.calls + 20;
        return true;
    };
    const TrainResult result = net.train(job.samples, options);
    CHECK(net.backend() == "test card");
    CHECK(result.notes.size() > 3);
    CHECK(net.weights() == expected.weights);
}

TEST_CASE("plain and cpu do not recover: their errors are thrown, and no copy of the weights is made") {
    for (const char* name : {"plain", "cpu"}) {
        Network net = xor_network(name);
        const auto fails = [](const Epoch&) -> bool { throw Error(Fault::device_lost, "Not mine."); };
        CHECK_THROWS_WITH_AS(net.train(xor_samples(), {.on_epoch = fails}), "Not mine.", Error);
        CHECK(net.train(xor_samples()).notes.empty());
    }
}

TEST_CASE("a network that is asked on a lost card answers from the weights that it had") {
    const Samples samples = numbers(300, 8);
    for (const Fault fault : {Fault::device_lost, Fault::timed_out, Fault::gpu_broken}) {
        Failures failures;
        const NetworkOptions o{.input = 2, .layers = {dense(4), tanh(), dense(2)}, .backend = "test card"};
        Network twin(o), net(o);
        twin.train(samples, {.epochs = 2});
        const Weights trained = twin.weights();
        const auto forward = twin.forward_all(samples);
        const double loss = twin.loss(samples), summed = twin.backprop(samples);
        const Weights gradients = twin.gradients();
        net.set_weights(trained);
        failures.fault = fault;
        const auto once = [&](const auto& work) {  // at each call of the work
            for (int n = 0; n < 6; n++) {
                INFO("fault ", static_cast<int>(fault), " at call ", n);
                failures.at = failures.calls + n;
                work();
                failures.at = -1;
                CHECK(net.generation() == 1);
                CHECK(net.backend() == "test card");
            }
        };
        once([&] { CHECK(net.forward_all(samples) == forward); });
        once([&] { CHECK(net.loss(samples) == loss); });
        once([&] { CHECK(net.weights() == trained); });
        once([&] {
            CHECK(net.backprop(samples) == summed);
            if (failures.calls > failures.at) CHECK(net.gradients() == gradients);
        });
        failures.at = failures.calls;
        net.set_weights(gradients);
        CHECK(net.generation() == 2);
        CHECK(net.weights() == gradients);
        // After train it is the trained weights that come back.
        Network later(o);
        later.train(samples, {.epochs = 2});
        failures.at = failures.calls;
        CHECK(later.weights() == trained);
    }
}

TEST_CASE("a second failure is thrown, gradients do not come back, and the weights stay") {
    Failures failures;
    Network net({.input = 2, .layers = {dense(2)}, .backend = "test card"});
    const Samples samples = numbers(4, 8);
    const Weights weights = net.weights();
    net.backprop(samples);
    failures.at = failures.calls;
    failures.forever = true;
    CHECK_THROWS_WITH_AS(net.predict_all(samples), doctest::Contains("This card fails at call"), Error);
    failures.most_opened = failures.opened;
    CHECK_THROWS_WITH_AS(net.predict_all(samples), doctest::Contains("The card does not come back."), Error);
    CHECK(net.backend() == "test card");
    failures.most_opened = 99;
    failures.at = -1;
    failures.forever = false;
    CHECK(net.weights() == weights);
    CHECK_THROWS_WITH_AS(net.gradients(), "The gradients were lost with the card they were on.", Error);
    net.backprop(samples);
    CHECK(net.gradients().size() == 2);
    failures.at = failures.calls;
    failures.fault = Fault::out_of_memory;
    CHECK_THROWS_AS(net.predict_all(samples), Error);  // opening it again would not help
    failures.at = -1;
    CHECK(net.weights() == weights);
}

TEST_CASE("a card that fails again while it is opened leaves the network as it was") {
    const Samples samples = numbers(4, 8);
    for (const Fault fault : {Fault::device_lost, Fault::timed_out}) {
        for (int n = 1; n < 12; n++) {
            INFO("fault ", static_cast<int>(fault), " and ", n, " calls later");
            Failures failures;
            Network net({.input = 2, .layers = {dense(2)}, .backend = "test card"});
            const auto expected = net.forward_all(samples);
            const Weights weights = net.weights();
            failures.fault = fault;
            failures.at = failures.calls;
            failures.then = failures.at + n;
            try {
                const auto outputs = net.forward_all(samples);  // no CHECK around it: it may throw
                CHECK(outputs == expected);
            } catch (const Error& error) {
                CHECK(error.fault() == fault);
            }
            CHECK(net.weights() == weights);
            CHECK(net.forward_all(samples) == expected);
        }
    }
}

TEST_CASE("gpu: a card that fails once leaves no trace in the result") {
    if (!have_card()) return;
    for (const Fault fault : {Fault::device_lost, Fault::out_of_memory}) {
        for (const Job& job : {softmax_job(), token_job()}) sweep(job, fault, 60, "gpu");
    }
}
