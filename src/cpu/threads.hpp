// How many threads a piece of work is worth: a pure function of its shape, never of timing, so that
// the same work gives the same bits.
//
// Measured on two AVX-512 cores with oneDNN 2.6 and libgomp: a product gains from a second thread
// from about half a million multiply-adds on, and never when its inner size is 16 or less;
// elementwise loops from about 65,000 values on. A parallel region of two threads costs 0.9 µs.
#pragma once

#include <algorithm>
#include <cstddef>

namespace shunt::cpu {

inline int threads_for_product(std::size_t m, std::size_t n, std::size_t k, int most) {
    if (k <= 16) return 1;
    const double share = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / (1 << 18);
    return std::clamp(static_cast<int>(std::min(share, 1e6)), 1, std::max(most, 1));
}

inline int threads_for_values(std::size_t n, int most) {
    return std::clamp(static_cast<int>(std::min<std::size_t>(n >> 15, 1 << 20)), 1, std::max(most, 1));
}

// What `options`, SHUNT_THREADS and the machine allow. Error for a value that is no number of
// threads. In a child forked after OpenMP's threads were started it is 1: they are not there.
int most_threads(int asked);

// To be called before a region of more than one thread is entered: what fork looks at.
void note_threads_in_use();
bool threads_lost_by_fork();

}  // namespace shunt::cpu
