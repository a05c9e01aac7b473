// Float and u32 buffers that are used again: a training step asks for the same sizes each time.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace shunt::cpu {

// Blocks of 4-byte values at 64-byte boundaries (small products on two threads run twice as long at
// others). Shared by a backend and the tensors that outlive it; any thread.
class Pool {
public:
    ~Pool();

    // Throws std::bad_alloc.
    void* take(std::size_t count);
    void give_back(void* block, std::size_t count) noexcept;

private:
    static std::size_t capacity(std::size_t count);  // in bytes; a few classes a doubling

    static constexpr std::size_t most_idle = std::size_t{256} << 20;
    std::mutex mutex_;
    std::map<std::size_t, std::vector<void*>> idle_;
    std::size_t idle_bytes_ = 0;
};

}  // namespace shunt::cpu
