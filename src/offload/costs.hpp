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

// How far predictions were off lately: of a shape, where it was timed itself, else of its class, which is the kind, the
// size of the work in powers of 4, and whether it is thin. A factor is a mean that forgets, of the smaller of each two
// measurements in a row: one alone that took long, as a first one does that compiles, says nothing. One thread at a
// time.
class Correction {
public:
    struct Key {
        std::uint16_t place = 0;  // of the class
        std::uint32_t shape = 0;  // a number for it; never 0 but here
    };
    static Key of(const GemmShape& shape);
    static Key of(const ConvShape& shape);
    static Key of(Activation kind, std::size_t n);

    double factor(Key key, Side side) const;
    void measured(Key key, Side side, double predicted, double seconds);

    // Which side: the one that was last taken keeps it unless the other is better by a twentieth.
    Side choose(Key key, const Costs& costs, double cpu, double gpu) const;
    // What is known of the other side fades, so that it has another chance some day.
    void took(Key key, Side side);

private:
    struct Entry {
        std::array<double, 2> factor{1, 1};
        std::array<std::uint16_t, 2> count{0, 0};
        std::int8_t last = -1;
    };
    struct OfShape : Entry {
        std::uint32_t shape = 0;
        std::array<double, 2> before{0, 0};  // the last measurement of a side, as a factor
    };
    static constexpr std::size_t n_kinds = 6, n_sizes = 24, n_shapes = 1024;

    OfShape& shape_entry(Key key);
    // The shape's own where it knows something, else its class's.
    const Entry& known(Key key) const;

    std::array<Entry, n_kinds * n_sizes> classes_{};
    std::vector<OfShape> shapes_ = std::vector<OfShape>(n_shapes);  // by number; a newer one takes an older one's place
};

}  // namespace shunt::offload
