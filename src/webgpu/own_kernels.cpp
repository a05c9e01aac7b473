// A program's own kernels: the public face of shunt/gpu.hpp over the recorder.
#include <algorithm>
#include <map>
#include <mutex>

#include "shunt/gpu.hpp"
#include "shunt/network.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/launcher.hpp"
#include "webgpu/own_text.hpp"

namespace shunt::gpu {
namespace {

using namespace webgpu;

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(Fault::bad_argument, sentence);
}

std::string name_of(Type type) {
    return type == Type::f32 ? "f32" : "u32";
}

Launcher& card_of(const std::shared_ptr<Backend>& backend) {
    return *launcher_of(*backend);
}

// --- what has been defined, for the whole process ------------------------------------------------

struct Defined {
    std::mutex mutex;
    std::map<std::string, OwnKernel, std::less<>> kernels;  // never taken out
};
Defined& defined() {
    static Defined all;
    return all;
}

bool is_built_in(std::string_view name) {
    // The last two are generated, not files.
    return std::ranges::count(kernel_sources(), name, &KernelSource::name) > 0 || name == "matmul" ||
           name == "train_step";
}

const OwnKernel& find(std::string_view name) {
    Defined& all = defined();
    const std::lock_guard lock(all.mutex);
    const auto found = all.kernels.find(name);
    if (found != all.kernels.end()) return found->second;
    refuse("There is no kernel '" + std::string(name) + "'" +
           (is_built_in(name) ? " of the program's own: that one is shunt's." : ": define it first."));
}

const Kernel& compiled(Device& device, const OwnKernel& own) {
    const std::size_t n = own.bindings.size();
    const std::size_t most =
        std::min<std::size_t>(Recorder::most_slices, device.limits().maxStorageBuffersPerShaderStage);
    if (n > most) {
        refuse("The kernel '" + own.name + "' has " + std::to_string(n) + " bindings; the card " +
               device.adapter().name + " takes at most " + std::to_string(most) + ".");
    }
    try {
        return device.own_kernel({own.name, own.text}, own.layout);
    } catch (const Error& error) {
        const bool of_the_text = std::string_view(error.what()).find("label = '" + own.name + "'") != std::string::npos;
        if (error.fault() != Fault::gpu_broken || !of_the_text) throw;
        refuse(own.explain(error.what()));
    }
}

// --- a dispatch ----------------------------------------------------------------------------------

// Workgroups as the program sees them, `across` to a row, and the folded grid that they run in.
struct Layout {
    std::uint32_t across = 0, groups = 0;
    Grid grid = {};
};

Layout layout_of(const OwnKernel& own, std::size_t nx, std::size_t ny, std::uint32_t most_side) {
    constexpr std::size_t most_ids = std::size_t{1} << 32;
    const bool flat = own.definition.dimensions == 1;
    if (flat) ny = 1;
    if (nx > most_ids || ny > most_ids) {
        refuse("The kernel '" + own.name + "' is dispatched over " + std::to_string(std::max(nx, ny)) +
               " invocations along one side; id counts to " + std::to_string(most_ids) + ".");
    }
    const std::uint64_t across = flat ? (nx + 63) / 64 : (nx + 7) / 8, down = flat ? 1 : (ny + 7) / 8;
    // A folded grid has at most twice as many groups, whose numbers must not pass 32 bits.
    const std::uint64_t side = std::min<std::uint64_t>(most_side, 1 << 11),  // whose cube is past the other limit
        most = std::min(side * side * side, std::uint64_t{1} << 31);
    if (across * down > most) {
        refuse("The kernel '" + own.name + "' is dispatched over " + std::to_string(across * down) +
               " workgroups; the card takes at most " + std::to_string(most) + ".");
    }
    return {u32(across), u32(across * down), fold(across * down, most_side)};
}

bool overlap(const Tensor& a, const Tensor& b) {
    return a.storage == b.storage && a.offset < b.offset + b.size() && b.offset < a.offset + a.size();
}

void check(Launcher& card, const OwnKernel& own, const std::vector<Argument>& arguments) {
    const std::string of_kernel = " of the kernel '" + own.name + "'";
    if (arguments.size() != own.bindings.size()) {
        std::string all;
        for (const Binding& b : own.bindings) all += (all.empty() ? "" : ", ") + b.text;
        refuse("The kernel '" + own.name + "' has " + std::to_string(own.bindings.size()) + " bindings (" + all +
               "); given are " + std::to_string(arguments.size()) + " buffers.");
    }
    for (std::size_t i = 0; i < arguments.size(); i++) {
        const Binding& b = own.bindings[i];
        const Tensor& t = arguments[i].tensor;
        if (!t.exists()) refuse("No buffer is given for " + b.text + of_kernel + ".");
        if (!card.owns(t)) {
            refuse("The buffer given for " + b.text + of_kernel +
                   " belongs to another backend: a buffer is used with the gpu that made it, a network's tensors with "
                   "gpu::of(network).");
        }
        if (arguments[i].typed && t.type != b.type) {
            refuse(b.text + of_kernel + " takes " + name_of(b.type) + "; the buffer given holds " + name_of(t.type) +
                   ".");
        }
        for (std::size_t j = 0; j < i; j++) {
            if (!overlap(t, arguments[j].tensor) || !(b.written || own.bindings[j].written)) continue;
            refuse(own.bindings[j].text + " and " + b.text + of_kernel +
                   " are given the same buffer: what one dispatch writes it cannot have a second time.");
        }
    }
}

// The tensors to bind: as given, or a copy of what cannot be bound in place.
std::vector<Tensor> bindable(Launcher& card, const OwnKernel& own, const std::vector<Argument>& arguments) {
    const WGPULimits& limits = card.device().limits();
    std::vector<Tensor> bound;
    for (std::size_t i = 0; i < arguments.size(); i++) {
        const Tensor& t = arguments[i].tensor;
        const std::string& text = own.bindings[i].text;
        if (t.size() == 0) refuse("The buffer given for " + text + " of the kernel '" + own.name + "' is empty.");
        if (t.size() * 4 > limits.maxStorageBufferBindingSize) {
            refuse("The buffer given for " + text + " of the kernel '" + own.name + "' has " +
                   std::to_string(t.size() * 4) + " bytes; a binding of the card " + card.device().adapter().name +
                   " takes at most " + std::to_string(limits.maxStorageBufferBindingSize) + ".");
        }
        // WebGPU tracks usage by whole buffers: a part that is read and another that is written collide.
        bool shared = false;
        for (std::size_t j = 0; j < arguments.size(); j++) {
            shared |= !own.bindings[i].written && own.bindings[j].written && arguments[j].tensor.storage == t.storage;
        }
        if (t.offset * 4 % limits.minStorageBufferOffsetAlignment == 0 && !shared) {
            bound.push_back(t);
        } else {
            bound.push_back(card.empty({t.size()}, t.type));
            card.copy(t.view(0, {t.size()}), bound.back());
        }
    }
    return bound;
}

}  // namespace

void Gpu::dispatch(std::string_view name, const std::vector<Argument>& arguments, const Numbers& numbers,
                   std::size_t nx, std::size_t ny) const {
    Launcher& card = card_of(backend_);
    const OwnKernel& own = find(name);
    check(card, own, arguments);
    if (nx == 0 || (own.definition.dimensions == 2 && ny == 0)) return;
    const Layout layout = layout_of(own, nx, ny, card.most_groups());
    const Kernel& kernel = compiled(card.device(), own);
    const std::vector<Tensor> bound = bindable(card, own, arguments);
    std::vector<Slice> slices;
    for (const Tensor& t : bound) slices.push_back({block(t).buffer.get(), block(t).id, t.offset * 4, t.size() * 4, 0});
    struct {
        Numbers numbers;
        std::uint32_t across, groups;
    } params{numbers, layout.across, layout.groups};
    card.recorder().run(kernel, slices, params, layout.grid);
    for (std::size_t i = 0; i < bound.size(); i++) {
        const Tensor& t = arguments[i].tensor;
        if (own.bindings[i].written && bound[i].storage != t.storage) card.copy(bound[i], t.view(0, {t.size()}));
    }
}

void Gpu::define(const std::string& name, const std::vector<std::string>& bindings, int dimensions,
                 const std::string& body, const std::string& functions) const {
    if (is_built_in(name)) refuse("The kernel name '" + name + "' is taken by one of shunt's own.");
    OwnKernel own = own_kernel(name, {bindings, dimensions, body, functions});
    Defined& all = defined();
    const std::lock_guard lock(all.mutex);  // compiled under it: one text a name, on every card
    const auto found = all.kernels.find(name);
    if (found != all.kernels.end() && found->second.definition != own.definition) {
        refuse("The kernel '" + name + "' is defined already, with another text.");
    }
    compiled(card_of(backend_).device(), own);
    if (found == all.kernels.end()) all.kernels.emplace(name, std::move(own));
}

Adapter Gpu::adapter() const {
    Adapter facts = facts_of(card_of(backend_).device().adapter());
    facts.used = true;
    facts.reason = "it is open";
    return facts;
}

// --- buffers -------------------------------------------------------------------------------------

Buffer Gpu::made(std::size_t values) const {
    Buffer buffer;
    buffer.backend_ = backend_;
    buffer.tensor_ = card_of(backend_).empty({values});
    return buffer;
}

Buffer Gpu::buffer(std::span<const float> values) const {
    Buffer buffer = made(values.size());
    buffer.typed_ = true;
    buffer.write(values);
    return buffer;
}

Buffer Gpu::buffer(std::span<const std::uint32_t> values) const {
    Buffer buffer = made(values.size());
    buffer.typed_ = true;
    buffer.tensor_.type = Type::u32;
    buffer.write(values);
    return buffer;
}

Buffer Gpu::buffer(std::size_t bytes) const {
    if (bytes % 4 != 0) {
        refuse("A buffer of " + std::to_string(bytes) + " bytes is not a whole number of values of 4 bytes.");
    }
    Buffer buffer = made(bytes / 4);
    card_of(backend_).fill(buffer.tensor_, 0);  // buffers come from a pool
    return buffer;
}

void Buffer::read_to(std::span<std::byte> to, Type type) const {
    if (typed_ && type != tensor_.type) {
        refuse("A buffer of " + name_of(tensor_.type) + " values cannot be read as " + name_of(type) + ".");
    }
    Launcher& card = card_of(backend_);
    if (!to.empty()) card.with_memory([&] { card.recorder().read(block(tensor_), tensor_.offset * 4, to); });
}

void Buffer::write_from(std::span<const std::byte> from, Type type) {
    if (typed_ && type != tensor_.type) {
        refuse("A buffer of " + name_of(tensor_.type) + " values cannot be written as " + name_of(type) + ".");
    }
    if (from.size() != bytes()) {
        refuse("A buffer of " + std::to_string(bytes()) + " bytes cannot be written with " +
               std::to_string(from.size()) + ".");
    }
    Launcher& card = card_of(backend_);
    if (!from.empty()) card.with_memory([&] { card.recorder().write(block(tensor_), tensor_.offset * 4, from); });
}

void Buffer::write(std::span<const float> values) {
    write_from(std::as_bytes(values), Type::f32);
}

void Buffer::write(std::span<const std::uint32_t> values) {
    write_from(std::as_bytes(values), Type::u32);
}

// --- which card ----------------------------------------------------------------------------------

Gpu of(std::shared_ptr<Backend> backend) {
    if (!backend || !launcher_of(*backend)) {
        refuse("The backend '" + std::string(backend ? backend->name() : "none") +
               "' has no graphics card: gpu::of takes the backend gpu.");
    }
    return Gpu(std::move(backend));
}

Gpu of(const Network& network) {
    if (const auto backend = network.shared_backend(); launcher_of(*backend)) return of(backend);
    refuse("The network is on " + std::string(network.backend()) +
           ", not on a graphics card: make it with the backend gpu.");
}

Gpu open(const BackendOptions& options) {
    return of(make_gpu(options));
}

}  // namespace shunt::gpu
