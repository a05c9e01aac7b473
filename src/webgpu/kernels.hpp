// The shaders of src/webgpu/kernels/, compiled into the library by cmake/embed_wgsl.cmake.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "webgpu/api.hpp"

namespace shunt::webgpu {

struct KernelSource {
    std::string_view name;
    std::string_view text;
};

std::span<const KernelSource> kernel_sources();  // generated
std::string_view common_text();                  // common.wgsl, generated

// Throws bad_argument for a name that is not there.
const KernelSource& find_kernel(std::string_view name);

// How a shader's bindings are declared, in order: the uniform Params come last.
std::vector<WGPUBufferBindingType> bindings_of(std::string_view text);

}  // namespace shunt::webgpu
