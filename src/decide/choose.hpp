// Which backend a piece of work goes to: pure functions of measured figures.
#pragma once

#include <cstddef>
#include <vector>

namespace shunt::decide {

// What training takes on a backend, in seconds.
struct TrainingCost {
    double step = 0;        // one update, many of them in a row
    double epoch = 0;       // an epoch's order sent, its losses read back
    double sample = 0;      // one sample uploaded
    double validation = 0;  // the loss of one held-out sample
    double opening = 0;     // opening the backend and compiling for it, once in a process
};

struct TrainingWork {
    double samples = 0, validation = 0;  // how many
    double epochs = 0, steps = 0;        // of the whole run
};

// Of the whole run; with `opening` where that is still to be paid.
double seconds(const TrainingCost& cost, const TrainingWork& work, bool to_open);

// The place of the smallest one, ties to the first.
std::size_t fastest(const std::vector<double>& seconds);

// Less than `worth` seconds of computing for sure, by the network's size alone: at 10 GFLOP/s and
// 20 µs a step, which every machine reaches.
bool surely_below(double worth, double n_params, double batch, double steps);

// Out before it is timed at full size: forward and backward of 16 samples, one wait for the card with
// them (at most 2 ms), took more than thrice the step of the best so far.
bool hopeless(double of_16_samples, double best_step);

// Worth a second look: a first measurement is pessimistic (compilation, clocks that rise).
bool close_to(double step, double best_step);

// How many rows the CPU answers itself, beside a card: as many as it manages in the time that the
// card takes for one chunk; any number where it is the faster one.
std::size_t rows_on_cpu(double cpu_chunk, double card_chunk, std::size_t chunk);

}  // namespace shunt::decide
