// Epochs that stay on a backend: the samples are uploaded once, shuffled batches are gathered there,
// and each sample's loss is left there and read once at the end.
//
// Network::train works this way. For a training loop of your own:
//
//     EpochData data = epoch_data(backend, samples);
//     for (each epoch) {
//         epoch_order(backend, data, order);
//         for (std::size_t start = 0; start < data.n; start += batch) {
//             Tensor x = batch_at(backend, data, start, std::min(batch, data.n - start));
//             Tensor outputs = …;
//             Tensor gradient = softmax_ce_at(backend, outputs, data, start);
//             …
//         }
//         std::vector<double> losses = epoch_loss(backend, data, batch);
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shunt/backend.hpp"
#include "shunt/network.hpp"

namespace shunt {

struct EpochData {
    Tensor inputs;   // f32 [n, numbers per sample] or u32 [n, tokens per sample]
    Tensor answers;  // u32 classes [n] or f32 targets [n, numbers per target]; does not exist: none
    Tensor weights;  // f32 [n]; does not exist: all 1
    Tensor rows;     // u32 [n], the sample at each position of the epoch; does not exist: as given
    Tensor losses;   // f32 [n], by position
    std::size_t n = 0;
    std::size_t n_classes = 0;  // one above the largest class
};

// Uploads all samples. bad_argument for lengths that do not fit n samples, and for inputs beside
// tokens or classes beside targets. Values are not looked at: tokens have to be below the table's
// rows (see Backend::embed).
EpochData epoch_data(Backend& backend, const Samples& samples);

// Begins an epoch: position i holds sample order[i], and all losses are 0. bad_argument unless there
// are n entries below n. Without it the samples stand as they were given.
void epoch_order(Backend& backend, EpochData& data, std::span<const std::uint32_t> order);

// The inputs of `count` positions from `start` on: [count, …]. bad_argument past the end.
Tensor batch_at(Backend& backend, const EpochData& data, std::size_t start, std::size_t count);

// The gradient of the summed loss of the batch from `start` on, whose outputs these are; its losses
// are left at their positions. Without `gradient` the losses alone. bad_argument past the end, and
// where the answers are of the other kind or do not fit the outputs. Under mse plain leaves the batch's
// whole loss at its first position and 0 at the others (see Loss).
Tensor softmax_ce_at(Backend& backend, const Tensor& logits, const EpochData& data, std::size_t start,
                     bool gradient = true);
Tensor mse_at(Backend& backend, const Tensor& outputs, const EpochData& data, std::size_t start, bool gradient = true);

// The summed loss of each batch, read back and added up in order, in double. Waits for the backend.
std::vector<double> epoch_loss(Backend& backend, const EpochData& data, std::size_t batch);

}  // namespace shunt
