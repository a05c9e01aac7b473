// What a model consists of.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/features.hpp"
#include "model/target.hpp"

namespace shunt {

// What a model was trained on: how many rows, and XXH3-128 of the bytes that the network was given
// (inputs or tokens, classes or targets, weights if there are any).
struct DataMark {
    std::size_t rows = 0;
    std::string xxh3;
};

DataMark mark_of(const Samples& samples);

struct Model::Impl {
    Network network;
    Features features;
    Target target;
    nlohmann::ordered_json training;  // the options that the result depends on
    std::vector<Epoch> history;
    Stopped stopped = Stopped::epochs;
    DataMark data;
};

// --- the file (describe.cpp, read.cpp) -----------------------------------------------------------

nlohmann::ordered_json describe_training(const TrainOptions& train, double hold_out, const std::string& weights);

nlohmann::ordered_json describe_model(const Model::Impl& model);

// bytes: of the file. Everything in it is checked.
std::unique_ptr<Model::Impl> read_model(std::string_view bytes, const std::string& file, const std::string& backend,
                                        int threads, const std::string& adapter = "");

}  // namespace shunt
