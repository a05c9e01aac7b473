// A validation sample that overflows, where the training samples do not: that is no matter of the learning rate.
#pragma once

#include <optional>
#include <string>

#include "net/impl.hpp"

namespace shunt {

struct Overflow {
    std::size_t sample = 0;  // from 0
    bool outputs = true;     // they are not finite; else its error is the largest, and too large
};

// Of samples whose loss is not finite. None where no sample can be named.
std::optional<Overflow> find_overflow(const Network::Impl& net, const Samples& samples);

// Thrown by Network::train. Whoever made the samples knows a better name of one.
class ValidationOverflow : public Error {
public:
    // whose: the weights that the network now has, "its best epoch"
    ValidationOverflow(std::int64_t epoch, const Overflow& overflow, std::string whose);

    std::size_t sample() const { return overflow_.sample; }
    Error named(const std::string& sample) const { return {fault(), sentence(epoch_, overflow_, whose_, sample)}; }

private:
    static std::string sentence(std::int64_t epoch, const Overflow& overflow, const std::string& whose,
                                const std::string& sample);

    std::int64_t epoch_;
    Overflow overflow_;
    std::string whose_;
};

}  // namespace shunt
