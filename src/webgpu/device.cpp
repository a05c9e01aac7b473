// Opening a device, and everything that can go wrong with one.
#include "webgpu/device.hpp"

#include <thread>
#include <utility>

#include "core/text.hpp"

namespace shunt::webgpu {
namespace {

WGPUStringView view(std::string_view s) {
    return {s.data(), s.size()};
}

// The devices that are open, until the process ends: opening costs up to a second, and a program may
// make its networks one after the other. Those of a parent process are left alone in its child; those
// of other functions (tests) end with their last user.
struct Open {
    struct Entry {
        const Api* functions;
        bool checked;
        std::string wanted;  // which of the adapters, in the opener's words
        int index;           // and by its place
        std::weak_ptr<Device> device;
        std::shared_ptr<Device> kept;
    };
    std::mutex mutex;
    unsigned born = 0;
    std::vector<Entry> entries;

    template <typename Same>
    std::shared_ptr<Device> find(bool checked, const Same& same) const {
        for (const Entry& entry : entries) {
            if (entry.functions != &api() || entry.checked != checked || !same(entry)) continue;
            if (std::shared_ptr<Device> device = entry.device.lock(); device && device->usable()) return device;
        }
        return nullptr;
    }
};
Open& open_devices() {
    static Open& all = *new Open;  // never destroyed: at exit the drivers may be gone before
    return all;
}

}  // namespace

std::shared_ptr<Device> Device::open(const DeviceOptions& given) {
    DeviceOptions options = given;
    options.adapter = wanted_adapter(given.adapter);
    if (environment("SHUNT_CHECKED") == "1") options.checked = true;
    require_card();
    Open& all = open_devices();
    const std::lock_guard lock(all.mutex);
    if (std::exchange(all.born, forks()) != forks()) all.entries.clear();
    const bool shared = !options.limits;
    std::shared_ptr<Device> device;
    const auto by_name = [&](const Open::Entry& entry) { return entry.wanted == options.adapter; };
    if (shared && (device = all.find(options.checked, by_name))) return device;  // asks no driver
    ChosenAdapter chosen = choose_adapter(options.adapter);
    const auto by_index = [&](const Open::Entry& entry) { return entry.index == chosen.index; };
    if (shared && (device = all.find(options.checked, by_index))) return device;
    device.reset(new Device);
    device->instance_ = std::move(chosen.instance);
    device->adapter_info_ = std::move(chosen.info);
    device->open_on(std::move(chosen.handle), options);
    if (shared) {
        std::erase_if(all.entries, [](const Open::Entry& entry) {
            const std::shared_ptr<Device> open = entry.device.lock();
            return !open || !open->usable();
        });
        const bool keep = &api() == library().api;
        all.entries.push_back(
            {&api(), options.checked, options.adapter, chosen.index, device, keep ? device : nullptr});
    }
    return device;
}

void Device::open_on(AdapterHandle adapter, const DeviceOptions& options) {
    adapter_ = std::move(adapter);
    checked_shaders_ = options.checked;
    deadline_ = options.deadline;
    limits_ = adapter_info_.limits;
    limits_.nextInChain = nullptr;
    if (options.limits) options.limits(limits_);

    struct Answer {
        WGPUDevice device = nullptr;
        std::string message;
    } answer;
    WGPURequestDeviceCallbackInfo on_device = {};
    on_device.mode = WGPUCallbackMode_AllowProcessEvents;
    on_device.userdata1 = &answer;
    on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* user, void*) {
        *static_cast<Answer*>(user) = {device, text(message)};
    };
    WGPUDeviceDescriptor descriptor = {};
    descriptor.requiredLimits = &limits_;
    // The reports outlive the device on purpose (a leak of a few bytes a device): a callback may come late.
    auto* reports = new std::shared_ptr<Reports>(reports_);
    descriptor.uncapturedErrorCallbackInfo.userdata1 = reports;
    descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType, WGPUStringView message,
                                                         void* user, void*) {
        Reports& r = **static_cast<std::shared_ptr<Reports>*>(user);
        const std::lock_guard lock(r.mutex);
        if (r.error.empty()) r.error = text(message);  // the first is the cause
        r.any = true;
    };
    descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
    descriptor.deviceLostCallbackInfo.userdata1 = reports;
    descriptor.deviceLostCallbackInfo.callback = [](const WGPUDevice*, WGPUDeviceLostReason, WGPUStringView message,
                                                    void* user, void*) {
        Reports& r = **static_cast<std::shared_ptr<Reports>*>(user);
        const std::lock_guard lock(r.mutex);
        if (!r.gone) r.gone.emplace(Fault::device_lost, "The graphics card was lost: " + text(message));
        r.any = true;
    };
    api().AdapterRequestDevice(adapter_.get(), &descriptor, on_device);  // wgpu-native answers within the call
    if (!answer.device) {
        throw Error(Fault::gpu_broken, "The adapter " + adapter_info_.name + " gives no device: " + answer.message);
    }
    device_.reset(answer.device);
    queue_.reset(api().DeviceGetQueue(device_.get()));
    WGPULimits got = WGPU_LIMITS_INIT;
    if (api().DeviceGetLimits(device_.get(), &got) == WGPUStatus_Success) limits_ = got;
}

// Releasing the queue waits for the card's work, and after six seconds without an end wgpu-core panics:
// a card that hangs is kept.
Device::~Device() {
    const std::lock_guard lock(reports_->mutex);
    if (!reports_->gone || reports_->gone->fault() != Fault::timed_out) return;
    static_cast<void>(queue_.release());
    static_cast<void>(device_.release());
}

void Device::check() {
    if (born_ != forks()) {
        throw Error(Fault::device_lost, "The graphics card " + adapter_info_.name +
                                            " was opened before a fork, and is the parent's alone: this process has "
                                            "to open it for itself.");
    }
    if (!reports_->any.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(reports_->mutex);
    if (reports_->gone) throw *reports_->gone;
    if (!reports_->error.empty()) throw Error(Fault::gpu_broken, std::exchange(reports_->error, {}));
}

bool Device::usable() const {
    const std::lock_guard lock(reports_->mutex);
    return !reports_->gone;
}

Counters Device::made() const {
    const std::lock_guard lock(mutex_);
    return made_;
}

void Device::checked(std::string_view doing, const std::function<void()>& make) {
    check();
    const std::lock_guard lock(mutex_);
    api().DevicePushErrorScope(device_.get(), WGPUErrorFilter_OutOfMemory);
    api().DevicePushErrorScope(device_.get(), WGPUErrorFilter_Validation);
    std::exception_ptr thrown;
    try {
        make();
    } catch (...) {
        thrown = std::current_exception();
    }
    std::string messages;
    for (int scope = 0; scope < 2; scope++) {
        WGPUPopErrorScopeCallbackInfo on_pop = {};
        on_pop.mode = WGPUCallbackMode_AllowProcessEvents;
        on_pop.userdata1 = &messages;
        on_pop.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* user, void*) {
            if (type != WGPUErrorType_NoError) *static_cast<std::string*>(user) += text(message);
        };
        api().DevicePopErrorScope(device_.get(), on_pop);  // wgpu-native answers within the call
    }
    if (thrown) std::rethrow_exception(thrown);
    if (messages.empty()) return check();
    // wgpu-native reports a full card as a validation error.
    const bool memory =
        messages.find("Not enough memory") != messages.npos || messages.find("out of memory") != messages.npos;
    if (memory) {
        throw Error(Fault::out_of_memory, "The graphics card " + adapter_info_.name + " has not enough memory left.")
            .during(doing);
    }
    throw Error(Fault::gpu_broken, messages).during(doing);
}

Buffer Device::make_buffer(std::uint64_t bytes, WGPUBufferUsage usage) {
    if (bytes > limits_.maxBufferSize) {
        throw Error(Fault::out_of_memory, "A buffer of " + std::to_string(bytes) +
                                              " bytes is past the limit of the card " + adapter_info_.name + ", " +
                                              std::to_string(limits_.maxBufferSize) + " bytes.");
    }
    WGPUBufferDescriptor descriptor = {};
    descriptor.size = bytes;
    descriptor.usage = usage;
    Buffer buffer;
    checked("making a buffer of " + std::to_string(bytes) + " bytes",
            [&] { buffer.reset(api().DeviceCreateBuffer(device_.get(), &descriptor)); });
    const std::lock_guard lock(mutex_);
    made_.buffers++;
    made_.bytes += bytes;
    return buffer;
}

BindGroup Device::make_bind_group(const Kernel& kernel, std::span<const WGPUBindGroupEntry> entries) {
    WGPUBindGroupDescriptor descriptor = {};
    descriptor.layout = kernel.layout.get();
    descriptor.entryCount = entries.size();
    descriptor.entries = entries.data();
    BindGroup group;
    checked("binding buffers to the kernel '" + kernel.name + "'",
            [&] { group.reset(api().DeviceCreateBindGroup(device_.get(), &descriptor)); });
    const std::lock_guard lock(mutex_);
    made_.bind_groups++;
    return group;
}

Kernel Device::compile(const KernelSource& source, const Bindings& bindings, bool with_checks) {
    Kernel kernel;
    kernel.name = source.name;
    checked("compiling the kernel '" + kernel.name + "'", [&] {
        WGPUShaderSourceWGSL wgsl = {};
        wgsl.chain.sType = WGPUSType_ShaderSourceWGSL;
        wgsl.code = view(source.text);
        WGPUShaderModuleDescriptor shader = {};
        shader.nextInChain = &wgsl.chain;
        shader.label = view(source.name);
        const ShaderModule module(
            with_checks ? api().DeviceCreateShaderModule(device_.get(), &shader)
                        : api().DeviceCreateShaderModuleTrusted(device_.get(), &shader, WGPUShaderRuntimeChecks_None));
        std::vector<WGPUBindGroupLayoutEntry> entries;
        for (WGPUBufferBindingType type : bindings) {
            WGPUBindGroupLayoutEntry entry = {};
            entry.binding = static_cast<std::uint32_t>(entries.size());
            entry.visibility = WGPUShaderStage_Compute;
            entry.buffer.type = type;
            entry.buffer.hasDynamicOffset = type == WGPUBufferBindingType_Uniform;
            entries.push_back(entry);
        }
        kernel.n_storage = entries.size() - 1;
        WGPUBindGroupLayoutDescriptor group = {};
        group.entryCount = entries.size();
        group.entries = entries.data();
        kernel.layout.reset(api().DeviceCreateBindGroupLayout(device_.get(), &group));
        WGPUPipelineLayoutDescriptor layout = {};
        const WGPUBindGroupLayout layouts[] = {kernel.layout.get()};
        layout.bindGroupLayoutCount = 1;
        layout.bindGroupLayouts = layouts;
        const PipelineLayout pipeline_layout(api().DeviceCreatePipelineLayout(device_.get(), &layout));
        WGPUComputePipelineDescriptor pipeline = {};
        pipeline.label = view(source.name);
        pipeline.layout = pipeline_layout.get();
        pipeline.compute.module = module.get();
        pipeline.compute.entryPoint = view("main");
        kernel.pipeline.reset(api().DeviceCreateComputePipeline(device_.get(), &pipeline));
    });
    return kernel;
}

const Kernel& Device::kernel(std::string_view name, std::string_view text) {
    return cached({name, text}, bindings_of(text), checked_shaders_);
}

const Kernel& Device::own_kernel(const KernelSource& source, const Bindings& bindings) {
    return cached(source, bindings, true);
}

const Kernel& Device::cached(const KernelSource& source, const Bindings& bindings, bool with_checks) {
    const std::pair key(std::string(source.text), with_checks);
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
    }
    Kernel made = compile(source, bindings, with_checks);
    const std::lock_guard lock(mutex_);
    made_.pipelines++;
    made.id = kernels_.size() + 1;
    return kernels_.emplace(key, std::move(made)).first->second;
}

void Device::submit(WGPUCommandBuffer commands, const WGPUQueueWorkDoneCallbackInfo& on_done) {
    const std::lock_guard lock(mutex_);
    check();  // submitting to a lost device aborts the process
    api().QueueSubmit(queue_.get(), 1, &commands);
    api().QueueOnSubmittedWorkDone(queue_.get(), on_done);
}

void Device::wait(const std::atomic<bool>& done, std::string_view for_what) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    for (int turn = 0; !done; turn++) {
        check();  // polling a lost device aborts the process
        api().DevicePoll(device_.get(), false, nullptr);
        if (done) break;
        const auto waited = clock::now() - start;
        if (waited > deadline_) {
            const std::lock_guard lock(reports_->mutex);
            if (!reports_->gone) {
                reports_->gone.emplace(Fault::timed_out, "The graphics card " + adapter_info_.name +
                                                             " has not answered for " +
                                                             std::to_string(deadline_.count()) + " ms.");
            }
            reports_->any = true;
            throw reports_->gone->during(for_what);
        }
        // A short spin, then sleeps that grow: most waits are for tens of microseconds.
        if (waited > std::chrono::milliseconds(1))
            std::this_thread::sleep_for(std::min<clock::duration>(waited / 20, std::chrono::milliseconds(1)));
    }
}

}  // namespace shunt::webgpu
