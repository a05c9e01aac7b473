// A table as it was understood: its columns, their kinds, what is missing, their values.
#include <algorithm>
#include <cmath>

#include "info.hpp"
#include "print.hpp"
#include "reading.hpp"
#include "shunt/file.hpp"

namespace shunt::cli {
namespace {

constexpr std::size_t most_columns = 40;  // shown to people; pictures have hundreds, all alike

struct Range3 {
    double min = NAN, max = NAN, mean = NAN;
};

Range3 range_of(const Column& column) {
    Range3 r;
    double sum = 0;
    std::size_t n = 0;
    for (const double x : column.numbers) {
        if (std::isnan(x)) continue;
        r.min = n == 0 ? x : std::min(r.min, x);
        r.max = n == 0 ? x : std::max(r.max, x);
        sum += x;
        n++;
    }
    if (n > 0) r.mean = sum / static_cast<double>(n);
    return r;
}

Json column_json(const Column& column) {
    const bool numeric = column.kind == ColumnKind::numeric;
    Json out = {{"name", column.name}, {"kind", numeric ? "numeric" : "text"}, {"missing", column.n_missing()}};
    if (numeric) {
        const Range3 r = range_of(column);
        out["min"] = r.min;
        out["max"] = r.max;
        out["mean"] = r.mean;
        return out;
    }
    const std::vector<std::size_t> counts = value_counts(column);
    out["values"] = Json::array();
    for (std::size_t i = 0; i < counts.size(); i++) {
        out["values"].push_back({{"value", column.values[i]}, {"count", counts[i]}});
    }
    if (!column.mixture.empty()) out["mixture"] = column.mixture;
    return out;
}

std::string in_words(const Column& column) {
    if (column.kind == ColumnKind::text)
        return std::to_string(column.values.size()) + ": " + values_in_words(column, 6);
    const Range3 r = range_of(column);
    if (std::isnan(r.min)) return "";
    return to_text(r.min) + " to " + to_text(r.max) + ", mean " + short_text(r.mean);
}

std::string kind(const Column& column) {
    if (!column.mixture.empty()) return "mixed";
    return column.kind == ColumnKind::numeric ? "numeric" : "text";
}

}  // namespace

std::string table_info(const Table& table, bool json) {
    if (json) {
        Json out = {{"file", table.source}, {"rows", table.rows}, {"columns", Json::array()}};
        for (const Column& column : table.columns) out["columns"].push_back(column_json(column));
        return to_json_text(out);
    }
    std::string out = one_line(table.source) + ": " + counted(table.rows, "row", "rows") + ", " +
                      counted(table.columns.size(), "column", "columns") + "\n\n";
    std::vector<std::vector<std::string>> rows = {{"column", "kind", "missing", "values"}};
    std::string mixtures;
    for (const Column& column : table.columns) {
        if (!column.mixture.empty()) mixtures += "\n" + one_line(column.mixture) + "\n";
        // The last column is most often the target: it is always shown.
        if (rows.size() > most_columns && &column != &table.columns.back()) continue;
        rows.push_back({one_line(column.name), kind(column), std::to_string(column.n_missing()), in_words(column)});
    }
    const std::size_t hidden = table.columns.size() - (rows.size() - 1);
    if (hidden > 0) rows.insert(rows.end() - 1, {"... " + std::to_string(hidden) + " more", "", "", ""});
    return out + in_columns(rows, {false, false, true, false}) + mixtures;
}

}  // namespace shunt::cli
