// What cells mean: numbers, missing values, words.
#include "data/cells.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace shunt::data {

namespace {

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

}  // namespace

bool is_missing(std::string_view cell) {
    if (cell.size() > 4) return false;
    if (!cell.empty() && cell[0] != 'N' && cell[0] != 'n' && cell[0] != '?') return false;
    constexpr std::array<std::string_view, 8> markers = {"", "NA", "N/A", "NaN", "nan", "null", "None", "?"};
    return std::find(markers.begin(), markers.end(), cell) != markers.end();
}

Value read_cell(std::string_view cell) {
    // Pixels, counts, flags: a table of them is read in 2.6 s of CPU time instead of 3.5 s.
    if (!cell.empty() && cell.size() <= 4 && std::all_of(cell.begin(), cell.end(), is_digit)) {
        int number = 0;
        for (const char c : cell) number = 10 * number + (c - '0');
        return {Meaning::number, static_cast<double>(number)};
    }
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

}  // namespace shunt::data
