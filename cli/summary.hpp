// What `shunt train` says at the end, in words and as JSON; and the file of --history.
#pragma once

#include <string>

#include "print.hpp"
#include "shunt/model.hpp"
#include "train_options.hpp"

namespace shunt::cli {

std::string in_words(const TrainCommand& command, const Trained& trained);
Json as_json(const Trained& trained);
std::string history_csv(const std::vector<Epoch>& history);

// "dense:64,relu,dense:3 on 4 inputs, 515 parameters"
std::string network_in_words(const Network& network);

// The parts that train and evaluate share.
void add_score(Json& document, const Score& score);  // accuracy, or rmse and r2

}  // namespace shunt::cli
