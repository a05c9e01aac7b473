// The table of operator cases: what every backend must answer as plain does.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "shunt/backend.hpp"

namespace shunt::test {

// Seeded tensors for one case. Values are exact in float, so that backends differ by their
// arithmetic alone.
class Fill {
public:
    explicit Fill(Backend& backend) : backend_(backend) {}

    Tensor operator()(Shape shape, double low = -1, double high = 1) {
        return backend_.upload(values(shape.size(), low, high), shape);
    }

    Tensor below(std::uint32_t limit, Shape shape) {
        std::vector<std::uint32_t> list(shape.size());
        for (std::uint32_t& v : list) v = static_cast<std::uint32_t>(random_() % limit);
        return backend_.upload(list, shape);
    }

    std::vector<double> values(std::size_t n, double low, double high) {
        std::uniform_real_distribution<double> value(low, high);
        std::vector<double> list(n);
        for (double& v : list) v = static_cast<double>(static_cast<float>(value(random_)));
        return list;
    }

private:
    Backend& backend_;
    std::mt19937 random_{1};
};

struct Case {
    std::string name;
    // Largest difference from plain, as a share of the largest value of the result. A sum of k
    // products rounds about √k times.
    double tolerance;
    std::vector<Tensor> (*run)(Backend& backend, Fill& fill);
};

std::span<const Case> operator_cases();

}  // namespace shunt::test
