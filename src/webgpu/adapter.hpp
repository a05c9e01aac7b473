// The graphics adapters of this machine, and which one is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/gpu.hpp"
#include "webgpu/api.hpp"

namespace shunt::webgpu {

enum class AdapterKind { discrete, integrated, software, other };

struct AdapterInfo {
    std::string name, vendor, driver;
    AdapterKind kind = AdapterKind::other;
    std::uint32_t vendor_id = 0, device_id = 0;
    WGPULimits limits = WGPU_LIMITS_INIT;
    std::vector<WGPUFeatureName> features;

    bool has(std::uint32_t feature) const;
};

std::string_view to_string(AdapterKind kind);

// Opens an instance and lists what it finds. Vulkan alone: the default list has llvmpipe twice.
struct Adapters {
    Instance instance;
    std::vector<AdapterHandle> handles;
    std::vector<AdapterInfo> infos;
};
Adapters find_adapters();

// Which adapter is used: `wanted` is an index or a part of a name, in any case; empty: the first
// discrete one, else the first integrated one. A software adapter is used only when it is wanted.
// Index, or none and the reason.
struct Picked {
    int index = -1;
    std::string reason;
};
Picked pick(const std::vector<AdapterInfo>& adapters, std::string_view wanted);

// The environment's part in it: an adapter that is not named is SHUNT_ADAPTER's, and SHUNT_GPU=off hides all.
std::string wanted_adapter(const std::string& named);
bool cards_hidden();

// Error no_gpu where cards are hidden, and where there is no library.
void require_card();

// The one to use, of those there are. Error no_gpu, with the reason, where there is none.
struct ChosenAdapter {
    Instance instance;
    AdapterHandle handle;
    AdapterInfo info;
    int index = 0;
};
ChosenAdapter choose_adapter(const std::string& named);

// What a program is told of one. `used` and `reason` are the caller's to say.
Adapter facts_of(const AdapterInfo& info);

// All of it for people, as the environment (SHUNT_ADAPTER, SHUNT_GPU) is now.
AdapterList describe_adapters(const std::string& named = "");

}  // namespace shunt::webgpu
