// How many threads a piece of work is worth: a pure function of its shape, never of timing, so that
// the same work gives the same bits.
//
// Measured with oneDNN 2.6 and libgomp, AVX-512. On two cores a product gains from a second thread from
// about half a million multiply-adds on, and never when its inner size is 16 or less; elementwise
// loops from about 65,000 values on. On sixteen cores more threads soon cost more than they bring: a
// step of 784-128-128-10 at batch 64 takes 342, 310, 289, 425 and 1444 µs with 1, 2, 4, 8 and 16, one
// of 784-512-512-10 at batch 256 takes 6112, 3371, 2238, 2263 and 4150. So each doubling asks for
// eight times the work.
#pragma once

#include <algorithm>
#include <cstddef>

namespace shunt::cpu {

inline int threads_from(double work, double first, int most) {
    int threads = 1;
    for (double needed = first; work >= needed && threads < most; needed *= 8) threads *= 2;
    return std::clamp(threads, 1, std::max(most, 1));
}

inline int threads_for_product(std::size_t m, std::size_t n, std::size_t k, int most) {
    if (k <= 16) return 1;
    return threads_from(static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k), 1 << 19, most);
}

inline int threads_for_values(std::size_t n, int most) {
    return threads_from(static_cast<double>(n), 1 << 16, most);
}

// What `asked` (0: nothing), SHUNT_THREADS and the machine allow. Error for a value that is no number
// of threads.
int most_threads(int asked);

// To be called before a region of more than one thread is entered: what fork looks at. In a child
// forked after that OpenMP's threads are not there, and one thread does all the work.
void note_threads_in_use();
bool threads_lost_by_fork();

}  // namespace shunt::cpu
