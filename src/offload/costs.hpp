// The figures by name, and what live timings make of predictions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "shunt/offload_costs.hpp"

namespace shunt::offload {

struct CostField {
    std::string_view name;
    double Costs::*value;
};
// bad_argument for what is negative or not finite.
void check_costs(const Costs& costs);

const std::vector<CostField>& cost_fields();

enum class Kind : std::uint8_t { matmul, conv2d, depthwise, activate };
enum class Side : std::uint8_t { cpu, gpu };

// How far predictions were off lately, by class of shape: the kind, the size of the work in powers of 4, and whether it
// is thin. A factor is a mean that forgets; one measurement changes it by at most four times, and is taken for what it
// is only after others agree. One thread at a time.
class Correction {
public:
    struct Class {
        std::uint16_t place = 0;
    };
    static Class of(const GemmShape& shape);
    static Class of(const ConvShape& shape);
    static Class of(Activation kind, std::size_t n);

    double factor(Class c, Side side) const { return entries_[c.place].factor[static_cast<std::size_t>(side)]; }
    void measured(Class c, Side side, double predicted, double seconds);

    // Which side: the one that was last taken for this class keeps it unless the other is better by a twentieth.
    Side choose(Class c, const Costs& costs, double cpu, double gpu) const;
    // What is known of the other side fades, so that it has another chance some day.
    void took(Class c, Side side);

private:
    struct Entry {
        std::array<double, 2> factor{1, 1};
        std::array<std::uint16_t, 2> count{0, 0};
        std::int8_t last = -1;
    };
    static constexpr std::size_t n_kinds = 6, n_sizes = 24;
    static Class place(std::size_t kind, double work);

    std::array<Entry, n_kinds * n_sizes> entries_{};
};

}  // namespace shunt::offload
