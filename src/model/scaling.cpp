// Scaling of numbers.
#include "model/scaling.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

namespace shunt {

double encode_cell(const Scaling& scaling, double x, const Table& table, std::size_t row, const Column& column) {
    const double y = scaling.encode(x);
    if (std::abs(y) <= largest) return y;
    throw Error(Fault::bad_data, table.place(row) + ": column \"" + column.name + "\" has the value " + to_text(x) +
                                     ", which is " + to_text(y) + " to the network; float32 ends at " +
                                     to_text(largest) + ".");
}

Scaling scaling_of(const ColumnSummary& summary, Scale scale) {
    switch (scale) {
        case Scale::standard: return {summary.mean, summary.sd};
        case Scale::minmax: return {summary.min, summary.max - summary.min};
        case Scale::none: break;
    }
    return {};
}

bool fit_scaling(const Table& table, const Column& column, const Rows& rows, ColumnSummary& summary) {
    double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
    std::size_t n = 0;
    for (const auto row : rows) {
        const double x = column.numbers[row];
        if (std::isnan(x)) continue;
        if (!std::isfinite(x)) {
            throw Error(Fault::bad_data, table.place(row) + ": column \"" + column.name + "\" is infinite.");
        }
        min = std::min(min, x);
        max = std::max(max, x);
        sum += x;
        ++n;
    }
    if (n == 0) return true;
    // The mean of equal numbers may be off by a bit, and their sd then not 0.
    const double mean = min == max ? min : sum / static_cast<double>(n);
    double squares = 0;
    for (const auto row : rows) {
        const double x = column.numbers[row];
        if (!std::isnan(x)) squares += (x - mean) * (x - mean);
    }
    const double sd = std::sqrt(squares / static_cast<double>(n));
    if (!std::isfinite(mean) || !std::isfinite(sd) || !std::isfinite(max - min)) {
        throw Error(Fault::bad_data,
                    table.source + ": the values of column \"" + column.name + "\" are too large to scale.");
    }
    summary.mean = mean;
    summary.sd = sd == 0 ? 1 : sd;
    summary.min = min;
    summary.max = max;
    return min == max;
}

}  // namespace shunt
