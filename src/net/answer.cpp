// Where a network that "auto" has put on a card answers: there, or on the CPU, which a single sample
// reaches in microseconds.
#include <chrono>

#include "decide/choose.hpp"
#include "decide/measured.hpp"
#include "net/auto.hpp"
#include "net/samples.hpp"

namespace shunt {
namespace {

// From so many samples on, measuring (four chunks) is at most 3 % of the work.
constexpr std::size_t worth_measuring = 4 * chunk_size * 100 / 3;

std::unique_ptr<Network::Impl> twin_of(const Network::Impl& net) {
    auto twin = std::make_unique<Network::Impl>();
    twin->input = net.input;
    twin->loss = net.loss;
    twin->layers = net.layers;
    twin->backend = open_backend("cpu", net.backend_options);
    twin->build();
    twin->place();
    return twin;
}

// Once to warm up, once timed.
double seconds_of(const Network::Impl& net, const Samples& samples) {
    net.forward_all(samples);
    const auto start = std::chrono::steady_clock::now();
    net.forward_all(samples);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Chunks {
    double cpu = 0, card = 0;  // seconds
};

Chunks chunk_seconds(const Network::Impl& card, const Network::Impl& cpu, const Samples& samples) {
    const World world = World::real();
    const std::string name(card.backend->name());
    const std::string key = work_in_words("answer", card) + "; " + world.machine("cpu", card.backend_options).facts +
                            "; " + world.machine(name, card.backend_options).facts + "; shunt " SHUNT_VERSION;
    const auto found = decide::recall(key).figures;
    if (found && found->contains("cpu") && found->contains("card")) {
        const Chunks measured{found->at("cpu"), found->at("card")};
        if (measured.cpu >= 0 && measured.card >= 0) return measured;
    }
    const Samples chunk = first_of(samples, chunk_size);
    const Chunks measured{seconds_of(cpu, chunk), seconds_of(card, chunk)};
    decide::remember(key, {{"cpu", measured.cpu}, {"card", measured.card}});
    return measured;
}

}  // namespace

Network::Impl& Network::Impl::answering(const Samples& samples) {
    if (!is_auto || backend->name() == "cpu" || written_by_others || samples.n == 0) return *this;
    const bool measure = !rows_on_cpu_measured && samples.n >= worth_measuring;
    const std::size_t limit = rows_on_cpu_measured ? rows_on_cpu : chunk_size - 1;
    if (!measure && samples.n > limit) return *this;
    if (!twin) twin = twin_of(*this);
    if (twin_generation != generation) {
        twin->write(read(values));
        twin_generation = generation;
    }
    if (measure) {
        const Chunks s = chunk_seconds(*this, *twin, samples);
        rows_on_cpu = decide::rows_on_cpu(s.cpu, s.card, chunk_size);
        rows_on_cpu_measured = true;
        return answering(samples);
    }
    return *twin;
}

void Network::Impl::start_on(const std::string& remembered) {
    if (remembered.empty() || remembered == backend->name()) return;
    settled = Settled{.backend = std::string(backend->name()), .from_memory = true};
    try {
        move_to(open_backend(remembered, backend_options), read(values));
        settled->backend = remembered;
        settled->why = "Training had settled on " + remembered + ".";
    } catch (const Error& error) {
        settled->why = "Training had settled on " + remembered + ", which is not here.";
        if (error.fault() == Fault::no_gpu || error.fault() == Fault::bad_argument) return;
        settled->failure = "Training had settled on " + remembered + ", which does not work here: " + error.what();
        settled->why = settled->failure;
    }
}

}  // namespace shunt
