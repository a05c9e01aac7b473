// Models and the tables they are asked about.
#include "model_options.hpp"

#include <algorithm>

#include "print.hpp"
#include "shunt/backend.hpp"

namespace shunt::cli {
namespace {

std::string parse_backend(const std::string& text) {
    std::vector<std::string> names = backend_names();
    names.insert(names.begin(), "auto");
    if (std::find(names.begin(), names.end(), text) != names.end()) return text;
    throw Error(Fault::bad_argument,
                "There is no backend '" + text + "'. There are: " + joined(names) + "." + did_you_mean(text, names));
}

}  // namespace

void add_backend_options(CommandLine& line, std::string& backend, int& threads, std::string& adapter) {
    line.parsed("--backend", backend, parse_backend, "NAME", "auto, plain, cpu, gpu (auto)");
    line.whole("--threads", threads, 1, "N", "most CPU threads to use (all)");
    line.text("--adapter", adapter, "NAME", "the card, by number or part of its name in shunt devices");
}

void check_backend(const CommandLine& line, const std::string& backend) {
    if (line.given("--adapter") && !backend.empty() && backend != "gpu" && backend != "auto")
        line.refuse_usage("--adapter names a graphics card; --backend " + backend + " uses none.");
}

void add_model_and_data(CommandLine& line, ModelCommand& c) {
    line.positional("MODEL", c.model, "what shunt train -o wrote");
    line.positional("DATA", c.data, "a table with the model's features, in any order; - reads CSV from stdin");
}

void add_model_options(CommandLine& line, ModelCommand& c) {
    add_array_options(line, c.reading);
    add_header_options(line, c.reading);
    add_backend_options(line, c.backend, c.threads, c.adapter);
}

void check(const CommandLine& line, const ModelCommand& c) {
    if (c.model.empty()) line.refuse_usage("MODEL and DATA are missing.");
    if (c.data.empty()) line.refuse_usage("DATA, a table, is missing.");
    check_backend(line, c.backend);
    read_options(line, c.reading);
}

Model load_model(const ModelCommand& c) {
    Model model = Model::load(c.model, c.backend, c.threads, c.adapter);
    const auto& settled = model.network().settled();
    if (settled && !settled->failure.empty()) note("shunt: note: " + one_line(settled->failure) + "\n");
    return model;
}

ReadOptions reading_for(const CommandLine& line, const ModelCommand& c, const Model& model) {
    ReadOptions options = read_options(line, c.reading, model.categorical());
    if (c.reading.labels.empty() && options.target.empty() && model.targets().size() == 1)
        options.target = model.targets().front();
    return options;
}

}  // namespace shunt::cli
