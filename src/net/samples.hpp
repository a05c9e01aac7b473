// The checks that samples pass before a network uses them, and parts of them.
#pragma once

#include "shunt/network.hpp"

namespace shunt {

// Lengths, finite numbers, tokens inside the vocabulary.
void check_inputs(const Samples& samples, const Input& input);

// Classes inside the outputs, or targets; weights.
void check_answers(const Samples& samples, LossKind loss, std::size_t n_out);

// The first `n`, of samples that have at least one and as many as that.
Samples first_of(const Samples& samples, std::size_t n);

}  // namespace shunt
