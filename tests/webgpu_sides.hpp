// The same values on a card and in plain, and how far answers are apart.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "shunt/backend.hpp"
#include "webgpu/launcher.hpp"

namespace shunt::test {

using webgpu::block, webgpu::DeviceOptions, webgpu::Launcher;

struct Both {
    Tensor card, plain;
};

class Sides {
public:
    explicit Sides(const DeviceOptions& options = {}) : card_(options) {}

    Launcher& card() { return card_; }
    std::mt19937& random() { return random_; }
    std::size_t below(std::size_t n) { return random_() % n; }

    // `size` values within a larger tensor, `before` of them in front.
    Both values(Shape shape, std::size_t before) {
        std::uniform_real_distribution<float> value(-1, 1);
        std::vector<float> list(shape.size() + before);
        for (float& v : list) v = value(random_);
        const Tensor all = card_.empty({list.size()});
        card_.recorder().write(block(all), 0, std::as_bytes(std::span(list)));
        const Tensor plain = plain_->upload(list, {list.size()});
        return {all.view(before, shape), plain.view(before, shape)};
    }

    std::vector<double> read(const Tensor& t) {
        std::vector<float> list(t.size());
        card_.recorder().read(block(t), t.offset * 4, std::as_writable_bytes(std::span(list)));
        return {list.begin(), list.end()};
    }

    Backend& plain() { return *plain_; }

private:
    Launcher card_;
    std::shared_ptr<Backend> plain_ = make_backend("plain");
    std::mt19937 random_{7};
};

// As a share of the largest value that sums of k products of values within ±1 have.
inline double worst_of(const std::vector<double>& got, const std::vector<double>& expected, std::size_t k) {
    REQUIRE(got.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); i++) {
        const double off = std::abs(got[i] - expected[i]);
        worst = std::max(worst, std::isfinite(off) ? off : INFINITY);
    }
    return worst / std::sqrt(static_cast<double>(k) + 1);
}

}  // namespace shunt::test
