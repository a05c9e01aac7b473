// Samples on their way to a backend, batch by batch.
//
// They are uploaded whole where they fit. Where they do not, the host gathers the rows of several
// batches into one of two pieces and writes it while the backend works on the other. Either way the
// same rows reach the same operators, which gives the same bits.
#pragma once

#include <array>

#include "shunt/epoch.hpp"

namespace shunt {

struct FeedOptions {
    bool answers = true;  // false: the inputs alone
    bool whole = true;    // false: in pieces, though they might fit
};

class Feed {
public:
    // The samples have to outlive it, and are of the right lengths. `batch` is at least 1.
    Feed(Backend& backend, const Samples& samples, std::size_t batch, FeedOptions options = {});

    // Begins an epoch in this order, which has to stay until the next. Without it: as given.
    void start(std::span<const std::uint32_t> order);

    // The batch from position `first` on, a multiple of the batch: of `data` the `count` positions
    // from `start` on. Valid until the next call; to be asked for one after the other.
    struct Batch {
        const EpochData& data;
        std::size_t start, count;
    };
    Batch at(std::size_t first);

    std::vector<double> losses();  // of each batch, as epoch_loss

private:
    void make_pieces();
    void fill(std::size_t piece);

    Backend& backend_;
    const Samples& samples_;
    std::size_t batch_;
    bool answers_;
    EpochData all_;  // where they fit; else:
    std::array<EpochData, 2> pieces_;
    std::size_t rows_ = 0;        // samples a piece, a multiple of the batch
    std::vector<Tensor> losses_;  // of each piece of the epoch
    std::span<const std::uint32_t> order_;
    std::size_t filled_ = none;  // the piece that was written last
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

}  // namespace shunt
