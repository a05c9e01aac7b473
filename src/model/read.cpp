// A model out of the bytes of its file.
#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "model/impl.hpp"
#include "net/file.hpp"

namespace shunt {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 53;

// A choice by its name, with the place in the file where it is none.
template <typename Parse>
auto read_choice(const JsonValue& value, Parse parse) {
    const auto name = value.string();
    try {
        return parse(name);
    } catch (const Error& error) {
        value.refuse("is wrong: " + std::string(error.what()));
    }
}

void check_names(const JsonValue& value, const std::vector<std::string>& names) {
    std::set<std::string_view> seen;
    for (const auto& name : names) {
        if (!seen.insert(name).second) value.refuse("has \"" + name + "\" twice");
    }
}

void read_text_column(const JsonValue& value, const Features& features, ColumnSummary& column) {
    column.kind = ColumnKind::text;
    column.values = value.at("values").strings();
    check_names(value.at("values"), column.values);
    if (!std::is_sorted(column.values.begin(), column.values.end())) value.at("values").refuse("is not sorted");
    if (column.values.empty()) value.at("values").refuse("is empty");
    if (features.missing != Missing::mean) return;
    column.fill_value = value.at("fill").string();
    if (!std::binary_search(column.values.begin(), column.values.end(), column.fill_value)) {
        value.at("fill").refuse("is none of the values");
    }
}

void set_scaling(const JsonValue& where, Scale scale, double a, double b, ColumnSummary& column) {
    if (scale == Scale::standard) {
        if (b <= 0) where.refuse("has an sd that is not above 0");
        column.mean = a;
        column.sd = b;
    } else {
        if (b < a) where.refuse("has a max below its min");
        column.min = a;
        column.max = b;
    }
}

// The names of the two numbers that a scaling has.
std::pair<std::string, std::string> scaling_keys(Scale scale) {
    return scale == Scale::standard ? std::pair("mean", "sd") : std::pair("min", "max");
}

ColumnSummary read_column(const JsonValue& value, const Features& features) {
    ColumnSummary column;
    column.name = value.at("name").string();
    const auto kind = value.at("kind").string();
    if (features.vocab ? kind != "token" : kind != "numeric" && kind != "text") {
        value.at("kind").refuse("is \"" + kind + "\", which does not fit the network");
    }
    if (kind == "text") read_text_column(value, features, column);
    if (kind != "numeric") return column;
    if (features.scale != Scale::none) {
        const auto [a, b] = scaling_keys(features.scale);
        set_scaling(value, features.scale, value.at(a).number(), value.at(b).number(), column);
    }
    if (features.missing == Missing::mean) column.fill = value.at("fill").number();
    return column;
}

Features read_features(const JsonValue& description, const Input& input) {
    if (!description.find("columns")) {
        throw Error(Fault::bad_file, description.file() +
                                         " holds a network alone: it has no columns, so that it cannot "
                                         "take a table. Network::load reads it.");
    }
    Features features;
    features.scale = read_choice(description.at("scale"), parse_scale);
    features.missing = read_choice(description.at("missing"), parse_missing);
    features.unknown = read_choice(description.at("unknown"), parse_unknown);
    if (input.is_tokens()) features.vocab = input.tokens.vocab;
    const auto columns = description.at("columns");
    std::vector<std::string> names;
    for (const auto& item : columns.items()) {
        features.columns.push_back(read_column(item, features));
        names.push_back(features.columns.back().name);
    }
    check_names(columns, names);
    const auto taken = features.input();
    if (taken.size != input.size || taken.tokens.count != input.tokens.count) {
        columns.refuse("make another number of inputs than the network has");
    }
    return features;
}

Target read_target(const JsonValue& description, LossKind loss, Scale scale) {
    Target target{.loss = loss, .names = {}, .classes = {}, .columns = {}, .scale = scale};
    const auto value = description.at("target");
    target.names = value.at("names").strings();
    check_names(value.at("names"), target.names);
    if (target.names.empty() || (loss == LossKind::softmax && target.names.size() != 1)) {
        value.at("names").refuse("has " + counted(target.names.size(), "name"));
    }
    if (loss == LossKind::softmax) {
        target.classes = value.at("classes").strings();
        check_names(value.at("classes"), target.classes);
        if (target.classes.size() < 2) value.at("classes").refuse("has " + counted(target.classes.size(), "name"));
        return target;
    }
    std::vector<double> a, b;
    if (scale != Scale::none) {
        const auto [first, second] = scaling_keys(scale);
        a = value.at(first).numbers();
        b = value.at(second).numbers();
        if (a.size() != target.names.size() || b.size() != target.names.size()) {
            value.refuse("has another number of scalings than of names");
        }
    }
    for (std::size_t i = 0; i < target.names.size(); ++i) {
        auto& column = target.columns.emplace_back();
        column.name = target.names[i];
        if (scale != Scale::none) set_scaling(value, scale, a[i], b[i], column);
    }
    return target;
}

std::vector<Epoch> read_history(const JsonValue& value) {
    std::vector<Epoch> history;
    for (const auto& item : value.items()) {
        Epoch epoch{.epoch = item.at("epoch").integer(1, largest), .loss = item.at("loss").number(), .validation = {}};
        if (const auto validation = item.find("validation")) epoch.validation = validation->number();
        history.push_back(epoch);
    }
    return history;
}

Stopped read_stopped(const JsonValue& value) {
    const auto name = value.string();
    for (const auto reason :
         {Stopped::epochs, Stopped::patience, Stopped::on_epoch, Stopped::target_loss, Stopped::interrupted}) {
        if (to_string(reason) == name) return reason;
    }
    value.refuse("is \"" + name + "\", no way to stop");
}

// Known options in the order in which they are written, so that a file that is loaded and saved
// again has the same bytes.
nlohmann::ordered_json read_training(const JsonValue& value) {
    nlohmann::ordered_json training = nlohmann::ordered_json::object();
    for (const auto* key :
         {"epochs", "batch", "optimizer", "lr", "beta1", "beta2", "epsilon", "momentum", "weight_decay", "lr_decay",
          "patience", "min_delta", "target_loss", "hold_out", "sample_weights"}) {
        const auto found = value.find(key);
        if (!found) continue;
        if (!found->json().is_number() && !found->json().is_string()) found->refuse("is neither number nor text");
        training[key] = found->json();
    }
    return training;
}

DataMark read_mark(const JsonValue& value) {
    DataMark mark{static_cast<std::size_t>(value.at("rows").integer(0, largest)), value.at("xxh3").string()};
    if (mark.xxh3.size() != 32 || mark.xxh3.find_first_not_of("0123456789abcdef") != std::string::npos) {
        value.at("xxh3").refuse("is not 32 hexadecimal digits");
    }
    return mark;
}

}  // namespace

std::unique_ptr<Model::Impl> read_model(std::string_view bytes, const std::string& file, const std::string& backend,
                                        int threads, const std::string& adapter) {
    auto content = read_safetensors(bytes, file);
    const auto json = read_description(content, file);
    const JsonValue description(json, file);
    const auto state = read_network(description, content);
    auto features = read_features(description, state.input);
    auto target = read_target(description, state.loss, features.scale);
    auto training = read_training(description.at("training"));
    auto history = read_history(description.at("history"));
    const auto stopped = read_stopped(description.at("stopped"));
    auto mark = read_mark(description.at("data"));
    // Last: a network is made of what was found right.
    auto model = std::make_unique<Model::Impl>(Model::Impl{Network::from_state(state, backend, threads, adapter),
                                                           std::move(features), std::move(target), std::move(training),
                                                           std::move(history), stopped, std::move(mark)});
    if (model->network.n_out() != model->target.n_out()) {
        description.at("target").refuse("asks for " + counted(model->target.n_out(), "output") + "; the network has " +
                                        std::to_string(model->network.n_out()));
    }
    return model;
}

}  // namespace shunt
