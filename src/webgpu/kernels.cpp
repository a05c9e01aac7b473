// Looking up a shader and reading its bindings.
#include "webgpu/kernels.hpp"

#include <algorithm>
#include <string>

#include "shunt/error.hpp"

namespace shunt::webgpu {

const KernelSource& find_kernel(std::string_view name) {
    const auto all = kernel_sources();
    const auto found = std::ranges::find(all, name, &KernelSource::name);
    if (found == all.end()) throw Error(Fault::bad_argument, "There is no kernel '" + std::string(name) + "'.");
    return *found;
}

Bindings bindings_of(std::string_view text) {
    Bindings bindings;
    for (std::size_t at = text.find("@binding("); at != text.npos; at = text.find("@binding(", at + 1)) {
        const std::string_view line = text.substr(at, text.find('\n', at) - at);
        if (line.find("var<uniform>") != line.npos) {
            bindings.push_back(WGPUBufferBindingType_Uniform);
        } else if (line.find("var<storage, read_write>") != line.npos) {
            bindings.push_back(WGPUBufferBindingType_Storage);
        } else {
            bindings.push_back(WGPUBufferBindingType_ReadOnlyStorage);
        }
    }
    return bindings;
}

}  // namespace shunt::webgpu
