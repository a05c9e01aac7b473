// The border between C and C++: what the implementation of shunt/offload.h shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "shunt/offload.h"
#include "shunt/offload.hpp"

struct shunt_card {
    shunt::offload::SharedWorker worker;
    shunt::offload::GpuBackend backend;
};

struct shunt_weight {
    shunt::offload::Weight weight;
};

namespace shunt::offload {

// Of the exception that is being handled; its text becomes this thread's message.
shunt_status status_of_current_exception() noexcept;

// Whatever `work` throws ends here.
template <typename Work>
shunt_status guarded(const Work& work) noexcept {
    try {
        return work();
    } catch (...) {
        return status_of_current_exception();
    }
}

// bad_argument
[[noreturn]] void refuse_argument(const std::string& sentence);

template <typename Pointer>
Pointer given(Pointer pointer, const char* name) {
    if (!pointer) refuse_argument(std::string(name) + " is NULL.");
    return pointer;
}

// The number of an enumerator of C, which may be any; C++ must not even look at one that is none.
template <typename Enum>
unsigned number_of(const Enum& value) {
    unsigned number = 0;
    static_assert(sizeof value == sizeof number);
    std::memcpy(&number, &value, sizeof number);
    return number;
}

// What an enumerator of C stands for. bad_argument for one that is none.
template <typename Enum, typename To, std::size_t n>
To one_of(const std::array<To, n>& all, const Enum& value, const char* name) {
    const auto number = number_of(value);
    if (number >= n) {
        refuse_argument(std::string(name) + " is " + std::to_string(static_cast<int>(number)) + "; it goes from 0 to " +
                        std::to_string(n - 1) + ".");
    }
    return all[number];
}

}  // namespace shunt::offload
