// What a table says about itself: where a row stands, which column a name means, what is missing.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/text.hpp"
#include "shunt/data.hpp"

namespace shunt {

namespace {

constexpr std::size_t most_listed = 20;  // an error that lists 784 columns helps nobody

std::optional<std::size_t> whole_number(const std::string& text) {
    std::size_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, number);
    if (fault != std::errc() || stop != end) return std::nullopt;
    return number;
}

std::string names_of(const std::vector<Column>& columns) {
    std::vector<std::string> names;
    for (const Column& column : columns) names.push_back(column.name);
    return listed(names, most_listed);
}

}  // namespace

std::size_t Column::n_missing() const {
    if (kind == ColumnKind::text) return static_cast<std::size_t>(std::count(codes.begin(), codes.end(), missing));
    return static_cast<std::size_t>(
        std::count_if(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); }));
}

std::string Table::place(std::size_t row) const {
    if (row < lines.size()) return source + ":" + std::to_string(lines[row]);
    return source + ", row " + std::to_string(row + 1);
}

std::size_t Table::find(const std::string& name_or_number) const {
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (columns[c].name == name_or_number) return c;
    }
    const auto number = whole_number(name_or_number);
    if (number && *number >= 1 && *number <= columns.size()) return *number - 1;
    throw Error(Fault::bad_argument, source + " has no column \"" + name_or_number + "\"; its columns are " +
                                         names_of(columns) + "." + (header_doubt.empty() ? "" : " " + header_doubt));
}

}  // namespace shunt
