// shunt/offload.h: the operators. Checks what C cannot promise, and hands over to C++.
#include <algorithm>
#include <cstring>

#include "offload/c.hpp"
#include "offload/shapes.hpp"

using namespace shunt;
using namespace shunt::offload;

namespace {

constexpr std::array kinds{
    Activation::none,  Activation::relu,         Activation::tanh,       Activation::sigmoid, Activation::leaky_relu,
    Activation::relu6, Activation::hard_sigmoid, Activation::hard_swish, Activation::gelu,    Activation::gelu_tanh,
    Activation::silu,  Activation::softplus,     Activation::elu,        Activation::mish};
static_assert(kinds.size() == SHUNT_MISH + 1);

ActivationOptions activation_of(const shunt_activation& a) {
    return {one_of(kinds, a.kind, "The activation's kind"), a.alpha, a.beta};
}

struct Size {
    const char* name;
    std::size_t value;
};

// Nothing is written where all is well: declining is to cost 100 ns.
void expect_sizes(const char* op, std::initializer_list<Size> sizes) {
    if (std::ranges::none_of(sizes, [](const Size& size) { return size.value == 0; })) return;
    std::string text = std::string(op) + ":";
    for (const Size& size : sizes) text += std::string(" ") + size.name + " " + std::to_string(size.value);
    refuse_argument(text + ": every size must be at least 1.");
}

View view_of(const float* values, const char* name, Shape shape, const shunt_weight* weight = nullptr) {
    const std::span span(given(values, name), shape.size());
    return weight ? View(span, shape, weight->weight) : View(span, shape);
}

struct Product {
    View a, b;
    bool b_is_weight;
};

Product product_of(std::size_t m, std::size_t n, std::size_t k, const float* a, const float* b,
                   const shunt_matmul_options* options) {
    expect_sizes("matmul", {{"m", m}, {"n", n}, {"k", k}});
    const shunt_matmul_options o = options ? *options : shunt_matmul_options{};
    return {view_of(a, "matmul: a", {m, k}), view_of(b, "matmul: b", {k, n}, o.weight), o.b_is_weight};
}

struct Convolution {
    Shape x, w;
    ConvOptions options;
};

Convolution convolution_of(const shunt_conv* conv) {
    const shunt_conv& c = *given(conv, "conv2d: conv");
    expect_sizes("conv2d", {{"n", c.n}, {"c", c.c}, {"h", c.h}, {"w", c.w}, {"o", c.o}, {"kh", c.kh}, {"kw", c.kw}});
    const auto or_one = [](std::size_t size) { return std::max<std::size_t>(size, 1); };
    const std::size_t groups = or_one(c.groups);
    return {.x = {c.n, c.c, c.h, c.w},
            .w = {c.o, c.c / groups, c.kh, c.kw},
            .options = {.stride = {or_one(c.stride[0]), or_one(c.stride[1])},
                        .pad = {c.pad[0], c.pad[1]},
                        .dilation = {or_one(c.dilation[0]), or_one(c.dilation[1])},
                        .groups = groups,
                        .activation = activation_of(c.activation)}};
}

struct ConvArguments {
    Convolution conv;
    View x, w;
    std::span<const float> bias;
};

ConvArguments arguments_of(const shunt_conv* conv, const float* x, const float* w, const float* bias) {
    const Convolution c = convolution_of(conv);
    return {.conv = c,
            .x = view_of(x, "conv2d: x", c.x),
            .w = view_of(w, "conv2d: w", c.w, conv->weight),
            .bias = {bias, bias ? conv->o : 0}};
}

// Declines what would be right; stands for the card that is not there.
class NoCard final : public Accelerator {
public:
    std::optional<Array> matmul(const View&, const View&, bool) override { return {}; }
    std::optional<Array> conv2d(const View& x, const View& w, std::span<const float> bias,
                                const ConvOptions& options) override {
        conv_call(x, w, bias, options);
        return {};
    }
    bool activate(std::span<float>, const ActivationOptions&) override { return false; }
};

Accelerator& accelerator_of(shunt_card* card) {
    static NoCard none;
    return card ? static_cast<Accelerator&>(card->backend) : none;
}

shunt_status write(const Array& result, float* to) {
    std::ranges::copy(result.values, to);
    return SHUNT_DONE;
}

shunt_status write(const std::optional<Array>& result, float* to) {
    return result ? write(*result, to) : SHUNT_DECLINED;
}

}  // namespace

shunt_activation shunt_activation_of(shunt_activation_kind kind) {
    shunt_activation activation{SHUNT_NONE, 0, 0};
    std::memcpy(&activation.kind, &kind, sizeof kind);  // whatever it is: see number_of
    const auto number = number_of(kind);
    if (number >= kinds.size()) return activation;
    const ActivationOptions defaults(kinds[number]);
    activation.alpha = defaults.alpha;
    activation.beta = defaults.beta;
    return activation;
}

shunt_status shunt_matmul(shunt_card* card, size_t m, size_t n, size_t k, const float* a, const float* b, float* c,
                          const shunt_matmul_options* options) {
    return guarded([&] {
        const Product p = product_of(m, n, k, a, b, options);
        given(c, "matmul: c");
        const ScopedAccelerator use(accelerator_of(card));
        return write(ops::matmul(p.a, p.b, p.b_is_weight), c);
    });
}

shunt_status shunt_card_matmul(shunt_card* card, size_t m, size_t n, size_t k, const float* a, const float* b, float* c,
                               const shunt_matmul_options* options) {
    return guarded([&] {
        const Product p = product_of(m, n, k, a, b, options);
        given(c, "matmul: c");
        return write(accelerator_of(card).matmul(p.a, p.b, p.b_is_weight), c);
    });
}

shunt_status shunt_conv2d(shunt_card* card, const shunt_conv* conv, const float* x, const float* w, const float* bias,
                          float* y) {
    return guarded([&] {
        const ConvArguments a = arguments_of(conv, x, w, bias);
        given(y, "conv2d: y");
        const ScopedAccelerator use(accelerator_of(card));
        return write(ops::conv2d(a.x, a.w, a.bias, a.conv.options), y);
    });
}

shunt_status shunt_card_conv2d(shunt_card* card, const shunt_conv* conv, const float* x, const float* w,
                               const float* bias, float* y) {
    return guarded([&] {
        const ConvArguments a = arguments_of(conv, x, w, bias);
        given(y, "conv2d: y");
        return write(accelerator_of(card).conv2d(a.x, a.w, a.bias, a.conv.options), y);
    });
}

shunt_status shunt_conv2d_sizes(const shunt_conv* conv, size_t* oh, size_t* ow) {
    return guarded([&] {
        const Convolution c = convolution_of(conv);
        const ConvCall call = conv_call(c.x, c.w, c.options);
        given(oh, "conv2d: oh"), given(ow, "conv2d: ow");
        *oh = call.y[2], *ow = call.y[3];
        return SHUNT_DONE;
    });
}

shunt_status shunt_activate(shunt_card* card, size_t n, float* values, shunt_activation activation) {
    return guarded([&] {
        expect_sizes("activate", {{"n", n}});
        const View all = view_of(values, "activate: values", {n});
        const ScopedAccelerator use(accelerator_of(card));
        ops::activate({values, all.values.size()}, activation_of(activation));
        return SHUNT_DONE;
    });
}

shunt_status shunt_card_activate(shunt_card* card, size_t n, float* values, shunt_activation activation) {
    return guarded([&] {
        expect_sizes("activate", {{"n", n}});
        const View all = view_of(values, "activate: values", {n});
        const bool done = accelerator_of(card).activate({values, all.values.size()}, activation_of(activation));
        return done ? SHUNT_DONE : SHUNT_DECLINED;
    });
}
