// shunt evaluate: a model's answers against the truth.
#include "commands.hpp"
#include "model_options.hpp"
#include "print.hpp"
#include "shunt/file.hpp"
#include "shunt/model.hpp"

namespace shunt::cli {
namespace {

constexpr std::size_t largest_matrix = 20;  // classes; beyond it no terminal is wide enough

Json as_json(const Model& model, const Score& score) {
    Json out;
    out["samples"] = score.samples;
    out["loss"] = score.loss;
    if (score.accuracy) {
        out["accuracy"] = *score.accuracy;
        out["classes"] = model.classes();
        out["confusion"] = score.confusion;
    } else {
        out["rmse"] = score.rmse ? Json(*score.rmse) : Json(nullptr);
        out["r2"] = score.r2 ? Json(*score.r2) : Json(nullptr);
    }
    return out;
}

std::string matrix(const Model& model, const Score& score) {
    const std::vector<std::string>& classes = model.classes();
    if (score.confusion.empty()) return "";
    if (classes.size() > largest_matrix)
        return "--json has the confusion matrix of the " + std::to_string(classes.size()) + " classes.\n";
    std::vector<std::vector<std::string>> rows = {{"true \\ answered"}};
    for (const std::string& name : classes) rows[0].push_back(one_line(name));
    for (std::size_t i = 0; i < classes.size(); i++) {
        rows.push_back({one_line(classes[i])});
        for (const std::size_t n : score.confusion[i]) rows.back().push_back(std::to_string(n));
    }
    std::vector<bool> right(classes.size() + 1, true);
    right[0] = false;
    return in_columns(rows, right);
}

std::string in_words(const Model& model, const Score& score) {
    std::vector<std::vector<std::string>> rows = {{"rows", std::to_string(score.samples)},
                                                  {"loss", to_text(score.loss)}};
    if (score.accuracy) rows.push_back({"accuracy", to_text(*score.accuracy)});
    if (score.rmse) rows.push_back({"rmse", to_text(*score.rmse)});
    if (score.r2) rows.push_back({"r2", to_text(*score.r2)});
    return in_columns(rows, {false, false}) + (score.accuracy ? "\n" + matrix(model, score) : "");
}

// The array that --target names is the model's target, whatever name it has in the file. Its column is the last.
void rename_target(Table& table, const std::string& name, const Model& model) {
    if (name.empty()) return;
    const std::vector<std::string>& targets = model.targets();
    if (table.columns.back().name != name)
        throw Error(Fault::bad_data, table.source + ": the array " + name + " has several columns; --target is one.");
    if (targets.size() != 1)
        throw Error(Fault::bad_argument,
                    "The model has the targets " + joined(targets) + "; --target names one array.");
    table.columns.back().name = targets.front();
}

}  // namespace

int evaluate(Arguments arguments) {
    ModelCommand c;
    bool json = false;
    CommandLine line("evaluate", "MODEL DATA [options]",
                     "Compares a model's answers with the truth: loss and accuracy, or rmse and r2.");
    add_model_and_data(line, c);
    line.group("Options");
    add_labels_option(line, c.reading);
    add_model_options(line, c);
    line.flag("--json", json, "print one JSON document");
    line.example("shunt evaluate iris.safetensors test.csv");
    if (!line.parse(arguments)) return 0;
    check(line, c);

    const Model model = load_model(c);
    Table table = read_data(c.data, c.reading, reading_for(line, c, model));
    rename_target(table, c.reading.target, model);
    const Score score = model.evaluate(table);
    warn_of_header(table);
    warn_of_no_answers(table, score.not_finite, score.accuracy ? " In the accuracy they count as wrong." : "");
    print(json ? to_json_text(as_json(model, score)) : in_words(model, score));
    return 0;
}

}  // namespace shunt::cli
