// See recorder.hpp.
#include "webgpu/recorder.hpp"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace shunt::webgpu {
namespace {

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

constexpr std::uint64_t read_piece = std::uint64_t{64} << 20;
constexpr std::uint64_t write_piece = std::uint64_t{16} << 20;

}  // namespace

std::size_t Recorder::GroupHash::operator()(const GroupKey& key) const noexcept {
    return XXH3_64bits(key.data(), sizeof key);
}

Recorder::Recorder(std::shared_ptr<Device> device, std::shared_ptr<Pool> pool)
    : device_(std::move(device)), pool_(std::move(pool)) {
    params_step_ = std::max<std::size_t>(most_params, device_->limits().minUniformBufferOffsetAlignment);
    params_buffer_ =
        device_->make_buffer(most_pending * params_step_, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst);
}

Recorder::~Recorder() = default;

WGPUBindGroup Recorder::bind_group(const Kernel& kernel, std::span<const Slice> slices) {
    GroupKey key{kernel.id};
    for (std::size_t i = 0; i < slices.size(); i++) {
        key[1 + 3 * i] = slices[i].id;
        key[2 + 3 * i] = slices[i].offset;
        key[3 + 3 * i] = slices[i].size;
    }
    if (const auto found = groups_.find(key); found != groups_.end()) return found->second.get();
    if (groups_.size() >= 4096) {  // shapes that never come again
        submit();
        groups_.clear();
    }
    std::vector<WGPUBindGroupEntry> entries;
    for (const Slice& slice : slices) {
        WGPUBindGroupEntry entry = {};
        entry.binding = static_cast<std::uint32_t>(entries.size());
        entry.buffer = slice.buffer;
        entry.offset = slice.offset;
        entry.size = slice.size;
        entries.push_back(entry);
    }
    WGPUBindGroupEntry last = {};
    last.binding = static_cast<std::uint32_t>(entries.size());
    last.buffer = params_buffer_.get();
    last.size = most_params;
    entries.push_back(last);
    return groups_.emplace(key, device_->make_bind_group(kernel, entries)).first->second.get();
}

void Recorder::append(const Kernel& kernel, std::span<const Slice> slices, std::span<const std::byte> params,
                      Grid grid) {
    if (pending_.size() >= std::min(limit_, ramp_)) {
        submit();
        ramp_ = std::min(2 * ramp_, most_pending);
    }
    const WGPUBindGroup group = bind_group(kernel, slices);
    const std::size_t offset = pending_.size() * params_step_;
    params_.resize(offset + params_step_);
    std::ranges::copy(params, params_.begin() + static_cast<std::ptrdiff_t>(offset));
    pending_.push_back({kernel.pipeline.get(), group, static_cast<std::uint32_t>(offset), grid});
}

CommandBuffer Recorder::encode(const std::function<void(WGPUCommandEncoder)>& after) {
    CommandBuffer commands;
    device_->checked("recording " + std::to_string(pending_.size()) + " dispatches", [&] {
        if (!pending_.empty()) {
            api().QueueWriteBuffer(device_->queue(), params_buffer_.get(), 0, params_.data(), params_.size());
        }
        const CommandEncoder encoder(api().DeviceCreateCommandEncoder(device_->handle(), nullptr));
        if (!pending_.empty()) {
            const ComputePass pass(api().CommandEncoderBeginComputePass(encoder.get(), nullptr));
            WGPUComputePipeline pipeline = nullptr;
            for (const Dispatch& d : pending_) {
                if (d.pipeline != pipeline) api().ComputePassEncoderSetPipeline(pass.get(), pipeline = d.pipeline);
                api().ComputePassEncoderSetBindGroup(pass.get(), 0, d.group, 1, &d.params);
                api().ComputePassEncoderDispatchWorkgroups(pass.get(), d.grid[0], d.grid[1], d.grid[2]);
            }
            api().ComputePassEncoderEnd(pass.get());
        }
        if (after) after(encoder.get());
        commands.reset(api().CommandEncoderFinish(encoder.get(), nullptr));
    });
    return commands;
}

void Recorder::send(CommandBuffer commands) {
    auto flight = std::make_shared<Flight>();
    flight->sent_at = now();
    flight->dispatches = pending_.size();
    WGPUQueueWorkDoneCallbackInfo on_done = {};
    on_done.mode = WGPUCallbackMode_AllowProcessEvents;
    auto for_callback = std::make_unique<std::shared_ptr<Flight>>(flight);
    on_done.userdata1 = for_callback.get();
    on_done.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void* user, void*) {
        const std::unique_ptr<std::shared_ptr<Flight>> kept(static_cast<std::shared_ptr<Flight>*>(user));
        (*kept)->finished_at = now();
        (*kept)->done = true;
    };
    device_->submit(commands.get(), on_done);
    static_cast<void>(for_callback.release());
    flights_.push_back(std::move(flight));
    submissions_++;
    dispatches_ += pending_.size();
    pending_.clear();
    params_.clear();
}

void Recorder::wait_for_oldest() {
    const std::shared_ptr<Flight> flight = flights_.front();
    device_->wait(flight->done, "running " + std::to_string(flight->dispatches) + " dispatches");
    device_->check();  // work of a card that was lost counts as done too
    flights_.pop_front();
    // A submission shall take tens of milliseconds: long enough for its own cost to vanish, short
    // enough for a driver's watchdog and for Ctrl-C.
    const std::int64_t took = flight->finished_at - std::max(flight->sent_at, last_finished_);
    last_finished_ = flight->finished_at;
    if (flight->dispatches >= limit_ && took < 25'000'000) limit_ = std::min(2 * limit_, most_pending);
    if (took > 100'000'000) limit_ = std::max<std::size_t>(limit_ / 2, 1);
}

void Recorder::submit() {
    if (pending_.empty()) return;
    while (flights_.size() >= 2) wait_for_oldest();
    send(encode({}));
}

void Recorder::forget() {
    finish();  // what is pending or on its way uses the bind groups
    groups_.clear();
}

void Recorder::finish() {
    submit();
    while (!flights_.empty()) wait_for_oldest();
    ramp_ = first_limit;
}

void Recorder::write(const Block& to, std::uint64_t offset, std::span<const std::byte> bytes) {
    submit();  // what is pending reads the buffer as it is now
    for (std::uint64_t first = 0; first < bytes.size(); first += write_piece) {
        const auto piece = bytes.subspan(first, std::min<std::uint64_t>(write_piece, bytes.size() - first));
        device_->checked("uploading " + std::to_string(piece.size()) + " bytes", [&] {
            api().QueueWriteBuffer(device_->queue(), to.buffer.get(), offset + first, piece.data(), piece.size());
        });
    }
}

void Recorder::read(const Block& from, std::uint64_t offset, std::span<std::byte> bytes) {
    const std::uint64_t needed = std::min<std::uint64_t>(bytes.size(), read_piece);
    if (staging_bytes_ < needed) {
        staging_ = device_->make_buffer(needed, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
        staging_bytes_ = needed;
    }
    for (std::uint64_t first = 0; first < bytes.size(); first += read_piece) {
        const std::uint64_t size = std::min(read_piece, bytes.size() - first);
        while (flights_.size() >= 2) wait_for_oldest();
        send(encode([&](WGPUCommandEncoder encoder) {
            api().CommandEncoderCopyBufferToBuffer(encoder, from.buffer.get(), offset + first, staging_.get(), 0, size);
        }));
        struct Mapped {
            std::atomic<bool> done = false;
            WGPUMapAsyncStatus status = WGPUMapAsyncStatus_Error;
            std::string message;
        };
        auto mapped = std::make_shared<Mapped>();
        WGPUBufferMapCallbackInfo on_map = {};
        on_map.mode = WGPUCallbackMode_AllowProcessEvents;
        on_map.userdata1 = new std::shared_ptr<Mapped>(mapped);
        on_map.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* user, void*) {
            const std::unique_ptr<std::shared_ptr<Mapped>> kept(static_cast<std::shared_ptr<Mapped>*>(user));
            (*kept)->status = status;
            (*kept)->message = text(message);
            (*kept)->done = true;
        };
        api().BufferMapAsync(staging_.get(), WGPUMapMode_Read, 0, size, on_map);
        try {
            device_->wait(mapped->done, "reading " + std::to_string(size) + " bytes");
            if (mapped->status != WGPUMapAsyncStatus_Success) {  // the range of an unmapped buffer aborts
                device_->check();
                throw Error(Fault::gpu_broken, "The card gives no answer: " + mapped->message);
            }
        } catch (...) {  // it may be mapped yet, and submitting its use would abort
            staging_.reset();
            staging_bytes_ = 0;
            throw;
        }
        std::memcpy(bytes.data() + first, api().BufferGetConstMappedRange(staging_.get(), 0, size), size);
        api().BufferUnmap(staging_.get());
    }
    while (!flights_.empty() && flights_.front()->done) wait_for_oldest();
    ramp_ = first_limit;
}

}  // namespace shunt::webgpu
