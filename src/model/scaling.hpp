// Scaling of numbers: (x − mean) / sd, or to [0, 1].
#pragma once

#include <limits>
#include <vector>

#include "shunt/model.hpp"

namespace shunt {

using Rows = std::vector<std::size_t>;  // of a table, from 0, ascending

// y = (x − shift) / divisor; divisor 0: y is 0.
struct Scaling {
    double shift = 0, divisor = 1;

    double encode(double x) const { return divisor == 0 ? 0 : (x - shift) / divisor; }
    double decode(double y) const { return y * divisor + shift; }
};

// Of the largest size that backends compute with: float32 has an infinity for what is larger, of which
// nothing but NaN follows. plain, in double, could take more and is not given it: whether a table can be
// used does not depend on the backend.
constexpr double largest = std::numeric_limits<float>::max();

// A cell as the network takes it. bad_data, with its place, where that is past `largest`.
double encode_cell(const Scaling& scaling, double x, const Table& table, std::size_t row, const Column& column);

Scaling scaling_of(const ColumnSummary& summary, Scale scale);

// Mean, population sd (0 → 1), min and max of the column's values in `rows`; missing ones are left
// out. True if all values are the same. bad_data where a sum of the values overflows.
bool fit_scaling(const Table& table, const Column& column, const Rows& rows, ColumnSummary& summary);

}  // namespace shunt
