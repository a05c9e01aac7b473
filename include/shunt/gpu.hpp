// The graphics adapters of this machine: what each is, and why it is or is not used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shunt {

struct Adapter {
    std::string name;                               // "NVIDIA H200"
    std::string kind;                               // "discrete", "integrated", "software" or "other"
    std::string driver;                             // "580.159"
    std::uint64_t max_buffer = 0, max_binding = 0;  // bytes
    std::uint32_t workgroup_memory = 0;             // bytes
    std::uint32_t max_invocations = 0;              // of a workgroup
    bool used = false;                              // by the backend gpu, as the environment is now
    std::string reason;                             // why, or why not
};

struct AdapterList {
    std::vector<Adapter> adapters;
    std::string reason;  // why there is none
};

// Opens the WebGPU library and asks its drivers; no card is opened.
AdapterList list_adapters();

}  // namespace shunt
