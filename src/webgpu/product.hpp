// Products on the card.
#pragma once

#include "shunt/backend.hpp"
#include "webgpu/launcher.hpp"

namespace shunt::webgpu {

// What becomes of a product's sums.
struct Epilogue {
    Tensor bias = {};
    Activation activation = Activation::none;
    bool accumulate = false;
    // Through the derivative of the activation whose outputs these are, instead of the activation.
    Tensor outputs = {};
    // [m], in the storage of c: where Σ_k a[i][k] go.
    Tensor row_sums = {};
};

// c = epilogue(a·b), a and b transposed if asked for, block by block where they are larger than a
// binding. Sizes before the last two are a batch, as in Backend::matmul.
void product(Launcher& card, const Tensor& a, const Tensor& b, const Tensor& c, bool trans_a, bool trans_b,
             const Epilogue& epilogue);

}  // namespace shunt::webgpu
