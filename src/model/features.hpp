// The features of a model: how the cells of a row become the network's inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/scaling.hpp"

namespace shunt {

struct Features {
    std::vector<ColumnSummary> columns;
    Scale scale = Scale::standard;
    Missing missing = Missing::error;
    Unknown unknown = Unknown::error;
    std::optional<std::int64_t> vocab;  // every feature is a token

    Input input() const;  // what a network is to take
};

// bad_data for a table, filled by hand, whose columns differ in length, hold codes without values or
// have one name twice.
void check_table(const Table& table);

bool is_missing(const Column& column, std::size_t row);

// A column of a table as one that is asked for: as text any text column, as numbers a numeric one.
// A column without any value is both. Otherwise bad_data.
void check_kind(const Table& table, const Column& column, ColumnKind kind);

// The columns of a table, by name, in the order of the features. bad_data for those that are absent.
std::vector<const Column*> find_features(const Features& features, const Table& table);

// All rows; those without a missing value under Missing::drop; bad_data with the place of the first
// missing value under Missing::error.
Rows usable_rows(const Table& table, std::span<const Column* const> columns, Missing missing);

// Whether a text has so many values that a network can only learn it by heart.
inline bool mostly_different(std::size_t n_values, std::size_t n_rows) {
    return n_rows >= 20 && 2 * n_values > n_rows;
}

// Means, deviations, ranges and the fill-ins are those of the rows `training`; the values of a text
// column are all those in the rows `usable`. Warnings name the constant features and
// the texts that are mostly different.
Features fit_features(const Table& table, std::span<const Column* const> columns, const ModelOptions& options,
                      const Rows& training, const Rows& usable, std::vector<std::string>& warnings);

// samples.inputs, or samples.tokens, and samples.n.
void encode_features(const Features& features, const Table& table, std::span<const Column* const> columns,
                     const Rows& rows, Samples& samples);

}  // namespace shunt
