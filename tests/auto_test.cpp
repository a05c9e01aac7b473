// How a network created with "auto" settles: the order of events and the decisions with a clock and
// costs of the test's own, and all of it on the real backends.
#include "net/auto.hpp"

#include <map>
#include <regex>

#include "decide/measured.hpp"
#include "model_tables.hpp"
#include "networks.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

void forget() {
    std::filesystem::remove(decide::measured_file());
}

std::unique_ptr<Network::Impl> network() {
    auto net = std::make_unique<Network::Impl>();
    net->input = 2;
    net->layers = {dense(4), shunt::tanh(), dense(2)};
    net->backend = make_backend("cpu");
    net->is_auto = true;
    net->build();
    net->place();
    net->initialise();
    return net;
}

// Backends that cost what the test says, on a clock that only they move.
struct Theatre {
    struct Costs {
        double step = 0, opening = 0, probe = 0;
        std::string fails_at = {};  // "open", "probe", "step", "measure", "again"
        Fault fault = Fault::gpu_broken;
        bool there = true;
        std::string driver = "driver 1";
    };
    std::map<std::string, Costs> costs;
    double clock = 0;
    std::vector<std::string> events;
    std::map<const Backend*, std::string> names;
    std::vector<std::shared_ptr<Backend>> opened;
    std::map<std::string, int> measured;

    void happen(const std::string& name, const std::string& what, double seconds) {
        events.push_back(name + " " + what);
        if (costs[name].fails_at == what) throw Error(costs[name].fault, "It broke.");
        clock += seconds;
    }

    World world(const Network::Impl& net) {
        if (!names.contains(net.backend.get())) names[net.backend.get()] = "cpu";
        World w;
        w.now = [this] { return clock; };
        w.machine = [this](const std::string& name, const BackendOptions&) {
            return decide::Machine{costs[name].there, name + ", " + costs[name].driver, "not there."};
        };
        w.open = [this](const std::string& name, const BackendOptions&) {
            happen(name, "open", costs[name].opening);
            opened.push_back(make_backend("plain"));
            names[opened.back().get()] = name;
            return opened.back();
        };
        w.trial = [this](Network::Impl& on, const Samples&, const TrainOptions&) -> std::unique_ptr<Trial> {
            return std::make_unique<Played>(*this, on, names.at(on.backend.get()));
        };
        return w;
    }

    struct Played final : Trial {
        Played(Theatre& s, Network::Impl& n, std::string at) : theatre(s), net(n), name(std::move(at)) {
            net.write(net.read(net.gradients));  // leaves traces on the weights, as steps do
            net.generation += 5;
        }
        double probe() override {
            theatre.happen(name, "probe", 2 * theatre.costs[name].probe);
            return theatre.costs[name].probe;
        }
        double step() override {
            const double seconds = theatre.costs[name].step * (first ? 5 : 1.1);
            theatre.happen(name, first ? "step" : "second step", seconds);
            first = false;
            return seconds;
        }
        decide::TrainingCost measure(double limit, double bar) override {
            const bool again = theatre.measured[name]++ > 0;
            theatre.happen(name, again ? "again" : bar > 0 ? "measure below bar" : "measure", limit);
            if (!again && theatre.costs[name].fails_at == "measure")
                throw Error(theatre.costs[name].fault, "It broke.");
            return {.step = theatre.costs[name].step * (again ? 0.99 : 1)};
        }
        Theatre& theatre;
        Network::Impl& net;
        std::string name;
        bool first = true;
    };
};

using Events = std::vector<std::string>;

// Settles, and checks that no trace is left.
const Settled& settled_by(Theatre& theatre, Network::Impl& net, const Samples& samples, const TrainOptions& options) {
    const Weights before = net.read(net.values);
    const auto generation = net.generation;
    const auto state = net.random.uniform();
    Random random = net.random;
    settle(net, samples, options, theatre.world(net));
    CHECK(net.read(net.values) == before);
    CHECK(net.generation == generation);
    CHECK(net.random.uniform() == random.uniform());
    CHECK(state > 0);
    REQUIRE(net.settled);
    CHECK(theatre.names.at(net.backend.get()) == net.settled->backend);
    CHECK(net.settled_on == net.settled->backend);
    return *net.settled;
}

// 60 s on the CPU: 1 ms a step.
const TrainOptions minute{.epochs = 1600, .batch = 16};

}  // namespace

TEST_CASE("auto: the order of events, each close backend is timed twice, the fastest wins") {
    forget();
    auto net = network();
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 0.9e-3, .opening = 0.4}}}};
    TrainOptions options = minute;
    options.batch = 32;
    options.epochs = 3200;
    const Settled& s = settled_by(theatre, *net, pairs(600), options);
    CHECK(theatre.events == Events{"cpu step", "cpu second step", "cpu measure", "gpu open", "gpu probe", "gpu step",
                                   "gpu second step", "gpu measure below bar", "cpu step", "cpu again", "gpu step",
                                   "gpu again"});
    CHECK(s.backend == "gpu");
    CHECK(s.steps == 3200 * 19);
    CHECK(s.n == 600);
    CHECK(s.batch == 32);
    CHECK(s.seconds_per_step == std::map<std::string, double>{{"cpu", 0.99e-3}, {"gpu", 0.99 * 0.9e-3}});
    CHECK(!s.from_memory);
    CHECK(s.failure.empty());
    CHECK(s.why.starts_with("gpu: 890 µs a step, 54 s for this run; cpu: 990 µs"));
    CHECK(theatre.clock < 0.031 * 54);
}

TEST_CASE("auto: what is far behind is not timed twice, nor the winner without need") {
    forget();
    auto net = network();
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 0.01e-3, .opening = 0.4}}}};
    CHECK(settled_by(theatre, *net, pairs(600), minute).backend == "gpu");
    CHECK(theatre.events == Events{"cpu step", "cpu second step", "cpu measure", "gpu open", "gpu step",
                                   "gpu second step", "gpu measure below bar"});
}

TEST_CASE("auto: 16 samples show what is hopeless, which is not in the table") {
    forget();
    auto net = network();
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 1, .opening = 0.4, .probe = 0.1}}}};
    TrainOptions options = minute;
    options.batch = 17;
    for (bool again : {false, true}) {
        const Settled& s = settled_by(theatre, *net, pairs(600), options);
        CHECK(s.backend == "cpu");
        CHECK(s.seconds_per_step.size() == 1);
        CHECK(s.why.find("gpu needs 100 ms for 16 samples") != std::string::npos);
        CHECK(s.from_memory == again);
        net->settled.reset();
    }
    CHECK(theatre.events ==
          Events{"cpu step", "cpu second step", "cpu measure", "gpu open", "gpu probe", "cpu step", "cpu second step"});
}

TEST_CASE("auto: a run below worth stays after one step, and no card is opened") {
    forget();
    auto net = network();
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 1e-6}}}};
    const Settled& s = settled_by(theatre, *net, pairs(600), {.epochs = 2, .batch = 16});
    CHECK(theatre.events == Events{"cpu step"});
    CHECK(s.backend == "cpu");
    CHECK(s.steps == 76);
    CHECK(s.why == "By its first steps cpu needs about 380 ms for this run, too little to look for a faster backend.");
    CHECK(!std::filesystem::exists(decide::measured_file()));
}

TEST_CASE("auto: steps that are too few to spend one of them on a trial") {
    auto net = network();
    Theatre theatre{{{"cpu", {.step = 1e-3}}}};
    const Settled& s = settled_by(theatre, *net, pairs(160), {.epochs = 3, .batch = 16});
    CHECK(theatre.events.empty());
    CHECK(s.seconds_per_step.empty());
    CHECK(s.why == "Nothing was measured: 30 steps of this network are too little work.");
}

TEST_CASE("auto: fewer than eight batches settle nothing") {
    auto net = network();
    Theatre theatre;
    net->settled = Settled{};
    settle(*net, pairs(40), {.epochs = 1000, .batch = 16}, theatre.world(*net));
    CHECK(!net->settled);
    CHECK(theatre.events.empty());
}

TEST_CASE("auto: a card is opened only where that is within the budget of the run") {
    forget();
    auto net = network();
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 1e-6, .opening = 0.4}}}};
    const Settled& s = settled_by(theatre, *net, pairs(600), {.epochs = 400, .batch = 16});  // 15 s
    CHECK(theatre.events == Events{"cpu step", "cpu second step", "cpu measure"});
    CHECK(s.backend == "cpu");
    CHECK(s.why.find("to try gpu (500 ms) would take more than 3 % of the run") != std::string::npos);
    CHECK(settled_by(theatre, *net, pairs(600), minute).backend == "gpu");
}

TEST_CASE("auto: findings are used again without a trial, then opening is a cost of the card") {
    forget();
    const Samples samples = pairs(600);
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 0.1e-3, .opening = 1}}}};
    TrainOptions options = minute;
    settled_by(theatre, *network(), samples, options);
    const auto settled_again = [&](std::int64_t epochs) {
        theatre.events.clear();
        options.epochs = epochs;
        auto net = network();
        return settled_by(theatre, *net, samples, options);
    };
    const Settled longer = settled_again(100);  // 3.8 s, or 0.38 and 1 to open
    CHECK(longer.backend == "gpu");
    CHECK(longer.from_memory);
    CHECK(longer.why.ends_with("(measured earlier)."));
    CHECK(theatre.events == Events{"cpu step", "cpu second step", "gpu open"});
    theatre.costs["gpu"].driver = "driver 2";  // so it is another one
    CHECK(settled_again(100).backend == "cpu");
    theatre.costs["gpu"].driver = "driver 1";
    options.settle.worth = 0;
    const Settled shorter = settled_again(25);  // 0.95 s, or 0.1 and 1 to open
    CHECK(shorter.backend == "cpu");
    CHECK(shorter.from_memory);
    CHECK(theatre.events == Events{"cpu step", "cpu second step"});
    options.settle.remember = false;
    CHECK(!settled_again(1600).from_memory);
}

TEST_CASE("auto: remembered figures whose sums are past all numbers are measured anew") {
    forget();
    const Samples samples = pairs(600);
    Theatre theatre{{{"cpu", {.step = 0.1e-3}}, {"gpu", {.step = 1e-3}}}};
    const Settled first = settled_by(theatre, *network(), samples, minute);
    const std::regex step("\"step\": ?[^,}\n]+");
    put(decide::measured_file(), std::regex_replace(content(decide::measured_file()), step, "\"step\": 1e308"));
    theatre.events.clear();
    theatre.measured.clear();
    const Settled second = settled_by(theatre, *network(), samples, minute);
    CHECK(second.backend == "cpu");
    CHECK(!second.from_memory);
    CHECK(second.seconds_per_step == first.seconds_per_step);
    CHECK(second.why == first.why);
    CHECK(settled_by(theatre, *network(), samples, minute).from_memory);
}

TEST_CASE("auto: another optimizer, batch or network is measured anew") {
    forget();
    const Samples samples = pairs(600);
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 0.1e-3}}}};
    TrainOptions options = minute;
    const auto from_memory = [&](Network::Impl& net) { return settled_by(theatre, net, samples, options).from_memory; };
    CHECK(!from_memory(*network()));
    CHECK(from_memory(*network()));
    options.optimizer = OptimizerKind::sgd;
    CHECK(!from_memory(*network()));
    options.optimizer = OptimizerKind::adam;
    options.batch = 15;
    CHECK(!from_memory(*network()));
    options.batch = 16;
    auto other = network();
    other->loss = LossKind::mse;
    CHECK(!from_memory(*other));
}

TEST_CASE("auto: a settlement is kept for the same work and renewed for another") {
    forget();
    const Samples samples = pairs(600);
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 2e-3}}}};
    auto net = network();
    settled_by(theatre, *net, samples, minute);
    theatre.events.clear();
    settled_by(theatre, *net, samples, minute);
    CHECK(theatre.events.empty());
    TrainOptions other = minute;
    other.epochs++;
    settled_by(theatre, *net, samples, other);
    CHECK(theatre.events == Events{"cpu step", "cpu second step"});
}

TEST_CASE("auto: a backend that fails anywhere in its trial is left out and named, training stays on cpu") {
    for (const char* where : {"open", "probe", "step", "measure below bar", "again"}) {
        for (const Fault fault : {Fault::gpu_broken, Fault::out_of_memory}) {
            INFO(where);
            forget();
            auto net = network();
            Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 0.9e-3, .fails_at = where, .fault = fault}}}};
            TrainOptions options = minute;
            options.batch = 17;
            const Settled& s = settled_by(theatre, *net, pairs(600), options);
            CHECK(s.backend == "cpu");
            CHECK(s.failure == "gpu failed: It broke.");
            CHECK(s.why.find("; gpu failed: It broke.") != std::string::npos);
            CHECK(s.seconds_per_step.size() == 1);
        }
    }
}

TEST_CASE("auto: a remembered card that does not open is left out and named") {
    forget();
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 0.1e-3}}}};
    CHECK(settled_by(theatre, *network(), pairs(600), minute).backend == "gpu");
    theatre.costs["gpu"].fails_at = "open";
    auto net = network();
    const Settled& s = settled_by(theatre, *net, pairs(600), minute);
    CHECK(s.backend == "cpu");
    CHECK(s.failure == "gpu failed: It broke.");
}

TEST_CASE("auto: no card is said in one clause and is no failure") {
    forget();
    for (bool listed : {false, true}) {
        auto net = network();
        Theatre theatre{
            {{"cpu", {.step = 1e-3}}, {"gpu", {.fails_at = "open", .fault = Fault::no_gpu, .there = listed}}}};
        const Settled& s = settled_by(theatre, *net, pairs(600), minute);
        CHECK(s.why == "cpu: 1 ms a step, 61 s for this run; there is no graphics card to use here.");
        CHECK(s.failure.empty());
        forget();
    }
}

TEST_CASE("auto: a network that is on a card that fails in its trial goes on on cpu") {
    forget();
    const Samples samples = pairs(600);
    Theatre theatre{{{"cpu", {.step = 1e-3}}, {"gpu", {.step = 0.1e-3}}}};
    auto net = network();
    settled_by(theatre, *net, samples, minute);
    REQUIRE(net->settled->backend == "gpu");
    TrainOptions other = minute;
    other.batch = 20;
    SUBCASE("at once") {
        theatre.costs["gpu"] = {.fails_at = "step", .fault = Fault::device_lost};
    }
    SUBCASE("at the second look") {
        theatre.measured.clear();
        theatre.costs["gpu"] = {.step = 1e-3, .fails_at = "again", .fault = Fault::device_lost};
    }
    const Settled& s = settled_by(theatre, *net, samples, other);
    CHECK(s.backend == "cpu");
    CHECK(s.why == "plain failed: It broke. Training goes on on cpu.");
}

TEST_CASE("auto: wrong arguments are refused as without it, and leave the network as it was") {
    Network net({.input = 2, .layers = {dense(2)}, .backend = "auto"});
    const Weights before = net.weights();
    CHECK_THROWS_WITH_AS(net.train(pairs(600), {.epochs = 100, .lr = -1.0}), doctest::Contains("learning rate"), Error);
    CHECK_THROWS_AS(net.train(pairs(600), {.settle = {.timed = 0}}), Error);
    CHECK_THROWS_AS(net.train(pairs(600), {.settle = {.budget = std::nan("")}}), Error);
    CHECK(net.weights() == before);
    CHECK(net.generation() == 0);
}
