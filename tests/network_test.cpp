// Networks: what they are made of, gradients, and the published values.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "net/impl.hpp"
#include "networks.hpp"

using namespace shunt;
using namespace shunt::test;

TEST_CASE("gradients on plain agree with central differences, for every layer and loss") {
    for (GradientNet& g : gradient_nets()) {
        g.options.backend = "plain";
        Network net(g.options);
        INFO(to_string(g.options.layers.front()), " ", g.options.layers.size(), " layers");
        net.backprop(g.samples);
        const Weights analytic = net.gradients(), start = net.weights();
        double worst = 0;
        for (std::size_t p = 0; p < start.size(); p++) {
            for (std::size_t i = 0; i < start[p].size(); i++) {
                const auto loss_at = [&](double step) {
                    Weights moved = start;
                    moved[p][i] += step;
                    return net.set_weights(moved).loss(g.samples);
                };
                const double numeric = (loss_at(1e-5) - loss_at(-1e-5)) / 2e-5, a = analytic[p][i];
                worst = std::max(worst, std::abs(numeric - a) / (1 + std::abs(numeric) + std::abs(a)));
            }
        }
        CHECK(worst < 1e-6);
    }
}

TEST_CASE("plain: losses and gradients of the test networks are the published ones") {
    for (GradientNet& g : gradient_nets()) {
        if (g.loss == 0) continue;
        g.options.backend = "plain";
        Network net(g.options);
        INFO(net.n_params(), " parameters");
        CHECK(net.backprop(g.samples) == g.loss);
        CHECK(net.loss(g.samples) == g.loss);
        const Sums s = sums(net.gradients());
        CHECK(std::abs(s.sum - g.sum) <= 1e-12 * g.of_abs);
        CHECK(s.of_abs == doctest::Approx(g.of_abs).epsilon(1e-12));
    }
    CHECK(Network(gradient_nets()[3].options).n_params() == 118);
    CHECK(Network(gradient_nets()[4].options).n_params() == 116);
}

TEST_CASE("gradients of every backend are those of plain within 1e-5, a batch is the sum of its samples") {
    for (const std::string& name : available_backends()) {
        for (GradientNet& g : gradient_nets()) {
            INFO(name, ", ", g.options.layers.size(), " layers");
            g.options.backend = "plain";
            Network plain(g.options);
            g.options.backend = name;
            Network net(g.options);
            const double loss = plain.backprop(g.samples);
            CHECK(net.backprop(g.samples) == doctest::Approx(loss).epsilon(1e-5));
            const Weights expected = plain.gradients(), got = net.gradients();
            double worst = 0;
            for (std::size_t p = 0; p < got.size(); p++) {
                for (std::size_t i = 0; i < got[p].size(); i++) {
                    worst = std::max(worst, std::abs(got[p][i] - expected[p][i]) / (1 + std::abs(expected[p][i])));
                }
            }
            CHECK(worst < (name == "plain" ? 1e-300 : 1e-5));
        }
        GradientNet g = gradient_nets()[3];
        g.options.backend = name;
        Network net(g.options);
        net.backprop(g.samples);
        Weights left = net.gradients();
        for (std::size_t s = 0; s < 3; s++) {
            Samples single;
            single.add(std::span<const double>(g.samples.inputs).subspan(s * 5, 5),
                       static_cast<std::int64_t>(g.samples.classes[s]));
            net.backprop(single);
            const Weights one = net.gradients();
            for (std::size_t p = 0; p < left.size(); p++) {
                for (std::size_t i = 0; i < left[p].size(); i++) left[p][i] -= one[p][i];
            }
        }
        for (const auto& list : left) {
            for (double v : list) CHECK(std::abs(v) < (name == "plain" ? 1e-12 : 1e-5));
        }
    }
}

TEST_CASE("plain: the XOR network starts from the published weights") {
    Network net = xor_network();
    const Weights w = net.weights();
    const std::vector<double> first = {-0.7745618465727536, -0.6428649654734999, 0.15701478099563707,
                                       0.6066815817198674,  0.724953856196337,   -0.4807305383499269};
    CHECK(std::vector(w[0].begin(), w[0].begin() + 6) == first);
    CHECK(w[1] == std::vector<double>(8, 0.0));
    CHECK(std::vector(w[2].begin(), w[2].begin() + 4) ==
          std::vector<double>{0.583478732060739, 0.7669816835942351, 0.3504457113817966, 0.7228712151862376});
    CHECK(net.forward(std::array{1.0, 0.0}) == std::vector<double>{0.26133193267927374, -0.5772235711442788});
    CHECK(net.loss(xor_samples()) == 2.9039125770050753);
    Network::Impl drawn;
    drawn.input = net.input();
    drawn.layers = net.layers();
    drawn.backend = make_backend("plain");
    drawn.build();
    drawn.place();
    drawn.initialise();
    CHECK(drawn.random.state() == 890442452);
    net.backprop(xor_samples());
    const Weights g = net.gradients();
    CHECK(g[3] == std::vector<double>{0.07147524887032985, -0.07147524887032974});
    CHECK(g[0][0] == -0.01187037828220895);
    CHECK(g[0][1] == -0.0049604157020815935);
    CHECK(sums(g).sum == doctest::Approx(-0.17986633392017864).epsilon(1e-12).scale(0));
    CHECK(sums(g).of_abs == doctest::Approx(2.709584784692954).epsilon(1e-12));
}

TEST_CASE("a network tells what it is made of") {
    Network net({.input = Tokens{4, 9}, .layers = {embed(3), dense(5), tanh(), dense(4)}, .backend = "plain"});
    CHECK(net.n_in() == 4);
    CHECK(net.n_out() == 4);
    CHECK(net.n_params() == 116);
    const auto params = net.params();
    REQUIRE(params.size() == 5);
    CHECK(params[0].name == "E");
    CHECK(params[0].shape == Shape{9, 3});
    CHECK(params[1].layer == 1);
    CHECK(params[1].shape == Shape{5, 12});
    CHECK(params[4].name == "b");
    CHECK(params[4].layer == 3);
    CHECK(params[4].shape == Shape{1, 4});
    CHECK(net.backend() == "plain");
    CHECK(net.generation() == 0);
    net.set_weights(net.weights());
    CHECK(net.generation() == 1);
    CHECK(to_string(net.layers()[0]) == "embed:3");
    CHECK(parse_layers("embed:3,dense:5,tanh,dense:4") == net.layers());
}

TEST_CASE("state, freeze and thaw keep every bit") {
    Network net = xor_network();
    net.train(xor_samples(), {.epochs = 3, .batch = 4});
    NetworkState state = net.state();
    state.weights = thaw_weights(freeze_weights(state.weights));
    Network again = Network::from_state(state, "plain");
    CHECK(again.weights() == net.weights());
    CHECK(again.generation() == 0);
    CHECK(again.predict(std::array{1.0, 0.0}) == net.predict(std::array{1.0, 0.0}));
    state.weights[0].pop_back();
    CHECK_THROWS_AS(Network::from_state(state, "plain"), Error);
    const std::vector<std::string> odd = {"1234567"};
    CHECK_THROWS_AS(thaw_weights(odd), Error);
}

TEST_CASE("predictions: single, many, float and double, tokens, and ties take the lowest class") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network net = xor_network(name);
        net.train(xor_samples(), {.epochs = 400, .batch = 4, .lr = 0.02});
        const auto all = net.predict_all(xor_samples());
        REQUIRE(all.size() == 8);
        for (std::size_t i = 0; i < 4; i++) CHECK(std::abs(all[2 * i] + all[2 * i + 1] - 1) < 1e-12);
        CHECK(net.predict(std::array{1.0, 0.0})[1] > 0.9);
        CHECK(net.predict(std::array{1.0f, 0.0f}) == net.predict(std::array{1.0, 0.0}));
        CHECK(net.classify_all(xor_samples()) == std::vector<std::uint32_t>{0, 1, 1, 0});
        CHECK(net.classify(std::array{1.0, 0.0}) == 1);
        CHECK(net.accuracy(xor_samples()) == 1);
        net.set_weights(
            {std::vector<double>(16), std::vector<double>(8), std::vector<double>(16), std::vector<double>(2)});
        CHECK(net.classify(std::array{1.0, 0.0}) == 0);
        Network words({.input = Tokens{2, 9}, .layers = {embed(3), dense(4)}, .backend = name});
        CHECK(words.predict(std::array<std::uint32_t, 2>{8, 0}).size() == 4);
        CHECK(words.classify(std::array<std::uint32_t, 2>{8, 0}) < 4);
    }
}

TEST_CASE("predictions: outputs that are not finite are no class, and never right") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        // The product of ten weights is more than a double holds. The second output stays 0 or becomes NaN.
        std::vector<Layer> layers(9, dense(1));
        layers.push_back(dense(2));
        Network net({.input = 1, .layers = layers, .backend = name});
        Weights weights;
        for (int i = 0; i < 9; i++) weights.insert(weights.end(), {{1e38}, {0}});
        weights.insert(weights.end(), {{-1e38, 0}, {0, 0}});
        net.set_weights(weights);
        const Samples samples = Samples().add({0}, 0).add({1}, 0).add({1}, 1).add({0}, 1);
        CHECK(net.classify_all(samples) == std::vector<std::uint32_t>{0, Network::no_class, Network::no_class, 0});
        CHECK(net.classify(std::array{1.0}) == Network::no_class);
        CHECK(net.accuracy(samples) == 0.25);
        const auto p = net.predict_all(samples);
        CHECK(p[0] == 0.5);
        for (std::size_t i = 2; i < 6; i++) CHECK(std::isnan(p[i]));
    }
}

TEST_CASE("float spans are taken where double spans are") {
    const std::vector<float> x = {0.1f, -2, 3}, target = {0.7f};
    const std::vector<double> wide(x.begin(), x.end()), wide_target(target.begin(), target.end());
    const std::vector<std::uint32_t> tokens = {4, 2};
    const Samples with_class = Samples().add(x, 1, 2.5), expected_class = Samples().add(wide, 1, 2.5);
    CHECK(with_class.inputs == expected_class.inputs);
    CHECK(with_class.classes == expected_class.classes);
    CHECK(with_class.weights == expected_class.weights);
    const Samples with_target = Samples().add(x, target);
    CHECK(with_target.inputs == wide);
    CHECK(with_target.targets == wide_target);
    const Samples of_tokens = Samples().add(tokens, target);
    CHECK(of_tokens.tokens == tokens);
    CHECK(of_tokens.targets == wide_target);
    CHECK_THROWS_AS(Samples(with_target).add(tokens, target), Error);

    for (const std::string& name : available_backends()) {
        INFO(name);
        const Network net({.input = 3, .layers = {dense(4)}, .backend = name});
        CHECK(net.classify(x) == net.classify(wide));
    }
}

TEST_CASE("more samples than a chunk answer as they do one by one") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        Network net({.input = 3, .layers = {dense(5), relu(), dense(2)}, .backend = name});
        Random random(1);
        Samples many;
        for (int i = 0; i < 600; i++) many.add({random.normal(), random.normal(), random.normal()}, 0);
        const auto all = net.forward_all(many);
        REQUIRE(all.size() == 1200);
        for (std::size_t s : {0u, 255u, 256u, 599u}) {
            const auto one = net.forward(std::span<const double>(many.inputs).subspan(s * 3, 3));
            CHECK(all[2 * s] == doctest::Approx(one[0]).epsilon(1e-5));
            CHECK(all[2 * s + 1] == doctest::Approx(one[1]).epsilon(1e-5));
        }
        double sum = 0;
        for (std::size_t s = 0; s < 600; s++) {
            Samples one;
            one.add(std::span<const double>(many.inputs).subspan(s * 3, 3), 0);
            sum += net.loss(one);
        }
        CHECK(net.loss(many) == doctest::Approx(sum).epsilon(1e-6));
    }
}

TEST_CASE("networks that cannot be are refused, and the error says why") {
    const auto make = [](NetworkOptions o) {
        o.backend = "plain";
        return Network(o);
    };
    CHECK_THROWS_WITH_AS(make({.layers = {dense(2)}}), doctest::Contains("Tokens{count, vocab}"), Error);
    CHECK_THROWS_AS(make({.input = -3, .layers = {dense(2)}}), Error);
    CHECK_THROWS_AS(make({.input = 3, .layers = {}}), Error);
    CHECK_THROWS_AS(make({.input = Tokens{3, 4}, .layers = {}}), Error);
    CHECK_THROWS_AS(make({.input = Tokens{0, 4}, .layers = {embed(2)}}), Error);
    CHECK_THROWS_AS(make({.input = Tokens{3, 0}, .layers = {embed(2)}}), Error);
    CHECK_THROWS_WITH_AS(make({.input = 3, .layers = {dense(0)}}), "Layer 0 (dense:0) needs a size of 1 or more.",
                         Error);
    CHECK_THROWS_AS(make({.input = 3, .layers = {dense(-1)}}), Error);
    CHECK_THROWS_WITH_AS(make({.input = Tokens{3, 4}, .layers = {dense(2)}}), doctest::Contains("embedding"), Error);
    CHECK_THROWS_AS(make({.input = Tokens{3, 4}, .layers = {relu(), dense(2)}}), Error);
    CHECK_THROWS_AS(make({.input = 3, .layers = {embed(2)}}), Error);
    CHECK_THROWS_AS(make({.input = Tokens{3, 4}, .layers = {embed(2), embed(2)}}), Error);
    CHECK_THROWS_AS(make({.input = 3, .layers = {dense(std::int64_t{1} << 62)}}), Error);
    CHECK_THROWS_WITH_AS(parse_layers("dense:8,gelo"),
                         "There is no layer 'gelo'. There are: dense, embed, relu, tanh, sigmoid.", Error);
    CHECK_THROWS_WITH_AS(parse_layers("dense:8,gelu"),  // an activation, but without a gradient
                         "There is no layer 'gelu'. There are: dense, embed, relu, tanh, sigmoid.", Error);
    for (const char* text : {"", "dense", "dense:", "dense:0", "dense:-1", "dense:8x", "relu:3", "dense:8,",
                             "dense:99999999999999999999"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_layers(text), Error);
    }
    CHECK_THROWS_WITH_AS(parse_loss("hinge"), "There is no loss 'hinge'. There are: mse, softmax.", Error);
    CHECK_THROWS_AS(parse_optimizer("rmsprop"), Error);
    CHECK_THROWS_AS(Network({.input = 2, .layers = {dense(2)}, .backend = "cuda"}), Error);
}

TEST_CASE("SHUNT_BACKEND names the default backend") {
    setenv("SHUNT_BACKEND", "plain", 1);
    CHECK(Network({.input = 2, .layers = {dense(2)}}).backend() == "plain");
    CHECK(Network({.input = 2, .layers = {dense(2)}, .backend = "cpu"}).backend() == "cpu");
    setenv("SHUNT_BACKEND", "nonsense", 1);
    CHECK_THROWS_AS(Network({.input = 2, .layers = {dense(2)}}), Error);
    unsetenv("SHUNT_BACKEND");
    CHECK(Network({.input = 2, .layers = {dense(2)}}).backend() == "cpu");
}
