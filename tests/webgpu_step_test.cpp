// Whole training steps on the card: the same as by the operators, whatever the layers and the batch.
#include <doctest/doctest.h>

#include "card.hpp"
#include "networks.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/fault.hpp"
#include "webgpu/step_text.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

struct Row {
    std::vector<std::int64_t> sizes;
    std::int64_t batch;
    Layer activation = relu();
    LossKind loss = LossKind::softmax;
    OptimizerKind optimizer = OptimizerKind::adam;
    bool weighted = false;
    bool last_activation = false;
};

const std::vector<Row> rows = {
    {{4, 2}, 1},
    {{1, 1, 1}, 3, tanh(), LossKind::mse},
    {{7, 32, 32, 2}, 16},
    {{4, 24, 24, 2}, 5, sigmoid(), LossKind::softmax, OptimizerKind::sgd},
    {{5, 6, 3}, 33, tanh(), LossKind::mse, OptimizerKind::sgd, true},
    {{8, 20, 3}, 64, relu(), LossKind::mse, OptimizerKind::adam, true, true},
    {{64, 64, 10}, 100, sigmoid(), LossKind::softmax, OptimizerKind::adam, true},
    {{784, 128, 128, 10}, 64},
    {{784, 10}, 17},
    {{33, 65, 31, 9, 64}, 21, tanh()},
};

Samples samples_for(const Row& row, std::size_t n) {
    Random random(3);
    Samples s;
    for (std::size_t i = 0; i < n; i++) {
        std::vector<double> x(static_cast<std::size_t>(row.sizes.front())),
            y(static_cast<std::size_t>(row.sizes.back()));
        for (double& v : x) v = random.normal();
        for (double& v : y) v = random.uniform();
        const double weight = row.weighted ? static_cast<double>(i % 3) : 1;
        if (row.loss == LossKind::mse)
            s.add(x, y, weight);
        else
            s.add(x, static_cast<std::int64_t>(i) % row.sizes.back(), weight);
    }
    return s;
}

Network network_for(const Row& row, const std::string& backend) {
    std::vector<Layer> layers;
    for (std::size_t l = 1; l < row.sizes.size(); l++) {
        layers.push_back(dense(row.sizes[l]));
        if (l + 1 < row.sizes.size() || row.last_activation) layers.push_back(row.activation);
    }
    return Network({.input = row.sizes.front(), .layers = layers, .loss = row.loss, .seed = 5, .backend = backend});
}

// Of one sample under equal weights: the logarithm of the number of classes. None where it was declined.
std::optional<double> loss_of_a_step(Backend& card, const std::vector<DenseLayer>& layers, std::size_t batch = 1) {
    const std::vector<double> values(128, 0.5), inputs{1, 2, 3, 4};
    const std::vector<std::uint32_t> one{0};
    const TrainStep step{.layers = layers,
                         .values = card.upload(values, {128}),
                         .gradients = card.zeros({128}),
                         .m = card.zeros({128}),
                         .v = card.zeros({128}),
                         .inputs = card.upload(inputs, {1, 4}),
                         .answers = card.upload(one, {1}),
                         .batch = batch,
                         .losses = card.zeros({1}),
                         .update = {.rate = 0.1}};
    if (!card.train_step(step)) return std::nullopt;
    return card.read(step.losses).front();
}

}  // namespace

TEST_CASE("gpu: a whole step in two dispatches does what the operators do on plain") {
    if (!have_card()) return;
    for (const Row& row : rows) {
        std::string name;
        for (std::int64_t size : row.sizes) name += std::to_string(size) + " ";
        INFO(name, "batch ", row.batch);
        const Samples samples = samples_for(row, static_cast<std::size_t>(row.batch) * 3 + 1);  // and a batch of one
        Network on_plain = network_for(row, "plain"), on_card = network_for(row, "gpu");
        const TrainOptions options{.epochs = 3,
                                   .batch = row.batch,
                                   .optimizer = row.optimizer,
                                   .lr = 0.005,
                                   .weight_decay = 0.1,
                                   .lr_decay = 0.9};
        const TrainResult expected = on_plain.train(samples, options), got = on_card.train(samples, options);
        CHECK(got.loss == doctest::Approx(expected.loss).epsilon(1e-5));
        CHECK(largest_difference(on_card.weights(), on_plain.weights()) < 1e-4);
        CHECK(largest_difference(on_card.gradients(), on_plain.gradients()) < 1e-5);
    }
}

TEST_CASE("gpu: narrow networks are taken as a whole, wide ones and large batches by products") {
    const auto layers = [](std::vector<std::size_t> sizes) {
        std::vector<DenseLayer> all;
        for (std::size_t l = 1; l < sizes.size(); l++) all.push_back({sizes[l - 1], sizes[l]});
        return all;
    };
    const StepLimits smallest, usual{1024, 32768, 65535};
    for (const StepLimits& limits : {smallest, usual}) {
        CHECK(is_narrow(layers({784, 10}), 64, limits));
        CHECK(is_narrow(layers({7, 32, 32, 2}), 16, limits));
        CHECK(is_narrow(layers({784, 128, 128, 10}), 64, limits));
        CHECK(!is_narrow(layers({784, 2048, 2048, 10}), 64, limits));
        CHECK(!is_narrow(layers({7, 32, 32, 2}), 65536, limits));
        CHECK(!is_narrow(layers({784, 512, 512, 10}), 256, limits));
        CHECK(!is_narrow(layers({8, 65}), 16, limits));  // a softmax of many classes
    }
    CHECK(!is_narrow(layers({4000, 16, 2}), 16, smallest));  // a sample past the workgroup's memory
    CHECK(is_narrow(layers({4000, 16, 2}), 16, usual));
    auto gelu = layers({8, 16, 2});
    gelu[0].activation = Activation::gelu;
    CHECK(!is_narrow(gelu, 16, usual));  // without a gradient: the operators refuse it
}

TEST_CASE("gpu: whole steps of the rows above are whole steps") {
    for (const Row& row : rows) {
        std::vector<DenseLayer> all;
        for (std::size_t l = 1; l < row.sizes.size(); l++)
            all.push_back({static_cast<std::size_t>(row.sizes[l - 1]), static_cast<std::size_t>(row.sizes[l])});
        CHECK(is_narrow(all, static_cast<std::uint64_t>(row.batch), {}));
    }
}

TEST_CASE("gpu: a whole step after one that was declined is that of its own layers") {
    if (!have_card()) return;
    const auto card = make_backend("gpu");
    CHECK(loss_of_a_step(*card, {{4, 2, 0, 64}}) == doctest::Approx(std::log(2.0)));
    CHECK(!loss_of_a_step(*card, {{4, 3, 0, 64}}, 1 << 22));
    CHECK(loss_of_a_step(*card, {{4, 3, 0, 64}}) == doctest::Approx(std::log(3.0)));
}

TEST_CASE("gpu: a whole step that failed at any call is that of its own layers when it is asked for again") {
    if (!have_card()) return;
    std::uint64_t at = 1;
    {
        const FaultyCard counted;
        const auto card = make_gpu({});
        at += counted.calls();
    }
    int failed = 0;
    for (bool past_the_end = false; !past_the_end; at++) {
        INFO("at call ", at);
        FaultyCard faulty({.trouble = Trouble::refused, .at = at});
        const auto card = make_gpu({});
        for (const std::size_t classes : {2u, 3u}) {
            const auto loss = [&] { return loss_of_a_step(*card, {{4, classes, 0, 64}}).value(); };
            double got = 0;
            try {
                got = loss();
            } catch (const Error&) {
                failed++;
                got = loss();
            }
            CHECK(got == doctest::Approx(std::log(static_cast<double>(classes))));
        }
        past_the_end = !faulty.happened();
    }
    CHECK(failed >= 4);  // the two kernels of each
}
