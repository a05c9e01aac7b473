// shunt/gpu.hpp in a build without graphics cards (-DSHUNT_GPU=OFF): everything is there, nothing opens.
#ifndef SHUNT_GPU
#include "shunt/gpu.hpp"
#include "shunt/network.hpp"

namespace shunt {
namespace {

constexpr const char* reason = "This shunt was built without graphics cards (-DSHUNT_GPU=OFF).";

[[noreturn]] void refuse() {
    throw Error(Fault::no_gpu, reason);
}

}  // namespace

AdapterList list_adapters(const std::string&) {
    return {{}, reason};
}

Diagnosis diagnose() {
    return {false, {{"graphics cards", false, reason, "Build it with -DSHUNT_GPU=ON."}}};
}

namespace gpu {

Gpu open(const BackendOptions&) {
    refuse();
}
Gpu of(const Network&) {
    refuse();
}
Gpu of(std::shared_ptr<Backend>) {
    refuse();
}

// Without a Gpu nobody comes here.
Adapter Gpu::adapter() const {
    refuse();
}
Buffer Gpu::buffer(std::span<const float>) const {
    refuse();
}
Buffer Gpu::buffer(std::span<const std::uint32_t>) const {
    refuse();
}
Buffer Gpu::buffer(std::size_t) const {
    refuse();
}
void Gpu::define(const std::string&, const std::vector<std::string>&, int, const std::string&,
                 const std::string&) const {
    refuse();
}
void Gpu::dispatch(std::string_view, const std::vector<Argument>&, const Numbers&, std::size_t, std::size_t) const {
    refuse();
}
void Buffer::write(std::span<const float>) {
    refuse();
}
void Buffer::write(std::span<const std::uint32_t>) {
    refuse();
}
void Buffer::read_to(std::span<std::byte>, Type) const {
    refuse();
}

}  // namespace gpu
}  // namespace shunt
#endif
