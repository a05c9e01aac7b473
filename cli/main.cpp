// shunt: finds the command, and turns what it throws into one line and an exit status.
#include <csignal>
#include <exception>
#include <new>
#include <string>

#include "commands.hpp"
#include "print.hpp"

namespace shunt::cli {
namespace {

constexpr Command commands[] = {
    {"train", "train a network on a table, and say how good it is", train},
    {"predict", "answer the rows of a table, as CSV", predict},
    {"evaluate", "compare a model's answers with the truth", evaluate},
    {"info", "show what is in a model, or how a table is understood", info},
    {"devices", "list what can compute here, and why or why not", devices},
    {"calibrate", "measure what operators cost here, for programs that offload them", calibrate},
    {"bench", "figures of this machine, with their conditions", bench},
};

std::string help() {
    return "shunt trains neural networks on tables, on whatever computes fastest here.\n\n"
           "Usage: shunt COMMAND ...\n\n" +
           lines_of(commands) +
           "\nFor example\n"
           "  shunt train iris.csv --target species --hold-out 0.2 -o iris.safetensors\n"
           "  shunt predict iris.safetensors new.csv --probabilities\n"
           "\nshunt COMMAND --help explains one. shunt --version prints the version.\n";
}

int dispatch(Arguments arguments) {
    const std::string first = arguments.empty() ? "--help" : arguments.front();
    if (first == "--help" || first == "-h") {
        print(help());
        return 0;
    }
    if (first == "--version") {
        print("shunt " SHUNT_VERSION "\n");
        return 0;
    }
    return run_named(commands, arguments, "shunt", "a command");
}

int fail(const std::string& what, int status) {
    note("shunt: " + one_line(what) + "\n");
    return status;
}

}  // namespace
}  // namespace shunt::cli

int main(int argc, char** argv) {
    using namespace shunt::cli;
    std::signal(SIGPIPE, SIG_IGN);  // a closed reader is no reason to lose a model that was trained
    std::signal(SIGXFSZ, SIG_IGN);  // a file past `ulimit -f` is an error like a full disk, without a trace left
    try {
        return dispatch(Arguments(argv + 1, argc > 0 ? static_cast<std::size_t>(argc - 1) : 0));
    } catch (const Usage& error) {
        return fail(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return fail("there is not enough memory.", 1);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}
