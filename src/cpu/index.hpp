// Tokens, rows and classes that index a tensor, checked by both CPU backends.
#pragma once

#include <cstddef>
#include <string>

#include "shunt/error.hpp"

namespace shunt::cpu {

// The index. bad_argument from `limit` on; what: "embed: token".
inline std::size_t checked_index(std::size_t index, std::size_t limit, const char* what) {
    if (index < limit) return index;
    throw Error(Fault::bad_argument,
                std::string(what) + " " + std::to_string(index) + " is not below " + std::to_string(limit) + ".");
}

}  // namespace shunt::cpu
