// Which rows are kept back for validation.
#include "model/hold_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "core/text.hpp"

namespace shunt {

namespace {

std::size_t part_of(double share, std::size_t n) {
    return static_cast<std::size_t>(std::floor(share * static_cast<double>(n) + 1e-9));
}

// How many rows each class gives.
std::vector<std::size_t> quotas(std::span<const std::uint32_t> classes, double share, std::size_t total) {
    std::vector<std::size_t> sizes(std::size_t{*std::max_element(classes.begin(), classes.end())} + 1);
    for (const auto c : classes) ++sizes[c];
    std::vector<std::size_t> quota(sizes.size()), order(sizes.size());
    std::vector<double> remainder(sizes.size());
    std::size_t given = 0;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
        quota[c] = std::min(part_of(share, sizes[c]), sizes[c] == 0 ? 0 : sizes[c] - 1);
        remainder[c] = share * static_cast<double>(sizes[c]) - static_cast<double>(quota[c]);
        given += quota[c];
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
    // Once round as a rule; again where classes with a single row left cannot give their share.
    for (std::size_t before = total; given < total && given != before;) {
        before = given;
        for (const auto c : order) {
            if (given < total && quota[c] + 1 < sizes[c]) ++quota[c], ++given;
        }
    }
    if (given < total) {
        throw Error(Fault::bad_argument, "Holding out " + counted(total, "row") + " of " +
                                             std::to_string(classes.size()) +
                                             " leaves a class without a row to train on.");
    }
    return quota;
}

}  // namespace

Split split_rows(const Rows& rows, std::span<const std::uint32_t> classes, double share, double seed) {
    if (!(share > 0 && share < 1)) {
        throw Error(Fault::bad_argument,
                    "The share to hold out is " + to_text(share) + "; it must lie between 0 and 1.");
    }
    if (!std::isfinite(seed)) throw Error(Fault::bad_argument, "The seed is " + to_text(seed) + ".");
    const auto total = part_of(share, rows.size());
    if (total == 0) {
        throw Error(Fault::bad_argument,
                    "Holding out " + to_text(share) + " of " + counted(rows.size(), "row") + " is no row at all.");
    }
    auto quota = classes.empty() ? std::vector{total} : quotas(classes, share, total);
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    Random(seed + 1).shuffle(std::span(order));
    std::vector<char> held(rows.size());
    for (const auto i : order) {
        auto& left = quota[classes.empty() ? 0 : classes[i]];
        if (left > 0) held[i] = 1, --left;
    }
    Split split;
    for (std::size_t i = 0; i < rows.size(); ++i) (held[i] != 0 ? split.held : split.training).push_back(rows[i]);
    return split;
}

}  // namespace shunt
