// What live timings make of predictions: see costs.hpp.
#include <algorithm>
#include <cmath>

#include "offload/costs.hpp"

namespace shunt::offload {
namespace {

constexpr double margin = 1.05;           // what the other side has to be better by
constexpr double most_change = 4;         // that one measurement is believed
constexpr double least_weight = 1.0 / 8;  // of the newest measurement
constexpr double fading = 0.01;           // of a factor above 1, at each call that goes to the other side

}  // namespace

Correction::Class Correction::place(std::size_t kind, double work) {
    const std::size_t size = work < 1 ? 0 : static_cast<std::size_t>(std::ilogb(work)) / 2;  // a class each factor of 4
    return {static_cast<std::uint16_t>(kind * n_sizes + std::min(n_sizes - 1, size))};
}

Correction::Class Correction::of(const GemmShape& s) {
    const bool thin = std::min(s.m, s.n) <= 8;
    return place(thin ? 1 : 0, static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k));
}

Correction::Class Correction::of(const ConvShape& s) {
    return place(s.depthwise() ? 3 : s.as_product ? 4 : 2, s.macs());
}

Correction::Class Correction::of(Activation, std::size_t n) {
    return place(5, static_cast<double>(n));
}

void Correction::measured(Class c, Side side, double predicted, double seconds) {
    if (!(predicted > 0) || !(seconds > 0)) return;
    Entry& entry = entries_[c.place];
    double& factor = entry.factor[static_cast<std::size_t>(side)];
    std::uint16_t& count = entry.count[static_cast<std::size_t>(side)];
    if (count == 0 && seconds > 2 * predicted) {  // compiled, or touched its memory, for the first time
        count = 1;
        return;
    }
    const double now = std::clamp(seconds / predicted, factor / most_change, factor * most_change);
    const double weight = std::max(least_weight, 1.0 / (count + 2));  // the prediction counts as one
    factor += weight * (now - factor);
    if (count < 1000) count++;
}

void Correction::took(Class c, Side side) {
    Entry& entry = entries_[c.place];
    entry.last = static_cast<std::int8_t>(side);
    double& other = entry.factor[1 - static_cast<std::size_t>(side)];
    if (other > 1) other += fading * (1 - other);
}

Side Correction::choose(Class c, const Costs& costs, double cpu, double gpu) const {
    const Entry& entry = entries_[c.place];
    if (entry.last == static_cast<std::int8_t>(Side::gpu)) return gpu < cpu * margin ? Side::gpu : Side::cpu;
    if (entry.last == static_cast<std::int8_t>(Side::cpu) && !(gpu * margin < cpu)) return Side::cpu;
    return faster_on_gpu(costs, cpu, gpu) ? Side::gpu : Side::cpu;
}

}  // namespace shunt::offload
