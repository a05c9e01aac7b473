// Threads of the cpu backend: how many, from where, after a fork, and from several threads at once.
#include "cpu/threads.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "networks.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

Samples many_samples() {
    Random random(3);
    Samples s;
    for (int i = 0; i < 512; i++) {
        std::vector<double> x(128);
        for (double& v : x) v = random.normal();
        s.add(x, i % 10);
    }
    return s;
}

Weights trained(const Samples& samples, int threads) {
    Network net({.input = 128, .layers = {dense(256), relu(), dense(10)}, .backend = "cpu", .threads = threads});
    net.train(samples, {.epochs = 2, .batch = 128});
    return net.weights();
}

}  // namespace

TEST_CASE("threads are a function of the work's shape and the limit") {
    using namespace shunt::cpu;
    CHECK(threads_for_product(16, 24, 24, 8) == 1);
    CHECK(threads_for_product(64, 128, 128, 2) == 2);
    CHECK(threads_for_product(64, 784, 128, 16) == 4);
    CHECK(threads_for_product(256, 784, 512, 16) == 8);
    CHECK(threads_for_product(256, 784, 512, 6) == 6);
    CHECK(threads_for_product(256, 784, 512, 1) == 1);
    CHECK(threads_for_product(1000, 1000, 16, 8) == 1);
    CHECK(threads_for_product(std::size_t{1} << 40, std::size_t{1} << 40, 1000, 64) == 64);
    CHECK(threads_for_values(1000, 8) == 1);
    CHECK(threads_for_values(70000, 8) == 2);
    CHECK(threads_for_values(670000, 16) == 4);
    CHECK(threads_for_values(std::size_t{1} << 40, 8) == 8);
}

TEST_CASE("the limit on threads: asked for, else SHUNT_THREADS, else the machine's, and nonsense is refused") {
    using shunt::cpu::most_threads;
    CHECK(most_threads(3) == 3);
    CHECK_THROWS_AS(most_threads(-1), Error);
    setenv("SHUNT_THREADS", "5", 1);
    CHECK(most_threads(0) == 5);
    CHECK(most_threads(3) == 3);
    for (const char* text : {"0", "-2", "two", "3x"}) {
        setenv("SHUNT_THREADS", text, 1);
        CHECK_THROWS_WITH_AS(most_threads(0), doctest::Contains(text), Error);
    }
    unsetenv("SHUNT_THREADS");
    CHECK(most_threads(0) >= 1);
}

TEST_CASE("the same thread count gives the same bits") {
    const Samples samples = many_samples();
    for (int threads : {1, 2}) CHECK(trained(samples, threads) == trained(samples, threads));
}

TEST_CASE("a child forked after threads were used trains on, with the parent's answers, and does not hang") {
    const Samples samples = many_samples();
    const Weights expected = trained(samples, 2);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60);
        double worst = 0;
        const Weights got = trained(samples, 2);
        for (std::size_t p = 0; p < got.size(); p++) {
            for (std::size_t i = 0; i < got[p].size(); i++)
                worst = std::max(worst, std::abs(got[p][i] - expected[p][i]));
        }
        _exit(worst < 1e-4 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(trained(samples, 2) == expected);
}

TEST_CASE("networks of their own train in several threads at once") {
    const Samples samples = many_samples();
    const Weights expected = trained(samples, 2);
    std::vector<Weights> got(4);
    {
        std::vector<std::jthread> threads;
        for (Weights& weights : got) threads.emplace_back([&] { weights = trained(samples, 2); });
    }
    for (const Weights& weights : got) CHECK(weights == expected);
}

TEST_CASE("200 networks made and freed, and a tensor that outlives its backend") {
    for (int i = 0; i < 200; i++) xor_network("cpu");
    Tensor t;
    {
        auto b = make_backend("cpu");
        t = b->upload(std::span<const double>(std::array{1.0, 2.0}), {2});
    }
    CHECK(t.size() == 2);
}
