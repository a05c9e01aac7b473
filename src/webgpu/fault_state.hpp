// What the files of the fault device share: its state, and counting.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "webgpu/fault.hpp"

namespace shunt::webgpu {

struct FaultyCard::State {
    struct Scope {
        WGPUErrorFilter filter;
        std::string message;
    };
    struct Device {
        WGPUUncapturedErrorCallbackInfo on_error = {};
        WGPUDeviceLostCallbackInfo on_lost = {};
        std::vector<Scope> scopes;  // of one thread at a time, as the library's own
        std::atomic<bool> lost = false, hung = false;
    };
    struct Answer {  // of the card, held back until it is due
        std::chrono::steady_clock::time_point due;
        std::function<void()> give;
    };
    enum class Map { none, pending, mapped };

    Plan plan;
    const Api* real = nullptr;
    std::mutex mutex;  // of all below; never held while the library or a callback runs
    std::uint64_t calls = 0;
    bool polling = false;  // the last call was a poll
    int left = 0;          // of plan.times
    bool happened = false;
    WGPUDevice newest = nullptr;
    std::map<WGPUDevice, std::shared_ptr<Device>> devices;
    std::map<const void*, WGPUDevice> device_of;  // of queues, buffers, encoders, command buffers
    std::map<const void*, const char*> objects;   // alive, and their kinds
    std::map<WGPUBuffer, Map> maps;
    std::map<const void*, std::set<WGPUBuffer>> copied_to;  // by an encoder, then by a command buffer
    std::set<WGPUCommandBuffer> unfinished;                 // command buffers that failed to finish
    std::vector<Answer> answers;
    std::map<WGPUBuffer, std::vector<char>> altered;
    std::vector<std::string> aborts;
};

// The functions of a table have no other place to keep it.
inline FaultyCard::State* the_card = nullptr;

// The fault is due, and of this kind; uses it up.
bool strikes(Trouble trouble);

// Counts a call, and on its way out lets the device go if this was the one.
class Turn {
public:
    explicit Turn(bool poll = false);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
};

// Counts an object, which belongs to the device of the one that it was made from.
void made(const void* object, const char* kind, const void* from);
void released(const void* object);

// The device that an object belongs to, or none.
std::shared_ptr<FaultyCard::State::Device> device_of(const void* object);

// Hands out the answers that are due.
void give_answers(std::chrono::steady_clock::time_point now);

// Puts the functions that can fail into the table (fault_calls.cpp).
void replace_functions(Api& table);

}  // namespace shunt::webgpu
