// A card that is open: its buffers, its compiled kernels, its errors, and waiting for it.
//
// One per process and adapter, shared by all backends on it, until the process ends or the card is lost
// or does not answer: from then on it throws the same error at everybody, and open() gives another. Any
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/error.hpp"
#include "webgpu/adapter.hpp"
#include "webgpu/api.hpp"
#include "webgpu/kernels.hpp"

namespace shunt::webgpu {

struct DeviceOptions {
    std::string adapter;   // as pick() takes it; empty: SHUNT_ADAPTER
    bool checked = false;  // shaders with WebGPU's own bounds and loop checks; SHUNT_CHECKED=1 sets it
    // Tests ask for less than the adapter has. A device with limits of its own is not shared.
    std::function<void(WGPULimits&)> limits = {};
    std::chrono::milliseconds deadline{120000};  // of one wait; a shared device keeps that of its first opener
};

// What was made on a device so far: a steady state adds nothing.
struct Counters {
    std::uint64_t buffers = 0, bytes = 0, bind_groups = 0, pipelines = 0;

    bool operator==(const Counters&) const = default;
};

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
    BindGroup make_bind_group(const Kernel& kernel, std::span<const WGPUBindGroupEntry> entries);
    const Kernel& kernel(std::string_view name) { return kernel(name, find_kernel(name).text); }
    // Of a text made for a shape, compiled once; it has common.wgsl in front. The name is for messages.
    const Kernel& kernel(std::string_view name, std::string_view text);
    // A program's own: always with WebGPU's checks.
    const Kernel& own_kernel(const KernelSource& source, const Bindings& bindings);

    // Runs `make` inside an error scope: what WebGPU reports becomes an Error "… - While `doing`".
    void checked(std::string_view doing, const std::function<void()>& make);

    // Throws what went wrong outside a scope; once the device is gone, always why.
    void check();
    bool usable() const;

    void submit(WGPUCommandBuffer commands, const WGPUQueueWorkDoneCallbackInfo& on_done);

    // Calls back work until `done`. Past the deadline: timed_out, and the device counts as gone.
    void wait(const std::atomic<bool>& done, std::string_view for_what);

    Counters made() const;

private:
    Device() = default;
    void open_on(AdapterHandle adapter, const DeviceOptions& options);
    const Kernel& cached(const KernelSource& source, const Bindings& bindings, bool with_checks);
    Kernel compile(const KernelSource& source, const Bindings& bindings, bool with_checks);

    // What the device's callbacks write to; they may come from any thread, and late.
    struct Reports {
        std::mutex mutex;
        std::string error;
        std::optional<Error> gone;  // lost, or without an answer
        std::atomic<bool> any = false;
    };

    mutable std::mutex mutex_;  // submission, kernels, error scopes, counters
    std::shared_ptr<Reports> reports_ = std::make_shared<Reports>();
    Instance instance_;
    AdapterHandle adapter_;
    AdapterInfo adapter_info_;
    WGPULimits limits_ = WGPU_LIMITS_INIT;
    bool checked_shaders_ = false;
    std::chrono::milliseconds deadline_{};
    unsigned born_ = forks();
    Counters made_;
    DeviceHandle device_;
    Queue queue_;
    std::map<std::pair<std::string, bool>, Kernel> kernels_;  // by text, and whether it has WebGPU's checks
};

}  // namespace shunt::webgpu
