// The formulas of Activation.
#pragma once

#include "shunt/backend.hpp"

namespace shunt {

// f(x) in double: what plain computes, and what a card's values are checked against.
double activated(const ActivationOptions& options, double x);

}  // namespace shunt
