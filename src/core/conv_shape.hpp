// What convolutions are refused for: in the same words by every backend and by offload, which declines in 100 ns
// and so writes no text unless something is wrong.
#pragma once

#include <cstddef>

#include "shunt/tensor.hpp"

namespace shunt {

// The size of the result along one axis. bad_argument for what cannot be.
std::size_t conv_out(std::size_t in, std::size_t kernel, std::size_t stride, std::size_t pad, std::size_t dilation);

// bad_argument unless `groups` divide both, and a filter of `weight` [o, c/groups, …] sees the channels of its group.
void check_groups(std::size_t channels, const Shape& weight, const char* name, std::size_t groups);

}  // namespace shunt
