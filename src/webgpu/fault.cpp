// See fault.hpp: counting and the switch. Every function of the table is Call<…>::run, which counts and
// goes on to the library's, unless fault_calls.cpp replaces it.
#include "webgpu/fault.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "webgpu/fault_state.hpp"

namespace shunt::webgpu {

using State = FaultyCard::State;

bool strikes(Trouble trouble) {
    const std::lock_guard lock(the_card->mutex);
    if (the_card->plan.trouble != trouble || the_card->calls < the_card->plan.at || the_card->left == 0) return false;
    the_card->left--;
    return the_card->happened = true;
}

std::shared_ptr<State::Device> device_of(const void* object) {
    const std::lock_guard lock(the_card->mutex);
    const auto owner = the_card->device_of.find(object);
    const auto found = the_card->devices.find(owner == the_card->device_of.end() ? nullptr : owner->second);
    return found == the_card->devices.end() ? nullptr : found->second;
}

void made(const void* object, const char* kind, const void* from) {
    if (!object) return;
    const std::lock_guard lock(the_card->mutex);
    the_card->objects[object] = kind;
    if (const auto owner = the_card->device_of.find(from); owner != the_card->device_of.end()) {
        the_card->device_of[object] = owner->second;
    }
}

void released(const void* object) {
    const std::lock_guard lock(the_card->mutex);
    the_card->objects.erase(object);
    the_card->device_of.erase(object);
    the_card->copied_to.erase(object);
}

void give_answers(std::chrono::steady_clock::time_point now) {
    std::vector<State::Answer> due;
    {
        const std::lock_guard lock(the_card->mutex);
        const auto late = std::stable_partition(the_card->answers.begin(), the_card->answers.end(),
                                                [&](const State::Answer& a) { return a.due > now; });
        due.assign(std::make_move_iterator(late), std::make_move_iterator(the_card->answers.end()));
        the_card->answers.erase(late, the_card->answers.end());
    }
    for (const State::Answer& answer : due) answer.give();
}

namespace {

void lose(State::Device& device) {
    device.lost = true;
    const WGPUDeviceLostCallbackInfo& info = device.on_lost;
    info.callback(nullptr, WGPUDeviceLostReason_Unknown, {"on request", WGPU_STRLEN}, info.userdata1, info.userdata2);
}

// The function as it is, counted; with the objects it makes, or the one it releases.
template <auto Function>
struct Call;
template <typename R, typename First, typename... More, R (*Api::*Function)(First, More...)>
struct Call<Function> {
    static inline const char* name = "";

    static R run(First first, More... more) {
        if (std::string_view(name).ends_with("Release")) {
            if constexpr (std::is_pointer_v<First>) released(first);
            return (the_card->real->*Function)(first, more...);
        }
        const Turn turn;
        if constexpr (std::is_pointer_v<R> && !std::is_void_v<std::remove_pointer_t<R>>) {
            const R object = (the_card->real->*Function)(first, more...);
            made(object, name, std::is_pointer_v<First> ? reinterpret_cast<const void*>(first) : nullptr);
            return object;
        } else {
            return (the_card->real->*Function)(first, more...);
        }
    }
};
template <typename R, R (*Api::*Function)()>
struct Call<Function> {
    static inline const char* name = "";
    static R run() { return (the_card->real->*Function)(); }
};

Api counting_functions() {
    Api t;
#define SHUNT_COUNT(function)                \
    Call<& Api::function>::name = #function; \
    t.function = &Call<&Api::function>::run;
    SHUNT_WEBGPU_FUNCTIONS(SHUNT_COUNT)
#undef SHUNT_COUNT
    replace_functions(t);
    return t;
}

}  // namespace

Turn::Turn(bool poll) {
    const std::lock_guard lock(the_card->mutex);
    if (!poll || !the_card->polling) the_card->calls++;
    the_card->polling = poll;
}

Turn::~Turn() {
    std::shared_ptr<State::Device> device;
    {
        const std::lock_guard lock(the_card->mutex);
        if (!the_card->newest) return;
        device = the_card->devices.at(the_card->newest);
    }
    if (strikes(Trouble::lost)) lose(*device);
    if (strikes(Trouble::hang)) device->hung = true;
}

FaultyCard::FaultyCard(Plan plan) : state_(std::make_unique<State>()) {
    static const Api functions = counting_functions();
    state_->left = plan.trouble == Trouble::lost || plan.trouble == Trouble::hang ? 1 : plan.times;
    state_->plan = std::move(plan);
    state_->real = library().api;
    the_card = state_.get();
    before_ = exchange_api(&functions);
}

FaultyCard::~FaultyCard() {
    exchange_api(before_);
    // A hung device was kept by whoever used it. This one does answer in the end, too late.
    for (const auto& [object, owner] : state_->device_of) {
        if (std::string_view(state_->objects[object]) == "DeviceGetQueue") {
            state_->real->QueueRelease(static_cast<WGPUQueue>(const_cast<void*>(object)));
        }
    }
    for (const auto& [device, about] : state_->devices) state_->real->DeviceRelease(device);
    give_answers(std::chrono::steady_clock::time_point::max());
    the_card = nullptr;
}

std::uint64_t FaultyCard::calls() const {
    const std::lock_guard lock(state_->mutex);
    return state_->calls;
}

bool FaultyCard::happened() const {
    const std::lock_guard lock(state_->mutex);
    return state_->happened;
}

std::vector<std::string> FaultyCard::aborts() const {
    const std::lock_guard lock(state_->mutex);
    return state_->aborts;
}

std::vector<std::string> FaultyCard::alive() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::string> kinds;
    for (const auto& [object, kind] : state_->objects) kinds.emplace_back(kind);
    std::ranges::sort(kinds);
    return kinds;
}

}  // namespace shunt::webgpu
