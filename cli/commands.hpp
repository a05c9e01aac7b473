// The commands: each takes its arguments, prints its result and returns the exit status.
#pragma once

#include <span>
#include <string>

#include "command_line.hpp"

namespace shunt::cli {

struct Command {
    const char* name;
    const char* summary;
    int (*run)(Arguments);
};

// A line each, for a help text.
std::string lines_of(std::span<const Command> commands);

// Runs the one that the first argument names, with those behind it. Usage, with the nearest name and all there are,
// where there is none: "'x' is not a command.", "--x is not an option of shunt."
int run_named(std::span<const Command> commands, Arguments arguments, const std::string& parent,
              const std::string& kind);

int train(Arguments arguments);
int predict(Arguments arguments);
int evaluate(Arguments arguments);
int info(Arguments arguments);
int devices(Arguments arguments);
int calibrate(Arguments arguments);
int bench(Arguments arguments);
int bench_offload(Arguments arguments);
int bench_conv(Arguments arguments);

}  // namespace shunt::cli
