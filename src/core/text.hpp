// Small helpers for text: numbers read and written the same whatever the locale, JSON, lists in sentences, the
// environment.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shunt/file.hpp"

namespace shunt {

// The finite number that the whole text is, spaces around it aside.
std::optional<double> to_number(std::string_view text);

// "1 row", "2 rows"
std::string counted(std::size_t n, std::string_view thing);

// "a, b, c and 7 more": the first few of a list, for a sentence.
std::string listed(std::span<const std::string> names, std::size_t most = 8);

// With two digits: "3.4 s", "12 ms", "250 µs".
std::string time_in_words(double seconds);

// An environment variable's value; empty where it is not set.
std::string environment(const char* name);

// JSON whose numbers are the shortest that read back to the same double; the members in their order.
// indent < 0: one line without spaces. Numbers that are not finite become null, as JSON has none.
// bad_data for a text that is not UTF-8.
std::string to_json(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace shunt
