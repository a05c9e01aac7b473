// How results look: text in columns, CSV cells, JSON documents, and standard output that was
// really written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shunt::cli {

using Json = nlohmann::ordered_json;

// To standard output, all of it. bad_file where it cannot be written; quiet when the reader has gone.
void print(std::string_view text);

// To standard error; nothing helps where that fails.
void note(std::string_view text);

// One document: a line a member, numbers as to_text writes them, null for those that are not finite.
std::string to_json_text(const Json& document);

// Cells in columns, the first one on the left, numbers (right[i]) on the right.
std::string in_columns(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);

std::size_t width(const std::string& text);                                            // in characters
std::string padded(const std::string& text, std::size_t columns, bool right = false);  // with spaces
std::string csv_cell(const std::string& text);                                         // quoted where it must be
std::string one_line(std::string_view text);                                           // without control characters
std::string short_text(double value);                                                 // to 4 digits, for what passes by
std::string counted(std::size_t n, const std::string& one, const std::string& many);  // "1 row", "3 rows"
std::string joined(const std::vector<std::string>& parts, const std::string& between = ", ");

}  // namespace shunt::cli
