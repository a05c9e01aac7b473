// What was decided, why, and how it went: counters, the last decisions, and both as text and as data.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "offload/costs.hpp"

namespace shunt::offload {

enum class Why : std::uint8_t {
    faster,          // the side taken is the faster one, by the predictions
    weight_missing,  // the card would be, if it had the weight: sending that is not worth it yet
    uncertain,       // the card may be, within the uncertainty of the figures
    demanded,        // policy strict
    empty,           // nothing to compute
    no_card,
    resting,      // the card failed a moment ago
    quarantined,  // the kernel gave a wrong result before
    failed,       // tried on the card, and failed
    timed_out,    // tried on the card, which did not answer in time
    wrong,        // computed by the card, and found wrong
};
inline constexpr std::size_t n_whys = 11;

struct Decision {
    Kind kind = Kind::matmul;
    Side side = Side::cpu;
    Why why = Why::faster;
    Activation activation = Activation::none;
    std::array<std::uint32_t, 9> sizes{};  // m n k; n c h w o kh kw stride groups; n
    Prediction predicted;                  // corrected by live timings
    double measured = 0;                   // seconds of the side taken; 0: not known
};

// Any thread; without allocation but for the texts.
class Report {
public:
    static constexpr std::size_t kept = 256;

    std::uint64_t add(const Decision& decision);          // its number
    void measured(std::uint64_t number, double seconds);  // of the side taken
    std::uint64_t count(Side side) const;

    std::string text(const std::string& card) const;
    std::string json(const std::string& card, const Costs& costs) const;

private:
    using Counts = std::array<std::array<std::uint64_t, n_whys>, 2>;
    // All at one moment: what was read one after the other would not add up while others add to it.
    struct Moment {
        Counts counts;
        std::vector<Decision> last;
    };
    Moment now() const;

    mutable std::mutex mutex_;
    std::array<Decision, kept> ring_{};
    std::uint64_t n_ = 0;
    Counts counts_{};
};

}  // namespace shunt::offload
