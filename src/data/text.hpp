// Bytes as text: is it UTF-8, which line is this, and how a cell is shown in a message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shunt::data {

// bad_data with the line of the first NUL or of the first byte that is not UTF-8.
void check_utf8(std::string_view text, const std::string& source);

// Line ends: LF, CR LF, and CR alone.
std::uint64_t count_line_ends(std::string_view text);

// In quotes, on one line, cut to 40 bytes: what a message can hold of a cell.
std::string shown(std::string_view cell);

}  // namespace shunt::data
