// What `shunt train` can be told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "reading.hpp"
#include "shunt/model.hpp"

namespace shunt::cli {

struct TrainCommand {
    std::string data, validate, validate_labels, output, history;
    Reading reading;
    std::vector<std::string> categorical;
    ModelOptions model;
    TrainOptions train;
    bool json = false, quiet = false;
};

// None: --help was asked for, and printed. Throws Usage.
std::optional<TrainCommand> parse_train(Arguments arguments);

// How DATA and the file of --validate are read.
ReadOptions train_reading(const TrainCommand& command);

}  // namespace shunt::cli
