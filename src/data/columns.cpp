// Columns from the cells of records: of numbers, of words, or refused.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/text.hpp"
#include "data/cells.hpp"
#include "data/text.hpp"

namespace shunt::data {

namespace {

constexpr double missing_number = std::numeric_limits<double>::quiet_NaN();

// Cells lie record by record and numbers column by column: a block of this many cells stays in the
// cache while each column takes its part. For 785 columns of pixels this takes
// 2.6 s of CPU time, column after column 3.1 s.
constexpr std::size_t cells_at_once = 16384;

// One pass over a column's cells: how many of each kind there are, and where the first one is.
struct Census {
    struct Kind {
        std::size_t n = 0, first = 0;
        void count(std::size_t record) {
            if (n++ == 0) first = record;
        }
    };
    Kind numbers, infinite, words, decimal_commas;
};

struct Source {
    std::string_view text;
    const Records& records;
    std::size_t first_record;
    const std::string& name;

    std::string_view cell(std::size_t record, std::size_t column) const {
        return records.cells[record * records.n_fields + column].in(text);
    }
    std::size_t n_records() const { return records.lines.size(); }
    std::string place(std::size_t record, const Column& column) const {
        return name + ":" + std::to_string(records.lines[record]) + ", column " + shown(column.name) + ": ";
    }
};

// Gives distinct cells numbers in the order in which they come.
class Interner {
public:
    explicit Interner(Column& column) : column_(column) {}

    void add(std::string_view cell) {
        const auto next = static_cast<std::uint32_t>(column_.values.size());
        const auto [at, is_new] = codes_.try_emplace(cell, next);
        if (is_new && next == Column::missing) {
            throw Error(Fault::unsupported, "Column " + shown(column_.name) + " has more than 4294967294 values.");
        }
        if (is_new) column_.values.emplace_back(cell);
        column_.codes.push_back(at->second);
    }

private:
    Column& column_;
    std::unordered_map<std::string_view, std::uint32_t> codes_;
};

std::string remedy(const std::string& column) {
    const bool plain = std::all_of(column.begin(), column.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
               c == '.';
    });
    return "--categorical " + (plain ? column : "'" + column + "'") + " reads its numbers as categories.";
}

std::string explain_mixture(const Census& census, const std::string& place, std::string_view cell,
                            const std::string& column) {
    const bool words_are_fewer = census.words.n <= census.numbers.n + census.infinite.n;
    if (!words_are_fewer) {
        return place + shown(cell) + " is a number, but " + counted(census.words.n, "cell") + " of the column " +
               (census.words.n == 1 ? "is" : "are") + " not. " + remedy(column);
    }
    std::string hint;
    if (cell.size() > 1 && cell[0] == '+' && read_cell(cell.substr(1)).meaning == Meaning::number) {
        hint = " Numbers are written without a +.";
    } else if (is_decimal_comma(cell)) {
        hint = " Decimal commas are not read.";
    }
    const std::size_t n = census.numbers.n + census.infinite.n;
    return place + shown(cell) + " is no number, but " + counted(n, "cell") + " of the column " +
           (n == 1 ? "is one." : "are.") + hint + " " + remedy(column);
}

void read_numbers(const Source& source, std::size_t c, std::size_t begin, std::size_t end, Column& column,
                  Census& census) {
    for (std::size_t r = begin; r < end; ++r) {
        const std::string_view cell = source.cell(r, c);
        const Value value = read_cell(cell);
        column.numbers.push_back(value.meaning == Meaning::number ? value.number : missing_number);
        if (value.meaning == Meaning::number) census.numbers.count(r);
        if (value.meaning == Meaning::infinite) census.infinite.count(r);
        if (value.meaning != Meaning::word) continue;
        census.words.count(r);
        if (is_decimal_comma(cell)) census.decimal_commas.count(r);
    }
}

void read_categories(const Source& source, std::size_t c, Column& column) {
    column.kind = ColumnKind::text;
    column.numbers = {};
    column.codes.reserve(source.n_records() - source.first_record);
    Interner interner(column);
    for (std::size_t r = source.first_record; r < source.n_records(); ++r) {
        const std::string_view cell = source.cell(r, c);
        if (is_missing(cell)) {
            column.codes.push_back(Column::missing);
        } else {
            interner.add(cell);
        }
    }
}

std::size_t first_of_smaller_kind(const Census& census) {
    if (census.words.n <= census.numbers.n + census.infinite.n) return census.words.first;
    if (census.infinite.n == 0) return census.numbers.first;
    if (census.numbers.n == 0) return census.infinite.first;
    return std::min(census.numbers.first, census.infinite.first);
}

// Once all cells are seen: the column stays one of numbers, becomes one of words, or is refused.
void settle(const Source& source, std::size_t c, const Census& census, Column& column) {
    if (census.decimal_commas.n > 0 && census.decimal_commas.n == census.words.n) {
        const std::size_t r = census.decimal_commas.first;
        throw Error(Fault::bad_data, source.place(r, column) + shown(source.cell(r, c)) +
                                         " has a comma, and decimal commas are not read; write a point. " +
                                         remedy(column.name));
    }
    if (census.words.n == 0 && census.infinite.n > 0) {
        const std::size_t r = census.infinite.first;
        throw Error(Fault::bad_data, source.place(r, column) + shown(source.cell(r, c)) + " is not a finite number.");
    }
    if (census.words.n == 0) return;
    read_categories(source, c, column);
    if (census.numbers.n + census.infinite.n == 0) return;
    const std::size_t r = first_of_smaller_kind(census);
    column.mixture = explain_mixture(census, source.place(r, column), source.cell(r, c), column.name);
}

}  // namespace

std::vector<Column> read_columns(std::string_view text, const Records& records, std::size_t first_record,
                                 const std::vector<std::string>& names, const std::vector<bool>& categorical,
                                 const std::string& source_name) {
    const Source source{text, records, first_record, source_name};
    const std::size_t n_columns = names.size();
    std::vector<Column> columns(n_columns);
    std::vector<Census> census(n_columns);
    for (std::size_t c = 0; c < n_columns; ++c) {
        columns[c].name = names[c];
        if (!categorical[c]) columns[c].numbers.reserve(source.n_records() - first_record);
    }
    const std::size_t step = std::max<std::size_t>(1, cells_at_once / n_columns);
    for (std::size_t begin = first_record; begin < source.n_records(); begin += step) {
        const std::size_t end = std::min(source.n_records(), begin + step);
        for (std::size_t c = 0; c < n_columns; ++c) {
            if (!categorical[c]) read_numbers(source, c, begin, end, columns[c], census[c]);
        }
    }
    for (std::size_t c = 0; c < n_columns; ++c) {
        if (categorical[c]) {
            read_categories(source, c, columns[c]);
        } else {
            settle(source, c, census[c], columns[c]);
        }
    }
    return columns;
}

}  // namespace shunt::data
