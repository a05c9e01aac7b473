// CSV: the header and the columns, from records.
#include <algorithm>
#include <unordered_map>

#include "data/cells.hpp"
#include "data/records.hpp"
#include "data/text.hpp"

namespace shunt {

namespace {

using data::Meaning;
using data::Records;

bool all_numbers(std::string_view text, const Records& records) {
    return std::all_of(
        records.cells.begin(), records.cells.begin() + static_cast<std::ptrdiff_t>(records.n_fields),
        [&](const data::Cell& cell) { return data::read_cell(cell.in(text)).meaning == Meaning::number; });
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
                                   const ReadOptions& options) {
    Table table;
    table.source = source;
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

    const bool header = options.header.value_or(!all_numbers(text, records));
    if (header && records.lines.size() == 1) {
        throw Error(Fault::bad_data, source + " has a header and no rows.");
    }
    const std::vector<std::string> names =
        header ? header_names(text, records, source) : numbered_names(records.n_fields);
    const std::size_t first = header ? 1 : 0;
    Table table;
    table.source = source;
    table.lines.assign(records.lines.begin() + static_cast<std::ptrdiff_t>(first), records.lines.end());
    table.rows = table.lines.size();
    table.columns = data::read_columns(text, records, first, names, find_categorical(names, source, options), source);
    return table;
}

}  // namespace shunt
