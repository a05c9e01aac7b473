// What a model's file holds.
#include "info.hpp"
#include "print.hpp"
#include "shunt/file.hpp"
#include "shunt/model.hpp"
#include "summary.hpp"

namespace shunt::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string layers(const Network& network) {
    Rows rows = {{"layer", "", "outputs", "parameters"}};
    const std::vector<Parameter> params = network.params();
    std::size_t size = network.n_in();
    for (std::size_t i = 0; i < network.layers().size(); i++) {
        const Layer& layer = network.layers()[i];
        if (layer.kind == LayerKind::dense) size = static_cast<std::size_t>(layer.size);
        if (layer.kind == LayerKind::embed) size = network.n_in() * static_cast<std::size_t>(layer.size);
        std::vector<std::string> shapes;
        for (const Parameter& p : params) {
            if (p.layer == i) shapes.push_back(p.name + " " + p.shape.str());
        }
        rows.push_back({std::to_string(i), to_string(layer), std::to_string(size), joined(shapes)});
    }
    return in_columns(rows, {true, false, true, false});
}

std::string scaling(const ColumnSummary& column, const std::string& scale) {
    if (column.kind == ColumnKind::text) {
        std::vector<std::string> values;
        for (std::size_t i = 0; i < column.values.size() && i < 8; i++) values.push_back(one_line(column.values[i]));
        if (column.values.size() > 8) values.push_back("...");
        return std::to_string(column.values.size()) + ": " + joined(values);
    }
    if (scale == "standard") return "mean " + short_text(column.mean) + ", sd " + short_text(column.sd);
    if (scale == "minmax") return short_text(column.min) + " to " + short_text(column.max);
    return "";
}

std::string features(const Model& model, const std::string& scale) {
    constexpr std::size_t most = 40;
    Rows rows = {{"feature", "kind", "values"}};
    for (const ColumnSummary& column : model.features()) {
        if (rows.size() > most) break;
        const char* kind = column.kind == ColumnKind::text ? "text" : "numeric";
        rows.push_back({one_line(column.name), kind, scaling(column, scale)});
    }
    const std::size_t hidden = model.features().size() - (rows.size() - 1);
    if (hidden > 0) rows.push_back({"... " + std::to_string(hidden) + " more", "", ""});
    return in_columns(rows, {false, false, false});
}

std::string history(const Model& model) {
    if (model.history().empty()) return "";
    const Epoch& last = model.history().back();
    const std::string held = last.validation ? ", held out " + to_text(*last.validation) : "";
    return counted(model.history().size(), "epoch", "epochs") + ", last loss " + to_text(last.loss) + held +
           ", stopped: " + std::string(to_string(model.stopped()));
}

std::string text_at(const Json& description, const char* pointer) {
    const Json::json_pointer at(pointer);
    if (!description.contains(at)) return "";
    const Json& value = description.at(at);
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string in_words(const std::string& file, const Model& model, const Json& description) {
    const Network& network = model.network();
    std::vector<std::string> targets, classes;
    for (const std::string& name : model.targets()) targets.push_back(one_line(name));
    for (const std::string& name : model.classes()) classes.push_back(one_line(name));
    const std::string scale = text_at(description, "/scale");
    Rows rows = {{"predicts", joined(targets)}};
    if (!classes.empty()) rows.push_back({"classes", std::to_string(classes.size()) + ": " + joined(classes)});
    rows.push_back({"network", network_in_words(network)});
    rows.push_back({"loss", std::string(to_string(network.loss_kind()))});
    rows.push_back({"scaling", scale});
    rows.push_back({"missing values", text_at(description, "/missing")});
    rows.push_back({"trained", history(model)});
    rows.push_back({"settled on", text_at(description, "/settled_on")});
    rows.push_back({"seed", to_text(network.seed())});
    rows.push_back({"data", text_at(description, "/data/rows") + " rows, xxh3 " + text_at(description, "/data/xxh3")});
    std::erase_if(rows, [](const auto& row) { return row[1].empty(); });
    return one_line(file) + "\n\n" + in_columns(rows, {false, false}) + "\n" + layers(network) + "\n" +
           features(model, scale);
}

}  // namespace

std::string model_info(const std::string& file, bool json) {
    // plain opens everywhere, whatever backend the model was trained on.
    const Model model = Model::load(file, "plain");
    const Json description = Json::parse(model.description());
    return json ? to_json_text(description) : in_words(file, model, description);
}

}  // namespace shunt::cli
