// Buffers on the card that are used again, by capacity class.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "shunt/tensor.hpp"
#include "webgpu/device.hpp"

namespace shunt::webgpu {

struct Block {
    Buffer buffer;
    std::uint64_t id = 0;  // never used again, unlike a handle's address
    std::uint64_t bytes = 0;
};

// Any thread; tensors may give back what they held after their backend is gone.
class Pool {
public:
    explicit Pool(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    Block take(std::uint64_t bytes);  // out_of_memory
    void give_back(Block block) noexcept;
    void clear();  // releases what is idle

private:
    std::shared_ptr<Device> device_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::vector<Block>> idle_;
    std::uint64_t last_id_ = 0;
};

// Where a tensor of the gpu backend keeps its values.
struct Values final : Storage {
    Values(std::shared_ptr<Pool> from, std::uint64_t bytes) : pool(std::move(from)), block(pool->take(bytes)) {}
    ~Values() override { pool->give_back(std::move(block)); }
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    std::shared_ptr<Pool> pool;
    Block block;
};

}  // namespace shunt::webgpu
