// A card that is open: its buffers, its compiled kernels, its errors, and waiting for it.
//
// One per process and adapter, shared by all backends on it. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/error.hpp"
#include "webgpu/adapter.hpp"
#include "webgpu/api.hpp"

namespace shunt::webgpu {

struct DeviceOptions {
    std::string adapter;   // as pick() takes it; empty: SHUNT_ADAPTER
    bool checked = false;  // shaders with WebGPU's own bounds and loop checks; SHUNT_CHECKED=1 sets it
    // Tests ask for less than the adapter has. A device with limits of its own is not shared.
    std::function<void(WGPULimits&)> limits = {};
};

using Constants = std::vector<std::pair<std::string, double>>;  // of a shader's `override`s

// A compute pipeline with the layout of its bind group.
struct Kernel {
    std::uint64_t id = 0;
    std::string name;
    std::size_t n_storage = 0;  // bindings before the Params
    Pipeline pipeline;
    BindGroupLayout layout;
};

class Device {
public:
    // Error: no_gpu where there is none to use (with the reason), gpu_broken where one does not open.
    static std::shared_ptr<Device> open(const DeviceOptions& options = {});
    ~Device();

    const AdapterInfo& adapter() const { return adapter_info_; }
    const WGPULimits& limits() const { return limits_; }
    WGPUDevice handle() const { return device_.get(); }
    WGPUQueue queue() const { return queue_.get(); }

    Buffer make_buffer(std::uint64_t bytes, WGPUBufferUsage usage);  // out_of_memory
    const Kernel& kernel(std::string_view name, const Constants& constants = {});
    // One whose text is given, common.wgsl put in front. The first text that comes with a name is kept.
    const Kernel& kernel(std::string_view name, std::string_view text);

    // Runs `make` inside an error scope: what WebGPU reports becomes an Error "… - While `doing`".
    void checked(std::string_view doing, const std::function<void()>& make);

    // Throws what went wrong outside a scope, and device_lost once the device is gone.
    void check();

    void submit(WGPUCommandBuffer commands);

    // Calls back work until `done`. timed_out past the deadline.
    void wait(const std::atomic<bool>& done, std::string_view for_what);

    std::chrono::milliseconds deadline{120000};  // of one wait

private:
    Device() = default;
    void open_on(AdapterHandle adapter, const DeviceOptions& options);
    template <typename Text>
    const Kernel& find_or_compile(std::string_view name, const Constants& constants, const Text& text);
    Kernel compile(std::string_view name, std::string_view text, const Constants& constants);

    // What the device's callbacks write to; they may come from any thread, and late.
    struct Reports {
        std::mutex mutex;
        std::string error, lost;
        std::atomic<bool> any = false;
    };

    std::mutex mutex_;  // submission, kernels, error scopes
    std::shared_ptr<Reports> reports_ = std::make_shared<Reports>();
    Instance instance_;
    AdapterHandle adapter_;
    AdapterInfo adapter_info_;
    WGPULimits limits_ = WGPU_LIMITS_INIT;
    bool checked_shaders_ = false;
    DeviceHandle device_;
    Queue queue_;
    std::map<std::pair<std::string, Constants>, Kernel, std::less<>> kernels_;
};

}  // namespace shunt::webgpu
