// Listing adapters, and the rule that picks one.
#include "webgpu/adapter.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "core/text.hpp"
#include "shunt/error.hpp"

namespace shunt::webgpu {
namespace {

AdapterKind kind_of(WGPUAdapterType type) {
    switch (type) {
        case WGPUAdapterType_DiscreteGPU: return AdapterKind::discrete;
        case WGPUAdapterType_IntegratedGPU: return AdapterKind::integrated;
        case WGPUAdapterType_CPU: return AdapterKind::software;
        default: return AdapterKind::other;
    }
}

// Those that kernels could use.
constexpr std::pair<std::uint32_t, const char*> telling_features[] = {
    {WGPUFeatureName_ShaderF16, "f16"},
    {WGPUNativeFeature_Subgroup, "subgroups"},
    {WGPUFeatureName_TimestampQuery, "timestamps"},
    {WGPUNativeFeature_Immediates, "immediates"},
    {WGPUNativeFeature_ShaderInt64, "int64"},
};

std::string lower(std::string_view s) {
    std::string result(s);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

AdapterInfo describe(WGPUAdapter adapter) {
    AdapterInfo info;
    WGPUAdapterInfo raw = {};
    if (api().AdapterGetInfo(adapter, &raw) == WGPUStatus_Success) {
        info.name = text(raw.device);
        info.vendor = text(raw.vendor);
        info.driver = text(raw.description);
        info.kind = kind_of(raw.adapterType);
        info.vendor_id = raw.vendorID;
        info.device_id = raw.deviceID;
        api().AdapterInfoFreeMembers(raw);
    }
    api().AdapterGetLimits(adapter, &info.limits);
    WGPUSupportedFeatures features = {};
    api().AdapterGetFeatures(adapter, &features);
    info.features.assign(features.features, features.features + features.featureCount);
    api().SupportedFeaturesFreeMembers(features);
    return info;
}

}  // namespace

bool AdapterInfo::has(std::uint32_t feature) const {
    return std::ranges::find(features, static_cast<WGPUFeatureName>(feature)) != features.end();
}

std::string_view to_string(AdapterKind kind) {
    switch (kind) {
        case AdapterKind::discrete: return "discrete";
        case AdapterKind::integrated: return "integrated";
        case AdapterKind::software: return "software";
        case AdapterKind::other: return "other";
    }
    return "other";
}

// An instance that is never released, where there is a real card. With the last one a process has Vulkan's loader
// unloads the drivers, and NVIDIA's (580) can be loaded 31 times: then there was no card any more.
void keep_drivers(const WGPUInstanceDescriptor& descriptor) {
    static const WGPUInstance kept = library().api->CreateInstance(&descriptor);
    static_cast<void>(kept);
}

Adapters find_adapters() {
    Adapters found;
    if (!library().api) return found;
    // Mesa's device-select layer prints two lines where XDG_RUNTIME_DIR is unset.
    setenv("NODEVICE_SELECT", "1", 0);
    WGPUInstanceExtras extras = {};
    extras.chain.sType = static_cast<WGPUSType>(WGPUSType_InstanceExtras);
    extras.backends = WGPUInstanceBackend_Vulkan;
    WGPUInstanceDescriptor descriptor = {};
    descriptor.nextInChain = &extras.chain;
    found.instance.reset(api().CreateInstance(&descriptor));
    if (!found.instance) return found;
    WGPUInstanceEnumerateAdapterOptions options = {};
    options.backends = WGPUInstanceBackend_Vulkan;
    std::vector<WGPUAdapter> raw(api().InstanceEnumerateAdapters(found.instance.get(), &options, nullptr));
    if (!raw.empty()) raw.resize(api().InstanceEnumerateAdapters(found.instance.get(), &options, raw.data()));
    for (WGPUAdapter adapter : raw) {
        found.handles.emplace_back(adapter);
        found.infos.push_back(describe(adapter));
        if (found.infos.back().kind != AdapterKind::software) keep_drivers(descriptor);
    }
    return found;
}

Picked pick(const std::vector<AdapterInfo>& adapters, std::string_view wanted) {
    if (adapters.empty()) return {-1, "There is no graphics adapter with a Vulkan driver here."};
    if (!wanted.empty()) {
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
        if (error == std::errc() && end == wanted.data() + wanted.size()) {
            if (index < adapters.size()) return {static_cast<int>(index), ""};
        } else {
            for (std::size_t i = 0; i < adapters.size(); i++) {
                if (lower(adapters[i].name).find(lower(wanted)) != std::string::npos) return {static_cast<int>(i), ""};
            }
        }
        std::string names;
        for (std::size_t i = 0; i < adapters.size(); i++) {
            names += (i ? ", " : "") + std::to_string(i) + " " + adapters[i].name;
        }
        return {-1, "There is no adapter '" + std::string(wanted) + "'. There are: " + names + "."};
    }
    for (AdapterKind kind : {AdapterKind::discrete, AdapterKind::integrated}) {
        const auto found = std::ranges::find(adapters, kind, &AdapterInfo::kind);
        if (found != adapters.end()) return {static_cast<int>(found - adapters.begin()), ""};
    }
    return {-1, "The only adapter, " + adapters.front().name + ", is a " +
                    std::string(to_string(adapters.front().kind)) +
                    " one, used only when --adapter or SHUNT_ADAPTER names it."};
}

std::string wanted_adapter(const std::string& named) {
    return named.empty() ? environment("SHUNT_ADAPTER") : named;
}

bool cards_hidden() {
    return environment("SHUNT_GPU") == "off";
}

void require_card() {
    if (cards_hidden()) throw Error(Fault::no_gpu, "SHUNT_GPU=off hides the graphics card.");
    if (!library().api) throw Error(Fault::no_gpu, library().reason);
}

ChosenAdapter choose_adapter(const std::string& named) {
    require_card();
    Adapters all = find_adapters();
    const Picked picked = pick(all.infos, wanted_adapter(named));
    if (picked.index < 0) throw Error(Fault::no_gpu, picked.reason);
    const auto i = static_cast<std::size_t>(picked.index);
    return {std::move(all.instance), std::move(all.handles[i]), std::move(all.infos[i]), picked.index};
}

Adapter facts_of(const AdapterInfo& info) {
    Adapter facts{info.name,
                  std::string(to_string(info.kind)),
                  info.driver,
                  info.limits.maxBufferSize,
                  info.limits.maxStorageBufferBindingSize,
                  info.limits.maxComputeWorkgroupStorageSize,
                  info.limits.maxComputeInvocationsPerWorkgroup,
                  info.limits.maxComputeWorkgroupsPerDimension,
                  info.limits.maxStorageBuffersPerShaderStage};
    for (const auto& [feature, name] : telling_features) {
        if (info.has(feature)) facts.features.emplace_back(name);
    }
    return facts;
}

AdapterList describe_adapters(const std::string& named) {
    const std::string wanted = wanted_adapter(named);
    AdapterList list;
    if (!library().api) {
        list.reason = library().reason;
        return list;
    }
    const std::vector<AdapterInfo> infos = find_adapters().infos;
    const Picked picked = pick(infos, wanted);
    const bool off = cards_hidden();
    if (infos.empty()) list.reason = picked.reason;
    for (std::size_t i = 0; i < infos.size(); i++) {
        Adapter a = facts_of(infos[i]);
        a.used = !off && picked.index == static_cast<int>(i);
        if (off) {
            a.reason = "SHUNT_GPU=off hides it";
        } else if (a.used) {
            a.reason = !named.empty() ? "named" : !wanted.empty() ? "named by SHUNT_ADAPTER" : "the first of its kind";
        } else if (picked.index >= 0) {
            a.reason = "adapter " + std::to_string(picked.index) + " is used";
        } else if (!wanted.empty()) {
            a.reason = picked.reason;
        } else {
            a.reason = "a software adapter is used only when --adapter or SHUNT_ADAPTER names it";
        }
        list.adapters.push_back(std::move(a));
    }
    return list;
}

}  // namespace shunt::webgpu
