// Backends by name, with reasons, and a program's own.
#include <doctest/doctest.h>

#include <algorithm>

#include "shunt/network.hpp"

using namespace shunt;

TEST_CASE("names are sorted, gpu is known and says why it is not here, unknown names list the known") {
    const auto names = backend_names();
    CHECK(std::ranges::is_sorted(names));
    for (const char* name : {"cpu", "gpu", "plain"}) CHECK(std::ranges::count(names, name) == 1);
    CHECK(try_backend("plain").backend);
    if (const TriedBackend gpu = try_backend("gpu"); !gpu.backend) {
        CHECK(!gpu.reason.empty());
        CHECK_THROWS_WITH_AS(make_backend("gpu"), doctest::Contains(gpu.reason.c_str()), Error);
        CHECK(std::ranges::count(available_backends(), "gpu") == 0);
    }
    CHECK_THROWS_WITH_AS(try_backend("cuda"), doctest::Contains("There are: cpu, gpu, plain"), Error);
    CHECK_THROWS_WITH_AS(make_backend("cuda"), doctest::Contains("auto"), Error);
    CHECK(make_backend("auto")->name() == "cpu");
}

TEST_CASE("a program registers a backend of its own, and taken names are refused") {
    static int made = 0;  // the registration outlives this test
    register_backend("mine", [](const BackendOptions& options) {
        made++;
        return make_backend("plain", options);
    });
    Network net({.input = 2, .layers = {dense(2)}, .backend = "mine"});
    CHECK(made == 1);
    CHECK(std::ranges::count(available_backends(), "mine") == 1);
    CHECK_THROWS_AS(register_backend("cpu", {}), Error);
    CHECK_THROWS_AS(register_backend("auto", {}), Error);
    CHECK_THROWS_AS(register_backend("", {}), Error);
}
