// What cells mean: numbers, missing values, words; and a column made of them.
#pragma once

#include <string>
#include <string_view>

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
Value read_cell(std::string_view cell);

// "1,5": a number in some countries, and not in ours.
bool is_decimal_comma(std::string_view cell);

// Column c of the records from first_record on. bad_data for infinities and decimal commas in what
// would be numbers; a mixture is left in column.mixture.
Column read_column(std::string_view text, const Records& records, std::size_t c, std::size_t first_record,
                   const std::string& source, const std::string& name);

// The same with every cell a category, numbers too.
Column read_categories(std::string_view text, const Records& records, std::size_t c, std::size_t first_record,
                       const std::string& name);

}  // namespace shunt::data
