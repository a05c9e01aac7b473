// Epochs on a backend by the public calls, and samples that reach it in pieces: the same bits.
#include "shunt/epoch.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "failing_backend.hpp"
#include "networks.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

Samples some(std::size_t n, std::size_t n_in, std::size_t vocab, bool classes, bool weights) {
    Random random(23);
    Samples s;
    s.n = n;
    for (std::size_t i = 0; i < n; i++) {
        for (std::size_t k = 0; k < n_in; k++) {
            if (vocab > 0) {
                s.tokens.push_back(static_cast<std::uint32_t>(random.below(vocab)));
            } else {
                s.inputs.push_back(random.normal());
            }
        }
        if (classes) s.classes.push_back(static_cast<std::uint32_t>(random.below(3)));
        if (!classes) s.targets.insert(s.targets.end(), {random.normal(), random.normal(), random.normal()});
        if (weights) s.weights.push_back(random.uniform());
    }
    return s;
}

Samples chosen(const Samples& s, std::span<const std::uint32_t> rows) {
    Samples out;
    out.n = rows.size();
    const auto take = [&](const auto& from, auto& to) {
        const std::size_t cols = from.size() / s.n;
        for (std::uint32_t row : rows) {
            const auto first = from.begin() + static_cast<std::ptrdiff_t>(row * cols);
            to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(cols));
        }
    };
    take(s.inputs, out.inputs);
    take(s.tokens, out.tokens);
    take(s.classes, out.classes);
    take(s.targets, out.targets);
    take(s.weights, out.weights);
    return out;
}

struct Kind {
    bool tokens, classes, weights;
};
const std::array kinds = {Kind{true, true, false}, Kind{true, false, true}, Kind{false, true, true},
                          Kind{false, false, false}};

NetworkOptions network_for(const Kind& kind, const std::string& backend, std::size_t n_in = 4) {
    NetworkOptions o{.layers = {dense(6), tanh(), dense(3)},
                     .loss = kind.classes ? LossKind::softmax : LossKind::mse,
                     .backend = backend};
    o.input = Input(static_cast<std::int64_t>(n_in));
    if (kind.tokens) {
        o.input = Tokens{static_cast<std::int64_t>(n_in), 9};
        o.layers.insert(o.layers.begin(), embed(2));
    }
    return o;
}

// What a training leaves: weights, losses, answers.
struct Result {
    Weights weights;
    std::vector<double> losses, answers;
    double loss = 0;
    std::vector<std::string> notes;
};

Result train(const NetworkOptions& o, const Samples& samples, const Samples& held) {
    Network net(o);
    Result r;
    const TrainResult result = net.train(samples, {.epochs = 3, .batch = 32, .validate = &held, .patience = 9});
    for (const Epoch& epoch : result.history) r.losses.insert(r.losses.end(), {epoch.loss, *epoch.validation});
    r.weights = net.weights();
    r.answers = net.forward_all(samples);
    r.loss = net.loss(samples);
    r.notes = result.notes;
    return r;
}

void check_equal(const Result& a, const Result& b) {
    CHECK(a.weights == b.weights);
    CHECK(a.losses == b.losses);
    CHECK(a.answers == b.answers);
    CHECK(a.loss == b.loss);
    CHECK(a.notes == b.notes);
}

}  // namespace

TEST_CASE("batches, losses and gradients of an epoch on the backend are those of batches uploaded one by one") {
    for (const std::string& name : available_backends()) {
        const auto backend = make_backend(name);
        for (const Kind& kind : kinds) {
            INFO(name, kind.tokens ? ", tokens" : ", numbers", kind.classes ? ", softmax" : ", mse");
            const Samples s = some(50, 3, kind.tokens ? 9 : 0, kind.classes, kind.weights);
            const Tensor table = backend->upload(some(9, 1, 0, true, false).inputs, {9, 1});
            const auto outputs_of = [&](const Tensor& x) { return kind.tokens ? backend->embed(table, x) : x; };
            const auto gradient_of = [&](const Tensor& y, const EpochData& data, std::size_t start) {
                return kind.classes ? softmax_ce_at(*backend, y, data, start) : mse_at(*backend, y, data, start);
            };
            EpochData data = epoch_data(*backend, s);
            std::vector<std::uint32_t> order(50);
            std::iota(order.begin(), order.end(), 0);
            Random random(4);
            for (int epoch = 0; epoch < 2; epoch++) {
                random.shuffle(std::span(order));
                epoch_order(*backend, data, order);
                std::vector<double> expected;
                for (std::size_t start = 0; start < 50; start += 16) {
                    const std::size_t count = std::min<std::size_t>(16, 50 - start);
                    const Tensor x = batch_at(*backend, data, start, count);
                    const Tensor gradient = gradient_of(outputs_of(x), data, start);
                    const EpochData one = epoch_data(*backend, chosen(s, std::span(order).subspan(start, count)));
                    CHECK(backend->read(x) == backend->read(one.inputs));
                    CHECK(x.shape == one.inputs.shape);
                    const Tensor same = gradient_of(outputs_of(one.inputs), one, 0);
                    CHECK(backend->read(gradient) == backend->read(same));
                    expected.push_back(epoch_loss(*backend, one, count).front());
                }
                CHECK(epoch_loss(*backend, data, 16) == expected);
            }
            epoch_order(*backend, data, order);
            CHECK(epoch_loss(*backend, data, 16) == std::vector<double>(4, 0.0));
        }
    }
}

TEST_CASE("training with the samples on the backend gives the bits of batches by backprop and an optimizer") {
    for (const char* inner : {"plain", "cpu", "gpu"}) {
        if (!try_backend(inner).backend) continue;
        const Failures operators_alone(inner);  // a card of its own might take whole steps, rounded otherwise
        const std::string name = "test card";
        for (const Kind& kind : kinds) {
            INFO(inner, kind.tokens ? ", tokens" : ", numbers", kind.classes ? ", softmax" : ", mse");
            const Samples s = some(70, 4, kind.tokens ? 9 : 0, kind.classes, kind.weights);
            Network net(network_for(kind, name)), twin(network_for(kind, name));
            const TrainOptions options{.epochs = 2, .batch = 16};

            // The twin: all by hand, its parameters in an optimizer's tensors.
            const auto backend = make_backend(name);
            std::vector<Optimizer::Parameter> parameters;
            Random random(1);
            for (const Parameter& p : twin.params()) {
                parameters.push_back({backend->zeros(p.shape), backend->zeros(p.shape)});
                if (p.name == "E") {
                    for (std::size_t i = 0; i < p.shape.size(); i++) random.normal();
                } else if (p.name == "W") {
                    for (std::size_t i = 0; i < p.shape.size(); i++) random.uniform();
                }
            }
            const Weights start = twin.weights();
            for (std::size_t p = 0; p < start.size(); p++) backend->write(parameters[p].value, start[p]);
            Optimizer optimizer(options, backend, parameters);
            std::vector<std::uint32_t> order(70);
            std::iota(order.begin(), order.end(), 0);
            double mean = 0;
            for (int epoch = 0; epoch < 2; epoch++) {
                random.shuffle(std::span(order));
                mean = 0;
                for (std::size_t first = 0; first < 70; first += 16) {
                    const std::size_t count = std::min<std::size_t>(16, 70 - first);
                    mean += twin.backprop(chosen(s, std::span(order).subspan(first, count)));
                    const Weights gradients = twin.gradients();
                    for (std::size_t p = 0; p < gradients.size(); p++)
                        backend->write(parameters[p].gradient, gradients[p]);
                    optimizer.step(1 / static_cast<double>(count));
                    Weights now;
                    for (const auto& p : parameters) now.push_back(backend->read(p.value));
                    twin.set_weights(now);
                }
            }
            const double loss = net.train(s, options).loss;
            CHECK(loss == mean / 70);
            CHECK(net.weights() == twin.weights());
        }
    }
}

TEST_CASE("an optimizer goes on from its state, bit for bit") {
    for (const std::string& name : available_backends()) {
        for (OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
            const auto b = make_backend(name);
            const auto fresh = [&] {
                return std::pair(b->upload(std::vector<double>{1, 2}, {2}), b->upload(std::vector<double>{3, -4}, {2}));
            };
            const auto [p, g] = fresh();
            Optimizer one({.optimizer = kind}, b, {{p, g}});
            one.step();
            one.lr = 0.3;
            const Optimizer::State state = one.state();
            const auto half = b->read(p);
            one.step();
            const auto [p2, g2] = fresh();
            b->write(p2, half);
            Optimizer two({.optimizer = kind}, b, {{p2, g2}});
            two.set_state(state);
            two.step();
            CHECK(b->read(p) == b->read(p2));
            Optimizer other({.optimizer = kind == OptimizerKind::adam ? OptimizerKind::sgd : OptimizerKind::adam}, b,
                            {{p2, g2}});
            CHECK_THROWS_AS(other.set_state(state), Error);
        }
    }
}

TEST_CASE("epochs of the wrong sizes are refused, and the error says what does not fit") {
    const auto backend = make_backend("plain");
    Backend& b = *backend;
    Samples s = some(6, 2, 0, true, true);
    EpochData data = epoch_data(b, s);
    const std::vector<std::uint32_t> good = {5, 4, 3, 2, 1, 0}, short_one = {0, 1}, past = {0, 1, 2, 3, 4, 6};
    CHECK_THROWS_WITH_AS(epoch_order(b, data, short_one), "epoch_order: an order of 2 for 6 samples.", Error);
    CHECK_THROWS_WITH_AS(epoch_order(b, data, past), "epoch_order: there is no sample 6 among 6.", Error);
    epoch_order(b, data, good);
    CHECK_THROWS_WITH_AS(batch_at(b, data, 4, 3), "batch_at: 3 positions from 4 on are past the end of 6 samples.",
                         Error);
    const Tensor logits = b.zeros({2, 3});
    CHECK_THROWS_AS(softmax_ce_at(b, logits, data, 5), Error);
    CHECK_THROWS_AS(softmax_ce_at(b, logits, data, static_cast<std::size_t>(-1)), Error);
    CHECK_THROWS_AS(mse_at(b, logits, data, 0), Error);  // they are classes
    CHECK_THROWS_WITH_AS(softmax_ce_at(b, b.zeros({2, 2}), data, 0),
                         "softmax_ce_at: the samples have the class 2; there are logits for 2.", Error);
    CHECK_THROWS_AS(epoch_loss(b, data, 0), Error);
    CHECK_THROWS_AS(epoch_loss(b, EpochData{}, 1), Error);
    const auto refused = [&](auto change) {
        Samples changed = s;
        change(changed);
        CHECK_THROWS_AS(epoch_data(b, changed), Error);
    };
    refused([](Samples& c) { c.inputs.pop_back(); });
    refused([](Samples& c) { c.classes.pop_back(); });
    refused([](Samples& c) { c.weights.pop_back(); });
    refused([](Samples& c) { c.inputs.clear(); });
    refused([](Samples& c) { c.tokens = {1, 2, 3, 4, 5, 6}; });
    refused([](Samples& c) { c.targets = {1, 2, 3, 4, 5, 6}; });
    s.classes.clear();
    const EpochData inputs = epoch_data(b, s);
    CHECK_THROWS_WITH_AS(softmax_ce_at(b, logits, inputs, 0), "softmax_ce_at: these samples have no answers.", Error);
}

TEST_CASE("samples that do not fit on the backend go there in pieces, and give the same bits") {
    for (const char* inner : {"plain", "cpu", "gpu"}) {
        if (!try_backend(inner).backend) continue;
        for (const Kind& kind : kinds) {
            INFO(inner, kind.tokens ? ", tokens" : ", numbers", kind.classes ? ", softmax" : ", mse");
            const Samples samples = some(700, 8, kind.tokens ? 9 : 0, kind.classes, kind.weights);
            const Samples held = some(600, 8, kind.tokens ? 9 : 0, kind.classes, kind.weights);
            Failures failures(inner);
            const Result whole = train(network_for(kind, "test card", 8), samples, held);
            CHECK(failures.largest >= 5600);
            failures.most_values = 4200;  // seven tenths of the samples; 524 are two chunks
            const Result pieces = train(network_for(kind, "test card", 8), samples, held);
            check_equal(pieces, whole);
            failures.most_values = 256 * 16;  // one chunk of embedded tokens
            check_equal(train(network_for(kind, "test card", 8), samples, held), whole);
        }
    }
}
