// What predict and evaluate share: a model, and a table that is read for it.
#pragma once

#include <string>

#include "command_line.hpp"
#include "reading.hpp"
#include "shunt/model.hpp"

namespace shunt::cli {

struct ModelCommand {
    std::string model, data, backend, adapter;
    int threads = 0;
    Reading reading;
};

void add_model_and_data(CommandLine& line, ModelCommand& command);
void add_model_options(CommandLine& line, ModelCommand& command);
void check(const CommandLine& line, const ModelCommand& command);  // throws Usage

// Of train too.
void add_backend_options(CommandLine& line, std::string& backend, int& threads, std::string& adapter);
void check_backend(const CommandLine& line, const std::string& backend);  // throws Usage

// Tells where the backend that the model had settled on does not work here.
Model load_model(const ModelCommand& command);

// The options to read its table with: numbers are categories where the model takes them so.
ReadOptions reading_for(const CommandLine& line, const ModelCommand& command, const Model& model);

}  // namespace shunt::cli
