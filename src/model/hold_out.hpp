// Which rows are kept back for validation.
#pragma once

#include <cstdint>
#include <span>

#include "model/scaling.hpp"

namespace shunt {

struct Split {
    Rows training, held;  // both in file order
};

// floor(share·n) of the n rows (1e-9 is added first, so that 0.29 of 100 rows are 29). They are the
// first ones of a shuffle by Random(seed + 1).
//
// With classes (of each row), as many are taken of each class as its share says: floor(share·size),
// and one more from the classes with the largest remainders, lower classes first among equal ones, in
// as many rounds as it takes until the total is right. A class never gives its last row. Taken are the
// first of the class in the same shuffle.
Split split_rows(const Rows& rows, std::span<const std::uint32_t> classes, double share, double seed);

}  // namespace shunt
