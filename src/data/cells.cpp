// What cells mean: numbers, missing values, words; and a column made of them.
#include "data/cells.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "data/text.hpp"

namespace shunt::data {

namespace {

constexpr double missing_number = std::numeric_limits<double>::quiet_NaN();

bool is_missing(std::string_view cell) {
    constexpr std::array<std::string_view, 8> markers = {"", "NA", "N/A", "NaN", "nan", "null", "None", "?"};
    return std::find(markers.begin(), markers.end(), cell) != markers.end();
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// from_chars gives "out of range" for 1e999 and for 1e-999 alike. This is the power of ten of the
// first digit that is not 0, so that its sign tells them apart.
bool is_huge(std::string_view number) {
    const std::size_t e = std::min(number.find_first_of("eE"), number.size());
    const std::string_view digits = number.substr(0, e);
    const std::size_t point = std::min(digits.find('.'), digits.size());
    const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
    const auto shift = static_cast<double>(point) - static_cast<double>(first);
    double power = 0;
    if (e < number.size()) {
        const bool negative = number[e + 1] == '-';
        for (const char c : number.substr(e + 1)) {
            if (is_digit(c)) power = 10 * power + (c - '0');
        }
        // An exponent of hundreds of digits is inf here, which keeps its sign.
        if (negative) power = -power;
    }
    return power + shift > 0;
}

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
    std::size_t column;

    std::string_view cell(std::size_t record) const {
        return records.cells[record * records.n_fields + column].in(text);
    }
    std::size_t n_records() const { return records.lines.size(); }
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
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
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

}  // namespace

Value read_cell(std::string_view cell) {
    if (is_missing(cell)) return {Meaning::missing};
    double number = 0;
    const char* const end = cell.data() + cell.size();
    const auto [stop, fault] = std::from_chars(cell.data(), end, number);
    if (stop != end || fault == std::errc::invalid_argument) return {Meaning::word};
    if (fault == std::errc::result_out_of_range) {
        if (is_huge(cell)) return {Meaning::infinite};
        return {Meaning::number, cell[0] == '-' ? -0.0 : 0.0};
    }
    if (std::isnan(number)) return {Meaning::word};  // "-nan", "nan(7)": not among the markers
    if (std::isinf(number)) return {Meaning::infinite};
    return {Meaning::number, number};
}

bool is_decimal_comma(std::string_view cell) {
    constexpr std::size_t longest = 64;
    const std::size_t comma = cell.find(',');
    if (comma == std::string_view::npos || comma == 0 || comma + 1 == cell.size() || cell.size() > longest)
        return false;
    if (!is_digit(cell[comma - 1]) || !is_digit(cell[comma + 1])) return false;
    std::string with_point(cell);
    with_point[comma] = '.';
    return read_cell(with_point).meaning == Meaning::number;
}

Column read_column(std::string_view text, const Records& records, std::size_t c, std::size_t first_record,
                   const std::string& source, const std::string& name) {
    const Source cells{text, records, c};
    Column column;
    column.name = name;
    column.numbers.reserve(cells.n_records() - first_record);
    Census census;
    for (std::size_t r = first_record; r < cells.n_records(); ++r) {
        const std::string_view cell = cells.cell(r);
        const Value value = read_cell(cell);
        column.numbers.push_back(value.meaning == Meaning::number ? value.number : missing_number);
        if (value.meaning == Meaning::number) census.numbers.count(r);
        if (value.meaning == Meaning::infinite) census.infinite.count(r);
        if (value.meaning != Meaning::word) continue;
        census.words.count(r);
        if (is_decimal_comma(cell)) census.decimal_commas.count(r);
    }
    const auto place = [&](std::size_t r) {
        return source + ":" + std::to_string(records.lines[r]) + ", column " + shown(name) + ": ";
    };
    if (census.decimal_commas.n > 0 && census.decimal_commas.n == census.words.n) {
        const std::size_t r = census.decimal_commas.first;
        throw Error(Fault::bad_data, place(r) + shown(cells.cell(r)) +
                                         " has a comma, and decimal commas are not read; write a point. " +
                                         remedy(name));
    }
    if (census.words.n == 0 && census.infinite.n > 0) {
        const std::size_t r = census.infinite.first;
        throw Error(Fault::bad_data, place(r) + shown(cells.cell(r)) + " is not a finite number.");
    }
    if (census.words.n == 0) return column;

    column = read_categories(text, records, c, first_record, name);
    const std::size_t n_numbers = census.numbers.n + census.infinite.n;
    if (n_numbers == 0) return column;
    std::size_t r = census.words.first;
    if (n_numbers < census.words.n) {
        r = census.infinite.n == 0  ? census.numbers.first
            : census.numbers.n == 0 ? census.infinite.first
                                    : std::min(census.numbers.first, census.infinite.first);
    }
    column.mixture = explain_mixture(census, place(r), cells.cell(r), name);
    return column;
}

Column read_categories(std::string_view text, const Records& records, std::size_t c, std::size_t first_record,
                       const std::string& name) {
    const Source cells{text, records, c};
    Column column;
    column.name = name;
    column.kind = ColumnKind::text;
    column.codes.reserve(cells.n_records() - first_record);
    Interner interner(column);
    for (std::size_t r = first_record; r < cells.n_records(); ++r) {
        const std::string_view cell = cells.cell(r);
        if (is_missing(cell)) {
            column.codes.push_back(Column::missing);
        } else {
            interner.add(cell);
        }
    }
    return column;
}

}  // namespace shunt::data
