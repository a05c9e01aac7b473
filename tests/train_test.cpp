// Training on every backend: what it reaches, when it stops, what it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>

#include "networks.hpp"
#include "refusal.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

Samples parity_samples() {
    Samples s;
    for (int k = 0; k < 32; k++) {
        std::vector<double> bits;
        int sum = 0;
        for (int bit = 4; bit >= 0; bit--) {
            bits.push_back(k >> bit & 1);
            sum += k >> bit & 1;
        }
        s.add(bits, sum % 2);
    }
    return s;
}

Samples sine_samples() {
    Samples s;
    for (int i = 0; i <= 60; i++) {
        const double x = -3 + 0.1 * i;
        s.add({x}, {std::sin(x)});
    }
    return s;
}

Samples random_samples(std::size_t n, std::size_t n_in, std::size_t classes) {
    Random random(17);
    Samples s;
    for (std::size_t i = 0; i < n; i++) {
        std::vector<double> x(n_in);
        for (double& v : x) v = random.normal();
        s.add(x, static_cast<std::int64_t>(random.below(classes)));
    }
    return s;
}

double largest(const Weights& a, const Weights& b) {
    double worst = 0;
    for (std::size_t p = 0; p < a.size(); p++) {
        for (std::size_t i = 0; i < a[p].size(); i++) worst = std::max(worst, std::abs(a[p][i] - b[p][i]));
    }
    return worst;
}

double resident_mib() {
    std::ifstream file("/proc/self/statm");
    double size = 0, resident = 0;
    file >> size >> resident;
    return resident * 4096 / 1048576;
}

}  // namespace

TEST_CASE("plain: XOR trains to the published bits") {
    Network net = xor_network();
    CHECK(net.train(xor_samples(), {.epochs = 1, .batch = 4, .lr = 0.02}).loss == 0.7259781442512687);
    const Weights w = net.weights();
    CHECK(w[0][0] == -0.7545639775516644);
    CHECK(w[0][1] == -0.6228700641937227);
    CHECK(w[3][0] == -0.019999646062462434);
    CHECK(w[3][1] == 0.019999646062462434);
    CHECK(sums(w).sum == doctest::Approx(4.848587115005343).epsilon(1e-12));
    CHECK(sums(w).of_abs == doctest::Approx(13.686541125104855).epsilon(1e-12));

    Network fresh = xor_network();
    const TrainResult result = fresh.train(xor_samples(), {.epochs = 400, .batch = 4, .lr = 0.02});
    CHECK(result.loss == 0.0004072603083691829);
    CHECK(fresh.predict(std::array{1.0, 0.0}) == std::vector<double>{0.0003147116425101744, 0.9996852883574898});
    CHECK(result.stopped == Stopped::epochs);
    CHECK(result.best_epoch == 400);
    CHECK(result.history.size() == 400);
    CHECK(fresh.generation() == 400);
    CHECK(fresh.history().back().loss == result.loss);
}

TEST_CASE("plain: parity and sine reach the published figures") {
    Network parity({.input = 5, .layers = {dense(24), tanh(), dense(2)}, .seed = 3, .backend = "plain"});
    const TrainResult r = parity.train(parity_samples(), {.epochs = 800, .batch = 8, .lr = 0.01, .target_loss = 0.01});
    CHECK(r.history.size() == 800);
    CHECK(r.loss == doctest::Approx(0.0791999).epsilon(1e-6).scale(0));
    CHECK(parity.accuracy(parity_samples()) == 1);
}

TEST_CASE("every backend learns XOR, parity and sine") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network x = xor_network(name);
        const double before = x.loss(xor_samples()) / 4;
        CHECK(x.train(xor_samples(), {.epochs = 400, .batch = 4, .lr = 0.02}).loss < before / 10);
        CHECK(x.accuracy(xor_samples()) == 1);
        Network parity({.input = 5, .layers = {dense(24), tanh(), dense(2)}, .seed = 3, .backend = name});
        parity.train(parity_samples(), {.epochs = 800, .batch = 8, .lr = 0.01, .target_loss = 0.01});
        CHECK(parity.accuracy(parity_samples()) == 1);

        Network sine(
            {.input = 1, .layers = {dense(16), tanh(), dense(1)}, .loss = LossKind::mse, .seed = 2, .backend = name});
        const TrainResult r = sine.train(sine_samples(), {.epochs = 800, .batch = 8, .lr = 0.02, .lr_decay = 0.995});
        double square = 0, worst = 0;
        for (int i = 0; i < 60; i++) {
            const double at = -3 + 0.1 * i + 0.05, d = std::abs(sine.predict(std::array{at})[0] - std::sin(at));
            square += d * d;
            worst = std::max(worst, d);
        }
        CHECK(std::sqrt(square / 60) < 0.03);
        CHECK(worst < 0.08);
        if (name == "plain") {
            CHECK(r.loss == doctest::Approx(0.00033455).epsilon(1e-4).scale(0));
            CHECK(std::sqrt(square / 60) == doctest::Approx(0.016671).epsilon(1e-4).scale(0));
            CHECK(worst == doctest::Approx(0.044739).epsilon(1e-4).scale(0));
        }
    }
}

TEST_CASE("the stand-alone optimizer walks down a bowl") {
    for (const std::string& name : available_backends()) {
        for (OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
            INFO(name, " ", to_string(kind));
            auto b = make_backend(name);
            const Tensor p = b->zeros({2}), g = b->zeros({2});
            Optimizer optimizer({.optimizer = kind, .lr = 0.05}, b, {{p, g}});
            std::vector<std::vector<double>> path;
            for (int i = 0; i < 600; i++) {
                const auto at = b->read(p);
                b->write(g, std::vector<double>{2 * (at[0] - 3), 2 * (at[1] + 2)});
                optimizer.step();
                path.push_back(b->read(p));
            }
            CHECK(std::abs(path.back()[0] - 3) + std::abs(path.back()[1] + 2) < 1e-3);
            if (name != "plain" || kind != OptimizerKind::adam) continue;
            CHECK(path[0] == std::vector<double>{0.049999997364768754, -0.049999996047153245});
            CHECK(path[1] == std::vector<double>{0.09997632691620228, -0.09996299580711718});
            CHECK(path[9] == std::vector<double>{0.4969199785441655, -0.49504414336918645});
            CHECK(path[599] == std::vector<double>{3.0000000000002953, -1.9999999999999365});
        }
    }
    CHECK_THROWS_AS(Optimizer({}, nullptr, {}), Error);
}

TEST_CASE("25 updates stay within 1e-4 of plain, and a second run gives the same bits") {
    for (const std::string& name : available_backends()) {
        for (OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
            INFO(name, " ", to_string(kind));
            const TrainOptions options{.epochs = 25, .batch = 4, .optimizer = kind, .weight_decay = 0.01};
            Network plain = xor_network(), net = xor_network(name), twin = xor_network(name);
            plain.train(xor_samples(), options);
            net.train(xor_samples(), options);
            twin.train(xor_samples(), options);
            CHECK(largest(net.weights(), plain.weights()) <= (name == "plain" ? 0 : 1e-4));
            CHECK(net.weights() == twin.weights());
        }
        const Samples samples = random_samples(333, 20, 5);
        const NetworkOptions o{
            .input = 20, .layers = {dense(40), relu(), dense(30), tanh(), dense(5)}, .backend = name};
        Network one(o), two(o);
        CHECK(one.train(samples, {.epochs = 3, .batch = 32}).loss ==
              two.train(samples, {.epochs = 3, .batch = 32}).loss);
        CHECK(one.weights() == two.weights());
    }
}

TEST_CASE("a second train goes on with the weights and the random stream") {
    Network net = xor_network(), other = xor_network();
    net.train(xor_samples(), {.epochs = 2, .batch = 1});
    const Weights between = net.weights();
    net.train(xor_samples(), {.epochs = 2, .batch = 1});
    other.set_weights(between);
    other.train(xor_samples(), {.epochs = 2, .batch = 1});
    CHECK(net.weights() != other.weights());  // the same weights, but the orders of epochs 3 and 4
    CHECK(net.generation() == 16);
}

TEST_CASE("sample weights: 3 triples, 0 removes, none is 1") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        GradientNet g = gradient_nets()[3];
        g.options.backend = name;
        Network net(g.options);
        const double loss = net.backprop(g.samples);
        const Weights gradient = net.gradients();
        g.samples.weights = {3, 3, 3};
        CHECK(net.backprop(g.samples) == doctest::Approx(3 * loss).epsilon(1e-5));
        const Weights tripled = net.gradients();
        for (std::size_t p = 0; p < gradient.size(); p++) {
            for (std::size_t i = 0; i < gradient[p].size(); i++) {
                CHECK(std::abs(tripled[p][i] - 3 * gradient[p][i]) < (name == "plain" ? 1e-12 : 1e-5));
            }
        }
        g.samples.weights = {1, 0, 1};
        net.backprop(g.samples);
        const Weights without = net.gradients();
        Samples two;
        for (std::size_t s : {0u, 2u}) {
            two.add(std::span<const double>(g.samples.inputs).subspan(s * 5, 5),
                    static_cast<std::int64_t>(g.samples.classes[s]));
        }
        net.backprop(two);
        CHECK(largest(net.gradients(), without) < (name == "plain" ? 1e-15 : 1e-6));
    }
}

TEST_CASE("weight decay shrinks weights, not biases") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network free = xor_network(name), decayed = xor_network(name);
        free.train(xor_samples(), {.epochs = 50, .batch = 4, .lr = 0.02});
        decayed.train(xor_samples(), {.epochs = 50, .batch = 4, .lr = 0.02, .weight_decay = 2});
        const auto square = [](const std::vector<double>& w) {
            return std::inner_product(w.begin(), w.end(), w.begin(), 0.0);
        };
        CHECK(square(decayed.weights()[0]) < square(free.weights()[0]) / 2);
        Network still = xor_network(name);
        Weights ones = still.weights();
        for (auto& list : ones) std::ranges::fill(list, 1.0);
        still.set_weights(ones);
        Samples silent = xor_samples();
        silent.weights = {0, 0, 0, 0};
        still.train(silent, {.epochs = 1, .batch = 4, .optimizer = OptimizerKind::sgd, .lr = 0.5, .weight_decay = 1});
        CHECK(still.weights()[0] == std::vector<double>(16, 0.5));
        CHECK(still.weights()[1] == std::vector<double>(8, 1.0));
    }
}

TEST_CASE("patience stops and restores the best epoch's weights, watch replaces the watched loss") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        const Samples samples = random_samples(100, 8, 3), held = random_samples(70, 8, 3);
        const NetworkOptions o{.input = 8, .layers = {dense(16), relu(), dense(3)}, .backend = name};
        Network net(o);
        const TrainResult r =
            net.train(samples, {.epochs = 200, .batch = 16, .lr = 0.02, .validate = &held, .patience = 5});
        CHECK(r.stopped == Stopped::patience);
        CHECK(r.best_epoch == static_cast<std::int64_t>(r.history.size()) - 5);
        CHECK(r.loss == r.history.back().loss);
        const auto best = std::ranges::min_element(r.history, {}, [](const Epoch& e) { return *e.validation; });
        CHECK(best->epoch == r.best_epoch);
        CHECK(net.loss(held) / 70 == doctest::Approx(*best->validation).epsilon(1e-6));
        Network until(o);
        until.train(samples, {.epochs = r.best_epoch, .batch = 16, .lr = 0.02});
        CHECK(largest(until.weights(), net.weights()) < 1e-4);

        // A watched value that is best in epoch 2 and then equal: strict improvement only.
        Network watched(o);
        int calls = 0, epochs = 0;
        const TrainResult w = watched.train(samples, {.epochs = 50,
                                                      .patience = 3,
                                                      .watch =
                                                          [&](double, std::optional<double> v) {
                                                              CHECK(!v);
                                                              return ++calls == 1 ? 2.0 : 1.0;
                                                          },
                                                      .on_epoch = [&](const Epoch&) { return ++epochs > 0; }});
        CHECK(w.stopped == Stopped::patience);
        CHECK(w.best_epoch == 2);
        CHECK(w.history.size() == 5);
        CHECK(epochs == 4);  // not called for the epoch that ends by patience
        Network strict(o);
        CHECK(strict.train(samples, {.epochs = 50, .patience = 0, .min_delta = 100}).history.size() == 2);
    }
}

TEST_CASE("on_epoch sees 1, 2, 3 and stops, target_loss and epochs stop, 0 epochs do nothing") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network net = xor_network(name);
        std::vector<std::int64_t> seen;
        TrainResult r = net.train(xor_samples(), {.epochs = 9, .on_epoch = [&](const Epoch& epoch) {
                                                      CHECK(epoch.loss > 0);
                                                      CHECK(!epoch.validation);
                                                      seen.push_back(epoch.epoch);
                                                      CHECK(net.predict(std::array{1.0, 0.0}).size() == 2);
                                                      return epoch.epoch < 3;
                                                  }});
        CHECK(seen == std::vector<std::int64_t>{1, 2, 3});
        CHECK(r.stopped == Stopped::on_epoch);
        r = net.train(xor_samples(), {.epochs = 9, .target_loss = 100});
        CHECK(r.stopped == Stopped::target_loss);
        CHECK(r.history.size() == 1);
        const Weights before = net.weights();
        r = net.train(xor_samples(), {.epochs = 0});
        CHECK(r.loss == 0);
        CHECK(r.stopped == Stopped::epochs);
        CHECK(net.weights() == before);
    }
}

TEST_CASE("a stop token ends the run after the step under way") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network net = xor_network(name);
        std::stop_source source;
        std::int64_t last = 0;
        const TrainResult r = net.train(xor_samples(), {.epochs = 100,
                                                        .batch = 1,
                                                        .stop = source.get_token(),
                                                        .on_step = [&](std::int64_t step, std::int64_t steps) {
                                                            CHECK(steps == 400);
                                                            last = step;
                                                            if (step == 10) source.request_stop();
                                                        }});
        CHECK(last == 10);
        CHECK(r.stopped == Stopped::interrupted);
        CHECK(r.history.size() == 2);
        CHECK(net.generation() == 10);
        CHECK(r.loss == r.history.back().loss);
    }
}

TEST_CASE("the last batch may be smaller, and a batch larger than the data is the data") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network net = xor_network(name), whole = xor_network(name), larger = xor_network(name);
        net.train(xor_samples(), {.epochs = 1, .batch = 3});
        CHECK(net.generation() == 2);
        whole.train(xor_samples(), {.epochs = 5, .batch = 4});
        larger.train(xor_samples(), {.epochs = 5, .batch = std::numeric_limits<std::int64_t>::max()});
        CHECK(whole.weights() == larger.weights());
    }
}

TEST_CASE("a loss that is no longer finite ends training, names epoch and step, keeps the weights before it") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Samples s;
        s.add({1e20}, {1e20}).add({-1e20}, {1e20});
        const NetworkOptions o{.input = 1, .layers = {dense(1)}, .loss = LossKind::mse, .backend = name};
        const TrainOptions sgd{.epochs = 9, .batch = 1, .optimizer = OptimizerKind::sgd, .lr = 1};
        Network net(o), twin(o);
        CHECK_THROWS_WITH_AS(net.train(s, sgd), doctest::Contains("no longer a finite number at epoch"), Error);
        TrainOptions until = sgd;
        until.epochs = static_cast<std::int64_t>(net.history().size());
        CHECK(until.epochs < 9);
        twin.train(s, until);
        CHECK(net.weights() == twin.weights());
        CHECK(std::isfinite(net.weights()[0][0]));
    }
}

TEST_CASE("samples that do not fit are refused with their number, value and limit") {
    const auto fresh = [] { return xor_network(); };
    Samples s = xor_samples();
    CHECK_THROWS_WITH_AS(s.add({1, 2, 3}, 0), "Sample 4 has 3 inputs; the samples before it have 2.", Error);
    CHECK(s.n == 4);
    CHECK(s.inputs.size() == 8);
    CHECK_THROWS_AS(s.add({1, 2}, -1), Error);
    CHECK_THROWS_AS(s.add({1, 2}, {0.5}), Error);
    CHECK_THROWS_AS(fresh().train(Samples{}), Error);
    s.classes[2] = 2;
    CHECK_THROWS_WITH_AS(fresh().train(s), "Sample 2 has the class 2; the network has 2 outputs (classes 0 to 1).",
                         Error);
    s = xor_samples();
    s.inputs[3] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH_AS(fresh().train(s), "Sample 1, input 1 is not a number.", Error);
    s.inputs[3] = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH_AS(fresh().train(s), "Sample 1, input 1 is infinite.", Error);
    s.inputs.pop_back();
    CHECK_THROWS_AS(fresh().train(s), Error);
    Samples wide;
    wide.add({1, 2, 3}, 0);
    CHECK_THROWS_AS(fresh().train(wide), Error);
    CHECK_THROWS_AS(fresh().predict(std::array{1.0}), Error);
    CHECK_THROWS_AS(fresh().loss(sine_samples()), Error);
    CHECK_THROWS_AS(fresh().accuracy(Samples{}), Error);
    const std::array<std::uint32_t, 2> word = {0, 9};
    CHECK_THROWS_WITH_AS(Network({.input = Tokens{2, 9}, .layers = {embed(3)}, .backend = "plain"}).predict(word),
                         "Sample 0, token 1 is 9; the vocabulary has 9 (0 to 8).", Error);
    CHECK_THROWS_AS(fresh().predict(word), Error);
    s = xor_samples();
    s.weights = {1, 1};
    CHECK_THROWS_AS(fresh().train(s), Error);
    const Samples bad_validation = sine_samples();
    CHECK_THROWS_WITH_AS(fresh().train(xor_samples(), {.validate = &bad_validation}), doctest::Contains("validation"),
                         Error);
}

TEST_CASE("training options out of range are refused") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const TrainOptions& o :
         {TrainOptions{.epochs = -1}, TrainOptions{.batch = 0}, TrainOptions{.batch = -4}, TrainOptions{.lr = nan},
          TrainOptions{.lr = -0.1}, TrainOptions{.momentum = 1}, TrainOptions{.beta1 = 1}, TrainOptions{.beta2 = -1},
          TrainOptions{.epsilon = 0}, TrainOptions{.weight_decay = -1}, TrainOptions{.lr_decay = 0},
          TrainOptions{.patience = -1}, TrainOptions{.min_delta = nan}, TrainOptions{.target_loss = nan}}) {
        CHECK_THROWS_AS(xor_network().train(xor_samples(), o), Error);
    }
}

TEST_CASE("10,000 steps keep memory flat") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network net({.input = 20, .layers = {dense(32), relu(), dense(5)}, .backend = name});
        const Samples samples = random_samples(160, 20, 5);
        net.train(samples, {.epochs = 50});
        const double before = resident_mib();
        net.train(samples, {.epochs = 1000});
        CHECK(net.generation() == 10500);
        CHECK(resident_mib() - before < 1);
    }
}

TEST_CASE("a run whose last update ends in no numbers is an error, and the weights before it are kept") {
    for (const std::string name : {"cpu", "gpu"}) {
        if (!try_backend(name).backend) continue;
        INFO(name);
        Network net = xor_network(name);
        const Weights before = net.weights();
        CHECK_THROWS_WITH_AS(net.train(xor_samples(), {.epochs = 1, .batch = 4, .lr = 1e300}),
                             doctest::Contains("no longer finite numbers after epoch 1"), Error);
        CHECK(net.weights() == before);
    }
}

TEST_CASE("a validation loss that is no number names the sample, or blames the learning rate where that is to blame") {
    const std::string not_finite =
        "The loss of the validation samples is not a finite number after epoch 1, while that of the training samples "
        "is: ";
    const std::string weights = " does. The network has the weights of before that epoch.";
    const Samples s = Samples().add({1.0}, {1.0}), one = Samples().add({0.5}, {1.0});
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network net({.input = 1, .layers = {dense(1), dense(1)}, .loss = LossKind::mse, .backend = name});
        net.set_weights({{1e3}, {0}, {1e-3}, {0}});
        const Weights before = net.weights();
        const bool in_float = name == "cpu" || name == "gpu";
        const double large = in_float ? 1e30 : 1e200, huge = in_float ? 1e37 : 1e307;
        const Samples error = Samples(one).add({-large / 2}, {1.0}).add({large}, {1.0});
        CHECK(refusal(Fault::bad_data, [&] { net.train(s, {.epochs = 2, .lr = 1e-9, .validate = &error}); }) ==
              not_finite +
                  "sample 2 of them, from 0, has an error too large to be squared, as one far beyond the training "
                  "samples" +
                  weights);
        const Samples overflow = Samples(error).add({huge}, {1.0});
        CHECK(refusal(Fault::bad_data, [&] { net.train(s, {.epochs = 2, .lr = 1e-9, .validate = &overflow}); }) ==
              not_finite +
                  "sample 3 of them, from 0, overflows inside the network, as one far beyond the training samples" +
                  weights);
        CHECK(net.weights() == before);
        const double steep = in_float ? 1e20 : 1e160;
        CHECK_MENTIONS(
            refusal(Fault::bad_data,
                    [&] { net.train(Samples(s).add({1.0}, {2.0}), {.epochs = 2, .lr = steep, .validate = &one}); }),
            "The validation loss is no longer a finite number after epoch 1: a lower learning rate");
    }
}

TEST_CASE("a refused call leaves the history, and epochs past what counts are refused") {
    Network net = xor_network();
    net.train(xor_samples(), {.epochs = 2});
    CHECK_THROWS_AS(net.train(xor_samples(), {.epochs = 2, .lr = -1.0}), Error);
    CHECK(net.history().size() == 2);
    CHECK_THROWS_WITH_AS(net.train(xor_samples(), {.epochs = std::numeric_limits<std::int64_t>::max()}),
                         doctest::Contains("epochs must be at most"), Error);
}
