// The WebGPU functions that this library calls, found in the shared library at run time: a machine
// without one has no card and everything else works.
//
// wgpu-native aborts the process in functions it does not implement; none of those is in this list.
#pragma once

#include <webgpu.h>
#include <wgpu.h>

#include <atomic>
#include <memory>
#include <string>

#include "core/forks.hpp"

namespace shunt::webgpu {

// clang-format off
#define SHUNT_WEBGPU_FUNCTIONS(X) \
    X(CreateInstance) X(InstanceRelease) X(InstanceEnumerateAdapters) \
    X(AdapterGetInfo) X(AdapterInfoFreeMembers) X(AdapterGetLimits) X(AdapterGetFeatures) \
    X(SupportedFeaturesFreeMembers) X(AdapterRequestDevice) X(AdapterRelease) X(DeviceGetLimits) \
    X(DeviceGetQueue) X(DevicePoll) X(DevicePushErrorScope) X(DevicePopErrorScope) X(DeviceCreateBuffer) \
    X(DeviceCreateShaderModule) X(DeviceCreateShaderModuleTrusted) X(DeviceCreateBindGroupLayout) \
    X(DeviceCreatePipelineLayout) X(DeviceCreateComputePipeline) X(DeviceCreateBindGroup) \
    X(DeviceCreateCommandEncoder) X(DeviceRelease) X(BindGroupLayoutRelease) X(PipelineLayoutRelease) \
    X(ComputePipelineRelease) X(ShaderModuleRelease) X(BindGroupRelease) X(CommandEncoderBeginComputePass) \
    X(CommandEncoderCopyBufferToBuffer) X(CommandEncoderFinish) X(CommandEncoderRelease) \
    X(CommandBufferRelease) X(ComputePassEncoderSetPipeline) X(ComputePassEncoderSetBindGroup) \
    X(ComputePassEncoderDispatchWorkgroups) X(ComputePassEncoderEnd) X(ComputePassEncoderRelease) \
    X(QueueSubmit) X(QueueWriteBuffer) X(QueueOnSubmittedWorkDone) X(QueueRelease) X(BufferMapAsync) \
    X(BufferGetConstMappedRange) X(BufferUnmap) X(BufferRelease) X(GetVersion)
// clang-format on

struct Api {
#define SHUNT_FIELD(name) decltype(&::wgpu##name) name = nullptr;
    SHUNT_WEBGPU_FUNCTIONS(SHUNT_FIELD)
#undef SHUNT_FIELD
};

// The functions in use, or none and the reason. Loaded at the first call from
// SHUNT_WEBGPU_LIBRARY, else from where the build or the installation put the library, else from
// where the system looks.
struct Library {
    const Api* api = nullptr;
    std::string path, reason;
};
const Library& library();

// The functions that everything calls: the library's, or those that a test has put in their place
// (fault.hpp), which it gets back. Only to be called where library().api exists.
inline std::atomic<const Api*> current_api = nullptr;
inline const Api& api() {
    return *current_api.load(std::memory_order_relaxed);
}
inline const Api* exchange_api(const Api* other) {
    return current_api.exchange(other);
}

// Owns one WebGPU object, in the process that made it. A child that released its parent's would hang
// (Mesa waits for threads that are not there) or free what the parent uses.
template <auto Release>
struct Releaser {
    unsigned born = forks();

    template <class Object>
    void operator()(Object* object) const {
        if (born == forks()) (api().*Release)(object);
    }
};
template <class Object, auto Release>
using Handle = std::unique_ptr<Object, Releaser<Release>>;

using Instance = Handle<WGPUInstanceImpl, &Api::InstanceRelease>;
using AdapterHandle = Handle<WGPUAdapterImpl, &Api::AdapterRelease>;
using DeviceHandle = Handle<WGPUDeviceImpl, &Api::DeviceRelease>;
using Queue = Handle<WGPUQueueImpl, &Api::QueueRelease>;
using Buffer = Handle<WGPUBufferImpl, &Api::BufferRelease>;
using ShaderModule = Handle<WGPUShaderModuleImpl, &Api::ShaderModuleRelease>;
using BindGroupLayout = Handle<WGPUBindGroupLayoutImpl, &Api::BindGroupLayoutRelease>;
using PipelineLayout = Handle<WGPUPipelineLayoutImpl, &Api::PipelineLayoutRelease>;
using Pipeline = Handle<WGPUComputePipelineImpl, &Api::ComputePipelineRelease>;
using BindGroup = Handle<WGPUBindGroupImpl, &Api::BindGroupRelease>;
using CommandEncoder = Handle<WGPUCommandEncoderImpl, &Api::CommandEncoderRelease>;
using CommandBuffer = Handle<WGPUCommandBufferImpl, &Api::CommandBufferRelease>;
using ComputePass = Handle<WGPUComputePassEncoderImpl, &Api::ComputePassEncoderRelease>;

std::string text(WGPUStringView view);

}  // namespace shunt::webgpu
