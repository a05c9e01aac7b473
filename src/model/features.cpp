// What features are, and how they are fitted to the rows of a table.
#include "model/features.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "core/text.hpp"

namespace shunt {

namespace {

constexpr std::size_t most_values = 1000;

bool all_missing(const Table& table, const Column& column) {
    for (std::size_t row = 0; row < table.rows; ++row) {
        if (!is_missing(column, row)) return false;
    }
    return true;
}

// How often each value of a text column stands in the rows.
std::vector<std::size_t> count_values(const Column& column, const Rows& rows) {
    std::vector<std::size_t> counts(column.values.size());
    for (const auto row : rows) {
        if (column.codes[row] != Column::missing) ++counts[column.codes[row]];
    }
    return counts;
}

void fit_numeric(const Table& table, const Column& column, const Rows& training, Missing missing,
                 ColumnSummary& summary, bool& constant) {
    constant = fit_scaling(table, column, training, summary);
    if (missing == Missing::mean) summary.fill = summary.mean;
}

void fit_text(const Table& table, const Column& column, const Rows& training, const Rows& usable, Missing missing,
              ColumnSummary& summary, bool& constant) {
    if (!column.mixture.empty()) throw Error(Fault::bad_data, column.mixture);
    summary.kind = ColumnKind::text;
    const auto counts = count_values(column, usable);
    for (std::size_t code = 0; code < counts.size(); ++code) {
        if (counts[code] > 0) summary.values.push_back(column.values[code]);
    }
    std::sort(summary.values.begin(), summary.values.end());
    summary.values.erase(std::unique(summary.values.begin(), summary.values.end()), summary.values.end());
    if (summary.values.size() > most_values) {
        throw Error(Fault::bad_data, table.source + ": column \"" + column.name + "\" is text with " +
                                         std::to_string(summary.values.size()) + " values, more than " +
                                         std::to_string(most_values) + "; if it is an id, leave it out with --drop.");
    }
    std::map<std::string, std::size_t> in_training;
    const auto training_counts = count_values(column, training);
    for (std::size_t code = 0; code < training_counts.size(); ++code) {
        if (training_counts[code] > 0) in_training[column.values[code]] += training_counts[code];
    }
    constant = in_training.size() < 2;
    if (missing != Missing::mean) return;
    const auto most = std::max_element(in_training.begin(), in_training.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != in_training.end()) summary.fill_value = most->first;
}

}  // namespace

Input Features::input() const {
    if (vocab) return Tokens{static_cast<std::int64_t>(columns.size()), *vocab};
    std::size_t width = 0;
    for (const auto& column : columns) width += column.kind == ColumnKind::text ? column.values.size() : 1;
    return static_cast<std::int64_t>(width);
}

void check_table(const Table& table) {
    std::unordered_set<std::string_view> names;
    for (const auto& column : table.columns) {
        const auto name = table.source + ": column \"" + column.name + "\"";
        const bool text = column.kind == ColumnKind::text;
        const auto length = text ? column.codes.size() : column.numbers.size();
        if (length != table.rows) {
            throw Error(Fault::bad_data, name + " has " + counted(length, "cell") + "; the table has " +
                                             counted(table.rows, "row") + ".");
        }
        const auto wild = [&](std::uint32_t code) { return code != Column::missing && code >= column.values.size(); };
        if (text && std::any_of(column.codes.begin(), column.codes.end(), wild)) {
            throw Error(Fault::bad_data, name + " has a code without a value.");
        }
        if (!names.insert(column.name).second) throw Error(Fault::bad_data, name + " is there twice.");
    }
}

bool is_missing(const Column& column, std::size_t row) {
    return column.kind == ColumnKind::text ? column.codes[row] == Column::missing : std::isnan(column.numbers[row]);
}

void check_kind(const Table& table, const Column& column, ColumnKind kind) {
    if (column.kind == kind || all_missing(table, column)) return;
    const auto name = "column \"" + column.name + "\"";
    if (kind == ColumnKind::text) {
        throw Error(Fault::bad_data, table.source + ": " + name +
                                         " holds numbers, and the model takes it as text; --categorical " +
                                         column.name + " reads it as text.");
    }
    if (!column.mixture.empty()) throw Error(Fault::bad_data, column.mixture);
    std::size_t row = 0;
    while (is_missing(column, row)) ++row;
    throw Error(Fault::bad_data, table.place(row) + ": " + name + " has the text \"" +
                                     column.values[column.codes[row]] + "\" where a number is needed.");
}

std::vector<const Column*> find_features(const Features& features, const Table& table) {
    std::unordered_map<std::string_view, const Column*> by_name;
    for (const auto& column : table.columns) by_name.emplace(column.name, &column);
    std::vector<const Column*> columns;
    std::vector<std::string> absent;
    for (const auto& summary : features.columns) {
        const auto found = by_name.find(summary.name);
        if (found == by_name.end()) {
            absent.push_back(summary.name);
        } else {
            check_kind(table, *found->second, summary.kind);
            columns.push_back(found->second);
        }
    }
    if (absent.empty()) return columns;
    throw Error(Fault::bad_data, table.source + " lacks " + counted(absent.size(), "column") +
                                     " that the model needs: " + listed(absent) + ".");
}

Rows usable_rows(const Table& table, std::span<const Column* const> columns, Missing missing) {
    std::vector<char> gaps(missing == Missing::mean ? 0 : table.rows);
    const Column* where = nullptr;
    std::size_t first = table.rows;
    for (const auto* column : columns) {
        for (std::size_t row = 0; row < gaps.size(); ++row) {
            if (!is_missing(*column, row)) continue;
            gaps[row] = 1;
            if (row < first) first = row, where = column;
        }
    }
    if (where != nullptr && missing == Missing::error) {
        throw Error(Fault::bad_data,
                    table.place(first) + ": column \"" + where->name +
                        "\" has no value; --missing mean or --missing drop, given to train, says what to do with it.");
    }
    Rows rows;
    rows.reserve(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
        if (gaps.empty() || gaps[row] == 0) rows.push_back(row);
    }
    return rows;
}

Features fit_features(const Table& table, std::span<const Column* const> columns, const ModelOptions& options,
                      const Rows& training, const Rows& usable, std::vector<std::string>& warnings) {
    Features features{.columns = {},
                      .scale = options.scale,
                      .missing = options.missing,
                      .unknown = options.unknown,
                      .vocab = options.tokens};
    std::vector<std::string> constants, one_by_one;
    for (const auto* column : columns) {
        auto& summary = features.columns.emplace_back();
        summary.name = column->name;
        bool constant = false;
        if (options.tokens) {
            check_kind(table, *column, ColumnKind::numeric);
            continue;
        }
        if (options.missing == Missing::mean &&
            std::all_of(training.begin(), training.end(), [&](std::size_t row) { return is_missing(*column, row); })) {
            throw Error(Fault::bad_data, table.source + ": column \"" + column->name +
                                             "\" has no value in any training row; leave it out with --drop.");
        }
        if (column->kind == ColumnKind::text) {
            fit_text(table, *column, training, usable, options.missing, summary, constant);
            if (mostly_different(summary.values.size(), usable.size())) one_by_one.push_back(column->name);
        } else {
            fit_numeric(table, *column, training, options.missing, summary, constant);
        }
        if (constant) constants.push_back(column->name);
    }
    if (!constants.empty()) {
        warnings.push_back(table.source + ": " + counted(constants.size(), "feature") +
                           (constants.size() == 1 ? " is" : " are") +
                           " the same in all training rows: " + listed(constants) + ".");
    }
    if (!one_by_one.empty()) {
        warnings.push_back(table.source + ": " + listed(one_by_one) + (one_by_one.size() == 1 ? " is" : " are") +
                           " text with a value of its own in most rows; ids, dates and free text are better left out"
                           " with --drop, and numbers are written 1234.5.");
    }
    return features;
}

}  // namespace shunt
