// The graphics adapters of this machine: what each is, why it is or is not used, and what is missing.
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

// Opens the WebGPU library and asks its drivers; no card is opened.
AdapterList list_adapters();

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

}  // namespace shunt
