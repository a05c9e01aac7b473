// Classes and scaled targets.
#include "model/target.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "core/text.hpp"
#include "model/features.hpp"

namespace shunt {

namespace {

// Finds classes by their number where all are numbers, else by their text.
class ClassIndex {
public:
    explicit ClassIndex(const Target& target) : by_number_(target.has_number_classes()) {
        for (std::uint32_t i = 0; i < target.classes.size(); ++i) {
            if (by_number_) {
                numbers_[*to_number(target.classes[i])] = i;
            } else {
                texts_[target.classes[i]] = i;
            }
        }
    }

    std::optional<std::uint32_t> find(const std::string& text) const {
        if (!by_number_) return look_up(texts_, text);
        const auto number = to_number(text);
        return number ? look_up(numbers_, *number) : std::nullopt;
    }

    std::optional<std::uint32_t> find(double number) const {
        return by_number_ ? look_up(numbers_, number) : look_up(texts_, to_text(number));
    }

private:
    template <typename Map, typename Key>
    static std::optional<std::uint32_t> look_up(const Map& map, const Key& key) {
        const auto found = map.find(key);
        if (found == map.end()) return std::nullopt;
        return found->second;
    }

    bool by_number_;
    std::unordered_map<double, std::uint32_t> numbers_;  // 0 and −0 are equal, and hash alike
    std::unordered_map<std::string, std::uint32_t> texts_;
};

// The distinct values of a column, in the order of their first rows.
std::vector<std::string> values_in_order(const Column& column, const Rows& rows) {
    std::vector<std::string> values;
    if (column.kind == ColumnKind::text) {
        std::vector<char> seen(column.values.size());
        for (const auto row : rows) {
            if (std::exchange(seen[column.codes[row]], 1) == 0) values.push_back(column.values[column.codes[row]]);
        }
        return values;
    }
    std::unordered_map<double, bool> seen;
    for (const auto row : rows) {
        const double number = column.numbers[row] + 0.0;  // −0 is 0
        if (seen.emplace(number, true).second) values.push_back(to_text(number));
    }
    return values;
}

[[noreturn]] void refuse_constant(const Table& table, const Column& column, std::size_t row) {
    const auto value =
        column.kind == ColumnKind::text ? column.values[column.codes[row]] : to_text(column.numbers[row]);
    throw Error(Fault::bad_data, table.source + ": the target \"" + column.name + "\" is " + value +
                                     " in every training row, so that there is nothing to learn.");
}

}  // namespace

bool Target::has_number_classes() const {
    return std::all_of(classes.begin(), classes.end(),
                       [](const std::string& text) { return to_number(text).has_value(); });
}

std::vector<const Column*> find_targets(const Target& target, const Table& table) {
    std::vector<const Column*> columns;
    for (const auto& name : target.names) {
        const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                        [&](const Column& column) { return column.name == name; });
        if (found == table.columns.end()) {
            throw Error(Fault::bad_data, table.source + " has no column \"" + name + "\", the model's target.");
        }
        if (target.loss == LossKind::mse) check_kind(table, *found, ColumnKind::numeric);
        columns.push_back(&*found);
    }
    return columns;
}

void check_present(const Table& table, std::span<const Column* const> columns) {
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (const auto* column : columns) {
            if (!is_missing(*column, row)) continue;
            throw Error(Fault::bad_data, table.place(row) + ": the target \"" + column->name + "\" has no value.");
        }
    }
}

void fit_classes(const Table& table, const Column& column, const Rows& usable, Target& target) {
    target.classes = values_in_order(column, usable);
    auto& classes = target.classes;
    if (target.has_number_classes()) {
        const auto number = [](const std::string& text) { return *to_number(text); };
        // Stable: of equal numbers the text of the first row is the one that stays.
        std::stable_sort(classes.begin(), classes.end(),
                         [&](const auto& a, const auto& b) { return number(a) < number(b); });
        const auto end = std::unique(classes.begin(), classes.end(),
                                     [&](const auto& a, const auto& b) { return number(a) == number(b); });
        classes.erase(end, classes.end());
    } else {
        std::sort(classes.begin(), classes.end());
        classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    }
    if (classes.size() < 2) refuse_constant(table, column, usable.front());
}

void fit_targets(const Table& table, std::span<const Column* const> columns, const Rows& training, Target& target) {
    for (const auto* column : columns) {
        auto& summary = target.columns.emplace_back();
        summary.name = column->name;
        if (fit_scaling(table, *column, training, summary)) refuse_constant(table, *column, training.front());
    }
}

std::vector<std::uint32_t> encode_classes(const Target& target, const Table& table, const Column& column,
                                          const Rows& rows) {
    const ClassIndex index(target);
    const bool text = column.kind == ColumnKind::text;
    std::vector<std::optional<std::uint32_t>> of_code;
    for (const auto& value : column.values) of_code.push_back(index.find(value));
    std::vector<std::uint32_t> classes;
    classes.reserve(rows.size());
    for (const auto row : rows) {
        const auto found = text ? of_code[column.codes[row]] : index.find(column.numbers[row]);
        if (!found) {
            const auto value = text ? column.values[column.codes[row]] : to_text(column.numbers[row]);
            throw Error(Fault::bad_data, table.place(row) + ": the target \"" + column.name + "\" is \"" + value +
                                             "\", none of the model's classes " + listed(target.classes) + ".");
        }
        classes.push_back(*found);
    }
    return classes;
}

void encode_targets(const Target& target, const Table& table, std::span<const Column* const> columns, const Rows& rows,
                    Samples& samples) {
    if (target.loss == LossKind::softmax) {
        samples.classes = encode_classes(target, table, *columns[0], rows);
        return;
    }
    samples.targets.resize(rows.size() * columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto scaling = scaling_of(target.columns[c], target.scale);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double x = columns[c]->numbers[rows[i]];
            samples.targets[i * columns.size() + c] = encode_cell(scaling, x, table, rows[i], *columns[c]);
        }
    }
}

void decode_targets(const Target& target, std::span<double> values) {
    const auto cols = target.columns.size();
    for (std::size_t c = 0; c < cols; ++c) {
        const auto scaling = scaling_of(target.columns[c], target.scale);
        for (std::size_t i = c; i < values.size(); i += cols) values[i] = scaling.decode(values[i]);
    }
}

}  // namespace shunt
