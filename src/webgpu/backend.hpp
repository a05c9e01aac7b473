// The gpu backend.
#pragma once

#include <memory>

#include "shunt/backend.hpp"
#include "webgpu/device.hpp"

namespace shunt::webgpu {

class Launcher;

// Error: no_gpu with the reason where there is no card to use, gpu_broken where one does not work.
std::shared_ptr<Backend> make_gpu(const BackendOptions& options, const DeviceOptions& device = {});

// What a gpu backend records with; null for any other backend.
Launcher* launcher_of(Backend& backend);

}  // namespace shunt::webgpu
