// See activation.hpp.
#include "core/activation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shunt {
namespace {

// x·share, and 0 where the share is: its limit for x = −∞.
double share_of(double x, double share) {
    return share == 0 ? 0 : x * share;
}

double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace

double activated(const ActivationOptions& o, double x) {
    const double alpha = static_cast<double>(o.alpha), beta = static_cast<double>(o.beta);
    switch (o.kind) {
        case Activation::none: return x;
        case Activation::relu: return x > 0 || std::isnan(x) ? x : 0;
        case Activation::tanh: {
            if (x > 20) return 1;
            if (x < -20) return -1;
            const double e = std::exp(2 * x);
            return (e - 1) / (e + 1);
        }
        case Activation::sigmoid:
            if (x > 20) return 1;
            if (x < -20) return 0;
            return 1 / (1 + std::exp(-x));
        case Activation::leaky_relu: return x < 0 ? alpha * x : x;
        case Activation::relu6: return std::clamp(x, 0.0, 6.0);  // NaN passes
        case Activation::hard_sigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
        case Activation::hard_swish: return share_of(x, std::clamp(x / 6 + 0.5, 0.0, 1.0));
        case Activation::gelu: return share_of(x, std::erfc(-x / std::numbers::sqrt2) / 2);  // erfc(−z) = 1 + erf(z)
        case Activation::gelu_tanh: {
            const double z = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
            return share_of(x, 1 / (1 + std::exp(-2 * z)));  // = (1 + tanh(z)) / 2
        }
        case Activation::silu: return share_of(x, 1 / (1 + std::exp(-x)));
        case Activation::softplus: return softplus(x);
        case Activation::elu: return x < 0 ? alpha * std::expm1(x) : x;
        case Activation::mish: return share_of(x, std::tanh(softplus(x)));
    }
    return x;
}

}  // namespace shunt
