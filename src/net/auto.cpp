// The order of events when a network settles on a backend. What is fast enough, hopeless or worth a
// second look is decided in decide/choose.hpp; how a backend is timed, in trial.cpp.
#include "net/auto.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "decide/choose.hpp"
#include "decide/measured.hpp"
#include "shunt/file.hpp"

namespace shunt {
namespace {

constexpr double usual_opening = 0.5;  // seconds, of a card that was never opened: 0.2 to 0.8
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double longest_trial = 0.4;  // seconds

std::string without_stop(std::string sentence) {
    if (sentence.ends_with('.')) sentence.pop_back();
    return sentence;
}

decide::Figures as_figures(const decide::TrainingCost& c) {
    return {{"step", c.step},
            {"epoch", c.epoch},
            {"sample", c.sample},
            {"validation", c.validation},
            {"opening", c.opening}};
}

std::optional<decide::TrainingCost> from_figures(const decide::Figures& f) {
    for (const char* name : {"step", "epoch", "sample", "validation", "opening"}) {
        if (!f.contains(name) || f.at(name) < 0) return std::nullopt;
    }
    return decide::TrainingCost{f.at("step"), f.at("epoch"), f.at("sample"), f.at("validation"), f.at("opening")};
}

// A backend in the comparison.
struct Side {
    std::string name, facts;
    std::shared_ptr<Backend> backend;  // none: it would have to be opened
    decide::TrainingCost cost;
    bool remembered = false;  // measured before
    bool hopeless = false;    // then `step` is what 16 samples take
    bool failed = false;

    bool in() const { return !hopeless && !failed; }
};

class Settling {
public:
    Settling(Network::Impl& net, const Samples& samples, const TrainOptions& options, const World& world)
        : net_(net), samples_(samples), o_(options), world_(world), start_(world.now()) {
        const double n = static_cast<double>(samples.n), batch = static_cast<double>(options.batch);
        const double n_validation = options.validate ? static_cast<double>(options.validate->n) : 0;
        const double epochs = static_cast<double>(options.epochs);
        work_ = {n, n_validation, epochs, epochs * std::ceil(n / batch)};
    }

    void operator()() {
        if (is_settled()) return;
        net_.settled.reset();
        if (work_.samples < 8.0 * static_cast<double>(o_.batch)) return;
        result_ = {.backend = std::string(net_.backend->name()),
                   .n = static_cast<std::int64_t>(work_.samples),
                   .batch = o_.batch,
                   .steps = static_cast<std::int64_t>(work_.steps)};
        if (too_few_steps()) {
            result_.why = "Nothing was measured: " + counted(static_cast<std::size_t>(work_.steps), "step") +
                          " of this network are too little work.";
        } else {
            try {
                leaving_no_trace([&] { measure(); });
            } catch (const Error& error) {
                if (weights_.empty()) weights_ = net_.kept;
                if (weights_.empty() || result_.backend == "cpu" || !of_a_card(error)) throw;
                retreat(error);
            }
        }
        net_.settled_on = result_.backend;
        net_.settled = std::move(result_);
    }

private:
    bool is_settled() const {
        const auto& s = net_.settled;
        return s && s->n == static_cast<std::int64_t>(work_.samples) && s->batch == o_.batch &&
               s->steps == static_cast<std::int64_t>(work_.steps) && s->backend == net_.backend->name();
    }

    // When one step is more than the budget, and would tell nothing.
    bool too_few_steps() const {
        std::size_t n_params = 0;
        for (const Parameter& p : net_.params) n_params += p.shape.size();
        return work_.steps * o_.settle.budget < 1 &&
               decide::surely_below(o_.settle.worth, static_cast<double>(n_params), static_cast<double>(o_.batch),
                                    work_.steps);
    }

    template <typename Work>
    void leaving_no_trace(const Work& work) {
        weights_ = net_.surviving([&] { return net_.read(net_.values); });
        generation_ = net_.generation;
        const std::shared_ptr<Backend> before = net_.backend;
        try {
            work();
        } catch (...) {
            net_.move_to(before, weights_);
            net_.generation = generation_;
            throw;
        }
        net_.generation = generation_;
    }

    static bool of_a_card(const Error& error) {
        const Fault f = error.fault();
        return f == Fault::device_lost || f == Fault::timed_out || f == Fault::gpu_broken || f == Fault::out_of_memory;
    }

    // From a card that fails where the network already was.
    void retreat(const Error& error) {
        leave_out(result_.backend, error);
        net_.move_to(world_.open("cpu", net_.backend_options), weights_);
        net_.generation = generation_;
        result_.why = result_.failure + " Training goes on on cpu.";
        result_.backend = "cpu";
    }

    void measure() {
        const bool alone = measure_here();
        if (!alone) {
            for (const std::string& name : world_.candidates) {
                if (name != sides_[0].name) measure_other(name);
            }
            look_again();
        }
        take(alone);
        for (const Side& side : sides_) {
            if (side.in()) result_.seconds_per_step[side.name] = side.cost.step;
            if (o_.settle.remember && !side.remembered && !side.failed && !alone) remember(side);
        }
    }

    // The backend that the network is on. True where nothing else is worth a look.
    bool measure_here() {
        Side here{.name = result_.backend, .facts = {}, .backend = net_.backend, .cost = {}};
        const auto trial = world_.trial(net_, samples_, o_);
        warm_up(*trial, here);
        const bool short_for_sure = whole(here) < o_.settle.worth;
        if (!short_for_sure) {
            here.facts = world_.machine(here.name, net_.backend_options).facts;
            if (!recall(here)) here.cost = trial->measure(share(whole(here)), 0);
        }
        sides_.push_back(here);
        if (whole(here) >= o_.settle.worth) return false;
        result_.why = (short_for_sure ? "By its first steps " : "") + here.name + " needs about " +
                      time_in_words(whole(here)) + " for this run, too little to look for a faster backend.";
        return true;
    }

    // Steps that tell how long to measure. One is enough where it takes long, or where even the first,
    // with all its compiling, says that nothing is to be gained.
    void warm_up(Trial& trial, Side& side) const {
        for (int i = 0; i < std::max(1, o_.settle.warm_up); i++) {
            side.cost.step = trial.step();
            if (whole(side) < o_.settle.worth || side.cost.step > share(whole(side))) return;
        }
    }

    void measure_other(const std::string& name) {
        try {
            const decide::Machine machine = world_.machine(name, net_.backend_options);
            if (!machine.there) {
                asides_.push_back(name == "gpu" ? "there is no graphics card to use here"
                                                : name + " is not here: " + without_stop(machine.reason));
                return;
            }
            Side side{.name = name, .facts = machine.facts, .backend = {}, .cost = {}};
            if (!recall(side)) {
                const double opening = opening_of(side);
                if (spent() + opening > o_.settle.budget * best_whole()) {
                    asides_.push_back("to try " + name + " (" + time_in_words(opening) + ") would take more than " +
                                      to_text(100 * o_.settle.budget) + " % of the run");
                    return;
                }
                try_out(side);
            }
            if (side.hopeless) asides_.push_back(name + " needs " + time_in_words(side.cost.step) + " for 16 samples");
            sides_.push_back(side);
        } catch (const Error& error) {
            leave_out(name, error);
        }
    }

    void try_out(Side& side) {
        const double opened = world_.now(), best = best_step();
        side.backend = world_.open(side.name, net_.backend_options);
        net_.move_to(side.backend, weights_);
        const auto trial = world_.trial(net_, samples_, o_);
        if (o_.batch > 16) {
            side.cost.step = trial->probe();
            side.hopeless = decide::hopeless(side.cost.step, best);
        }
        if (!side.hopeless) {
            warm_up(*trial, side);
            const double ready = world_.now();
            side.cost = trial->measure(share(std::min(whole(side), best_whole())), best);
            side.cost.opening = std::max(0.0, ready - opened - side.cost.step);
        }
    }

    // A first measurement is pessimistic; those that are close get another, all or none of them.
    void look_again() {
        const double best = best_step();
        const auto close = [&](const Side& side) { return side.in() && decide::close_to(side.cost.step, best); };
        const auto n = std::ranges::count_if(sides_, close);
        const double limit = share(best_whole());
        if (n < 2 || spent() + static_cast<double>(n) * limit > o_.settle.budget * best_whole()) return;
        for (Side& side : sides_) {
            if (!close(side) || side.remembered) continue;
            try {
                net_.move_to(side.backend, weights_);
                const auto trial = world_.trial(net_, samples_, o_);
                trial->step();
                side.cost.step = std::min(side.cost.step, trial->measure(limit, 0).step);
            } catch (const Error& error) {
                if (&side == &sides_[0]) throw;
                side.failed = true;
                leave_out(side.name, error);
            }
        }
    }

    // Moves the network to the fastest side that opens.
    void take(bool alone) {
        while (true) {
            std::vector<double> times;
            for (const Side& side : sides_) times.push_back(side.in() ? whole(side) : infinity);
            Side& winner = sides_[decide::fastest(times)];
            try {
                if (!winner.backend) winner.backend = world_.open(winner.name, net_.backend_options);
                if (net_.backend != winner.backend) net_.move_to(winner.backend, weights_);
                net_.write(weights_);
            } catch (const Error& error) {
                if (&winner == &sides_[0]) throw;
                winner.failed = true;
                leave_out(winner.name, error);
                continue;
            }
            result_.backend = winner.name;
            result_.from_memory = !alone && std::ranges::all_of(sides_, &Side::remembered);
            if (!alone) result_.why = comparison(winner);
            return;
        }
    }

    // "gpu: 90 µs a step, 5.4 s in all; cpu: 400 µs, 24 s (measured now)."
    std::string comparison(const Side& winner) const {
        std::string text = winner.name + ": " + time_in_words(winner.cost.step) + " a step, " +
                           time_in_words(whole(winner)) + " for this run";
        for (const Side& side : sides_) {
            if (&side == &winner || !side.in()) continue;
            text += "; " + side.name + ": " + time_in_words(side.cost.step) + ", " + time_in_words(whole(side));
        }
        for (const std::string& aside : asides_) text += "; " + aside;
        return text + (result_.from_memory ? " (measured earlier)." : ".");
    }

    void leave_out(const std::string& name, const Error& error) {
        if (error.fault() == Fault::no_gpu) {
            asides_.push_back("there is no graphics card to use here");
            return;
        }
        asides_.push_back(name + " failed: " + without_stop(error.what()));
        result_.failure = name + " failed: " + error.what();
    }

    bool recall(Side& side) const {
        if (!o_.settle.remember) return false;
        const auto figures = decide::recall(key(side.facts)).figures;
        if (!figures) return false;
        if (const auto probe = figures->find("of_16_samples"); probe != figures->end()) {
            side.hopeless = side.remembered = decide::hopeless(probe->second, best_step());
            if (side.hopeless) side.cost.step = probe->second;
        } else if (const auto cost = from_figures(*figures)) {
            const decide::TrainingCost before = std::exchange(side.cost, *cost);
            side.remembered = std::isfinite(whole(side));  // nobody measured what is not
            if (!side.remembered) side.cost = before;
        }
        return side.remembered;
    }

    void remember(const Side& side) const {
        const auto figures = side.hopeless ? decide::Figures{{"of_16_samples", side.cost.step}} : as_figures(side.cost);
        decide::remember(key(side.facts), figures);
        if (side.cost.opening > 0) decide::remember("opening; " + side.facts, {{"opening", side.cost.opening}});
    }

    double opening_of(const Side& side) const {
        const auto found = decide::recall("opening; " + side.facts).figures;
        if (found && found->contains("opening")) return found->at("opening");
        return side.name == "gpu" ? usual_opening : 0;
    }

    std::string key(const std::string& facts) const {
        return work_in_words("train", net_) + "; batch " + std::to_string(o_.batch) + "; " +
               std::string(to_string(o_.optimizer)) + "; " + facts + "; shunt " SHUNT_VERSION;
    }

    // What is still to be paid: a backend that is open is open.
    double whole(const Side& side) const { return decide::seconds(side.cost, work_, !side.backend); }

    double best_step() const {
        double best = infinity;
        for (const Side& side : sides_) best = side.in() ? std::min(best, side.cost.step) : best;
        return best;
    }
    double best_whole() const {
        double best = infinity;
        for (const Side& side : sides_) best = side.in() ? std::min(best, whole(side)) : best;
        return best;
    }

    double spent() const { return world_.now() - start_; }

    // Of one trial: there are up to four, and opening a card.
    double share(double run) const { return std::min(longest_trial, o_.settle.budget * run / 6); }

    Network::Impl& net_;
    const Samples& samples_;
    const TrainOptions& o_;
    const World& world_;
    const double start_;
    decide::TrainingWork work_;
    Settled result_;
    Weights weights_;
    std::uint64_t generation_ = 0;
    std::vector<Side> sides_;          // the first one is where the network was
    std::vector<std::string> asides_;  // why others are not among them
};

}  // namespace

World World::real() {
    World world;
    world.now = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    world.machine = decide::machine;
    world.open = open_backend;
    world.trial = make_trial;
    return world;
}

void settle(Network::Impl& net, const Samples& samples, const TrainOptions& options, const World& world) {
    Settling(net, samples, options, world)();
}

std::string work_in_words(const char* what, const Network::Impl& net) {
    std::string text = std::string(what) + "; ";
    text += net.input.is_tokens()
                ? std::to_string(net.input.tokens.count) + " of " + std::to_string(net.input.tokens.vocab)
                : std::to_string(net.input.size);
    text += "; ";
    for (std::size_t i = 0; i < net.layers.size(); i++) text += (i > 0 ? "," : "") + to_string(net.layers[i]);
    return text + "; " + std::string(to_string(net.loss));
}

}  // namespace shunt
