// See launcher.hpp.
#include "webgpu/launcher.hpp"

namespace shunt::webgpu {

Launcher::Launcher(const DeviceOptions& options)
    : device_(Device::open(options)), pool_(std::make_shared<Pool>(device_)), recorder_(device_, pool_) {
    const WGPULimits& limits = device_->limits();
    most_groups_ = limits.maxComputeWorkgroupsPerDimension;
    align_ = limits.minStorageBufferOffsetAlignment;  // a slice begins up to that before its first value
    most_values_ = (std::min<std::uint64_t>(limits.maxStorageBufferBindingSize, limits.maxBufferSize) - align_) / 4;
}

std::shared_ptr<Storage> Launcher::storage(std::uint64_t values) {
    return with_memory([&] { return std::make_shared<Values>(pool_, values * 4); });
}

void Launcher::give_up_idle() {
    recorder_.forget();  // bind groups keep their buffers
    pool_->clear();
}

const Kernel& Launcher::kernel(std::string_view name) {
    const auto found = kernels_.find(name);
    if (found != kernels_.end()) return *found->second;
    return *kernels_.emplace(name, &device_->kernel(name)).first->second;
}

const Kernel& Launcher::made_kernel(std::string_view name, std::string_view text) {
    return device_->kernel(name, std::string(find_kernel("common").text).append(text));
}

bool Launcher::owns(const Tensor& t) const {
    const auto* values = dynamic_cast<const Values*>(t.storage.get());
    return values && values->pool == pool_;
}

Slice Launcher::slice(const Tensor& t, std::uint64_t first, std::uint64_t n) const {
    const Block& b = block(t);
    const std::uint64_t begin = (t.offset + first) * 4;
    if (b.bytes / 4 <= most_values_) return {b.buffer.get(), b.id, 0, b.bytes, u32(begin / 4)};
    const std::uint64_t offset = begin / align_ * align_;
    return {b.buffer.get(), b.id, offset, begin + std::max<std::uint64_t>(n, 1) * 4 - offset,
            u32((begin - offset) / 4)};
}

Slice Launcher::nothing(int number) {
    Tensor& t = nothing_[static_cast<std::size_t>(number)];
    if (!t.exists()) t = empty({64}, Type::u32);
    return slice(t, 0, 1);
}

std::uint64_t Launcher::rows_each(std::uint64_t n, std::uint64_t cols) const {
    const double most_grid = 64.0 * most_groups_ * most_groups_ * most_groups_;
    const auto most = static_cast<std::uint64_t>(std::min({static_cast<double>(most_values_), most_grid, 4e9}));
    if (cols > most) {
        throw Error(Fault::unsupported, "A row of " + std::to_string(cols) + " values is past what the card " +
                                            device_->adapter().name + " takes in one piece, " + std::to_string(most) +
                                            ".");
    }
    return cols == 0 ? n : most / cols;
}

void Launcher::fill(const Tensor& t, std::uint32_t bits) {
    each(t.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
        const Slice y = slice(t, first, n);
        struct {
            std::uint32_t n, y0, bits;
        } params{u32(n), y.first, bits};
        run("fill", {y}, params, grid(n));
    });
}

void Launcher::copy(const Tensor& from, const Tensor& to) {
    if (from.storage == to.storage) {  // one dispatch cannot read and write one buffer
        const Tensor between = empty(from.shape, from.type);
        copy(from, between);
        return copy(between, to);
    }
    each(from.size(), 1, [&](std::uint64_t first, std::uint64_t n) {
        const Slice x = slice(from, first, n), y = slice(to, first, n);
        struct {
            std::uint32_t n, x0, y0;
        } params{u32(n), x.first, y.first};
        run("copy", {x, y}, params, grid(n));
    });
}

}  // namespace shunt::webgpu
