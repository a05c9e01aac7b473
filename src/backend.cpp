// The registry: names to backends, with the reason where one cannot work here.
#include "shunt/backend.hpp"

#include "shunt/gpu.hpp"
#ifdef SHUNT_GPU
#include "webgpu/adapter.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/doctor.hpp"
#endif

#include <algorithm>
#include <map>
#include <mutex>

#include "cpu/fast.hpp"
#include "cpu/plain.hpp"

namespace shunt {
namespace {

using Make = std::function<std::shared_ptr<Backend>(const BackendOptions&)>;

std::shared_ptr<Backend> make_gpu(const BackendOptions& options) {
#ifdef SHUNT_GPU
    return webgpu::make_gpu(options);
#else
    throw Error(Fault::no_gpu, list_adapters(options.adapter).reason);
#endif
}

struct Registry {
    std::mutex mutex;
    std::map<std::string, Make, std::less<>> makers = {
        {"cpu", cpu::make_fast}, {"gpu", make_gpu}, {"plain", cpu::make_plain}};
};

Registry& registry() {
    static Registry all;
    return all;
}

Make find(std::string_view name) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.makers.find(name == "auto" ? "cpu" : name);
    if (found != all.makers.end()) return found->second;
    std::string known;
    for (const auto& [known_name, make] : all.makers) known += known_name + ", ";
    throw Error(Fault::bad_argument, "There is no backend '" + std::string(name) + "'. There are: " + known + "auto.");
}

// A card is named for backends that use one, and auto has to find it even where it would not use it.
void check_adapter(std::string_view name, const BackendOptions& options) {
    if (options.adapter.empty() || (name != "auto" && name != "cpu" && name != "plain")) return;
    if (name != "auto") {
        throw Error(Fault::bad_argument, "The adapter '" + options.adapter + "' was named, but the backend '" +
                                             std::string(name) + "' uses none: only gpu and auto do.");
    }
#ifdef SHUNT_GPU
    webgpu::choose_adapter(options.adapter);
#else
    make_gpu(options);  // says why there is none
#endif
}

std::shared_ptr<Backend> open(std::string_view name, const BackendOptions& options) {
    const Make make = find(name);
    check_adapter(name, options);
    return make(options);
}

}  // namespace

std::vector<std::string> backend_names() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::vector<std::string> names;
    for (const auto& [name, make] : all.makers) names.push_back(name);
    return names;
}

TriedBackend try_backend(std::string_view name, const BackendOptions& options) {
    try {
        return {open(name, options), ""};
    } catch (const Error& error) {
        if (error.fault() == Fault::bad_argument) throw;
        return {nullptr, error.what()};
    }
}

std::vector<std::string> available_backends() {
    std::vector<std::string> names = backend_names();
    std::erase_if(names, [](const std::string& name) { return !try_backend(name).backend; });
    return names;
}

std::shared_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options) {
    try {
        return open(name, options);
    } catch (const Error& error) {
        if (error.fault() == Fault::bad_argument) throw;
        throw error.during("opening the backend '" + std::string(name) + "'");
    }
}

void register_backend(const std::string& name, Make make) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (name.empty()) throw Error(Fault::bad_argument, "A backend needs a name.");
    if (name == "auto" || !all.makers.emplace(name, std::move(make)).second) {
        throw Error(Fault::bad_argument, "The backend name '" + name + "' is taken.");
    }
}

#ifdef SHUNT_GPU
Diagnosis diagnose() {
    return webgpu::diagnose();
}

AdapterList list_adapters(const std::string& adapter) {
    return webgpu::describe_adapters(adapter);
}
#endif

}  // namespace shunt
