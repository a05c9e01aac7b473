// What the tests of a program's own kernels share.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "card.hpp"
#include "shunt/gpu.hpp"

namespace shunt::test {

using Floats = std::vector<float>;
using Words = std::vector<std::uint32_t>;

// The message of the bad_argument that `work` throws; empty when it throws nothing.
template <typename Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::bad_argument);
        return error.what();
    }
    return "";
}

}  // namespace shunt::test
