// Commands by name.
#include "commands.hpp"

#include "print.hpp"

namespace shunt::cli {

std::string lines_of(std::span<const Command> commands) {
    std::string out;
    for (const Command& command : commands) out += "  " + padded(command.name, 9) + "  " + command.summary + "\n";
    return out;
}

int run_named(std::span<const Command> commands, Arguments arguments, const std::string& parent,
              const std::string& kind) {
    const std::string first = arguments.front();
    std::vector<std::string> names;
    for (const Command& command : commands) {
        if (first == command.name) return command.run(arguments.subspan(1));
        names.emplace_back(command.name);
    }
    const std::string what = first.starts_with('-') ? "an option of " + parent : kind;
    throw Usage("'" + first + "' is not " + what + "." + did_you_mean(first, names) + " There are: " + joined(names) +
                ".");
}

}  // namespace shunt::cli
