// Whether this process is still the one that made something.
#pragma once

namespace shunt {

// How many forks this process is away from the first call. What is the parent's alone keeps the number that it
// was made at, and compares.
unsigned forks();

}  // namespace shunt
