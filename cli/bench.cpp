// shunt bench: the benchmarks by name.
#include "commands.hpp"
#include "print.hpp"

namespace shunt::cli {
namespace {

constexpr Command benchmarks[] = {
    {"offload", "what offload's choices are worth, beside the CPU alone and the card alone", bench_offload},
    {"conv", "convolutions of networks that see, on a backend", bench_conv},
};

}  // namespace

int bench(Arguments arguments) {
    const std::string first = arguments.empty() ? "--help" : arguments.front();
    if (first != "--help" && first != "-h") return run_named(benchmarks, arguments, "shunt bench", "a benchmark");
    print(
        "Measures what this machine does, and says by what: build, processor, card, driver.\n\n"
        "Usage: shunt bench NAME ...\n\n" +
        lines_of(benchmarks) +
        "\nFor example\n"
        "  shunt bench conv --backend cpu\n"
        "\nshunt bench NAME --help explains one.\n");
    return 0;
}

}  // namespace shunt::cli
