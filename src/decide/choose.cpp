// Which backend a piece of work goes to.
#include "decide/choose.hpp"

#include <algorithm>
#include <limits>

namespace shunt::decide {

double seconds(const TrainingCost& c, const TrainingWork& w, bool to_open) {
    return w.steps * c.step + w.epochs * (c.epoch + w.validation * c.validation) +
           (w.samples + w.validation) * c.sample + (to_open ? c.opening : 0);
}

std::size_t fastest(const std::vector<double>& seconds) {
    return static_cast<std::size_t>(std::ranges::min_element(seconds) - seconds.begin());
}

bool surely_below(double worth, double n_params, double batch, double steps) {
    return steps * (20e-6 + 6 * n_params * batch / 10e9) < worth;
}

bool hopeless(double of_16_samples, double best_step) {
    return of_16_samples > 3 * best_step + 2e-3;
}

bool close_to(double step, double best_step) {
    return step <= 3 * best_step;
}

std::size_t rows_on_cpu(double cpu_chunk, double card_chunk, std::size_t chunk) {
    if (cpu_chunk <= card_chunk) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(static_cast<double>(chunk) * (card_chunk / cpu_chunk));
}

}  // namespace shunt::decide
