// The functions of the fault device that can fail, and those whose misuse ends the process.
#include <memory>

#include "webgpu/fault_state.hpp"

namespace shunt::webgpu {
namespace {

using Clock = std::chrono::steady_clock;
using State = FaultyCard::State;

WGPUStringView view(const std::string& s) {
    return {s.data(), s.size()};
}

void would_abort(const std::string& what) {
    const std::lock_guard lock(the_card->mutex);
    the_card->aborts.push_back(what + ", at call " + std::to_string(the_card->calls));
}

bool lost(const void* object) {
    const auto device = device_of(object);
    return device && device->lost;
}

// As wgpu-native reports: to the innermost scope for this kind, else to the device's callback.
void report(const void* object, const std::string& message) {
    const auto device = device_of(object);
    for (auto scope = device->scopes.rbegin(); scope != device->scopes.rend(); ++scope) {
        if (scope->filter != WGPUErrorFilter_Validation) continue;
        if (scope->message.empty()) scope->message = message;
        return;
    }
    const WGPUUncapturedErrorCallbackInfo& info = device->on_error;
    info.callback(nullptr, WGPUErrorType_Validation, view(message), info.userdata1, info.userdata2);
}

// --- opening ---------------------------------------------------------------------------------------

std::size_t enumerate(WGPUInstance instance, const WGPUInstanceEnumerateAdapterOptions* options, WGPUAdapter* out) {
    const Turn turn;
    const std::size_t n = the_card->real->InstanceEnumerateAdapters(instance, options, out);
    for (std::size_t i = 0; out && i < n; i++) made(out[i], "InstanceEnumerateAdapters", nullptr);
    return n;
}

WGPUStatus adapter_limits(WGPUAdapter adapter, WGPULimits* limits) {
    const Turn turn;
    const WGPUStatus status = the_card->real->AdapterGetLimits(adapter, limits);
    if (the_card->plan.limits) the_card->plan.limits(*limits);
    return status;
}

WGPUFuture request_device(WGPUAdapter adapter, const WGPUDeviceDescriptor* descriptor,
                          WGPURequestDeviceCallbackInfo on_device) {
    const Turn turn;
    if (strikes(Trouble::refused)) {
        const std::string message = "refused on request";
        on_device.callback(WGPURequestDeviceStatus_Error, nullptr, view(message), on_device.userdata1,
                           on_device.userdata2);
        return {};
    }
    struct Asked {
        std::shared_ptr<State::Device> device = std::make_shared<State::Device>();
        WGPURequestDeviceCallbackInfo user;
    };
    WGPURequestDeviceCallbackInfo ours = on_device;
    auto* const asked_for = new Asked{.user = on_device};
    asked_for->device->on_error = descriptor->uncapturedErrorCallbackInfo;
    asked_for->device->on_lost = descriptor->deviceLostCallbackInfo;
    ours.userdata1 = asked_for;
    ours.callback = [](WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message, void* kept, void*) {
        const std::unique_ptr<Asked> asked(static_cast<Asked*>(kept));
        if (device) {
            made(device, "AdapterRequestDevice", nullptr);
            const std::lock_guard lock(the_card->mutex);
            the_card->devices[device] = asked->device;
            the_card->device_of[device] = the_card->newest = device;
        }
        asked->user.callback(status, device, message, asked->user.userdata1, asked->user.userdata2);
    };
    return the_card->real->AdapterRequestDevice(adapter, descriptor, ours);
}

void release_device(WGPUDevice device) {
    if (device_of(device)->hung) would_abort("a device that hangs is released: wgpu-core waits, then panics");
    released(device);
    {
        const std::lock_guard lock(the_card->mutex);
        the_card->devices.erase(device);
        if (the_card->newest == device) the_card->newest = nullptr;
    }
    the_card->real->DeviceRelease(device);
}

// --- error scopes ----------------------------------------------------------------------------------

void push_scope(WGPUDevice device, WGPUErrorFilter filter) {
    const Turn turn;
    device_of(device)->scopes.push_back({filter, ""});
    the_card->real->DevicePushErrorScope(device, filter);
}

// What the library's own scope caught: wgpu-native answers within the call.
std::string caught(WGPUDevice device) {
    std::string message;
    WGPUPopErrorScopeCallbackInfo info = {};
    info.mode = WGPUCallbackMode_AllowProcessEvents;
    info.userdata1 = &message;
    info.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView said, void* user, void*) {
        if (type != WGPUErrorType_NoError) *static_cast<std::string*>(user) = text(said);
    };
    the_card->real->DevicePopErrorScope(device, info);
    return message;
}

WGPUFuture pop_scope(WGPUDevice device, WGPUPopErrorScopeCallbackInfo info) {
    const Turn turn;
    const auto kept = device_of(device);
    State::Device& state = *kept;
    if (state.scopes.empty()) {
        would_abort("an error scope is taken that is not there");
        return {};
    }
    std::string message = caught(device);
    if (!state.scopes.back().message.empty()) message = state.scopes.back().message;
    state.scopes.pop_back();
    if (state.lost) message.clear();  // the lost callback has told
    info.callback(WGPUPopErrorScopeStatus_Success, message.empty() ? WGPUErrorType_NoError : WGPUErrorType_Validation,
                  view(message), info.userdata1, info.userdata2);
    return {};
}

// --- making things ---------------------------------------------------------------------------------

WGPUBuffer create_buffer(WGPUDevice device, const WGPUBufferDescriptor* descriptor) {
    const Turn turn;
    WGPUBufferDescriptor asked = *descriptor;
    if (strikes(Trouble::memory)) {
        report(device, "Validation Error\n\nCaused by:\n  In wgpuDeviceCreateBuffer\n    Not enough memory left.\n");
        asked.size = 4;  // a handle is there nevertheless, of no use
    }
    const WGPUBuffer buffer = the_card->real->DeviceCreateBuffer(device, &asked);
    made(buffer, "DeviceCreateBuffer", device);
    return buffer;
}

// The library's answer, with an error as if it had refused.
template <auto Function, typename... Arguments>
auto refusable(const char* kind, WGPUDevice device, Arguments... arguments) {
    if (strikes(Trouble::refused)) report(device, "refused on request");
    const auto object = (the_card->real->*Function)(device, arguments...);
    made(object, kind, device);
    return object;
}

WGPUShaderModule create_shader(WGPUDevice device, const WGPUShaderModuleDescriptor* descriptor) {
    const Turn turn;
    return refusable<&Api::DeviceCreateShaderModule>("DeviceCreateShaderModule", device, descriptor);
}

WGPUShaderModule create_trusted(WGPUDevice device, const WGPUShaderModuleDescriptor* descriptor,
                                WGPUShaderRuntimeChecks checks) {
    const Turn turn;
    return refusable<&Api::DeviceCreateShaderModuleTrusted>("DeviceCreateShaderModule", device, descriptor, checks);
}

WGPUComputePipeline create_pipeline(WGPUDevice device, const WGPUComputePipelineDescriptor* descriptor) {
    const Turn turn;
    return refusable<&Api::DeviceCreateComputePipeline>("DeviceCreateComputePipeline", device, descriptor);
}

WGPUBindGroup create_bind_group(WGPUDevice device, const WGPUBindGroupDescriptor* descriptor) {
    const Turn turn;
    for (std::size_t i = 0; i < descriptor->entryCount; i++) {
        if (descriptor->entries[i].size > 0) continue;
        would_abort("a bind group entry has the size 0");
        return nullptr;
    }
    return refusable<&Api::DeviceCreateBindGroup>("DeviceCreateBindGroup", device, descriptor);
}

// --- recording and sending -------------------------------------------------------------------------

void copy_buffer(WGPUCommandEncoder encoder, WGPUBuffer from, std::uint64_t from_offset, WGPUBuffer to,
                 std::uint64_t to_offset, std::uint64_t size) {
    const Turn turn;
    {
        const std::lock_guard lock(the_card->mutex);
        the_card->copied_to[encoder].insert(to);
    }
    the_card->real->CommandEncoderCopyBufferToBuffer(encoder, from, from_offset, to, to_offset, size);
}

WGPUCommandBuffer finish(WGPUCommandEncoder encoder, const WGPUCommandBufferDescriptor* descriptor) {
    const Turn turn;
    WGPUDevice device = nullptr;
    {
        const std::lock_guard lock(the_card->mutex);
        device = the_card->device_of.at(encoder);
    }
    the_card->real->DevicePushErrorScope(device, WGPUErrorFilter_Validation);
    const WGPUCommandBuffer commands = the_card->real->CommandEncoderFinish(encoder, descriptor);
    const std::string error = caught(device);
    if (!error.empty()) report(device, error);
    made(commands, "CommandEncoderFinish", encoder);
    const std::lock_guard lock(the_card->mutex);
    the_card->copied_to[commands] = the_card->copied_to[encoder];
    the_card->unfinished.erase(commands);
    if (!error.empty()) the_card->unfinished.insert(commands);
    return commands;
}

void submit(WGPUQueue queue, std::size_t n, const WGPUCommandBuffer* commands) {
    const Turn turn;
    if (lost(queue)) return would_abort("work is submitted to a lost device");
    for (std::size_t i = 0; i < n; i++) {
        bool unfinished = false, mapped = false;
        {
            const std::lock_guard lock(the_card->mutex);
            unfinished = the_card->unfinished.contains(commands[i]);
            for (const WGPUBuffer buffer : the_card->copied_to[commands[i]])
                mapped |= the_card->maps[buffer] != State::Map::none;
        }
        if (unfinished) return would_abort("work is submitted that failed to finish");
        if (mapped) return would_abort("work is submitted that uses a mapped buffer");
    }
    the_card->real->QueueSubmit(queue, n, commands);
}

void write_buffer(WGPUQueue queue, WGPUBuffer buffer, std::uint64_t offset, const void* data, std::size_t size) {
    const Turn turn;
    if (strikes(Trouble::memory)) {
        return report(queue,
                      "Validation Error\n\nCaused by:\n  In wgpuQueueWriteBuffer\n    Not enough memory left.\n");
    }
    if (!lost(queue)) the_card->real->QueueWriteBuffer(queue, buffer, offset, data, size);
}

// --- answers ---------------------------------------------------------------------------------------

// When an answer that the card has given may come: never for a device that hangs.
void arrive(const void* object, Clock::time_point asked, std::function<void()> give) {
    {
        const auto device = device_of(object);
        const std::lock_guard lock(the_card->mutex);
        const bool hung = !device || device->hung;
        if (hung || the_card->plan.latency.count() > 0) {
            the_card->answers.push_back(
                {hung ? Clock::time_point::max() : asked + the_card->plan.latency, std::move(give)});
            return;
        }
    }
    give();
}

WGPUBool poll(WGPUDevice device, WGPUBool wait, const WGPUSubmissionIndex* index) {
    const Turn turn(true);
    if (lost(device)) {
        would_abort("a lost device is polled");
        return true;
    }
    const WGPUBool idle = the_card->real->DevicePoll(device, wait, index);
    give_answers(Clock::now());
    return idle;
}

WGPUFuture work_done(WGPUQueue queue, WGPUQueueWorkDoneCallbackInfo info) {
    const Turn turn;
    struct Asked {
        WGPUQueue queue;
        Clock::time_point at;
        WGPUQueueWorkDoneCallbackInfo user;
    };
    WGPUQueueWorkDoneCallbackInfo ours = info;
    ours.userdata1 = new Asked{queue, Clock::now(), info};
    ours.callback = [](WGPUQueueWorkDoneStatus status, WGPUStringView, void* kept, void*) {
        const std::unique_ptr<Asked> asked(static_cast<Asked*>(kept));
        arrive(asked->queue, asked->at, [user = asked->user, status] {
            user.callback(status, {nullptr, 0}, user.userdata1, user.userdata2);
        });
    };
    return the_card->real->QueueOnSubmittedWorkDone(queue, ours);
}

WGPUFuture map_buffer(WGPUBuffer buffer, WGPUMapMode mode, std::size_t offset, std::size_t size,
                      WGPUBufferMapCallbackInfo info) {
    const Turn turn;
    if (lost(buffer)) {
        const std::string message = "Parent device is lost";
        info.callback(WGPUMapAsyncStatus_Error, view(message), info.userdata1, info.userdata2);
        return {};
    }
    struct Asked {
        WGPUBuffer buffer;
        Clock::time_point at;
        WGPUBufferMapCallbackInfo user;
    };
    {
        const std::lock_guard lock(the_card->mutex);
        the_card->maps[buffer] = State::Map::pending;
    }
    WGPUBufferMapCallbackInfo ours = info;
    ours.userdata1 = new Asked{buffer, Clock::now(), info};
    ours.callback = [](WGPUMapAsyncStatus status, WGPUStringView said, void* kept, void*) {
        const std::unique_ptr<Asked> asked(static_cast<Asked*>(kept));
        arrive(asked->buffer, asked->at, [b = asked->buffer, user = asked->user, status, message = text(said)] {
            {
                const std::lock_guard lock(the_card->mutex);
                the_card->maps[b] = status == WGPUMapAsyncStatus_Success ? State::Map::mapped : State::Map::none;
            }
            user.callback(status, view(message), user.userdata1, user.userdata2);
        });
    };
    return the_card->real->BufferMapAsync(buffer, mode, offset, size, ours);
}

const void* mapped_range(WGPUBuffer buffer, std::size_t offset, std::size_t size) {
    const Turn turn;
    bool mapped = false;
    {
        const std::lock_guard lock(the_card->mutex);
        mapped = the_card->maps[buffer] == State::Map::mapped;
    }
    std::vector<char> other(size);
    if (!mapped) {
        would_abort("the range of an unmapped buffer is taken");
    } else {
        const auto* values = static_cast<const char*>(the_card->real->BufferGetConstMappedRange(buffer, offset, size));
        if (!strikes(Trouble::wrong)) return values;
        std::copy(values, values + size, other.begin());
        for (std::size_t i = 2; i < size; i += 4) other[i] ^= 0x11;  // digits of every float
    }
    const std::lock_guard lock(the_card->mutex);
    return (the_card->altered[buffer] = std::move(other)).data();
}

void unmap(WGPUBuffer buffer) {
    const Turn turn;
    {
        const std::lock_guard lock(the_card->mutex);
        the_card->maps[buffer] = State::Map::none;
    }
    the_card->real->BufferUnmap(buffer);
}

void release_buffer(WGPUBuffer buffer) {
    released(buffer);
    {
        const std::lock_guard lock(the_card->mutex);
        the_card->maps.erase(buffer);
        the_card->altered.erase(buffer);
    }
    the_card->real->BufferRelease(buffer);
}

}  // namespace

void replace_functions(Api& t) {
    t.InstanceEnumerateAdapters = enumerate;
    t.AdapterGetLimits = adapter_limits;
    t.AdapterRequestDevice = request_device;
    t.DeviceRelease = release_device;
    t.DevicePushErrorScope = push_scope;
    t.DevicePopErrorScope = pop_scope;
    t.DeviceCreateBuffer = create_buffer;
    t.DeviceCreateShaderModule = create_shader;
    t.DeviceCreateShaderModuleTrusted = create_trusted;
    t.DeviceCreateComputePipeline = create_pipeline;
    t.DeviceCreateBindGroup = create_bind_group;
    t.CommandEncoderCopyBufferToBuffer = copy_buffer;
    t.CommandEncoderFinish = finish;
    t.QueueSubmit = submit;
    t.QueueWriteBuffer = write_buffer;
    t.DevicePoll = poll;
    t.QueueOnSubmittedWorkDone = work_done;
    t.BufferMapAsync = map_buffer;
    t.BufferGetConstMappedRange = mapped_range;
    t.BufferUnmap = unmap;
    t.BufferRelease = release_buffer;
}

}  // namespace shunt::webgpu
