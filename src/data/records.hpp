// CSV text cut into records of cells, before anybody asks what a cell means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shunt::data {

// Part of the text: no cell is copied.
struct Cell {
    std::size_t begin = 0, size = 0;
    std::string_view in(std::string_view text) const { return text.substr(begin, size); }
};

struct Records {
    std::vector<Cell> cells;           // record by record, n_fields each, trimmed
    std::vector<std::uint64_t> lines;  // the line, from 1, on which each record begins
    std::size_t n_fields = 0;
};

// The separator of a file of one column: text has no NUL.
constexpr char no_separator = '\0';

// Of , ; tab | the one that cuts the first 20 records into the same number (more than 1) of fields.
char find_separator(std::string_view text);

// Blank lines are skipped. Doubled quotes become one in `text` itself, so that a cell is a part of it.
// bad_data, with the line, for an open quote, text after a closing one, and a ragged record.
Records cut(std::string& text, char separator, const std::string& source);

}  // namespace shunt::data
