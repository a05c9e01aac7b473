// The random generator: Park and Miller's minimal standard with the multiplier 48271 (the engine of
// std::minstd_rand; std's distributions differ between libraries, so these are our own).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace shunt {

class Random {
public:
    static constexpr std::uint64_t modulus = 2147483647;

    explicit Random(double seed = 1) : Random(std::fmod(std::trunc(seed), static_cast<double>(modulus)), 0) {}

    std::uint64_t state() const { return state_; }

    // In (0, 1).
    double uniform() {
        state_ = state_ * 48271 % modulus;
        return static_cast<double>(state_) / static_cast<double>(modulus);
    }

    // 0 … n − 1
    std::size_t below(std::size_t n) {
        return static_cast<std::size_t>(std::floor(uniform() * static_cast<double>(n)));
    }

    // Box and Muller; the sine twin is thrown away, so that each normal costs two draws.
    double normal() {
        const double u1 = uniform();
        const double u2 = uniform();
        return std::sqrt(-2 * std::log(u1)) * std::cos(6.283185307179586 * u2);
    }

    template <typename T>
    void shuffle(std::span<T> list) {
        for (std::size_t i = list.size(); i-- > 1;) std::swap(list[i], list[below(i + 1)]);
    }

private:
    Random(double remainder, int)
        : state_(static_cast<std::uint64_t>(remainder < 0 ? remainder + static_cast<double>(modulus) : remainder)) {
        if (state_ == 0) state_ = 1;
    }

    std::uint64_t state_;
};

}  // namespace shunt
