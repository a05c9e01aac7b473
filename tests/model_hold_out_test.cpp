// Which rows are held out.
#include <algorithm>
#include <numeric>

#include "core/random.hpp"
#include "model/hold_out.hpp"
#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

Rows first_rows(std::size_t n) {
    Rows rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

std::vector<std::size_t> count(const Rows& rows, const std::vector<std::uint32_t>& classes, std::size_t n) {
    std::vector<std::size_t> counts(n);
    for (const auto row : rows) ++counts[classes[row]];
    return counts;
}

}  // namespace

TEST_CASE("hold-out: the first rows of a shuffle by seed + 1") {
    const auto split = split_rows(first_rows(10), {}, 0.35, 6);
    std::vector<std::size_t> order = first_rows(10);
    Random(7).shuffle(std::span(order));
    order.resize(3);
    std::sort(order.begin(), order.end());
    CHECK(split.held == order);
    CHECK(split.held == Rows{3, 8, 9});  // the published shuffle of seed 7: 9 8 3 …
    CHECK(split.training == Rows{0, 1, 2, 4, 5, 6, 7});
}

TEST_CASE("hold-out: floor(share·n), without the errors of binary fractions") {
    CHECK(split_rows(first_rows(100), {}, 0.29, 1).held.size() == 29);
    CHECK(split_rows(first_rows(10), {}, 0.99, 1).held.size() == 9);
    CHECK(split_rows(first_rows(30), {}, 0.1, 1).held.size() == 3);
    CHECK(split_rows(first_rows(3), {}, 0.34, 1).held.size() == 1);
}

TEST_CASE("hold-out: stratified by largest remainder") {
    // Shares of 7, 2, 1 and 10 rows at 0.25: 1.75, 0.5, 0.25, 2.5; 5 in all, so 2 remainders count.
    std::vector<std::uint32_t> classes;
    for (const auto& [c, n] : {std::pair(0u, 7), {1u, 2}, {2u, 1}, {3u, 10}})
        classes.insert(classes.end(), static_cast<std::size_t>(n), c);
    for (double seed = 1; seed <= 20; ++seed) {
        const auto split = split_rows(first_rows(20), classes, 0.25, seed);
        CHECK(count(split.held, classes, 4) == std::vector<std::size_t>{2, 1, 0, 2});
        CHECK(split.training.size() == 15);
        CHECK(std::is_sorted(split.held.begin(), split.held.end()));
        CHECK(std::is_sorted(split.training.begin(), split.training.end()));
    }
    // A class keeps its last row, whatever its remainder.
    const std::vector<std::uint32_t> rare{0, 0, 0, 0, 0, 0, 1};
    CHECK(count(split_rows(first_rows(7), rare, 0.6, 1).held, rare, 2) == std::vector<std::size_t>{4, 0});
}

TEST_CASE("hold-out: what classes of one row cannot give, a large one gives") {
    std::vector<std::uint32_t> classes(100, 0);  // and ten classes of a single row
    for (std::uint32_t c = 1; c <= 10; ++c) classes.push_back(c);
    std::vector<std::size_t> expected(11, 0);
    expected[0] = 99;  // all but its last row
    CHECK(count(split_rows(first_rows(110), classes, 0.9, 1).held, classes, 11) == expected);
    CHECK_MENTIONS(refusal(Fault::bad_argument, [&] { split_rows(first_rows(110), classes, 0.91, 1); }),
                   "Holding out 100 rows of 110 leaves a class");
}

TEST_CASE("hold-out: rows are those that are given") {
    const Rows rows{2, 5, 7, 11};
    const auto split = split_rows(rows, {}, 0.5, 1);
    Rows both = split.training;
    both.insert(both.end(), split.held.begin(), split.held.end());
    std::sort(both.begin(), both.end());
    CHECK(both == rows);
}

TEST_CASE("hold-out: refusals") {
    for (const double share : {0.0, 1.0, -0.5, 1.5, std::nan("")}) {
        CHECK_MENTIONS(refusal(Fault::bad_argument, [&] { split_rows(first_rows(9), {}, share, 1); }),
                       "between 0 and 1");
    }
    CHECK_MENTIONS(refusal(Fault::bad_argument, [&] { split_rows(first_rows(9), {}, 0.1, 1); }),
                   "Holding out 0.1 of 9 rows is no row");
    const std::vector<std::uint32_t> classes{0, 1, 0, 1};
    CHECK_MENTIONS(refusal(Fault::bad_argument, [&] { split_rows(first_rows(4), classes, 0.8, 1); }),
                   "Holding out 3 rows of 4 leaves a class");
}
