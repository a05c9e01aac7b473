// How long a card lives with a program: many networks, threads, a fork, ten thousand steps, and a
// buffer larger than the limits that a device gets unasked.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "card.hpp"
#include "shunt/gpu.hpp"
#include "shunt/network.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/fault.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

Network small_network() {
    return Network({.input = 3, .layers = {dense(5), tanh(), dense(2)}, .backend = "gpu"});
}

Samples some_samples(std::size_t n) {
    Samples samples;
    for (std::size_t i = 0; i < n; i++) {
        const double t = static_cast<double>(i);
        samples.add({std::sin(t), std::cos(3 * t), 0.1 * t - 1}, i % 3 == 0 ? 1 : 0);
    }
    return samples;
}

std::vector<double> trained(Network net) {
    net.train(some_samples(24), {.epochs = 2, .batch = 8});
    return net.predict(std::array{0.5, -0.25, 1.0});
}

bool on_software() {
    for (const Adapter& a : list_adapters().adapters)
        if (a.used) return a.kind == "software";
    return false;
}

// Status of a child that did `work`: 0 where it returned true; 99 where it took a minute. A driver that
// opens nothing in a child (NVIDIA's) may refuse, with an error.
template <typename Work>
int in_child(const Work& work) {
    const bool may_refuse = !on_software();
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);  // a hang would be the bug
        bool good = false;
        try {
            good = work();
        } catch (const Error& error) {
            good = may_refuse && error.fault() == Fault::gpu_broken;
        } catch (...) {  // good stays false
        }
        _exit(good ? 0 : 1);  // Mesa's exit handlers join threads that are the parent's
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

std::uint64_t available_memory() {
    std::ifstream info("/proc/meminfo");
    std::string name;
    while (info >> name) {
        std::uint64_t kib = 0;
        if (name == "MemAvailable:" && info >> kib) return kib * 1024;
    }
    return 0;
}

}  // namespace

TEST_CASE("200 networks on the card, made and freed one after the other, answer alike and leave nothing") {
    if (!have_card()) return;
    const FaultyCard card;
    std::vector<double> first;
    for (int i = 0; i < 200; i++) {
        INFO("network ", i);
        const std::vector<double> answer = small_network().predict(std::array{0.5, -0.25, 1.0});
        if (i == 0) first = answer;
        REQUIRE(answer == first);
        REQUIRE(card.alive().empty());
    }
    CHECK(card.aborts().empty());
}

TEST_CASE("200 networks on the card at once share one device") {
    if (!have_card()) return;
    const FaultyCard card;
    std::vector<Network> networks;
    for (int i = 0; i < 200; i++) networks.push_back(small_network());
    const std::vector<std::string> alive = card.alive();
    CHECK(std::ranges::count(alive, "AdapterRequestDevice") == 1);
    CHECK(std::ranges::count(alive, "CreateInstance") == 1);
    const std::vector<double> expected = networks.front().predict(std::array{0.5, -0.25, 1.0});
    for (const Network& net : networks) CHECK(net.predict(std::array{0.5, -0.25, 1.0}) == expected);
}

TEST_CASE("eight threads at once on one card, each with its own network, get the bits that one gets alone") {
    if (!have_card()) return;
    const auto kept = Device::open();  // or the first thread to end closes it for the next to open
    const std::vector<double> expected = trained(small_network());
    std::array<int, 8> right{};
    std::vector<std::jthread> threads;
    for (int& n : right) {
        threads.emplace_back([&n, &expected] {
            for (int i = 0; i < 5; i++) n += trained(small_network()) == expected ? 1 : 0;
        });
    }
    threads.clear();
    CHECK(right == std::array{5, 5, 5, 5, 5, 5, 5, 5});
}

TEST_CASE("after a fork the child opens the card for itself, and the parent goes on") {
    if (!have_card()) return;
    Network net = small_network();
    const std::vector<double> before = net.predict(std::array{0.5, -0.25, 1.0});
    const std::vector<double> expected = trained(small_network());
    CHECK(in_child([&] { return trained(small_network()) == expected; }) == 0);
    CHECK(net.predict(std::array{0.5, -0.25, 1.0}) == before);
    CHECK(trained(small_network()) == expected);
}

TEST_CASE("after a fork the parent's network works in the child, on a card that the child opens") {
    if (!have_card()) return;
    const Network net = small_network();
    const std::vector<double> expected = net.predict(std::array{0.5, -0.25, 1.0});
    CHECK(in_child([&] { return net.predict(std::array{0.5, -0.25, 1.0}) == expected; }) == 0);
    CHECK(net.predict(std::array{0.5, -0.25, 1.0}) == expected);
}

TEST_CASE("after a fork the child may free the parent's networks") {
    if (!have_card()) return;
    auto net = std::make_unique<Network>(small_network());
    net->predict(std::array{0.5, -0.25, 1.0});
    CHECK(in_child([&] {
              net.reset();
              return trained(small_network()).size() == 2;
          }) == 0);
    CHECK(net->predict(std::array{0.5, -0.25, 1.0}).size() == 2);
}

TEST_CASE("ten thousand training steps make nothing new on the card after the first few") {
    if (!have_card()) return;
    const auto device = Device::open();
    Network net({.input = 3, .layers = {dense(2)}, .backend = "gpu"});
    const Samples samples = some_samples(52), held_out = some_samples(9);  // a last batch that is smaller
    std::optional<Counters> warm;
    net.train(samples, {.epochs = 2500, .batch = 16, .validate = &held_out, .on_epoch = [&](const Epoch& epoch) {
                            if (epoch.epoch == 20) warm = device->made();
                            return true;
                        }});
    REQUIRE(warm.has_value());
    CHECK(net.generation() == 10000);
    const Counters end = device->made();
    CHECK(end.buffers == warm->buffers);
    CHECK(end.bytes == warm->bytes);
    CHECK(end.bind_groups == warm->bind_groups);
    CHECK(end.pipelines == warm->pipelines);
}

TEST_CASE("a buffer of 300 MB works where the card allows it") {
    if (!have_card()) return;
    constexpr std::size_t values = 75'000'000;
    if (Device::open()->limits().maxBufferSize < values * 4 || available_memory() < 4 * values * 4) return;
    const auto backend = make_backend("gpu");
    const Tensor big = backend->zeros({values});
    const Tensor end = big.view(values - 3, {3});
    CHECK(backend->read(end) == std::vector<double>{0, 0, 0});
    backend->write(end, std::vector<double>{1, 2, 3});
    const Tensor activated = backend->activate(Activation::relu, end);
    CHECK(backend->read(activated) == std::vector<double>{1, 2, 3});
    CHECK(backend->read(big.view(0, {2})) == std::vector<double>{0, 0});
}
