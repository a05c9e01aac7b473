// Training a model on a table.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text.hpp"
#include "model/hold_out.hpp"
#include "model/impl.hpp"
#include "model/score.hpp"
#include "net/overflow.hpp"

namespace shunt {

namespace {

// Which column is what.
struct Roles {
    std::vector<const Column*> features, targets;
    const Column* weights = nullptr;
};

bool contains(const std::vector<const Column*>& list, const Column* column) {
    return std::find(list.begin(), list.end(), column) != list.end();
}

std::vector<const Column*> find_all(const Table& table, const std::vector<std::string>& names, const char* what) {
    std::vector<const Column*> columns;
    for (const auto& name : names) {
        const auto* column = &table.column(name);
        if (contains(columns, column)) {
            throw Error(Fault::bad_argument, "Column \"" + column->name + "\" is named twice as " + what + ".");
        }
        columns.push_back(column);
    }
    return columns;
}

Roles assign_roles(const Table& table, const ModelOptions& options) {
    Roles roles;
    if (options.target.empty())
        throw Error(Fault::bad_argument, "A model needs a target: the column that it is to predict.");
    roles.targets = find_all(table, options.target, "target");
    const auto dropped = find_all(table, options.drop, "dropped");
    if (!options.sample_weights.empty()) roles.weights = &table.column(options.sample_weights);
    for (const auto* column : roles.targets) {
        if (contains(dropped, column) || column == roles.weights) {
            throw Error(Fault::bad_argument,
                        "Column \"" + column->name + "\" is the target and cannot be dropped or be the weights.");
        }
    }
    if (options.features.empty()) {
        for (const auto& column : table.columns) roles.features.push_back(&column);
        std::erase_if(roles.features,
                      [&](const Column* column) { return contains(roles.targets, column) || column == roles.weights; });
    } else {
        roles.features = find_all(table, options.features, "feature");
    }
    std::erase_if(roles.features, [&](const Column* column) { return contains(dropped, column); });
    for (const auto* column : roles.features) {
        if (!contains(roles.targets, column) && column != roles.weights) continue;
        throw Error(Fault::bad_argument,
                    "Column \"" + column->name + "\" is a feature and the target or the weights at once.");
    }
    if (roles.features.empty()) throw Error(Fault::bad_data, table.source + ": no feature is left to learn from.");
    return roles;
}

LossKind choose_loss(const Table& table, const std::vector<const Column*>& targets, std::optional<LossKind> asked) {
    for (const auto* column : targets) {
        if (!column->mixture.empty()) throw Error(Fault::bad_data, column->mixture);
    }
    const auto text = std::find_if(targets.begin(), targets.end(),
                                   [](const Column* column) { return column->kind == ColumnKind::text; });
    const auto loss = asked.value_or(text == targets.end() ? LossKind::mse : LossKind::softmax);
    if (targets.size() > 1 && (loss == LossKind::softmax || text != targets.end())) {
        throw Error(Fault::bad_argument, "Several targets must all be numbers, under the loss mse.");
    }
    if (loss == LossKind::mse && text != targets.end()) {
        throw Error(Fault::bad_argument,
                    table.source + ": the target \"" + (*text)->name +
                        "\" is text, and the loss mse is for numbers; softmax is the one for classes.");
    }
    return loss;
}

std::vector<double> read_weights(const Table& table, const Column& column, const Rows& rows) {
    check_kind(table, column, ColumnKind::numeric);
    std::vector<double> weights;
    weights.reserve(rows.size());
    for (const auto row : rows) {
        const double weight = column.kind == ColumnKind::numeric ? column.numbers[row] : std::nan("");
        if (!(weight >= 0 && weight <= largest)) {
            throw Error(Fault::bad_data, table.place(row) + ": column \"" + column.name + "\" has " +
                                             (std::isnan(weight) ? "no value" : "the value " + to_text(weight)) +
                                             "; the weight of a sample is a number from 0 to " + to_text(largest) +
                                             ".");
        }
        weights.push_back(weight);
    }
    return weights;
}

std::vector<Layer> make_layers(const ModelOptions& options, std::size_t n_out) {
    if (!options.layers.empty()) return options.layers;
    if (options.tokens) {
        throw Error(Fault::bad_argument,
                    "A network on tokens needs its layers named, with embed first: embed:8,dense:" +
                        std::to_string(n_out) + ".");
    }
    std::vector<Layer> layers;
    for (const auto size : options.hidden) {
        layers.push_back(dense(size));
        layers.push_back({options.activation});
    }
    layers.push_back(dense(static_cast<std::int64_t>(n_out)));
    return layers;
}

void check_outputs(const Network& network, const Target& target) {
    if (network.n_out() == target.n_out()) return;
    const auto& names = target.loss == LossKind::softmax ? target.classes : target.names;
    throw Error(Fault::bad_argument, "The last layer gives " + counted(network.n_out(), "number") +
                                         "; the target has " + std::to_string(names.size()) +
                                         (target.loss == LossKind::softmax ? " classes: " : " columns: ") +
                                         listed(names) + ".");
}

void check_options(const ModelOptions& options, const Table& table, const Table* validate) {
    if (options.hold_out != 0 && validate != nullptr) {
        throw Error(Fault::bad_argument, "Rows are held out, and a table to validate on is given: choose one of them.");
    }
    if (options.tokens && (*options.tokens < 1 || *options.tokens > 0xffffffff)) {
        throw Error(Fault::bad_argument, "A vocabulary of " + std::to_string(*options.tokens) + " tokens cannot be.");
    }
    if (options.tokens && options.missing == Missing::mean) {
        throw Error(Fault::bad_argument, "A missing token has no mean; --missing drop leaves its row out.");
    }
    if (table.rows < 2) {
        throw Error(Fault::bad_data,
                    table.source + " has " + counted(table.rows, "row") + "; training needs at least 2.");
    }
}

void check_mixtures(const Roles& roles) {
    for (const auto* column : roles.features) {
        if (!column->mixture.empty()) throw Error(Fault::bad_data, column->mixture);
    }
}

struct Prepared {
    Features features;
    Target target;
    Samples training, held;
    Rows training_rows, held_rows;  // of the table, and of the one to validate on if there is one
    std::size_t dropped = 0;
};

Samples encode_rows(const Features& features, const Target& target, const Table& table, const Roles& roles,
                    const Rows& rows) {
    Samples samples;
    encode_features(features, table, roles.features, rows, samples);
    encode_targets(target, table, roles.targets, rows, samples);
    return samples;
}

Prepared prepare(const Table& table, const ModelOptions& options, std::vector<std::string>& warnings) {
    check_table(table);
    const auto roles = assign_roles(table, options);
    check_mixtures(roles);
    check_present(table, roles.targets);
    Prepared result;
    auto& target = result.target;
    target.loss = choose_loss(table, roles.targets, options.loss);
    target.scale = options.scale;
    for (const auto* column : roles.targets) target.names.push_back(column->name);

    const auto usable = usable_rows(table, roles.features, options.missing);
    result.dropped = table.rows - usable.size();
    const auto too_few = [&](std::size_t n, const char* why) {
        throw Error(Fault::bad_data, table.source + " has " + counted(n, "row") + " left to train on " + why +
                                         "; training needs at least 2.");
    };
    if (usable.size() < 2) too_few(usable.size(), "after those with missing values are dropped");
    std::vector<std::uint32_t> classes;
    if (target.loss == LossKind::softmax) {
        fit_classes(table, *roles.targets[0], usable, target);
        classes = encode_classes(target, table, *roles.targets[0], usable);
        if (roles.targets[0]->kind == ColumnKind::text && mostly_different(target.classes.size(), usable.size())) {
            warnings.push_back(table.source + ": the target \"" + target.names[0] + "\" is text with " +
                               std::to_string(target.classes.size()) + " classes" + " in " +
                               counted(usable.size(), "row") + "; numbers are written 1234.5, without $, % or ','.");
        }
    }
    auto split =
        options.hold_out == 0 ? Split{usable, {}} : split_rows(usable, classes, options.hold_out, options.seed);
    if (split.training.size() < 2) too_few(split.training.size(), "beside those held out");
    if (target.loss == LossKind::mse) fit_targets(table, roles.targets, split.training, target);
    result.features = fit_features(table, roles.features, options, split.training, usable, warnings);
    result.training = encode_rows(result.features, target, table, roles, split.training);
    if (roles.weights != nullptr) {
        read_weights(table, *roles.weights, split.held);  // refuses wrong ones, though they are not used
        result.training.weights = read_weights(table, *roles.weights, split.training);
    }
    if (!split.held.empty()) result.held = encode_rows(result.features, target, table, roles, split.held);
    result.training_rows = std::move(split.training);
    result.held_rows = std::move(split.held);
    return result;
}

// A table of its own to validate on. Returns the number of rows that were dropped.
std::size_t prepare_validation(const Table& table, Prepared& prepared) {
    Roles roles;
    check_table(table);
    roles.features = find_features(prepared.features, table);
    roles.targets = find_targets(prepared.target, table);
    check_present(table, roles.targets);
    auto rows = usable_rows(table, roles.features, prepared.features.missing);
    if (rows.empty()) throw Error(Fault::bad_data, table.source + " has no row to validate on.");
    prepared.held = encode_rows(prepared.features, prepared.target, table, roles, rows);
    prepared.held_rows = std::move(rows);
    return table.rows - prepared.held.n;
}

// held: the table of the rows that are held out.
TrainResult train_network(Network& network, const Prepared& prepared, const TrainOptions& options, const Table& held) {
    try {
        return network.train(prepared.training, options);
    } catch (const ValidationOverflow& overflow) {
        throw overflow.named(held.place(prepared.held_rows[overflow.sample()]));
    }
}

// A text that is not UTF-8 cannot be written to a file, which is better known before the training.
void check_texts(const Prepared& prepared) {
    for (const auto& column : prepared.features.columns) to_json({column.name, column.values});
    to_json({prepared.target.names, prepared.target.classes});
}

}  // namespace

Trained Model::train(const Table& table, const ModelOptions& options, TrainOptions train, const Table* validate) {
    check_options(options, table, validate);
    std::vector<std::string> warnings;
    for (const auto* read : {&table, validate}) {
        if (read != nullptr && !read->header_doubt.empty()) warnings.push_back(read->header_doubt);
    }
    auto prepared = prepare(table, options, warnings);
    check_texts(prepared);
    if (validate != nullptr) prepared.dropped += prepare_validation(*validate, prepared);

    const auto layers = make_layers(options, prepared.target.n_out());
    Network network({prepared.features.input(), layers, prepared.target.loss, options.seed, options.backend,
                     options.threads, options.adapter});
    check_outputs(network, prepared.target);
    const bool has_held = prepared.held.n > 0;
    train.validate = has_held ? &prepared.held : nullptr;
    auto result = train_network(network, prepared, train, validate != nullptr ? *validate : table);

    const auto mark = mark_of(prepared.training);
    const auto weights = options.sample_weights.empty() ? "" : table.column(options.sample_weights).name;
    Model model(std::make_unique<Impl>(
        Impl{std::move(network), std::move(prepared.features), std::move(prepared.target),
             describe_training(train, options.hold_out, weights), result.history, result.stopped, mark}));
    if (options.on_trained) options.on_trained(model);

    const auto& target = model.impl_->target;
    prepared.training.weights.clear();  // they say how much a sample teaches; in a score each counts once
    const auto training = score(model.network(), target, prepared.training, prepared.training_rows);
    std::optional<Score> validation;
    if (has_held) validation = score(model.network(), target, prepared.held, prepared.held_rows);
    const double base = baseline(target, prepared.training, has_held ? prepared.held : prepared.training);
    return {std::move(model), std::move(result), training, validation, base, prepared.dropped, std::move(warnings)};
}

}  // namespace shunt
