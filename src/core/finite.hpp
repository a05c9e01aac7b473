// Whether numbers are finite, all of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace shunt {

inline bool all_finite(std::span<const double> values) {
    return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

}  // namespace shunt
