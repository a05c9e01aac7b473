// An N-d array as its file holds it, and the columns made of it.
#include "data/array.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>

#include "core/text.hpp"
#include "data/text.hpp"
#include "shunt/file.hpp"

namespace shunt::data {

namespace {

constexpr std::uint64_t most_columns = 1'000'000;  // a column is an object of its own
constexpr std::size_t rows_at_once = 512;          // of 1000 bytes stay in the cache while every column is filled

std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
    return a * b;
}

// Calls f with a value of the array's item type.
template <class F>
auto with_type(const Array& array, F f) {
    switch (array.kind) {
        case ItemKind::boolean: return f(bool());
        case ItemKind::floating: return array.item_size == 4 ? f(float()) : f(double());
        case ItemKind::signed_integer:
            if (array.item_size == 1) return f(std::int8_t());
            if (array.item_size == 2) return f(std::int16_t());
            if (array.item_size == 4) return f(std::int32_t());
            return f(std::int64_t());
        case ItemKind::unsigned_integer: break;
    }
    if (array.item_size == 1) return f(std::uint8_t());
    if (array.item_size == 2) return f(std::uint16_t());
    if (array.item_size == 4) return f(std::uint32_t());
    return f(std::uint64_t());
}

template <class T>
T load(const char* bytes, bool swapped) {
    if constexpr (std::is_same_v<T, bool>) {
        return *bytes != 0;
    } else {
        char item[sizeof(T)];
        std::memcpy(item, bytes, sizeof item);
        if (swapped) std::reverse(item, item + sizeof item);
        T value;
        std::memcpy(&value, item, sizeof value);
        return value;
    }
}

bool is_swapped(const Array& array) {
    return array.big_endian != (std::endian::native == std::endian::big);
}

// Where item [0][j] stands, j counting through the other dimensions with the last one fastest.
std::size_t column_offset(const Array& array, std::size_t j) {
    if (!array.fortran_order) return j;
    std::uint64_t offset = 0, stride = array.rows();
    std::vector<std::uint64_t> index(array.shape.size(), 0);
    for (std::size_t d = array.shape.size(); d-- > 1;) {
        index[d] = j % array.shape[d];
        j /= array.shape[d];
    }
    for (std::size_t d = 1; d < array.shape.size(); ++d) {
        offset += index[d] * stride;
        stride *= array.shape[d];
    }
    return offset;
}

template <class T>
void fill(Table& table, std::size_t first_column, const Array& array) {
    const std::size_t rows = array.rows(), cols = array.cols();
    const std::size_t row_step = array.fortran_order ? 1 : cols;
    const bool swapped = is_swapped(array);
    const bool is_picture = std::is_same_v<T, std::uint8_t> && array.shape.size() >= 3;
    const double unit = is_picture ? 255 : 1;
    const char* const items = array.items().data();
    std::vector<std::size_t> offsets(cols);
    for (std::size_t c = 0; c < cols; ++c) offsets[c] = column_offset(array, c);

    for (std::size_t begin = 0; begin < rows; begin += rows_at_once) {
        const std::size_t end = std::min(rows, begin + rows_at_once);
        for (std::size_t c = 0; c < cols; ++c) {
            std::vector<double>& numbers = table.columns[first_column + c].numbers;
            for (std::size_t r = begin; r < end; ++r) {
                const T item = load<T>(items + (offsets[c] + r * row_step) * sizeof(T), swapped);
                if constexpr (std::is_floating_point_v<T>) {
                    if (std::isinf(item)) {
                        throw Error(Fault::bad_data, table.place(r) + ", column " +
                                                         shown(table.columns[first_column + c].name) + ": " +
                                                         (item < 0 ? "-inf" : "inf") + " is not a finite number.");
                    }
                }
                numbers[r] = static_cast<double>(item) / unit;
            }
        }
    }
}

// Codes in order of first appearance, as for text.
template <class T, class Name>
void intern(Column& column, const std::vector<T>& items, Name name_of) {
    std::map<T, std::uint32_t> codes;
    for (const T item : items) {
        const auto [at, is_new] = codes.try_emplace(item, static_cast<std::uint32_t>(column.values.size()));
        if (is_new) column.values.push_back(name_of(item));
        column.codes.push_back(at->second);
    }
}

}  // namespace

std::uint64_t Array::cols() const {
    std::uint64_t n = 1;
    for (std::size_t d = 1; d < shape.size(); ++d) n *= shape[d];
    return n;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string text;
    for (std::size_t d = 0; d < shape.size(); ++d) text += (d ? " × " : "") + std::to_string(shape[d]);
    return text;
}

void check_size(const Array& array) {
    if (array.shape.empty()) throw Error(Fault::bad_data, array.source + " holds a single number, not a table.");
    if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end()) {
        throw Error(Fault::bad_data, array.source + " is empty: its shape is " + shape_text(array.shape) + ".");
    }
    std::optional<std::uint64_t> needed = array.item_size;
    for (const std::uint64_t size : array.shape) {
        if (needed) needed = product(*needed, size);
    }
    const std::uint64_t found = array.items().size();
    if (!needed || *needed > found) {
        throw Error(Fault::bad_file, array.source + " is truncated: " + shape_text(array.shape) + " items need " +
                                         (needed ? std::to_string(*needed) : "more than 2^64") + " bytes, and " +
                                         std::to_string(found) + " are there.");
    }
    if (*needed < found) {
        throw Error(Fault::bad_file, array.source + " has " + counted(found - *needed, "byte") + " after its " +
                                         shape_text(array.shape) + " items.");
    }
    if (array.cols() > most_columns) {
        throw Error(Fault::bad_data,
                    array.source + " has " + std::to_string(array.cols()) + " columns; at most 1000000 can be read.");
    }
}

void add_columns(Table& table, const Array& array, const std::string& name) {
    const std::size_t first = table.columns.size();
    const std::size_t cols = array.cols();
    for (std::size_t c = 0; c < cols; ++c) {
        const std::string number = name.empty() || cols > 1 ? std::to_string(c + 1) : "";
        Column& column = table.columns.emplace_back();
        column.name = (name.empty() ? "c" : name) + number;
        column.numbers.resize(array.rows());
    }
    table.rows = array.rows();
    with_type(array, [&](auto type) { fill<decltype(type)>(table, first, array); });
}

Column label_column(const Array& array) {
    if (array.cols() != 1) {
        throw Error(Fault::bad_data,
                    array.source + ": labels are one number a row; these are " + shape_text(array.shape) + ".");
    }
    if (array.kind == ItemKind::floating) {
        Table table;
        table.source = array.source;
        add_columns(table, array, "label");
        return std::move(table.columns[0]);
    }
    Column column;
    column.name = "label";
    column.kind = ColumnKind::text;
    with_type(array, [&](auto type) {
        using T = decltype(type);
        using Whole = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        std::vector<Whole> items;
        items.reserve(array.rows());
        for (std::size_t r = 0; r < array.rows(); ++r) {
            items.push_back(static_cast<Whole>(load<T>(array.items().data() + r * sizeof(T), is_swapped(array))));
        }
        intern(column, items, [](Whole item) { return std::to_string(item); });
    });
    return column;
}

void make_categories(Column& column) {
    if (column.kind == ColumnKind::text) return;
    std::map<double, std::uint32_t> codes;
    for (const double x : column.numbers) {
        if (std::isnan(x)) {
            column.codes.push_back(Column::missing);
            continue;
        }
        const auto [at, is_new] = codes.try_emplace(x, static_cast<std::uint32_t>(column.values.size()));
        if (is_new) column.values.push_back(to_text(x));
        column.codes.push_back(at->second);
    }
    column.kind = ColumnKind::text;
    column.numbers.clear();
}

}  // namespace shunt::data
