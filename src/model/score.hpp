// How good the answers of a model are.
#pragma once

#include "model/target.hpp"

namespace shunt {

// Samples with their answers, encoded from these rows; at least one.
Score score(const Network& network, const Target& target, const Samples& samples, const Rows& rows);

// What one gets without a model, fitted to `training` and measured on `scored`: the accuracy of the
// most frequent class, or the rmse of the means in the targets' own units.
double baseline(const Target& target, const Samples& training, const Samples& scored);

}  // namespace shunt
