// The commands: each takes its arguments, prints its result and returns the exit status.
#pragma once

#include "command_line.hpp"

namespace shunt::cli {

int train(Arguments arguments);
int predict(Arguments arguments);
int evaluate(Arguments arguments);
int info(Arguments arguments);
int devices(Arguments arguments);

}  // namespace shunt::cli
