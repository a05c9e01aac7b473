// Measuring what operators cost here.
#pragma once

#include <functional>

#include "shunt/backend.hpp"
#include "shunt/offload_costs.hpp"

namespace shunt::offload {

// Runs work on the card, as an operator's call does, and waits for it.
using OnCard = std::function<void(const std::function<void(Backend&)>&)>;

struct Calibration {
    Costs costs;
    bool hopeless = false;  // the card lost its first product tenfold; the rest of it was not measured
};

// About `budget` seconds, and what compiling takes. Throws what the card throws.
Calibration calibrate(Backend& cpu, const OnCard& on_card, double budget);

// Past this spread measurements are not kept for the next run: something else was going on.
inline constexpr double most_spread = 0.5;

}  // namespace shunt::offload
