// Finds the sample, and says so.
#include "net/overflow.hpp"

#include <algorithm>

#include "core/finite.hpp"

namespace shunt {

std::optional<Overflow> find_overflow(const Network::Impl& net, const Samples& samples) {
    const std::vector<double> outputs = net.forward_all(samples);
    double largest = -1;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < samples.n; i++) {
        const auto row = std::span(outputs).subspan(i * net.n_out, net.n_out);
        if (!all_finite(row)) return Overflow{i, true};
        for (std::size_t j = 0; net.loss == LossKind::mse && j < net.n_out; j++) {
            const double error = std::abs(row[j] - samples.targets[i * net.n_out + j]);
            if (error <= largest) continue;
            largest = error;
            worst = i;
        }
    }
    if (net.loss != LossKind::mse) return {};
    return Overflow{worst, false};
}

ValidationOverflow::ValidationOverflow(std::int64_t epoch, const Overflow& overflow, std::string whose)
    : Error(Fault::bad_data,
            sentence(epoch, overflow, whose, "sample " + std::to_string(overflow.sample) + " of them, from 0,")),
      epoch_(epoch),
      overflow_(overflow),
      whose_(std::move(whose)) {}

std::string ValidationOverflow::sentence(std::int64_t epoch, const Overflow& overflow, const std::string& whose,
                                         const std::string& sample) {
    return "The loss of the validation samples is not a finite number after epoch " + std::to_string(epoch) +
           ", while that of the training samples is: " + sample +
           (overflow.outputs ? " overflows inside the network" : " has an error too large to be squared") +
           ", as one far beyond the training samples does. The network has the weights of " + whose + ".";
}

}  // namespace shunt
