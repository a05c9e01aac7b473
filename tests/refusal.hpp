// What an action is refused with.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "shunt/error.hpp"

namespace shunt::test {

// What an action is refused with; empty where it is not.
template <typename Action>
std::string refusal(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// The same, and the kind of fault.
template <typename Action>
std::string refusal(Fault fault, Action action) {
    try {
        action();
    } catch (const Error& error) {
        CHECK(error.fault() == fault);
        return error.what();
    }
    return "";
}

}  // namespace shunt::test

#define CHECK_MENTIONS(text, part) CHECK_MESSAGE((text).find(part) != std::string::npos, (text))
