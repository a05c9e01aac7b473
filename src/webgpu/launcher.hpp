// What the operators of the gpu backend are written with: slices of tensors, kernels by name, grids,
// and work cut into pieces that the card takes.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>

#include "shunt/tensor.hpp"
#include "webgpu/grid.hpp"
#include "webgpu/recorder.hpp"

namespace shunt::webgpu {

inline std::uint32_t u32(std::uint64_t n) {
    return static_cast<std::uint32_t>(n);
}

class Launcher {
public:
    explicit Launcher(const DeviceOptions& options);

    Device& device() { return *device_; }
    Recorder& recorder() { return recorder_; }
    bool owns(const Tensor& t) const;                           // whether it made it
    std::uint32_t most_groups() const { return most_groups_; }  // along one side of a grid
    std::uint64_t most_values() const { return most_values_; }  // in a binding
    const WGPULimits& limits() const { return device_->limits(); }

    Tensor empty(Shape shape, Type type = Type::f32) { return {shape, type, 0, storage(shape.size())}; }
    std::shared_ptr<Storage> storage(std::uint64_t values);

    // Runs `work`, and where memory is refused once more, after everything idle was given up.
    template <typename Work>
    auto with_memory(const Work& work) {
        try {
            return work();
        } catch (const Error& error) {
            if (error.fault() != Fault::out_of_memory) throw;
        }
        give_up_idle();
        return work();
    }

    // Compiled at the first call; `text` follows common.wgsl.
    const Kernel& made_kernel(std::string_view name, std::string_view text);

    template <typename Params>
    void run(const Kernel& kernel, std::initializer_list<Slice> slices, const Params& params, Grid grid) {
        recorder_.run(kernel, slices, params, grid);
    }
    template <typename Params>
    void run(std::string_view name, std::initializer_list<Slice> slices, const Params& params, Grid grid) {
        recorder_.run(kernel(name), slices, params, grid);
    }

    // Values `first` to `first + n` of a tensor. The whole buffer where a binding can hold it, so that
    // few bind groups serve all views of it.
    Slice slice(const Tensor& t, std::uint64_t first, std::uint64_t n) const;

    // A small buffer for a binding that a kernel has but this call does not use. A few different ones:
    // a dispatch cannot have one buffer twice where it writes.
    Slice nothing(int number);

    // 64 invocations a group, one a value.
    Grid grid(std::uint64_t values) const { return fold((values + 63) / 64, most_groups_); }

    // work(first, n) over [0, n) in pieces of whole rows that fit into a binding and into a grid.
    template <typename Work>
    void each(std::uint64_t n, std::uint64_t cols, const Work& work) const {
        const std::uint64_t step = rows_each(n, cols);
        for (std::uint64_t first = 0; first < n; first += step) work(first, std::min(step, n - first));
    }

    // Kernels whose texts are made, by numbers that stand for them.
    std::map<std::array<std::uint64_t, 2>, const Kernel*> made;

    void fill(const Tensor& t, std::uint32_t bits);
    void copy(const Tensor& from, const Tensor& to);

private:
    void give_up_idle();
    const Kernel& kernel(std::string_view name);
    std::uint64_t rows_each(std::uint64_t n, std::uint64_t cols) const;

    std::shared_ptr<Device> device_;
    std::shared_ptr<Pool> pool_;
    Recorder recorder_;
    std::map<std::string, const Kernel*, std::less<>> kernels_;
    std::array<Tensor, 3> nothing_;
    std::uint32_t most_groups_ = 0;
    std::uint64_t align_ = 256, most_values_ = 0;
};

inline const Block& block(const Tensor& t) {
    return static_cast<const Values&>(*t.storage).block;
}

}  // namespace shunt::webgpu
