// The rows. To add one: a name that says what it catches, a tolerance, and what to compute.
#include "operator_cases.hpp"

#include <limits>

namespace shunt::test {
namespace {

using A = Activation;
using Tensors = std::vector<Tensor>;

constexpr double one = 3e-7;  // a handful of roundings

Tensors list(const Loss& loss) {
    return {loss.losses, loss.gradient};
}

Tensors grad(Backend& b, Fill& f, std::size_t batch, std::size_t n_in, std::size_t n_out, A activation = A::none) {
    const AffineGrad g =
        b.affine_grad(f({batch, n_in}), f({n_out, n_in}), f({batch, n_out}), {.activation = activation});
    return {g.dw, g.db, g.dx};
}

Tensors adam(Backend& b, Fill& f, std::size_t n, std::size_t n_decayed) {
    const Tensor p = f({n}), g = f({n}), m = f({n}, -0.1, 0.1), v = f({n}, 0, 0.1);
    b.update({.scale = 0.125, .rate = 0.01, .decay = 0.75, .n_decayed = n_decayed}, p, g, m, v);
    return {p, m, v};
}

Tensors conv(Backend& b, Fill& f, Shape x, Shape w, Conv2dOptions o) {
    if (!o.bias.exists()) o.bias = f({w[0]});
    return {b.conv2d(f(x), f(w), o)};
}

// Around 0, close to it, and the ends one by one: a result's largest value is the measure for all of it.
Tensors activated(Backend& b, Fill& f, const ActivationOptions& o) {
    Tensors all = {b.activate(o, f({7, 150}, -6, 6)), b.activate(o, f({300}, -1e-3, 1e-3))};
    for (double x : {-1e30, -100.0, -0.0, 0.0, 100.0, 1e30}) all.push_back(b.activate(o, f({1}, x, x)));
    return all;
}

Tensors fused_product(Backend& b, Fill& f, const ActivationOptions& o) {
    return {b.matmul(f({33, 65}), f({31, 65}), {.trans_b = true, .bias = f({31}), .activation = o}),
            b.matmul(f({40, 64}), f({64, 36}), {.activation = o})};
}

const Case rows[] = {
    // --- products: around tiles, all forms, long sums
    {"matmul 1x1x1", one, [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({1, 1}), f({1, 1}))}; }},
    {"matmul 7x9x8", one, [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({7, 8}), f({8, 9}))}; }},
    {"matmul 63x65x64", 1e-6, [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({63, 64}), f({64, 65}))}; }},
    {"matmul 65x63x129, b transposed", 1e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({65, 129}), f({63, 129}), {.trans_b = true})}; }},
    {"matmul 65x63x129, a transposed", 1e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({129, 65}), f({129, 63}), {.trans_a = true})}; }},
    {"matmul 65x63x129, both transposed", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.matmul(f({129, 65}), f({63, 129}), {.trans_a = true, .trans_b = true})};
     }},
    {"matmul one row, 1x1000x777", 3e-6, [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({1, 777}), f({777, 1000}))}; }},
    {"matmul one column, 1000x1x777", 3e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({1000, 777}), f({777, 1}))}; }},
    {"matmul 256x256x1024", 3e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({256, 1024}), f({256, 1024}), {.trans_b = true})}; }},
    {"matmul k = 70,000", 2e-5, [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({2, 70000}), f({70000, 3}))}; }},
    {"matmul k = 0 with a bias", one,
     [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({3, 0}), f({0, 4}), {.bias = f({4})})}; }},
    {"matmul of an empty batch", one, [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({0, 5}), f({5, 4}))}; }},
    {"matmul batched 3x2", 1e-6, [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({3, 2, 17, 33}), f({3, 2, 33, 9}))}; }},
    {"matmul batched, one b for all, transposed", 1e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({5, 17, 33}), f({9, 33}), {.trans_b = true})}; }},
    {"matmul batched, one a for all", 1e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.matmul(f({17, 33}), f({5, 33, 9}), {.bias = f({9})})}; }},
    {"matmul bias relu", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.matmul(f({33, 65}), f({31, 65}), {.trans_b = true, .bias = f({31}), .activation = A::relu})};
     }},
    {"matmul bias tanh of sums near 1e4", 2e-6,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.matmul(f({33, 65}, -100, 100), f({31, 65}, -100, 100),
                          {.trans_b = true, .bias = f({31}), .activation = A::tanh})};
     }},
    {"matmul bias sigmoid", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.matmul(f({33, 65}), f({31, 65}), {.trans_b = true, .bias = f({31}), .activation = A::sigmoid})};
     }},
    {"matmul relu, large", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.matmul(f({64, 300}), f({128, 300}), {.trans_b = true, .bias = f({128}), .activation = A::relu})};
     }},
    {"matmul bias gelu", 1e-6, [](Backend& b, Fill& f) { return fused_product(b, f, A::gelu); }},
    {"matmul bias hard_swish", 1e-6, [](Backend& b, Fill& f) { return fused_product(b, f, A::hard_swish); }},
    {"matmul bias leaky_relu, slope 0.3", 1e-6,
     [](Backend& b, Fill& f) { return fused_product(b, f, {A::leaky_relu, 0.3f}); }},
    {"matmul k = 0, hard_sigmoid of the bias", one,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.matmul(f({3, 0}), f({0, 4}), {.bias = f({4}, -3, 3), .activation = {A::hard_sigmoid, 1 / 6.0f}})};
     }},
    {"matmul accumulate, then gelu", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.matmul(f({5, 12}), f({12, 6}), {.activation = A::gelu, .accumulate = true, .out = f({5, 6})})};
     }},
    {"matmul accumulate into a view", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         const Tensor all = f({100});
         b.matmul(f({5, 12}), f({12, 6}), {.accumulate = true, .out = all.view(64, {5, 6})});
         return {all};
     }},
    {"matmul of views at odd offsets", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         const Tensor all = f({2000});
         return {b.matmul(all.view(3, {20, 30}), all.view(701, {30, 40}), {.bias = all.view(1901, {40})})};
     }},

    // --- the gradients of a dense layer
    {"affine_grad 1x1x1", one, [](Backend& b, Fill& f) { return grad(b, f, 1, 1, 1); }},
    {"affine_grad 4x2x8, relu before", one, [](Backend& b, Fill& f) { return grad(b, f, 4, 2, 8, A::relu); }},
    {"affine_grad 7x8x9, tanh before", 1e-6, [](Backend& b, Fill& f) { return grad(b, f, 7, 8, 9, A::tanh); }},
    {"affine_grad 63x65x64, sigmoid before", 1e-6, [](Backend& b, Fill& f) { return grad(b, f, 63, 65, 64, A::sigmoid); }},
    {"affine_grad 64x784x128, relu before", 2e-6, [](Backend& b, Fill& f) { return grad(b, f, 64, 784, 128, A::relu); }},
    {"affine_grad of an empty batch is 0", one, [](Backend& b, Fill& f) { return grad(b, f, 0, 3, 2); }},
    {"affine_grad of no outputs: dx is 0", 0, [](Backend& b, Fill& f) { return grad(b, f, 4, 3, 0, A::tanh); }},
    {"affine_grad into a slab, without dx", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         const Tensor all = b.zeros({200});
         b.affine_grad(f({9, 10}), f({6, 10}), f({9, 6}),
                       {.dw = all.view(64, {6, 10}), .db = all.view(128, {6}), .need_dx = false});
         return {all};
     }},

    // --- convolution
    {"conv2d 3x3, padded", 2e-6, [](Backend& b, Fill& f) { return conv(b, f, {2, 3, 9, 11}, {5, 3, 3, 3}, {.pad = {1, 1}}); }},
    {"conv2d of no channels is the bias", one,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 0, 5, 6}, {4, 0, 3, 2}, {.groups = 2, .activation = A::tanh}); }},
    {"conv2d of padding alone is the bias", one,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 3, 0, 4}, {4, 3, 1, 1}, {.stride = {1, 2}, .pad = {1, 0}}); }},
    {"conv2d 1x1", 2e-6, [](Backend& b, Fill& f) { return conv(b, f, {1, 16, 7, 5}, {8, 16, 1, 1}, {}); }},
    {"conv2d stride 2, dilation 2, uneven pads", 2e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {1, 4, 15, 17}, {6, 4, 3, 2}, {.stride = {2, 1}, .pad = {2, 1}, .dilation = {2, 3}});
     }},
    {"conv2d 2 groups, stride 2", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 4, 8, 8}, {6, 2, 3, 3}, {.stride = {2, 2}, .pad = {1, 1}, .groups = 2}); }},
    {"conv2d 4 groups, dilation 2", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 8, 9, 9}, {8, 2, 3, 3}, {.dilation = {2, 2}, .groups = 4}); }},
    {"conv2d depthwise", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 16, 10, 10}, {16, 1, 3, 3}, {.pad = {1, 1}, .groups = 16}); }},
    {"conv2d depthwise, two filters a channel", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 6, 10, 10}, {12, 1, 3, 3}, {.groups = 6}); }},
    {"conv2d relu", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 3, 8, 8}, {4, 3, 3, 3}, {.activation = A::relu}); }},
    {"conv2d tanh without a bias", 2e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.conv2d(f({1, 3, 8, 8}), f({4, 3, 3, 3}), {.activation = A::tanh})}; }},
    {"conv2d gelu", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 3, 9, 8}, {4, 3, 3, 3}, {.activation = A::gelu}); }},
    {"conv2d hard_swish, depthwise", 2e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {1, 8, 9, 9}, {8, 1, 3, 3}, {.pad = {1, 1}, .groups = 8, .activation = A::hard_swish});
     }},
    {"conv2d leaky_relu, slope 0.3, 1x1", 2e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {1, 16, 7, 5}, {8, 16, 1, 1}, {.activation = {A::leaky_relu, 0.3f}});
     }},
    {"conv2d of no channels: hard_sigmoid of the bias", one,
     [](Backend& b, Fill& f) {
         return conv(b, f, {2, 0, 5, 6}, {4, 0, 3, 2}, {.activation = {A::hard_sigmoid, 0.5f, 0.25f}});
     }},
    {"conv2d padding past the kernel", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 2, 3, 3}, {2, 2, 1, 1}, {.pad = {2, 2}}); }},
    {"conv2d one row of 1-d data", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {3, 2, 1, 50}, {4, 2, 1, 5}, {.stride = {1, 3}, .pad = {0, 2}}); }},
    {"conv2d 1x1, planes not in fours, 3 pictures", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {3, 19, 7, 5}, {37, 19, 1, 1}, {.activation = A::relu}); }},
    {"conv2d 1x1, planes in fours, 3 pictures", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {3, 19, 6, 6}, {37, 19, 1, 1}, {.activation = A::sigmoid}); }},
    {"conv2d 1x1, stride 2", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 20, 9, 14}, {33, 20, 1, 1}, {.stride = {2, 2}}); }},
    {"conv2d 1x1, padded: the edge is the bias", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 20, 6, 6}, {33, 20, 1, 1}, {.pad = {1, 1}}); }},
    {"conv2d 1x1, groups", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 20, 6, 6}, {12, 10, 1, 1}, {.groups = 2}); }},
    {"conv2d 1x1 of pictures of one value", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {5, 40, 1, 1}, {70, 40, 1, 1}, {.activation = A::tanh}); }},
    {"conv2d of whole pictures", 3e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {5, 12, 3, 5}, {21, 12, 3, 5}, {.stride = {2, 2}}); }},
    {"conv2d of whole pictures and padding", 3e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 12, 3, 5}, {21, 12, 3, 5}, {.pad = {1, 1}}); }},
    {"conv2d 3x3, 64 to 70, batch 3", 3e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {3, 64, 13, 10}, {70, 64, 3, 3}, {.pad = {1, 1}, .activation = A::relu});
     }},
    {"conv2d 3x3, stride 2, one channel", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 1, 21, 30}, {16, 1, 3, 3}, {.stride = {2, 2}, .pad = {1, 1}}); }},
    {"conv2d 3x3, dilation 3", 3e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {1, 17, 14, 15}, {18, 17, 3, 3}, {.pad = {3, 3}, .dilation = {3, 3}});
     }},
    {"conv2d 3x3, 2 groups of 20 filters, batch 3", 3e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {3, 24, 10, 9}, {40, 12, 3, 3}, {.stride = {2, 1}, .pad = {1, 1}, .groups = 2});
     }},
    {"conv2d 7x7, stride 2, 3 channels", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 3, 30, 41}, {24, 3, 7, 7}, {.stride = {2, 2}, .pad = {3, 3}}); }},
    {"conv2d 1x7", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 12, 9, 13}, {20, 12, 1, 7}, {.pad = {0, 3}}); }},
    {"conv2d 7x1", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 12, 9, 13}, {20, 12, 7, 1}, {.pad = {3, 0}}); }},
    {"conv2d 1x40 of 1-d data", 3e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 6, 1, 100}, {16, 6, 1, 40}, {.pad = {0, 20}}); }},
    {"conv2d depthwise 5x5, stride 2, batch 3", 2e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {3, 7, 15, 18}, {7, 1, 5, 5}, {.stride = {2, 2}, .pad = {2, 2}, .groups = 7});
     }},
    {"conv2d depthwise 3x3, dilation 2", 2e-6,
     [](Backend& b, Fill& f) {
         return conv(b, f, {2, 5, 11, 12}, {5, 1, 3, 3}, {.pad = {2, 2}, .dilation = {2, 2}, .groups = 5});
     }},
    {"conv2d depthwise 9x9: past what is unrolled", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 5, 12, 12}, {5, 1, 9, 9}, {.pad = {4, 4}, .groups = 5}); }},
    {"conv2d depthwise, 70,000 channels: past a grid's side", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 70000, 3, 1}, {70000, 1, 2, 1}, {.groups = 70000}); }},
    {"conv2d of two filters, sums of 72,000", 2e-5,
     [](Backend& b, Fill& f) { return conv(b, f, {1, 8000, 4, 3}, {2, 8000, 3, 3}, {}); }},
    {"conv2d of planes past a piece of a binding", 2e-6,
     [](Backend& b, Fill& f) { return conv(b, f, {2, 3, 200, 250}, {12, 3, 3, 3}, {.pad = {1, 1}}); }},
    {"conv2d of no pictures", one, [](Backend& b, Fill& f) { return conv(b, f, {0, 2, 5, 5}, {2, 2, 3, 3}, {}); }},

    // --- activations
    {"relu", 0, [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::relu, f({9, 9}))}; }},
    {"tanh in [-10, 10]", 1e-6, [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::tanh, f({3, 700}, -10, 10))}; }},
    {"tanh near 0", 1e-6, [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::tanh, f({300}, -1e-3, 1e-3))}; }},
    {"tanh of +-1000", one, [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::tanh, f({300}, -1000, 1000))}; }},
    {"sigmoid of +-1000: exp out of range", one,
     [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::sigmoid, f({300}, -1000, 1000))}; }},
    {"sigmoid past 4,194,240 values", 1e-6,
     [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::sigmoid, f({65536, 65}, -8, 8))}; }},
    {"activation none copies", 0, [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::none, f({5}))}; }},
    {"leaky_relu", one, [](Backend& b, Fill& f) { return activated(b, f, A::leaky_relu); }},
    {"leaky_relu, slope 2", one, [](Backend& b, Fill& f) { return activated(b, f, {A::leaky_relu, 2.0f}); }},
    {"relu6", 0, [](Backend& b, Fill& f) { return activated(b, f, A::relu6); }},
    {"hard_sigmoid", one, [](Backend& b, Fill& f) { return activated(b, f, A::hard_sigmoid); }},
    {"hard_sigmoid of PyTorch", one, [](Backend& b, Fill& f) { return activated(b, f, {A::hard_sigmoid, 1 / 6.0f}); }},
    {"hard_swish", one, [](Backend& b, Fill& f) { return activated(b, f, A::hard_swish); }},
    {"gelu", one, [](Backend& b, Fill& f) { return activated(b, f, A::gelu); }},
    {"gelu_tanh", one, [](Backend& b, Fill& f) { return activated(b, f, A::gelu_tanh); }},
    {"silu", one, [](Backend& b, Fill& f) { return activated(b, f, A::silu); }},
    {"softplus", one, [](Backend& b, Fill& f) { return activated(b, f, A::softplus); }},
    {"elu", one, [](Backend& b, Fill& f) { return activated(b, f, A::elu); }},
    {"elu, alpha 0.5", one, [](Backend& b, Fill& f) { return activated(b, f, {A::elu, 0.5f}); }},
    {"mish", one, [](Backend& b, Fill& f) { return activated(b, f, A::mish); }},
    {"mish past 4,194,240 values", one,
     [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::mish, f({65536, 65}, -8, 8))}; }},
    {"relu gradient, 0 at 0", 0,
     [](Backend& b, Fill& f) -> Tensors { return {b.activate_grad(A::relu, b.activate(A::relu, f({50}, -1, 1)), f({50}))}; }},
    {"tanh gradient", one, [](Backend& b, Fill& f) -> Tensors { return {b.activate_grad(A::tanh, f({7, 50}), f({7, 50}))}; }},
    {"sigmoid gradient", one,
     [](Backend& b, Fill& f) -> Tensors { return {b.activate_grad(A::sigmoid, f({7, 50}, 0, 1), f({7, 50}))}; }},
    {"activation of nothing", 0, [](Backend& b, Fill& f) -> Tensors { return {b.activate(A::tanh, f({0, 5}))}; }},

    // --- lookups
    {"embed", 0, [](Backend& b, Fill& f) -> Tensors { return {b.embed(f({9, 3}), f.below(9, {5, 4}))}; }},
    {"embed, wide rows", 0, [](Backend& b, Fill& f) -> Tensors { return {b.embed(f({100, 65}), f.below(100, {33, 3}))}; }},
    {"embed_grad, repeated tokens", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         const Tensor out = f({9, 3});
         b.embed_grad(f.below(9, {50, 4}), f({50, 12}), out);
         return {out};
     }},
    {"gather rows", 0, [](Backend& b, Fill& f) -> Tensors { return {b.gather(f({20, 7}), f.below(20, {33}))}; }},
    {"gather rows of tokens", 0, [](Backend& b, Fill& f) -> Tensors { return {b.gather(f.below(99, {20, 7}), f.below(20, {33}))}; }},
    {"gather no rows", 0, [](Backend& b, Fill& f) -> Tensors { return {b.gather(f({20, 7}), f.below(20, {0}))}; }},

    // --- losses
    {"softmax_ce", 1e-6,
     [](Backend& b, Fill& f) { return list(b.softmax_ce(f({17, 10}, -5, 5), f.below(10, {17}))); }},
    {"softmax_ce, one class", one, [](Backend& b, Fill& f) { return list(b.softmax_ce(f({3, 1}), f.below(1, {3}))); }},
    {"softmax_ce, tied maxima", one,
     [](Backend& b, Fill& f) {
         const std::vector<double> z(12, 3.0);
         return list(b.softmax_ce(b.upload(z, {3, 4}), f.below(4, {3})));
     }},
    {"softmax_ce, weights and rows, 300 classes", 1e-6,
     [](Backend& b, Fill& f) {
         return list(b.softmax_ce(f({33, 300}, -20, 20), f.below(300, {50}),
                                  {.weights = f({50}, 0, 2), .rows = f.below(50, {33})}));
     }},
    {"softmax_ce without a gradient", 1e-6,
     [](Backend& b, Fill& f) -> Tensors {
         return {b.softmax_ce(f({17, 10}), f.below(10, {17}), {.gradient = false}).losses};
     }},
    {"softmax_ce, logits +-80", 1e-6,
     [](Backend& b, Fill& f) { return list(b.softmax_ce(f({17, 3}, -40, 40), f.below(3, {17}))); }},

    // --- updates
    {"adam, some decayed", one, [](Backend& b, Fill& f) { return adam(b, f, 1000, 700); }},
    {"adam, one value", one, [](Backend& b, Fill& f) { return adam(b, f, 1, 0); }},
    {"adam, 200,001 values", one, [](Backend& b, Fill& f) { return adam(b, f, 200001, 200001); }},
    {"sgd with momentum and decay", one,
     [](Backend& b, Fill& f) -> Tensors {
         const Tensor p = f({333}), g = f({333}), v = f({333});
         b.update({.rule = UpdateRule::sgd, .scale = 0.25, .lr = 0.1, .momentum = 0.9, .decay = 0.5, .n_decayed = 100}, p, g, v);
         return {p, v};
     }},
    {"decay alone", 0,
     [](Backend& b, Fill& f) -> Tensors {
         const Tensor p = f({77});
         b.update({.rule = UpdateRule::decay, .decay = 0.5, .n_decayed = 50}, p);
         return {p};
     }},
    {"copy of a view into a view", 0,
     [](Backend& b, Fill& f) -> Tensors {
         const Tensor from = f({100}), to = f({100});
         b.copy(from.view(7, {50}), to.view(33, {5, 10}));
         return {to};
     }},
};

}  // namespace

std::span<const Case> operator_cases() {
    return rows;
}

}  // namespace shunt::test
