// Convolutions on the card: which way a shape takes, and every way against plain.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>

#include "shunt/backend.hpp"
#include "webgpu/convolution.hpp"
#include "webgpu/product.hpp"

using namespace shunt;
using namespace shunt::webgpu;

TEST_CASE("gpu: first convolution") {
    auto plain = make_backend("plain"), gpu = make_backend("gpu");
    std::mt19937 random(1);
    std::uniform_real_distribution<float> value(-1, 1);
    const auto values = [&](std::size_t n) {
        std::vector<float> v(n);
        for (float& f : v) f = value(random);
        return v;
    };
    const auto x = values(2 * 4 * 9 * 11), w = values(6 * 2 * 9), bias = values(6);
    const auto run = [&](Backend& b) {
        return b.read(b.conv2d(b.upload(x, {2, 4, 9, 11}), b.upload(w, {6, 2, 3, 3}),
                               {.bias = b.upload(bias, {6}), .stride = {2, 1}, .pad = {1, 1}, .groups = 2}));
    };
    const auto a = run(*plain), c = run(*gpu);
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); i++) worst = std::max(worst, std::abs(a[i] - c[i]));
    MESSAGE(worst);
    CHECK(worst < 1e-5);
}
