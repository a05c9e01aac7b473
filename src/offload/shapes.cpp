// See shapes.hpp.
#include "offload/shapes.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "core/conv_shape.hpp"

namespace shunt::offload {
namespace {

// Declining is to cost 100 ns: texts are written where something is wrong alone.
[[noreturn]] void refuse(const char* op, const std::string& sentence) {
    throw Error(Fault::bad_argument, std::string(op) + ": " + sentence);
}

}  // namespace

void expect_there(std::span<const float> values, const char* op, const char* name) {
    if (values.data() != nullptr || values.empty()) return;
    refuse(op, std::string(name) + " is a null pointer with " + std::to_string(values.size()) + " values.");
}

namespace {

void expect_whole(const View& view, const char* op, const char* name) {
    expect_there(view.values, op, name);
    if (view.values.size() == view.shape.size()) return;
    refuse(op, std::string(name) + " has " + std::to_string(view.values.size()) + " values for the shape " +
                   view.shape.str() + ".");
}

}  // namespace

ProductCall product_call(const View& a, const View& b) {
    expect_whole(a, "matmul", "a");
    expect_whole(b, "matmul", "b");
    if (a.shape.rank() != 2 || b.shape.rank() != 2 || a.shape[1] != b.shape[0]) {
        refuse("matmul",
               "a " + a.shape.str() + " and b " + b.shape.str() + " must be [m, k] and [k, n] with the same k.");
    }
    return {a.shape[0], b.shape[1], a.shape[1]};
}

ConvCall conv_call(const View& x, const View& w, std::span<const float> bias, const ConvOptions& options) {
    const char* op = "conv2d";
    expect_whole(x, op, "x");
    expect_whole(w, op, "w");
    expect_there(bias, op, "the bias");
    const ConvCall call = conv_call(x.shape, w.shape, options);
    const std::size_t filters = call.w[0];
    if (bias.empty() || bias.size() == filters) return call;
    refuse(op, "the bias has " + std::to_string(bias.size()) + " values for " + std::to_string(filters) + " filters.");
}

ConvCall conv_call(const Shape& x, const Shape& w, const ConvOptions& o) {
    const char* op = "conv2d";
    const bool flat = w.rank() == 3;  // one dimension
    const std::size_t picture = flat ? 2 : 3;
    if ((w.rank() != 3 && w.rank() != 4) || (x.rank() != picture && x.rank() != picture + 1)) {
        refuse(op, "x " + x.str() + " and w " + w.str() +
                       " must be [c, h, w] or [n, c, h, w] and [o, c/groups, kh, kw], or in one dimension [c, l] or "
                       "[n, c, l] and [o, c/groups, kl].");
    }
    const bool batch = x.rank() > picture;
    const std::size_t at = batch ? 1 : 0, c = x[at], h = flat ? 1 : x[at + 1], width = x[x.rank() - 1];
    ConvCall call{.x = {batch ? x[0] : 1, c, h, width},
                  .w = {w[0], w[1], flat ? 1 : w[2], w[w.rank() - 1]},
                  .stride = o.stride,
                  .pad = o.pad,
                  .dilation = o.dilation,
                  .groups = o.groups,
                  .activation = o.activation};
    if (flat) call.stride[0] = call.dilation[0] = 1, call.pad[0] = 0;
    const std::size_t filters = call.w[0];
    check_groups(c, w, "w", o.groups);
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    if (h > most || width > most) refuse(op, "sizes must stay below 2^32.");
    const std::size_t oh = conv_out(h, call.w[2], call.stride[0], call.pad[0], call.dilation[0]),
                      ow = conv_out(width, call.w[3], call.stride[1], call.pad[1], call.dilation[1]);
    for (std::size_t size : {call.x[0], filters, oh, ow}) call.y.push_back(size);
    if (batch) call.result.push_back(call.x[0]);
    call.result.push_back(filters);
    if (!flat) call.result.push_back(oh);
    call.result.push_back(ow);
    return call;
}

}  // namespace shunt::offload
