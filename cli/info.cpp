// shunt info: a model, or a table as it is understood.
#include "info.hpp"

#include <array>
#include <fstream>

#include "commands.hpp"
#include "print.hpp"
#include "reading.hpp"

namespace shunt::cli {
namespace {

// A safetensors file begins with its header's length, eight bytes, and the header's brace; a table
// of text has no zero byte in its first nine.
bool is_model(const std::string& file) {
    if (file.ends_with(".safetensors")) return true;
    std::array<char, 9> start{};
    std::ifstream in(file, std::ios::binary);
    if (!in.read(start.data(), start.size())) return false;
    return start[8] == '{' && start[5] == 0 && start[6] == 0 && start[7] == 0;
}

}  // namespace

int info(Arguments arguments) {
    std::string file;
    bool json = false;
    Reading reading;
    std::vector<std::string> categorical;
    CommandLine line("info", "MODEL|DATA [options]", "Shows what is in a model, or how a table is understood.");
    line.positional("FILE", file, "what shunt train -o wrote, or a table; - reads CSV from stdin");
    line.group("Options");
    line.flag("--json", json, "print one JSON document");
    line.group("Of a table");
    line.list("--categorical", categorical, "COLS", "columns whose numbers are categories");
    add_labels_option(line, reading);
    add_array_options(line, reading);
    add_header_options(line, reading);
    line.example("shunt info iris.csv");
    line.example("shunt info iris.safetensors --json");
    if (!line.parse(arguments)) return 0;
    if (file.empty()) line.refuse_usage("info needs a file, a model or a table.");
    const ReadOptions options = read_options(line, reading, categorical);

    if (file != "-" && is_model(file)) {
        print(model_info(file, json));
        return 0;
    }
    const Table table = read_data(file, reading, options);
    print(table_info(table, json));
    warn_of_header(table);
    return 0;
}

}  // namespace shunt::cli
