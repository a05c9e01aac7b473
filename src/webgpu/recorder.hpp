// Work for the card: operators append dispatches, which go out many at a time.
//
// A list entry is a kernel, a cached bind group, parameters and a grid. Submitting encodes the list
// into one compute pass; the next list is recorded while it runs. Reading a value sends what is
// pending and waits. What could not be sent stays in the list and is tried again: whoever goes on after
// an error never reads what was not computed. One thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "webgpu/pool.hpp"

namespace shunt::webgpu {

// A part of a buffer as a kernel sees it: a binding (offset and size in bytes, aligned as the device
// asks) and where in it the values begin.
struct Slice {
    WGPUBuffer buffer = nullptr;
    std::uint64_t id = 0, offset = 0, size = 0;
    std::uint32_t first = 0;
};

using Grid = std::array<std::uint32_t, 3>;

class Recorder {
public:
    Recorder(std::shared_ptr<Device> device, std::shared_ptr<Pool> pool);
    ~Recorder();

    // `params` is the kernel's Params struct.
    template <typename Params>
    void run(const Kernel& kernel, std::span<const Slice> slices, const Params& params, Grid grid) {
        static_assert(sizeof(Params) <= most_params && sizeof(Params) % 4 == 0);
        append(kernel, slices, std::as_bytes(std::span(&params, 1)), grid);
    }
    template <typename Params>
    void run(const Kernel& kernel, std::initializer_list<Slice> slices, const Params& params, Grid grid) {
        run(kernel, std::span(slices.begin(), slices.size()), params, grid);
    }

    void write(const Block& to, std::uint64_t offset, std::span<const std::byte> bytes);
    void read(const Block& from, std::uint64_t offset, std::span<std::byte> bytes);  // waits
    void submit();
    void finish();  // submits and waits
    void forget();  // the same, and lets go of all buffers

    static constexpr std::size_t most_slices = 8;  // WebGPU promises as many storage buffers, and no more

    std::uint64_t dispatches() const { return dispatches_; }
    std::uint64_t submissions() const { return submissions_; }

private:
    static constexpr std::size_t most_params = 256;
    static constexpr std::size_t most_pending = 4096;

    // The kernel and each slice's (block, offset, size); the rest 0.
    using GroupKey = std::array<std::uint64_t, 1 + 3 * most_slices>;
    struct GroupHash {
        std::size_t operator()(const GroupKey& key) const noexcept;
    };
    struct Dispatch {
        WGPUComputePipeline pipeline;
        WGPUBindGroup group;
        std::uint32_t params;  // offset
        Grid grid;
    };

    void append(const Kernel& kernel, std::span<const Slice> slices, std::span<const std::byte> params, Grid grid);
    WGPUBindGroup bind_group(const Kernel& kernel, std::span<const Slice> slices);
    CommandBuffer encode(const std::function<void(WGPUCommandEncoder)>& after);
    void send(CommandBuffer commands);
    void wait_for_oldest();

    std::shared_ptr<Device> device_;
    std::shared_ptr<Pool> pool_;
    std::unordered_map<GroupKey, BindGroup, GroupHash> groups_;
    std::vector<Dispatch> pending_;
    std::vector<std::byte> params_;
    std::size_t params_step_ = 256;
    Buffer params_buffer_;
    Buffer staging_;
    std::uint64_t staging_bytes_ = 0;
    static constexpr std::size_t first_limit = 64;
    std::size_t limit_ = first_limit;  // dispatches a submission; grows until one takes tens of milliseconds
    // After a wait the card has nothing to do: it gets a little at once, then twice as much each time.
    std::size_t ramp_ = first_limit;

    struct Flight {
        std::atomic<bool> done = false;
        std::atomic<std::int64_t> finished_at = 0;  // steady clock, ns
        std::int64_t sent_at = 0;
        std::size_t dispatches = 0;
    };
    std::deque<std::shared_ptr<Flight>> flights_;
    std::int64_t last_finished_ = 0;
    std::uint64_t dispatches_ = 0, submissions_ = 0;
};

}  // namespace shunt::webgpu
