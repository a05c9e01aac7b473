// A card that fails on request, for tests: the library's functions, each call counted, each object
// counted, and one fault at a call of choice. What wgpu-native would end the process for is recorded
// instead: a test checks that there is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "webgpu/api.hpp"

namespace shunt::webgpu {

enum class Trouble {
    none,
    memory,   // refused to the next buffers and uploads
    refused,  // the next device, shader, pipeline or bind group is none
    lost,     // the device is gone when the call returns
    hang,     // from this call on, no answer comes
    wrong,    // the next values that are read back are altered
};

struct Plan {
    Trouble trouble = Trouble::none;
    std::uint64_t at = 1;                          // the call, from 1
    int times = 1;                                 // memory, refused, wrong: how often
    std::function<void(WGPULimits&)> limits = {};  // what the adapters say they have
    std::chrono::milliseconds latency{0};          // answers come that late
};

// While one exists, devices that are opened are on it. One at a time, and what was opened on it has
// to be gone before it. The fault hits the newest device, once: the next one works.
class FaultyCard {
public:
    explicit FaultyCard(Plan plan = {});
    ~FaultyCard();
    FaultyCard(const FaultyCard&) = delete;
    FaultyCard& operator=(const FaultyCard&) = delete;

    // So far; a row of polls is one, and releases are none.
    std::uint64_t calls() const;
    bool happened() const;                    // the fault
    std::vector<std::string> aborts() const;  // what would have ended the process
    std::vector<std::string> alive() const;   // objects that were made and not released, by kind

    struct State;

private:
    std::unique_ptr<State> state_;
    const Api* before_;
};

}  // namespace shunt::webgpu
