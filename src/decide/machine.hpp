// What measured figures depend on, of this machine.
#pragma once

#include <string>

#include "shunt/backend.hpp"

namespace shunt::decide {

// Of a backend here, without opening it.
struct Machine {
    bool there = false;
    std::string facts;      // "gpu, NVIDIA H200, 580.159"; "cpu, 8 threads"
    std::string reason;     // why it is not there
    std::string name;       // of the card, or of the backend
    bool software = false;  // a card that is the CPU
};

Machine machine(const std::string& backend, const BackendOptions& options);

}  // namespace shunt::decide
