// What live timings make of predictions: see costs.hpp.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "offload/costs.hpp"

namespace shunt::offload {
namespace {

constexpr double margin = 1.05;           // what the other side has to be better by
constexpr double most_change = 4;         // that one measurement is believed
constexpr double least_weight = 1.0 / 8;  // of the newest measurement
constexpr double fading = 0.01;           // of a factor above 1, at each call that goes to the other side

std::size_t at(Side side) {
    return static_cast<std::size_t>(side);
}

// A class each factor of 4.
std::uint16_t place(std::size_t kind, double work, std::size_t n_sizes) {
    const std::size_t size = work < 1 ? 0 : static_cast<std::size_t>(std::ilogb(work)) / 2;
    return static_cast<std::uint16_t>(kind * n_sizes + std::min(n_sizes - 1, size));
}

std::uint32_t number(std::size_t kind, std::initializer_list<std::size_t> sizes) {
    std::uint64_t hash = kind + 1;
    for (std::size_t size : sizes) hash = (hash ^ size) * 0x9E3779B97F4A7C15u, hash ^= hash >> 32;
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(hash));
}

}  // namespace

Correction::Key Correction::of(const GemmShape& s) {
    const std::size_t kind = std::min(s.m, s.n) <= 8 ? 1 : 0;  // thin ones apart
    const double work = static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    return {place(kind, work, n_sizes), number(kind, {s.m, s.n, s.k})};
}

Correction::Key Correction::of(const ConvShape& s) {
    const std::size_t kind = s.depthwise() ? 3 : s.as_product ? 4 : 2;
    return {place(kind, s.macs(), n_sizes), number(kind, {s.n, s.c, s.h, s.w, s.o, s.kh, s.kw, s.groups, s.oh, s.ow})};
}

Correction::Key Correction::of(Activation activation, std::size_t n) {
    return {place(5, static_cast<double>(n), n_sizes), number(5, {static_cast<std::size_t>(activation), n})};
}

Correction::OfShape& Correction::shape_entry(Key key) {
    OfShape& entry = shapes_[key.shape % n_shapes];
    if (entry.shape != key.shape) {
        entry = {};
        entry.shape = key.shape;
    }
    return entry;
}

const Correction::Entry& Correction::known(Key key) const {
    const OfShape& entry = shapes_[key.shape % n_shapes];
    return entry.shape == key.shape && entry.last >= 0 ? entry : classes_[key.place];
}

double Correction::factor(Key key, Side side) const {
    const OfShape& entry = shapes_[key.shape % n_shapes];
    const bool timed = entry.shape == key.shape && entry.count[at(side)] > 0;
    return (timed ? entry : classes_[key.place]).factor[at(side)];
}

void Correction::measured(Key key, Side side, double predicted, double seconds) {
    if (!(predicted > 0) || !(seconds > 0)) return;
    OfShape& own = shape_entry(key);
    const double newest = seconds / predicted, before = std::exchange(own.before[at(side)], newest);
    if (before == 0 && newest > 2) return;
    const double agreed = before == 0 ? newest : std::min(newest, before);
    Entry& others = classes_[key.place];
    if (own.count[at(side)] == 0) own.factor[at(side)] = others.factor[at(side)];
    for (Entry* entry : {&others, static_cast<Entry*>(&own)}) {
        double& factor = entry->factor[at(side)];
        std::uint16_t& count = entry->count[at(side)];
        const double weight = std::max(least_weight, 1.0 / (count + 2));  // what was believed before counts as one
        factor += weight * (std::clamp(agreed, factor / most_change, factor * most_change) - factor);
        if (count < 1000) count++;
    }
}

void Correction::took(Key key, Side side) {
    for (Entry* entry : {&classes_[key.place], static_cast<Entry*>(&shape_entry(key))}) {
        entry->last = static_cast<std::int8_t>(side);
        double& other = entry->factor[1 - at(side)];
        if (other > 1) other += fading * (1 - other);
    }
}

Side Correction::choose(Key key, const Costs& costs, double cpu, double gpu) const {
    const Entry& entry = known(key);
    if (entry.last == static_cast<std::int8_t>(Side::gpu)) return gpu < cpu * margin ? Side::gpu : Side::cpu;
    if (entry.last == static_cast<std::int8_t>(Side::cpu) && !(gpu * margin < cpu)) return Side::cpu;
    const bool timed = &entry != &classes_[key.place] && entry.count[0] > 0 && entry.count[1] > 0;
    if (timed) return gpu < cpu ? Side::gpu : Side::cpu;
    return faster_on_gpu(costs, cpu, gpu) ? Side::gpu : Side::cpu;
}

}  // namespace shunt::offload
