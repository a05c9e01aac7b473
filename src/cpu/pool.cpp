// See pool.hpp.
#include "cpu/pool.hpp"

#include <bit>
#include <new>

namespace shunt::cpu {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

Pool::~Pool() {
    for (auto& [bytes, blocks] : idle_) {
        for (void* block : blocks) ::operator delete(block, alignment);
    }
}

std::size_t Pool::capacity(std::size_t count) {
    if (count > (std::size_t{1} << 60)) throw std::bad_alloc();
    const std::size_t bytes = count < 16 ? 64 : count * 4;
    const std::size_t step = std::bit_floor(bytes) / 4 < 64 ? 64 : std::bit_floor(bytes) / 4;
    return (bytes + step - 1) / step * step;
}

void* Pool::take(std::size_t count) {
    const std::size_t bytes = capacity(count);
    {
        const std::lock_guard lock(mutex_);
        auto& blocks = idle_[bytes];
        if (!blocks.empty()) {
            void* block = blocks.back();
            blocks.pop_back();
            idle_bytes_ -= bytes;
            return block;
        }
    }
    return ::operator new(bytes, alignment);
}

void Pool::give_back(void* block, std::size_t count) noexcept {
    const std::size_t bytes = capacity(count);
    {
        const std::lock_guard lock(mutex_);
        auto& blocks = idle_[bytes];
        if (idle_bytes_ + bytes <= most_idle) {
            try {
                blocks.push_back(block);
                idle_bytes_ += bytes;
                return;
            } catch (const std::bad_alloc&) {  // then it is freed below
            }
        }
    }
    ::operator delete(block, alignment);
}

}  // namespace shunt::cpu
