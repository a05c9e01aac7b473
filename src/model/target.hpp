// The target of a model: how cells become classes or scaled numbers, and how answers become text or
// numbers again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/scaling.hpp"

namespace shunt {

struct Target {
    LossKind loss = LossKind::softmax;
    std::vector<std::string> names;      // of the columns
    std::vector<std::string> classes;    // softmax
    std::vector<ColumnSummary> columns;  // mse: how each is scaled
    Scale scale = Scale::standard;

    std::size_t n_out() const { return loss == LossKind::softmax ? classes.size() : names.size(); }
    bool has_number_classes() const;  // every class is a number, so that 1 and 1.0 are one
};

// The columns of a table, by name. bad_data for one that is absent or of another kind.
std::vector<const Column*> find_targets(const Target& target, const Table& table);

// bad_data with the place of the first row without an answer.
void check_present(const Table& table, std::span<const Column* const> columns);

// Fitted to columns without missing values: the classes are those of the rows `usable`, the scaling
// that of the rows `training`. bad_data for one class, and for a target that never changes.
void fit_classes(const Table& table, const Column& column, const Rows& usable, Target& target);
void fit_targets(const Table& table, std::span<const Column* const> columns, const Rows& training, Target& target);

// The class of each row. bad_data with the place of a value that is none of the classes.
std::vector<std::uint32_t> encode_classes(const Target& target, const Table& table, const Column& column,
                                          const Rows& rows);

// samples.classes, or samples.targets.
void encode_targets(const Target& target, const Table& table, std::span<const Column* const> columns, const Rows& rows,
                    Samples& samples);

// Outputs under mse [n × targets], in place, in the targets' own units.
void decode_targets(const Target& target, std::span<double> values);

}  // namespace shunt
