// Whether tests that need a card can run.
#pragma once

#include "shunt/backend.hpp"

namespace shunt::test {

inline bool have_card() {
    return try_backend("gpu").backend != nullptr;
}

}  // namespace shunt::test
