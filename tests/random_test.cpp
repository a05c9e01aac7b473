// The random generator against its published values.
#include "core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using shunt::Random;

TEST_CASE("states, uniforms and normals are the published ones") {
    Random r(42);
    for (std::uint64_t state : {2027382u, 1226992407u, 551494037u, 961371815u, 1404753842u}) {
        r.uniform();
        CHECK(r.state() == state);
    }
    CHECK(Random(0).state() == 1);
    CHECK(Random(-1).state() == 2147483646);
    CHECK(Random(2.9).state() == 2);
    CHECK(Random(-1).uniform() == 0.9999775220639899);
    Random one(1);
    for (double u : {2.2477936010098986e-05, 0.08503244914348818, 0.6013526053174179}) CHECK(one.uniform() == u);
    for (int i = 3; i < 10000; i++) one.uniform();
    CHECK(one.state() == 399268537);
    Random seven(7);
    for (double u : {0.0001573455520706929, 0.5952271440044172, 0.2094682372219247}) CHECK(seven.uniform() == u);
    Random again(42);
    for (double u : {0.0009440733124241574, 0.5713628640265032, 0.2568094233315482}) CHECK(again.uniform() == u);
    Random normals(42);
    for (double z : {-3.3634208030192707, -1.5605735521211155, 0.9015714962987873, -0.20207126942264278}) {
        CHECK(normals.normal() == z);
    }
}

TEST_CASE("below and shuffle are the published ones") {
    Random seven(7);
    for (std::size_t n : {0, 3, 1, 1, 4, 1, 3, 4, 5, 1, 3, 5}) CHECK(seven.below(6) == n);
    const auto digits = [](double seed) {
        std::string text = "0123456789";
        Random(seed).shuffle(std::span(text));
        return text;
    };
    CHECK(digits(1) == "3712856490");
    CHECK(digits(3) == "3197854620");
    CHECK(digits(7) == "9832647150");
    CHECK(digits(42) == "1987463250");
    std::vector<int> list(100);
    std::iota(list.begin(), list.end(), 1);
    Random r(42);
    r.shuffle(std::span(list));
    CHECK(std::vector(list.begin(), list.begin() + 10) == std::vector{81, 15, 22, 72, 77, 2, 47, 17, 38, 62});
    CHECK(r.state() == 471376347);
    std::ranges::sort(list);
    for (int i = 0; i < 100; i++) CHECK(list[static_cast<std::size_t>(i)] == i + 1);
}

TEST_CASE("uniforms and normals have the moments they should") {
    Random r(3);
    double sum = 0, square = 0;
    for (int i = 0; i < 20000; i++) {
        const double u = r.uniform();
        REQUIRE(u > 0);
        REQUIRE(u < 1);
        sum += u;
    }
    CHECK(sum / 20000 == doctest::Approx(0.50143).epsilon(1e-4).scale(0));
    sum = 0;
    for (int i = 0; i < 20000; i++) {
        const double z = r.normal();
        sum += z;
        square += z * z;
    }
    CHECK(sum / 20000 == doctest::Approx(-0.01122).epsilon(1e-3).scale(0));
    CHECK(square / 20000 - sum * sum / 4e8 == doctest::Approx(1.01573).epsilon(1e-4));
    std::vector<int> counts(6);
    for (int i = 0; i < 6000; i++) counts[r.below(6)]++;
    CHECK(counts == std::vector{976, 1074, 959, 989, 1015, 987});
}
