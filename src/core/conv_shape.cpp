// See conv_shape.hpp.
#include "core/conv_shape.hpp"

#include <limits>
#include <string>

#include "shunt/error.hpp"

namespace shunt {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(Fault::bad_argument, "conv2d: " + sentence);
}

}  // namespace

std::size_t conv_out(std::size_t in, std::size_t kernel, std::size_t stride, std::size_t pad, std::size_t dilation) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    if (stride == 0 || dilation == 0 || kernel == 0) refuse("stride, dilation and kernel sizes must be positive.");
    if (dilation > most || kernel > most || pad > most) refuse("sizes must stay below 2^32.");
    const std::size_t span = dilation * (kernel - 1) + 1;
    if (in + 2 * pad < span) {
        refuse("a kernel that spans " + std::to_string(span) + " does not fit in " + std::to_string(in) + " with " +
               std::to_string(pad) + " of padding on each side.");
    }
    return (in + 2 * pad - span) / stride + 1;
}

void check_groups(std::size_t channels, const Shape& weight, const char* name, std::size_t groups) {
    const std::size_t filters = weight[0];
    if (groups == 0 || channels % groups != 0 || filters % groups != 0) {
        refuse(std::to_string(groups) + " groups do not divide " + std::to_string(channels) + " channels and " +
               std::to_string(filters) + " filters.");
    }
    if (weight[1] != channels / groups) {
        refuse(std::string(name) + " " + weight.str() + " must have " + std::to_string(channels / groups) +
               " channels a group.");
    }
}

}  // namespace shunt
