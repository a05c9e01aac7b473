// What tests of a card share: whether they can run, and what a failing one recorded.
#pragma once

#include <string>
#include <vector>

#include "shunt/backend.hpp"

namespace shunt::test {

inline bool have_card() {
    return try_backend("gpu").backend != nullptr;
}

inline std::string lines(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) text += line + "\n";
    return text;
}

}  // namespace shunt::test
