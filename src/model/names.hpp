// One list of names for each choice, read and written.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "shunt/error.hpp"

namespace shunt {

template <typename Choice, std::size_t n>
struct Names {
    std::string_view what;  // "scaling"
    std::array<std::pair<Choice, std::string_view>, n> list;

    std::string_view of(Choice choice) const {
        for (const auto& [value, name] : list) {
            if (value == choice) return name;
        }
        return "?";
    }

    Choice parse(std::string_view text) const {
        std::vector<std::string> known;
        for (const auto& [value, name] : list) {
            if (name == text) return value;
            known.emplace_back(name);
        }
        throw Error(Fault::bad_argument,
                    "\"" + std::string(text) + "\" is no " + std::string(what) + "; there are: " + listed(known) + ".");
    }
};

}  // namespace shunt
