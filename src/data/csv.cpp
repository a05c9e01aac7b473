// CSV: the header and the columns, from records.
#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "data/cells.hpp"
#include "data/records.hpp"
#include "data/text.hpp"

namespace shunt {

namespace {

using data::Meaning;
using data::Records;

// The first record, by the meaning of its cells.
struct FirstRow {
    std::vector<double> numbers;
    std::string_view number;  // the first one, as it is written
    bool has_words = false;
    bool has_infinite = false;
    bool all_numbers = false;
};

FirstRow look_at_first(std::string_view text, const Records& records) {
    FirstRow row;
    for (std::size_t c = 0; c < records.n_fields; ++c) {
        const std::string_view cell = records.cells[c].in(text);
        const data::Value value = data::read_cell(cell);
        row.has_words |= value.meaning == Meaning::word;
        row.has_infinite |= value.meaning == Meaning::infinite;
        if (value.meaning != Meaning::number) continue;
        if (row.numbers.empty()) row.number = cell;
        row.numbers.push_back(value.number);
    }
    row.all_numbers = row.numbers.size() == records.n_fields;
    return row;
}

// Years, or 0, 1, 2, … as programs name columns without names.
bool ascend_as_names(const std::vector<double>& numbers) {
    const bool whole = std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == std::floor(x); });
    return whole && numbers.size() >= 2 &&
           std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal()) == numbers.end();
}

// Empty where the first row is what it was taken for beyond reasonable doubt.
std::string doubt(const FirstRow& row, const std::string& place) {
    const bool ascend = ascend_as_names(row.numbers);
    if (row.all_numbers) {
        if (!ascend) return "";
        return place +
               " is all numbers and so was read as data, though they ascend as names of columns could; --header reads "
               "it "
               "as names, --no-header says that it is data.";
    }
    if (row.numbers.empty() || (ascend && row.has_words && !row.has_infinite)) return "";
    return place + " was read as the names of the columns, though " + data::shown(row.number) +
           " is a number; --no-header reads it as data, --header says that it is names.";
}

std::vector<std::string> numbered_names(std::size_t n) {
    std::vector<std::string> names;
    for (std::size_t c = 1; c <= n; ++c) names.push_back("c" + std::to_string(c));
    return names;
}

std::vector<std::string> header_names(std::string_view text, const Records& records, const std::string& source) {
    const std::string place = source + ":" + std::to_string(records.lines[0]) + ": ";
    std::vector<std::string> names;
    std::unordered_map<std::string, std::size_t> numbers;
    for (std::size_t c = 0; c < records.n_fields; ++c) {
        names.emplace_back(records.cells[c].in(text));
        if (names.back().empty()) {
            throw Error(Fault::bad_data, place + "column " + std::to_string(c + 1) +
                                             " has no name in the header. --no-header reads this line as data.");
        }
        const auto [other, is_new] = numbers.try_emplace(names.back(), c + 1);
        if (is_new) continue;
        throw Error(Fault::bad_data, place + "columns " + std::to_string(other->second) + " and " +
                                         std::to_string(c + 1) + " are both named " + data::shown(names.back()) +
                                         ". --no-header reads this line as data.");
    }
    return names;
}

std::vector<bool> find_categorical(const std::vector<std::string>& names, const std::string& source,
                                   const ReadOptions& options, const std::string& header_doubt) {
    Table table;
    table.source = source;
    table.header_doubt = header_doubt;
    for (const std::string& name : names) table.columns.emplace_back().name = name;
    std::vector<bool> categorical(names.size(), false);
    for (const std::string& name : options.categorical) {
        const bool joins_later = !options.labels.empty() && name == "label";
        if (!joins_later) categorical[table.find(name)] = true;
    }
    return categorical;
}

}  // namespace

Table read_csv(std::string text, const std::string& source, const ReadOptions& options) {
    data::check_utf8(text, source);
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    const Records records = data::cut(text, data::find_separator(text), source);
    if (records.lines.empty()) throw Error(Fault::bad_data, source + " is empty.");

    const FirstRow first_row = look_at_first(text, records);
    const bool header = options.header.value_or(!first_row.all_numbers);
    if (header && records.lines.size() == 1) {
        throw Error(Fault::bad_data, source + " has a header and no rows.");
    }
    const std::vector<std::string> names =
        header ? header_names(text, records, source) : numbered_names(records.n_fields);
    const std::size_t first = header ? 1 : 0;
    Table table;
    table.source = source;
    if (!options.header) table.header_doubt = doubt(first_row, source + ":" + std::to_string(records.lines[0]));
    table.lines.assign(records.lines.begin() + static_cast<std::ptrdiff_t>(first), records.lines.end());
    table.rows = table.lines.size();
    const std::vector<bool> categorical = find_categorical(names, source, options, table.header_doubt);
    table.columns = data::read_columns(text, records, first, names, categorical, source);
    return table;
}

}  // namespace shunt
