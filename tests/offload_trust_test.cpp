// How often kernels are checked, and which are not used any more.
#include <doctest/doctest.h>

#include <limits>
#include <thread>

#include "offload/trust.hpp"

using namespace shunt::offload;

namespace {

struct Spent {
    int checks = 0;
    double operators = 0, of_checks = 0;
};

// So many calls of a shape, each check of which takes `check`.
Spent calls(Sampler& sampler, const KernelShape& shape, int n, double seconds, double check) {
    Spent spent;
    for (int i = 0; i < n; i++) {
        const bool due = sampler.due(shape);
        sampler.spent(shape, seconds, due ? std::optional(check) : std::nullopt);
        spent.operators += seconds;
        spent.of_checks += due ? check : 0;
        spent.checks += due;
    }
    return spent;
}

}  // namespace

TEST_CASE("sampling: the first call of every shape and variant, then a hundredth of the time") {
    Sampler sampler;
    const KernelShape shape{"product", 64, 64, 64};
    for (const KernelShape& one : {shape,
                                   {"conv2d", 64, 64, 64},
                                   {"product", 65, 64, 64},
                                   {"product", 64, 65, 64},
                                   {"product", 64, 64, 65},
                                   KernelShape{"product", 64, 64, 64, 1}}) {
        CHECK(sampler.due(one));
        sampler.spent(one, 1e-3);  // not checked: still due
        CHECK(sampler.due(one));
        sampler.spent(one, 1e-3, 1e-4);
        CHECK_FALSE(sampler.due(one));
    }
    const Spent spent = calls(sampler, shape, 20000, 1e-3, 1e-4);
    CHECK(spent.of_checks <= 0.01 * spent.operators);
    CHECK(spent.of_checks > 0.0099 * spent.operators);
}

TEST_CASE("sampling: cheap checks of one shape do not use up what an expensive one needs") {
    Sampler sampler;
    const KernelShape small{"product", 32, 32, 32}, large{"product", 2048, 2048, 2048};
    int of_large = 0;
    for (int i = 0; i < 350; i++) {
        calls(sampler, small, 100, 1e-5, 1e-5);
        of_large += calls(sampler, large, 1, 1e-2, 1e-2).checks;
    }
    CHECK(of_large == 3);  // the first, one when both are paid for, one after a hundred more
    CHECK(calls(sampler, small, 1000, 1e-5, 1e-5).checks == 10);
}

TEST_CASE("sampling: always, and only once") {
    Sampler always(std::numeric_limits<double>::infinity()), once(0);
    const KernelShape shape{"gelu", 1000};
    CHECK(calls(always, shape, 100, 1e-9, 1).checks == 100);
    CHECK(calls(once, shape, 100, 1, 0).checks == 1);
    CHECK(calls(once, {"gelu", 1001}, 100, 1, 1e-9).checks == 1);
}

TEST_CASE("sampling remembers many shapes, and forgets them all rather than grow for ever") {
    Sampler sampler(0);
    for (std::size_t i = 0; i < 70000; i++) sampler.spent({"product", i}, 1, 1);
    CHECK_FALSE(sampler.due({"product", 69999}));
    CHECK(sampler.due({"product", 0}));
}

TEST_CASE("quarantine: a class of shapes of one kernel, with its first fault") {
    Quarantine quarantine;
    CHECK_FALSE(quarantine.holds({"product", 64, 64, 64}));
    quarantine.add({"product", 33, 100, 1}, "Row 3 is off.");
    quarantine.add({"product", 64, 65, 1, 7}, "Row 4 is off.");
    quarantine.add({"gelu", 1000}, "Value 0 is off.");
    CHECK(quarantine.holds({"product", 33, 100, 1}));
    CHECK(quarantine.holds({"product", 64, 128, 1, 3}));
    CHECK_FALSE(quarantine.holds({"product", 32, 128, 1}));
    CHECK_FALSE(quarantine.holds({"product", 65, 128, 1}));
    CHECK_FALSE(quarantine.holds({"product", 64, 129, 1}));
    CHECK_FALSE(quarantine.holds({"product", 64, 64, 1}));
    CHECK_FALSE(quarantine.holds({"product", 64, 128, 2}));
    CHECK_FALSE(quarantine.holds({"conv2d", 64, 128, 1}));
    CHECK(quarantine.holds({"gelu", 1024}));
    const auto entries = quarantine.entries();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].kernel == "product");
    CHECK(entries[0].m == 64);
    CHECK(entries[0].n == 128);
    CHECK(entries[0].k == 1);
    CHECK(entries[0].what == "Row 3 is off.");
    CHECK(entries[0].faults == 2);
    CHECK(entries[1].faults == 1);
}

TEST_CASE("quarantine and sampling: many threads") {
    Quarantine quarantine;
    Sampler sampler;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 3; t++) {
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < 1000; i++) {
                const KernelShape shape{"product", std::size_t{1} << i % 8, t + 1};
                if (sampler.due(shape)) sampler.spent(shape, 1, 1);
                if (!quarantine.holds(shape) && i % 100 == 0) quarantine.add(shape, "wrong");
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(quarantine.entries().size() == 6);  // i = 0, 100, 200 …: 2^0 and 2^4, of n = 1, 2 and 4
}
