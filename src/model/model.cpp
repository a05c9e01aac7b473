// A model: asked, measured, saved, loaded. Its training is in train.cpp.
#include "shunt/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/finite.hpp"
#include "core/text.hpp"
#include "model/impl.hpp"
#include "model/score.hpp"
#include "net/file.hpp"
#include "shunt/file.hpp"

namespace shunt {

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Model Model::load(const std::string& file, const std::string& backend, int threads, const std::string& adapter) {
    return Model(read_model(read_file(file), file, backend, threads, adapter));
}

void Model::save(const std::string& file) const {
    OutputFile out(file);
    out.write(write_network(impl_->network, describe_model(*impl_)));
    out.commit();
}

Answers Model::predict(const Table& table) const {
    const auto& [features, target] = std::tie(impl_->features, impl_->target);
    check_table(table);
    const auto columns = find_features(features, table);
    const auto rows = usable_rows(table, columns, features.missing);
    Samples samples;
    encode_features(features, table, columns, rows, samples);
    auto outputs = rows.empty() ? std::vector<double>() : impl_->network.predict_all(samples);
    const bool softmax = target.loss == LossKind::softmax;
    if (!softmax) decode_targets(target, outputs);

    Answers answers;
    answers.names = softmax ? std::vector<std::string>{"prediction"} : target.names;
    const auto n_out = target.n_out();
    auto& values = softmax ? answers.probabilities : answers.values;
    values.assign(table.rows * n_out, std::numeric_limits<double>::quiet_NaN());
    if (softmax) answers.classes.resize(table.rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = std::span(outputs).subspan(i * n_out, n_out);
        if (!all_finite(row)) {
            answers.not_finite.push_back(rows[i]);
            continue;
        }
        std::copy(row.begin(), row.end(), values.begin() + static_cast<std::ptrdiff_t>(rows[i] * n_out));
        if (softmax) {
            answers.classes[rows[i]] = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
        }
    }
    return answers;
}

Score Model::evaluate(const Table& table) const {
    const auto& [features, target] = std::tie(impl_->features, impl_->target);
    check_table(table);
    const auto columns = find_features(features, table);
    const auto answers = find_targets(target, table);
    check_present(table, answers);
    const auto rows = usable_rows(table, columns, features.missing);
    if (rows.empty()) throw Error(Fault::bad_data, table.source + " has no row to evaluate.");
    Samples samples;
    encode_features(features, table, columns, rows, samples);
    encode_targets(target, table, answers, rows, samples);
    return score(impl_->network, target, samples, rows);
}

std::vector<std::string> Model::categorical() const {
    std::vector<std::string> names;
    for (const auto& column : impl_->features.columns) {
        if (column.kind == ColumnKind::text) names.push_back(column.name);
    }
    return names;
}

const Network& Model::network() const {
    return impl_->network;
}
const std::vector<ColumnSummary>& Model::features() const {
    return impl_->features.columns;
}
const std::vector<std::string>& Model::targets() const {
    return impl_->target.names;
}
const std::vector<std::string>& Model::classes() const {
    return impl_->target.classes;
}
const std::vector<Epoch>& Model::history() const {
    return impl_->history;
}
Stopped Model::stopped() const {
    return impl_->stopped;
}
std::string Model::description() const {
    return to_json(describe_model(*impl_));
}

}  // namespace shunt
