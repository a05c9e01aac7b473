// See pool.hpp.
#include "webgpu/pool.hpp"

#include <algorithm>
#include <bit>

namespace shunt::webgpu {
namespace {

// A few classes a doubling, so that at most a quarter is wasted.
std::uint64_t capacity(std::uint64_t bytes) {
    const std::uint64_t wanted = std::max<std::uint64_t>(bytes, 256),
                        step = std::max<std::uint64_t>(std::bit_floor(wanted) / 4, 256);
    return (wanted + step - 1) / step * step;
}

}  // namespace

Block Pool::take(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t size = std::min(capacity(bytes), std::max(bytes, device_->limits().maxBufferSize / 4 * 4));
    auto& blocks = idle_[size];
    if (!blocks.empty()) {
        Block block = std::move(blocks.back());
        blocks.pop_back();
        return block;
    }
    return {device_->make_buffer(size, WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst),
            ++last_id_, size};
}

void Pool::clear() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
}

void Pool::give_back(Block block) noexcept {
    const std::lock_guard lock(mutex_);
    try {
        idle_[block.bytes].push_back(std::move(block));
    } catch (const std::bad_alloc&) {  // then it is released
    }
}

}  // namespace shunt::webgpu
