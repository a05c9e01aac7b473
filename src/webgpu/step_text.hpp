// The text of the two kernels that make a whole training step of a narrow network.
//
// The first has a workgroup a sample: forward, loss, and the gradients before each activation, all in
// workgroup memory; what the second needs is left behind as one row a sample. The second computes the
// weights' and biases' gradients from these rows and updates the parameters at once. Text is made for
// the layers, so that all sizes are constants and sums are unrolled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shunt/backend.hpp"
#include "webgpu/wgsl.hpp"

namespace shunt::webgpu {

using Layers = std::vector<DenseLayer>;

inline std::uint32_t quads(std::size_t n) {
    return static_cast<std::uint32_t>((n + 3) / 4);
}

struct StepLimits {
    std::uint64_t invocations = 256;         // of a workgroup
    std::uint64_t workgroup_memory = 16384;  // bytes
    std::uint64_t groups = 65535;            // along one side of a grid
};

// One row of a batch between the two kernels, and in the first one's workgroup memory. In vec4s; each
// part is padded with zeros.
struct StepRow {
    std::vector<std::uint32_t> inputs;     // of each layer: where its inputs begin; the sample at 0
    std::vector<std::uint32_t> gradients;  // of each layer: the gradient before its activation
    std::uint32_t size = 0;
};
StepRow step_row(const Layers& layers);

// Whether all layers have whole vec4s of inputs, so that weights are read and written four at a time.
bool in_quads(const Layers& layers);

std::uint32_t step_threads(const Layers& layers, const StepLimits& limits);  // of the first kernel
std::uint32_t step_groups(const Layers& layers);                             // of the second

// Whether these two kernels take a step: each sample reads all weights, so that many samples of many
// weights are better off with products; and a sample must fit into a workgroup.
bool is_narrow(const Layers& layers, std::uint64_t batch, const StepLimits& limits);

std::string samples_text(const Layers& layers, bool softmax, const StepLimits& limits);
std::string weights_text(const Layers& layers);

}  // namespace shunt::webgpu
