// What a model's file says about it: written here, read in read.cpp.
#include <span>

#include "core/hash.hpp"
#include "core/text.hpp"
#include "model/impl.hpp"
#include "net/file.hpp"
#include "shunt/file.hpp"

namespace shunt {

namespace {

using Json = nlohmann::ordered_json;

Json describe_column(const ColumnSummary& column, const Features& features) {
    Json json = {{"name", column.name}};
    if (features.vocab) {
        json["kind"] = "token";
    } else if (column.kind == ColumnKind::text) {
        json["kind"] = "text";
        json["values"] = column.values;
        if (features.missing == Missing::mean) json["fill"] = column.fill_value;
    } else {
        json["kind"] = "numeric";
        if (features.scale == Scale::standard) json["mean"] = column.mean, json["sd"] = column.sd;
        if (features.scale == Scale::minmax) json["min"] = column.min, json["max"] = column.max;
        if (column.fill) json["fill"] = *column.fill;
    }
    return json;
}

Json describe_target(const Target& target) {
    Json json = {{"names", target.names}};
    if (target.loss == LossKind::softmax) {
        json["classes"] = target.classes;
        return json;
    }
    for (const auto& column : target.columns) {
        if (target.scale == Scale::standard) json["mean"].push_back(column.mean), json["sd"].push_back(column.sd);
        if (target.scale == Scale::minmax) json["min"].push_back(column.min), json["max"].push_back(column.max);
    }
    return json;
}

}  // namespace

DataMark mark_of(const Samples& samples) {
    Hash hash;
    hash.add(std::as_bytes(std::span(samples.inputs)));
    hash.add(std::as_bytes(std::span(samples.tokens)));
    hash.add(std::as_bytes(std::span(samples.classes)));
    hash.add(std::as_bytes(std::span(samples.targets)));
    hash.add(std::as_bytes(std::span(samples.weights)));
    return {samples.n, hash.text()};
}

Json describe_training(const TrainOptions& train, double hold_out, const std::string& weights) {
    const bool adam = train.optimizer == OptimizerKind::adam;
    Json json;
    json["epochs"] = train.epochs;
    json["batch"] = train.batch;
    json["optimizer"] = to_string(train.optimizer);
    json["lr"] = train.lr.value_or(adam ? 0.005 : 0.1);
    if (adam) {
        json["beta1"] = train.beta1;
        json["beta2"] = train.beta2;
        json["epsilon"] = train.epsilon;
    } else {
        json["momentum"] = train.momentum;
    }
    json["weight_decay"] = train.weight_decay;
    json["lr_decay"] = train.lr_decay;
    if (train.patience) json["patience"] = *train.patience;
    json["min_delta"] = train.min_delta;
    if (train.target_loss) json["target_loss"] = *train.target_loss;
    json["hold_out"] = hold_out;
    if (!weights.empty()) json["sample_weights"] = weights;
    return json;
}

Json describe_model(const Model::Impl& model) {
    auto json = describe_network(model.network);
    json["columns"] = Json::array();
    for (const auto& column : model.features.columns)
        json["columns"].push_back(describe_column(column, model.features));
    json["target"] = describe_target(model.target);
    json["scale"] = to_string(model.features.scale);
    json["missing"] = to_string(model.features.missing);
    json["unknown"] = to_string(model.features.unknown);
    json["training"] = model.training;
    json["history"] = Json::array();
    for (const auto& epoch : model.history) {
        Json entry = {{"epoch", epoch.epoch}, {"loss", epoch.loss}};
        if (epoch.validation) entry["validation"] = *epoch.validation;
        json["history"].push_back(std::move(entry));
    }
    json["stopped"] = to_string(model.stopped);
    json["data"] = {{"rows", model.data.rows}, {"xxh3", model.data.xxh3}};
    return json;
}

}  // namespace shunt
