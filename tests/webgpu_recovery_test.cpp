// Training on a card that fails: the run goes on, with the bits of one that nothing happened to.
#include <doctest/doctest.h>

#include "card.hpp"
#include "networks.hpp"
#include "webgpu/fault.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

struct Trained {
    Weights weights;
    std::vector<double> losses, answers;
    std::vector<std::string> notes;
    std::string backend;

    bool same_bits(const Trained& other) const {
        return weights == other.weights && losses == other.losses && answers == other.answers;
    }
};

// `wide`: by operators, else as whole steps.
Network network(bool wide) {
    return Network({.input = 3, .layers = {dense(6), tanh(), dense(wide ? 70 : 2)}, .seed = 4, .backend = "gpu"});
}

Trained train(Network net) {
    Samples samples;
    for (int i = 0; i < 22; i++) samples.add({i / 22.0, i % 3 / 3.0, 1}, i % 2);
    Trained t;
    const TrainResult result = net.train(samples, {.epochs = 4, .batch = 8, .validate = &samples, .patience = 9});
    t.notes = result.notes;
    for (const Epoch& e : result.history) t.losses.insert(t.losses.end(), {e.loss, *e.validation});
    t.weights = net.weights();
    t.answers = net.predict_all(samples);
    t.backend = net.backend();
    return t;
}

// With a fault at every `step`th call. What happens before there is a network is the program's to see.
void sweep(Trouble trouble, bool wide, std::uint64_t step, Fault before) {
    const Trained right = train(network(wide));
    std::uint64_t n_noted = 0, n_quiet = 0, n_before = 0;
    for (std::uint64_t at = 1;; at += step) {
        INFO("at call ", at);
        FaultyCard card({.trouble = trouble, .at = at});
        {
            std::optional<Network> net;
            try {
                net.emplace(network(wide));
            } catch (const Error& error) {
                CHECK(error.fault() == before);
                n_before++;
                continue;
            }
            const Trained got = train(std::move(*net));
            CHECK(got.same_bits(right));
            CHECK(got.backend == "gpu");
            (got.notes.empty() ? n_quiet : n_noted)++;
            if (!card.happened()) break;
        }
        CHECK(card.aborts().empty());
    }
    MESSAGE(n_before, " before there was a network, ", n_noted, " told of, ", n_quiet, " not noticed by the run");
    CHECK(n_noted + n_quiet > 10);
}

}  // namespace

TEST_CASE("training on a card that is lost at any call ends with the bits of a run undisturbed") {
    if (!have_card()) return;
    sweep(Trouble::lost, false, 5, Fault::device_lost);
    sweep(Trouble::lost, true, 11, Fault::device_lost);
}

TEST_CASE("training on a card that refuses an object at any call ends with the bits of a run undisturbed") {
    if (!have_card()) return;
    sweep(Trouble::refused, false, 7, Fault::gpu_broken);
}

TEST_CASE("training on a card that refuses memory once at any call ends with the bits of a run undisturbed") {
    if (!have_card()) return;
    sweep(Trouble::memory, false, 7, Fault::out_of_memory);
}
