// "auto" on the real backends: training, predictions, the model file. Where there is no card, cpu is
// the only candidate.
#include <stdlib.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "card.hpp"
#include "decide/measured.hpp"
#include "model_tables.hpp"
#include "networks.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

const SettleOptions unlimited{.worth = 0, .budget = std::numeric_limits<double>::infinity(), .remember = false};

NetworkOptions small_network(const std::string& backend) {
    return {.input = 2, .layers = {dense(8), shunt::tanh(), dense(2)}, .seed = 3, .backend = backend};
}

// Whatever was measured, the card is said to be a thousand times faster than that.
void praise_the_card() {
    auto json = nlohmann::json::parse(content(decide::measured_file()));
    for (auto& [key, entry] : json["figures"].items()) {
        if (key.find("gpu, ") == std::string::npos) continue;
        for (auto& value : entry["values"]) value = value.get<double>() / 1e3;
    }
    put(decide::measured_file(), json.dump());
}

// A network that auto has put on the card.
Network on_the_card(const Samples& samples, TrainOptions options) {
    options.settle = unlimited;
    options.settle.remember = true;
    Network(small_network("auto")).train(samples, options);
    praise_the_card();
    Network net(small_network("auto"));
    net.train(samples, options);
    REQUIRE(net.settled());
    INFO(net.settled()->why);
    CHECK(net.settled()->from_memory);
    REQUIRE(net.backend() == "gpu");
    return net;
}

void check_answers_of_cpu(const Network& net, const Samples& samples) {
    Network cpu(small_network("cpu"));
    cpu.set_weights(net.weights());
    CHECK(net.predict(std::array{0.25, 0.75}) == cpu.predict(std::array{0.25, 0.75}));
    CHECK(net.predict_all(samples) == cpu.predict_all(samples));
    CHECK(net.loss(samples) == cpu.loss(samples));
}

}  // namespace

TEST_CASE("auto, real: a short run stays on cpu, which alone is timed") {
    Network net(small_network("auto"));
    net.train(pairs(600), {.epochs = 2, .batch = 16, .settle = {.budget = 1000}});
    REQUIRE(net.settled());
    CHECK(net.settled()->backend == "cpu");
    CHECK(net.settled()->steps == 76);
    CHECK(net.settled()->seconds_per_step.size() == 1);
    CHECK(net.settled()->seconds_per_step.at("cpu") > 0);
    CHECK(net.backend() == "cpu");
}

TEST_CASE("auto, real: trained weights are bit for bit those of a network on the winner") {
    const Samples samples = pairs(600);
    Network net(small_network("auto"));
    const TrainOptions options{.epochs = 2, .batch = 16, .settle = unlimited};
    net.train(samples, options);
    REQUIRE(net.settled());
    const Settled first = *net.settled();
    INFO(first.why);
    CHECK(first.failure.empty());
    CHECK(first.seconds_per_step.size() == (have_card() ? 2 : 1));
    CHECK(first.seconds_per_step.contains(first.backend));
    CHECK(net.backend() == first.backend);
    CHECK(net.generation() == 76);
    Network pinned(small_network(first.backend));
    pinned.train(samples, options);
    CHECK(net.weights() == pinned.weights());
    CHECK(!pinned.settled());

    net.train(samples, options);
    CHECK(net.settled()->why == first.why);
    CHECK(net.settled()->seconds_per_step == first.seconds_per_step);
    net.train(samples, {.epochs = 2, .batch = 32, .settle = unlimited});
    CHECK(net.settled()->steps == 38);
    net.train(pairs(40), options);
    CHECK(!net.settled());
}

TEST_CASE("auto, real: tokens, weights, sgd, validation and patience leave no trace of the trial") {
    Random random(9);
    Samples samples;
    for (int i = 0; i < 300; i++) {
        std::array<std::uint32_t, 3> tokens{};
        for (auto& token : tokens) token = static_cast<std::uint32_t>(random.below(7));
        samples.add(tokens, tokens[0] < tokens[1] ? 1 : 0, 0.5 + random.uniform());
    }
    const TrainOptions options{.epochs = 3,
                               .batch = 8,
                               .optimizer = OptimizerKind::sgd,
                               .weight_decay = 0.01,
                               .validate = &samples,
                               .patience = 2,
                               .settle = unlimited};
    const auto trained = [&](const std::string& backend) {
        Network net({.input = Tokens{3, 7}, .layers = {embed(4), dense(6), relu(), dense(2)}, .backend = backend});
        net.train(samples, options);
        return std::pair(net.weights(), std::string(net.backend()));
    };
    const auto [weights, backend] = trained("auto");
    CHECK(weights == trained(backend).first);
}

TEST_CASE("auto, real: a numeric input with mse is learned") {
    Samples samples;
    for (int i = 0; i < 400; i++) {
        const double a = i & 1, b = (i >> 1) & 1;
        samples.add({a, b}, {a != b ? 1.0 : 0.0});
    }
    Network net({.input = 2, .layers = {dense(8), shunt::tanh(), dense(1)}, .loss = LossKind::mse, .backend = "auto"});
    const auto result = net.train(samples, {.epochs = 30, .batch = 8, .lr = 0.05, .settle = unlimited});
    CHECK(result.loss < 0.05);
    CHECK(net.settled());
}

TEST_CASE("auto, real: findings of one network serve the next one, on the card too") {
    if (!have_card()) return;
    const Samples samples = pairs(600);
    const TrainOptions options{.epochs = 2, .batch = 16};
    const Network net = on_the_card(samples, options);
    Network pinned(small_network("gpu"));
    pinned.train(samples, options);
    CHECK(net.weights() == pinned.weights());
    CHECK(net.generation() == 76);
}

TEST_CASE("auto, real: a network on the card answers a few samples on the CPU, with the weights of the moment") {
    if (!have_card()) return;
    const Samples samples = pairs(200), few = pairs(50);
    Network net = on_the_card(samples, {.epochs = 2, .batch = 16});
    check_answers_of_cpu(net, few);
    Weights weights = net.weights();
    for (auto& list : weights) {
        for (double& w : list) w *= 1.5;
    }
    net.set_weights(weights);
    check_answers_of_cpu(net, few);
    // Best weights are put back after the latest call of on_epoch, without a training step.
    double worse = 0;
    net.train(samples, {.epochs = 3,
                        .batch = 16,
                        .patience = 5,
                        .watch = [&](double, auto) { return worse++; },
                        .on_epoch =
                            [&](const Epoch&) {
                                check_answers_of_cpu(net, few);
                                return true;
                            }});
    check_answers_of_cpu(net, few);
}

TEST_CASE("auto, real: what a program writes to the card's weights is what answers") {
    if (!have_card()) return;
    Network net = on_the_card(pairs(200), {.epochs = 2, .batch = 16});
    net.predict(std::array{0.25, 0.75});
    const Tensor first = net.value(0);
    net.shared_backend()->write(first, std::vector<double>(first.size(), 0.0));
    Network card(small_network("gpu"));
    card.set_weights(net.weights());
    CHECK(net.weights()[0] == std::vector<double>(first.size(), 0.0));
    CHECK(net.predict(std::array{0.25, 0.75}) == card.predict(std::array{0.25, 0.75}));
}

TEST_CASE("auto, real: many samples are answered where a chunk was measured to be faster") {
    if (!have_card()) return;
    Network net = on_the_card(pairs(200), {.epochs = 2, .batch = 16});
    const Samples many = pairs(40000);
    const std::vector<double> answers = net.predict_all(many);
    Network cpu(small_network("cpu")), card(small_network("gpu"));
    cpu.set_weights(net.weights());
    card.set_weights(net.weights());
    CHECK((answers == cpu.predict_all(many) || answers == card.predict_all(many)));
    CHECK(net.predict_all(many) == answers);
    CHECK(content(decide::measured_file()).find("\"answer; 2; dense:8,tanh,dense:2; softmax; cpu, ") !=
          std::string::npos);
}

TEST_CASE("auto, real: a file remembers what auto settled on, a network that is loaded starts there") {
    const Directory here;
    const auto file = here.file("n.safetensors");
    {
        Network net(small_network("auto"));
        CHECK(net.settled_on().empty());
        net.train(pairs(200), {.epochs = 1});
        CHECK(net.settled_on() == "cpu");
        net.save(file);
    }
    CHECK(Network::load(file).settled_on() == "cpu");
    CHECK(!Network::load(file).settled());
    CHECK(Network::load(file, "plain").settled_on() == "cpu");
    if (!have_card()) return;
    const Network net = on_the_card(pairs(200), {.epochs = 2, .batch = 16});
    net.save(file);
    const Network loaded = Network::load(file);
    CHECK(loaded.backend() == "gpu");
    CHECK(loaded.settled()->why == "Training had settled on gpu.");
    CHECK(loaded.weights() == net.weights());
    CHECK(loaded.generation() == 0);
    CHECK(Network::load(file, "plain").backend() == "plain");
    ::setenv("SHUNT_GPU", "off", 1);
    const Network without = Network::load(file);
    ::unsetenv("SHUNT_GPU");
    CHECK(without.backend() == "cpu");
    CHECK(without.settled()->failure.empty());
    CHECK(without.settled_on() == "gpu");  // so that saving it again forgets nothing
}

TEST_CASE("auto, real: a file from a card that is broken now is loaded on cpu, and says so") {
    register_backend("unplugged", [](const BackendOptions&) -> std::shared_ptr<Backend> {
        throw Error(Fault::gpu_broken, "It does not answer.");
    });
    NetworkState state = Network(small_network("cpu")).state();
    state.settled_on = "unplugged";
    const Network net = Network::from_state(state);
    CHECK(net.backend() == "cpu");
    REQUIRE(net.settled());
    CHECK(net.settled()->failure.find("does not work here: It does not answer.") != std::string::npos);
    CHECK(net.weights() == Network::from_state(state, "cpu").weights());
    state.settled_on = "never heard of";
    CHECK(Network::from_state(state).settled()->failure.empty());
}
