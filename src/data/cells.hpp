// What cells mean: numbers, missing values, words; and the columns made of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/records.hpp"
#include "shunt/data.hpp"

namespace shunt::data {

enum class Meaning {
    number,
    infinite,  // inf, or a number past the largest double
    missing,   // empty, NA, N/A, NaN, nan, null, None, ?
    word,
};

struct Value {
    Meaning meaning = Meaning::missing;
    double number = 0;  // of Meaning::number
};

// The cell is trimmed already.
bool is_missing(std::string_view cell);
Value read_cell(std::string_view cell);

// "1,5": a number in some countries, and not in ours.
bool is_decimal_comma(std::string_view cell);

// The columns of the records from first_record on, named in `names`. Those in `categorical` are read
// as categories. bad_data for infinities and decimal commas in what would be numbers; a mixture is
// left in column.mixture.
std::vector<Column> read_columns(std::string_view text, const Records& records, std::size_t first_record,
                                 const std::vector<std::string>& names, const std::vector<bool>& categorical,
                                 const std::string& source);

}  // namespace shunt::data
