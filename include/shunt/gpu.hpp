// The graphics cards of this machine, what one may be missing, and a program's own kernels on them: a few lines of
// WGSL, defined by name and dispatched over buffers that stay on the card.
//
//     auto gpu = gpu::open();
//     auto x = gpu.buffer(std::span(xs)), y = gpu.buffer(std::span(ys));
//     gpu.define("saxpy", {"r:x", "w:y"}, 1, "if (id.x >= p.n0) { return; } y[id.x] += p.f0 * x[id.x];");
//     gpu.dispatch("saxpy", {x, y}, {.n = {n}, .f = {2.0f}}, n);
//     auto answer = y.read<float>();
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/backend.hpp"

namespace shunt {

class Network;

struct Adapter {
    std::string name;                               // "NVIDIA H200"
    std::string kind;                               // "discrete", "integrated", "software" or "other"
    std::string driver;                             // "580.159"
    std::uint64_t max_buffer = 0, max_binding = 0;  // bytes
    std::uint32_t workgroup_memory = 0;             // bytes
    std::uint32_t max_invocations = 0;              // of a workgroup
    std::uint32_t max_groups = 0;                   // along one side of a grid
    std::uint32_t max_storage_buffers = 0;          // of a kernel
    std::vector<std::string> features;              // of f16, subgroups, timestamps, immediates, int64
    bool used = false;                              // by the backend gpu, as the environment is now
    std::string reason;                             // why, or why not
};

struct AdapterList {
    std::vector<Adapter> adapters;
    std::string reason;  // why there is none
};

// Opens the WebGPU library and asks its drivers; no card is opened. `used` is told for this adapter, as
// BackendOptions names it.
AdapterList list_adapters(const std::string& adapter = "");

// One of the things that a card needs, and whether it is there.
struct Check {
    std::string what;  // "Vulkan loader"
    bool ok = false;
    std::string found;   // what there is, or what is wrong with it
    std::string advice;  // what to do about it, in a line; empty where it is ok
};

struct Diagnosis {
    bool works = false;         // a card was opened and computed something right
    std::vector<Check> checks;  // in the order in which they depend on each other
};

// Looks for all that a card needs: the WebGPU library, the Vulkan loader, drivers and the libraries that
// they name, permissions, adapters, and a kernel that runs. Opens the drivers and the card.
Diagnosis diagnose();

namespace gpu {

// What a kernel sees as p.n0 … p.n7 and p.f0 … p.f7; what is not given is 0.
struct Numbers {
    std::array<std::uint32_t, 8> n{};
    std::array<float, 8> f{};
};

template <class T>
concept Value = std::same_as<T, float> || std::same_as<T, std::uint32_t>;

// Values on the card. Copies share them; they keep the card open.
class Buffer {
public:
    std::size_t bytes() const { return tensor_.size() * 4; }

    // Waits for what was dispatched. bad_argument for a type that it does not hold.
    template <Value T>
    std::vector<T> read() const {
        std::vector<T> values(tensor_.size());
        read_to(std::as_writable_bytes(std::span(values)), std::same_as<T, float> ? Type::f32 : Type::u32);
        return values;
    }

    // All of it anew, after what was dispatched before. bad_argument for another size or type.
    void write(std::span<const float> values);
    void write(std::span<const std::uint32_t> values);

private:
    friend class Gpu;
    friend struct Argument;
    void read_to(std::span<std::byte> to, Type type) const;
    void write_from(std::span<const std::byte> from, Type type);

    std::shared_ptr<Backend> backend_;
    Tensor tensor_;
    bool typed_ = false;  // made of values; made of bytes it is taken as either type
};

// What a dispatch works on: a buffer, or a tensor of the same backend (a network's, for example).
struct Argument {
    Tensor tensor;
    bool typed = true;

    Argument(const Buffer& buffer) : tensor(buffer.tensor_), typed(buffer.typed_) {}
    Argument(const Tensor& t) : tensor(t) {}
};

// An open card. Copies are the same one, which records in the order of the calls. One thread at a
// time, together with the network or backend it was made of.
class Gpu {
public:
    Adapter adapter() const;

    Buffer buffer(std::span<const float> values) const;
    Buffer buffer(std::span<const std::uint32_t> values) const;
    Buffer buffer(std::size_t bytes) const;  // of zeros, for values of either type; a multiple of 4

    // A kernel of that name for the whole process, compiled at once.
    //
    // bindings: "access:variable", at most 8. The variable is an array in the body; access is r (f32,
    // read), w (f32, read and written), u (u32, read) or x (u32, read and written).
    // dimensions: 1, in workgroups of 64, or 2, of 8×8.
    // body: WGSL, what one invocation does. It sees `id` (vec3<u32>, the invocation's number), the
    // arrays, and the Numbers as `p`. Whole workgroups run: it checks its bounds itself.
    // functions: WGSL in front of it.
    //
    // The same definition again is nothing new. bad_argument for another one under a name that is
    // taken, also by shunt's own kernels, and for a mistake in the WGSL: the shader's own message
    // with the line of the body or of the functions; the name is then still free. Accesses past the
    // end of an array never leave it (WebGPU's own checks, always on).
    void define(const std::string& name, const std::vector<std::string>& bindings, int dimensions,
                const std::string& body, const std::string& functions = "") const;

    // Runs nx (times ny) invocations, rounded up to whole workgroups, after everything recorded
    // before and before everything after. None: nothing happens. Grids past the card's limit of
    // workgroups a side are folded. ny is for kernels of two dimensions.
    //
    // Arguments stand in the order of the bindings. One that is written cannot be given twice, nor a
    // part of it; parts of one tensor that do not overlap can. Where WebGPU cannot bind a part
    // directly (it begins off the card's alignment, or is read while another part is written), the
    // kernel works on a copy. bad_argument for what does not fit the definition.
    void dispatch(std::string_view name, const std::vector<Argument>& arguments, const Numbers& numbers, std::size_t nx,
                  std::size_t ny = 1) const;

private:
    friend Gpu of(std::shared_ptr<Backend> backend);
    explicit Gpu(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}
    Buffer made(std::size_t values) const;

    std::shared_ptr<Backend> backend_;  // a gpu one
};

// The card that the backend gpu takes. no_gpu with the reason where there is none.
Gpu open(const BackendOptions& options = {});

// The one that a network, or a backend, is on; it may outlive it. bad_argument when that is not gpu.
Gpu of(const Network& network);
Gpu of(std::shared_ptr<Backend> backend);

}  // namespace gpu
}  // namespace shunt
