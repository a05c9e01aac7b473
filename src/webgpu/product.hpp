// Products on the card.
#pragma once

#include "shunt/backend.hpp"
#include "webgpu/launcher.hpp"
#include "webgpu/product_text.hpp"

namespace shunt::webgpu {

// What becomes of a product's sums.
struct Epilogue {
    Tensor bias = {};
    bool row_bias = false;  // it has a value for each row of c, not for each column
    ActivationOptions activation = {};
    bool accumulate = false;
    // Through the derivative of the activation whose outputs these are, instead of the activation.
    Tensor outputs = {};
    // [m], in the storage of c, which is to fit into one binding: where Σ_k a[i][k] go.
    Tensor row_sums = {};
};

// The tiles, largest first. Each stays within the 16 KiB of workgroup memory and 256 invocations that
// every device has.
inline constexpr Tile large_tile{128, 128, 16, 8, 16, 1}, middle_tile{64, 64, 16, 8, 8, 1},
    small_tile{32, 32, 64, 4, 4, 4}, thin_tile{16, 16, 128, 4, 4, 16};

// Which one a product with m×n outputs takes. A function of shape alone, so that sums always run in
// the same order.
const Tile& choose_tile(std::uint64_t m, std::uint64_t n);

const Kernel& product_kernel(Launcher& card, const Tile& tile, const ProductForm& form);

// c = epilogue(a·b), a and b transposed if asked for, block by block where they are larger than a
// binding. Sizes before the last two are a batch, as in Backend::matmul. `tile`: instead of the chosen
// one, for tests and measurements.
void product(Launcher& card, const Tensor& a, const Tensor& b, const Tensor& c, bool trans_a, bool trans_b,
             const Epilogue& epilogue, const Tile* tile = nullptr);

}  // namespace shunt::webgpu
