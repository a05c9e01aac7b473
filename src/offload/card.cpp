// See card.hpp.
#include "offload/card.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/stopwatch.hpp"

namespace shunt::offload {
namespace {

constexpr std::size_t most_pieces = 64;

}  // namespace

Card::Card(std::string name, BackendOptions options, std::shared_ptr<WeightCache> weights)
    : name_(std::move(name)), options_(std::move(options)), weights_(std::move(weights)) {
    reopen();
}

void Card::reopen() {
    weights_->clear();
    backend_.reset();
    backend_ = make_backend(name_, options_);
}

Backend& Card::backend() {
    if (!backend_) reopen();
    return *backend_;
}

std::vector<float> Card::run(Caller& caller, const Work& work) {
    bool reopened = false, evicted = false;
    for (std::size_t pieces = 1;;) {
        try {
            return run_in_pieces(caller, work, pieces);
        } catch (const Error& error) {
            const bool lost = error.fault() == Fault::device_lost || error.fault() == Fault::timed_out;
            if (lost && !reopened) {
                reopened = true;
                reopen();
            } else if (error.fault() == Fault::out_of_memory && !std::exchange(evicted, true)) {
                weights_->evict(SIZE_MAX);  // the same again, with their memory
            } else if (error.fault() == Fault::out_of_memory && 2 * pieces <= std::min(most_pieces, work.units)) {
                pieces *= 2;
            } else {
                throw;
            }
        }
    }
}

std::vector<float> Card::run_in_pieces(Caller& caller, const Work& work, std::size_t pieces) {
    Backend& card = backend();
    std::vector<Tensor> whole;
    for (const Argument& argument : work.whole) whole.push_back(upload(caller, argument));
    std::vector<float> results(work.units * work.results_each);
    const std::size_t each = (work.units + pieces - 1) / pieces, values_each = work.cut.values.size() / work.units;
    for (std::size_t first = 0; first < work.units; first += each) {
        const std::size_t count = std::min(each, work.units - first);
        Shape shape{count};
        for (std::size_t axis = 1; axis < work.cut.shape.rank(); axis++) shape.push_back(work.cut.shape[axis]);
        const Tensor piece = upload(caller, {work.cut.values.subspan(first * values_each, count * values_each), shape});
        const Tensor result = work.run(card, piece, whole);
        card.read(result, std::span(results).subspan(first * work.results_each, count * work.results_each));
    }
    return results;
}

Tensor Card::upload(Caller& caller, const Argument& argument) {
    if (argument.weight) {
        if (Tensor kept = weights_->find(*argument.weight); kept.exists()) return kept;
    }
    const Stopwatch watch;
    Tensor tensor = backend_->empty(argument.shape);
    if (!caller.while_here([&] { backend_->write(tensor, argument.values); })) throw Left();
    if (argument.weight && argument.keep) weights_->keep(*argument.weight, tensor, watch.seconds());
    return tensor;
}

}  // namespace shunt::offload
