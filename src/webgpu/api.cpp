// Finding the WebGPU library. It stays loaded: Vulkan drivers do not survive being unloaded.
#include "webgpu/api.hpp"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "core/text.hpp"

namespace shunt::webgpu {
namespace {

constexpr const char* file_name = "libwgpu_native.so";

// Where the library may be, best first.
std::vector<std::string> candidates() {
    if (const std::string named = environment("SHUNT_WEBGPU_LIBRARY"); !named.empty()) return {named};
    std::vector<std::string> paths;
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&library), &here) && here.dli_fname) {
        std::error_code error;
        // Of a program itself this is what it was called by, which may be found by PATH alone.
        const bool whole = here.dli_fname[0] == '/';
        const std::filesystem::path file = std::filesystem::canonical(whole ? here.dli_fname : "/proc/self/exe", error);
        if (!error) {  // beside this library or program, above it (the build's tests), as installed
            for (const char* place : {".", "..", "../lib", "../" SHUNT_LIBDIR}) {
                paths.push_back((file.parent_path() / place / file_name).lexically_normal().string());
            }
        }
    }
    paths.emplace_back(file_name);
    return paths;
}

Library load() {
    static Api functions;
    Library result;
    std::string tried;
    for (const std::string& path : candidates()) {
        if (path.find('/') != path.npos && !std::filesystem::exists(path)) {
            tried += (tried.empty() ? "" : ", ") + path;
            continue;
        }
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            tried += (tried.empty() ? "" : ", ") + std::string(dlerror());
            continue;
        }
        const char* missing = nullptr;
#define SHUNT_LOAD(name)                                                                      \
    functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(handle, "wgpu" #name)); \
    if (!functions.name) missing = "wgpu" #name;
        SHUNT_WEBGPU_FUNCTIONS(SHUNT_LOAD)
#undef SHUNT_LOAD
        result.path = path;
        if (missing) {
            result.reason =
                "The WebGPU library " + path + " has no " + missing + ": another version than wgpu-native 29?";
        } else {
            result.api = &functions;
            exchange_api(&functions);
        }
        return result;
    }
    result.reason = "There is no WebGPU library (wgpu-native). Tried: " + tried + ".";
    return result;
}

}  // namespace

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

std::string text(WGPUStringView view) {
    if (!view.data) return "";
    return {view.data, view.length == WGPU_STRLEN ? std::strlen(view.data) : view.length};
}

}  // namespace shunt::webgpu
