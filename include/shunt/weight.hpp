// A name for values that are used again and again.
#pragma once

#include <cstdint>

namespace shunt::offload {

// A model makes one for each of its weights, once, and gives it along with the values. Offload then knows the weight by
// this name and never looks at the values again: whoever alters them must say `changed()`, or the card goes on with the
// copy that it has. Copies name the same values; a copy that is told of a change parts from the others.
// One object is for one thread at a time; different ones are for any threads.
class Weight {
public:
    Weight();
    void changed();

    std::uint64_t id() const { return id_; }                  // never used twice in a process
    std::uint64_t generation() const { return generation_; }  // nor is this one; a later one is larger

private:
    std::uint64_t id_, generation_;
};

}  // namespace shunt::offload
