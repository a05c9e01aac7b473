// The shader text of a program's own kernel, and back from its lines to those of the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/tensor.hpp"
#include "webgpu/kernels.hpp"

namespace shunt::webgpu {

struct Definition {
    std::vector<std::string> bindings;  // "access:variable"
    int dimensions = 1;
    std::string body, functions;

    bool operator==(const Definition&) const = default;
};

struct Binding {
    std::string text;  // as defined
    Type type = Type::f32;
    bool written = false;
};

struct OwnKernel {
    std::string name;
    Definition definition;
    std::vector<Binding> bindings;  // without the parameters, which come last
    std::string text;               // WGSL: a line of parameters, one a binding, functions, entry point, body
    std::size_t functions_line = 0, body_line = 0;  // where in it they begin, from 1
    Bindings layout;

    // What WebGPU says about the text, as one sentence about the program's own lines.
    std::string explain(std::string_view message) const;
};

// bad_argument for names, bindings and dimensions that cannot be.
OwnKernel own_kernel(std::string_view name, const Definition& definition);

}  // namespace shunt::webgpu
