// An N-d array as its file holds it, and the columns made of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/data.hpp"

namespace shunt::data {

enum class ItemKind { floating, signed_integer, unsigned_integer, boolean };

struct Array {
    std::string source = {};  // the file's name, for messages
    ItemKind kind = ItemKind::floating;
    std::size_t item_size = 8;
    bool big_endian = false;
    bool fortran_order = false;  // the first index runs fastest
    std::vector<std::uint64_t> shape = {};
    std::string bytes = {};  // of the file; the items are its end
    std::size_t begin = 0;

    std::uint64_t rows() const { return shape.empty() ? 1 : shape[0]; }
    std::uint64_t cols() const;  // the product of the other sizes
    std::string_view items() const { return std::string_view(bytes).substr(begin); }
};

// Are there exactly as many bytes as the shape needs? bad_file, telling both, if not; bad_data for
// an array without rows or columns.
void check_size(const Array& array);

// "60000 × 28 × 28", for messages.
std::string shape_text(const std::vector<std::uint64_t>& shape);

// A row of the array is a row of the table, the other dimensions are columns: c1, c2, … or, for
// `name`, that name (followed by a number where there are several). NaN is missing, an infinity
// bad_data. Pictures, uint8 in 3 dimensions or more, become x/255.
void add_columns(Table& table, const Array& array, const std::string& name = {});

// A 1-D array as a column "label": integers become classes, named by their decimal digits.
Column label_column(const Array& array);

// Turns a numeric column into one of categories, named by the shortest decimal.
void make_categories(Column& column);

}  // namespace shunt::data
