// The operators as the parts of offload see them: a decision to fill in, a kernel's name and shape, work for the
// card, and a check of its result.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "offload/card.hpp"
#include "offload/report.hpp"
#include "offload/shapes.hpp"
#include "offload/trust.hpp"
#include "offload/verify.hpp"

namespace shunt::offload {

using Key = std::optional<WeightKey>;
using Values = std::vector<float>;

Decision decision_of(const ProductCall& call);
KernelShape kernel_of(const ProductCall& call);
Work work_of(const ProductCall& call, const View& a, const View& b, const Key& key, bool keep);
std::optional<Wrong> check(const ProductCall& call, const View& a, const View& b, const Values& c,
                           const CheckOptions& options);

Decision decision_of(const ConvCall& call);
KernelShape kernel_of(const ConvCall& call);
Work work_of(const ConvCall& call, const View& x, const View& w, std::span<const float> bias, const Key& key,
             bool keep);
std::optional<Wrong> check(const ConvCall& call, const View& x, const View& w, std::span<const float> bias,
                           const Values& y, const CheckOptions& options);

Decision decision_of(std::size_t n, Activation kind);
KernelShape kernel_of(std::size_t n, const ActivationOptions& activation);
Work work_of(std::span<const float> x, const ActivationOptions& activation);
std::optional<Wrong> check(std::span<const float> x, const Values& y, const ActivationOptions& activation,
                           const CheckOptions& options);

}  // namespace shunt::offload
