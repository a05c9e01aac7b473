// The one exception type, and what a caller can do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace shunt {

enum class Fault {
    bad_argument,   // the caller asked for something that cannot be: mend the call
    bad_file,       // a file is missing, truncated, altered or of another format
    bad_data,       // the values themselves are refused: missing, not finite, out of range
    no_gpu,         // there is no graphics card here
    gpu_broken,     // there is one, and it does not work
    out_of_memory,  // the card or the machine has not enough
    device_lost,    // the card went away while it was in use
    timed_out,      // no answer within the deadline
    unsupported,    // valid, but not done by this version or backend
};

// A sentence that names the value, the limit and the place.
class Error : public std::runtime_error {
public:
    Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}

    Fault fault() const noexcept { return fault_; }

    // The same error, told by a level that knows more: "… - While reading weights of layer 2."
    Error during(std::string_view doing) const {
        return {fault_, std::string(what()) + " - While " + std::string(doing) + "."};
    }

private:
    Fault fault_;
};

}  // namespace shunt
