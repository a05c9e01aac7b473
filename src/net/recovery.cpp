// A network on a card that fails: the weights are on the host too, and the card is opened again.
//
// Training has more to bring back, see train.cpp.
#include <tuple>

#include "net/impl.hpp"

namespace shunt {

// What takes these two away takes the program away.
bool Network::Impl::can_fail() const {
    return backend->name() != "plain" && backend->name() != "cpu";
}

bool Network::Impl::is_failure(const Error& error) const {
    const Fault fault = error.fault();
    return can_fail() && (fault == Fault::device_lost || fault == Fault::timed_out || fault == Fault::gpu_broken);
}

void Network::Impl::keep() {
    keep(can_fail() ? read(values) : Weights());
}

void Network::Impl::keep(Weights weights) {
    kept = can_fail() ? std::move(weights) : Weights();
}

void Network::Impl::move_to(std::shared_ptr<Backend> to, const Weights& weights) {
    const auto before = std::tuple(backend, values, gradients);
    try {
        backend = std::move(to);
        place();
        write(weights);
    } catch (...) {
        std::tie(backend, values, gradients) = before;
        throw;
    }
    if (backend->name() != std::get<0>(before)->name()) opened_as = backend->name();
    kept = can_fail() ? weights : Weights();
}

void Network::Impl::reopen(const Error& because) {
    try {
        move_to(open_backend(opened_as, backend_options), Weights(kept));
    } catch (const Error& error) {
        throw error.during("opening it again, as it had failed: " + std::string(because.what()));
    }
    gradients_lost = true;
}

}  // namespace shunt
