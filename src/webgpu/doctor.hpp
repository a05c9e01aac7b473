// What a card needs, looked for piece by piece, for people whose card does not work.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/gpu.hpp"

namespace shunt::webgpu {

// An environment variable's value, or empty.
using Environment = std::function<std::string(const char*)>;

// Where the Vulkan loader looks for driver files: files, or folders of them.
std::vector<std::string> driver_places(const Environment& environment);

// The library that a driver file names, as dlopen takes it. bad_file where it is no driver file.
std::string driver_library(std::string_view text, const std::string& file);

Diagnosis diagnose();

}  // namespace shunt::webgpu
