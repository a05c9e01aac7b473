// See doctor.hpp. What is not tried by calling it is found as Vulkan's loader documents it:
// github.com/KhronosGroup/Vulkan-Loader, LoaderDriverInterface.md.
#include "webgpu/doctor.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/json.hpp"
#include "core/text.hpp"
#include "webgpu/adapter.hpp"
#include "webgpu/backend.hpp"

namespace shunt::webgpu {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(':', at), list.size());
        if (end > at) parts.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

std::string joined(const std::vector<std::string>& parts) {
    return listed(parts, parts.size());  // all of them
}

// Names in a folder that begin and end so, sorted.
std::vector<std::string> names_in(const fs::path& folder, std::string_view begin, std::string_view end = "") {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(begin) && name.ends_with(end)) found.push_back(entry.path().string());
    }
    std::ranges::sort(found);
    return found;
}

Check webgpu_library() {
    const Library& found = library();
    if (found.api) return {"WebGPU library", true, found.path, ""};
    return {"WebGPU library", false, found.reason,
            "Put libwgpu_native.so of wgpu-native 29 beside shunt, or name it with SHUNT_WEBGPU_LIBRARY."};
}

Check vulkan_loader() {
    void* handle = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);  // stays open: drivers do not like to go
    if (!handle) {
        return {"Vulkan loader", false, dlerror(), "Install it: apt install libvulkan1 (Fedora: vulkan-loader)."};
    }
    Dl_info where{};
    const void* function = dlsym(handle, "vkGetInstanceProcAddr");
    const bool named = function && dladdr(function, &where) && where.dli_fname;
    return {"Vulkan loader", true, named ? where.dli_fname : "libvulkan.so.1", ""};
}

std::vector<std::string> driver_files() {
    std::vector<std::string> files;
    for (const std::string& place : driver_places(environment)) {
        std::error_code error;
        const auto inside = names_in(place, "", ".json");
        if (fs::is_directory(place, error)) {
            files.insert(files.end(), inside.begin(), inside.end());
        } else if (fs::exists(place, error) || place.ends_with(".json")) {
            files.push_back(place);
        }
    }
    return files;
}

Check drivers(const std::vector<std::string>& files) {
    if (!files.empty()) return {"Vulkan drivers", true, joined(files), ""};
    const bool nvidia = !names_in("/dev", "nvidia").empty();
    return {"Vulkan drivers", false, "There is no driver file in " + joined(driver_places(environment)) + ".",
            nvidia ? "Install the driver's Vulkan part; a container needs NVIDIA_DRIVER_CAPABILITIES=all."
                   : "Install the card's driver: apt install mesa-vulkan-drivers for AMD, Intel and software."};
}

Check driver(const std::string& file) {
    const std::string what = "driver " + fs::path(file).filename().string();
    std::ifstream in(file, std::ios::binary);
    if (!in) return {what, false, file + " cannot be read.", "Correct or unset VK_DRIVER_FILES and VK_ICD_FILENAMES."};
    try {
        const std::string text(std::istreambuf_iterator<char>(in), {}), path = driver_library(text, file);
        if (dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) return {what, true, path, ""};
        return {what, false, dlerror(),
                "Install the library that is missing, or remove " + file + " where that card is not used."};
    } catch (const Error& error) {
        return {what, false, error.what(), "Install the driver again, or remove " + file + "."};
    }
}

Check permissions() {
    std::vector<std::string> nodes = names_in("/dev/dri", "renderD"), closed;
    for (const std::string& node : names_in("/dev", "nvidia")) {
        std::error_code error;
        if (fs::is_character_file(node, error)) nodes.push_back(node);
    }
    if (nodes.empty()) {
        return {"card's files", false, "There is no /dev/dri/renderD* and no /dev/nvidia*.",
                "Give a container its card (--gpus all, or --device /dev/dri); a software adapter needs none."};
    }
    for (const std::string& node : nodes) {
        if (access(node.c_str(), R_OK | W_OK) != 0) closed.push_back(node);
    }
    if (closed.empty()) return {"card's files", true, joined(nodes), ""};
    return {"card's files", false, "This user may not open " + joined(closed) + ".",
            "Add the user to the group that owns them (usermod -aG render USER), and log in again."};
}

Check adapters(const AdapterList& list) {
    std::vector<std::string> all;
    bool used = false, software = false;
    for (const Adapter& a : list.adapters) {
        all.push_back(std::to_string(all.size()) + " " + a.name + (a.used ? " (used: " : " (not used: ") + a.reason +
                      ")");
        used = used || a.used;
        software = software || a.kind == "software";
    }
    const std::string found = all.empty() ? list.reason : joined(all);
    if (used) return {"adapters", true, found, ""};
    std::string advice = "Mend what is missing above.";
    if (cards_hidden()) {
        advice = "Unset SHUNT_GPU.";
    } else if (!environment("SHUNT_ADAPTER").empty() && !all.empty()) {
        advice = "Let SHUNT_ADAPTER name one of these, or unset it.";
    } else if (software) {
        advice = "Install a card's driver; or use the software adapter, slowly, with SHUNT_ADAPTER=llvmpipe.";
    }
    return {"adapters", false, found, advice};
}

Check kernel(bool any) {
    if (!any) return {"a kernel", false, "It was not tried, as no adapter is used.", "Mend what is missing above."};
    try {
        const auto card = make_gpu({});
        const Tensor a = card->upload(std::vector<float>{1, 2, 3, 4}, {2, 2});
        const std::vector<double> square = card->read(card->matmul(a, a));
        if (square == std::vector<double>{7, 10, 15, 22}) return {"a kernel", true, "It ran and was right.", ""};
        return {"a kernel", false, "It ran, and a product of two matrices is wrong.",
                "Update the card's driver; until then, choose another adapter with SHUNT_ADAPTER."};
    } catch (const Error& error) {
        return {"a kernel", false, error.what(),
                "Update the card's driver; until then, choose another adapter with SHUNT_ADAPTER."};
    }
}

}  // namespace

std::vector<std::string> driver_places(const Environment& environment) {
    const auto or_else = [&](const char* name, const std::string& otherwise) {
        const std::string value = environment(name);
        return value.empty() ? otherwise : value;
    };
    std::vector<std::string> places = split(environment("VK_ADD_DRIVER_FILES"));
    const std::string named = or_else("VK_DRIVER_FILES", environment("VK_ICD_FILENAMES"));
    if (!named.empty()) return split(named);  // then the loader looks nowhere else
    const std::string home = environment("HOME");
    for (const std::string& folders :
         {or_else("XDG_CONFIG_HOME", home + "/.config"), or_else("XDG_CONFIG_DIRS", "/etc/xdg"), std::string("/etc"),
          or_else("XDG_DATA_HOME", home + "/.local/share"), or_else("XDG_DATA_DIRS", "/usr/local/share:/usr/share")}) {
        for (const std::string& folder : split(folders)) places.push_back(folder + "/vulkan/icd.d");
    }
    return places;
}

std::string driver_library(std::string_view text, const std::string& file) {
    const auto json = parse_json(text, file);
    const std::string path = JsonValue(json, file).at("ICD").at("library_path").string();
    const bool relative = path.find('/') != path.npos && !path.starts_with('/');  // to the file's folder
    return relative ? (fs::path(file).parent_path() / path).string() : path;
}

Diagnosis diagnose() {
    Diagnosis result{false, {webgpu_library(), vulkan_loader()}};
    const std::vector<std::string> files = driver_files();
    result.checks.push_back(drivers(files));
    for (const std::string& file : files) result.checks.push_back(driver(file));
    result.checks.push_back(permissions());
    result.checks.push_back(adapters(describe_adapters()));
    result.checks.push_back(kernel(result.checks.back().ok));
    result.works = result.checks.back().ok;
    return result;
}

}  // namespace shunt::webgpu
