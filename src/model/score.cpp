// How good the answers of a model are.
#include "model/score.hpp"

#include <algorithm>
#include <cmath>

#include "core/finite.hpp"

namespace shunt {

namespace {

void score_classes(const Network& network, const Target& target, const Samples& samples, const Rows& rows,
                   Score& result) {
    const auto n_classes = target.classes.size();
    const auto answers = network.classify_all(samples);
    if (n_classes <= Score::most_confusion_classes) {
        result.confusion.assign(n_classes, std::vector<std::size_t>(n_classes));
    }
    std::size_t right = 0;
    for (std::size_t i = 0; i < samples.n; ++i) {
        if (answers[i] == Network::no_class) {
            result.not_finite.push_back(rows[i]);
            continue;
        }
        right += answers[i] == samples.classes[i] ? 1 : 0;
        if (!result.confusion.empty()) ++result.confusion[samples.classes[i]][answers[i]];
    }
    result.accuracy = static_cast<double>(right) / static_cast<double>(samples.n);
}

// The mean of each column.
std::vector<double> means(std::span<const double> values, std::size_t cols) {
    std::vector<double> sums(cols);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % cols] += values[i];
    for (auto& sum : sums) sum /= static_cast<double>(values.size() / cols);
    return sums;
}

double squares_about(std::span<const double> values, std::span<const double> center) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double difference = values[i] - center[i % center.size()];
        sum += difference * difference;
    }
    return sum;
}

std::vector<double> own_units(const Target& target, std::vector<double> values) {
    decode_targets(target, values);
    return values;
}

void score_numbers(const Network& network, const Target& target, const Samples& samples, const Rows& rows,
                   Score& result) {
    const auto answers = own_units(target, network.predict_all(samples));
    const auto truth = own_units(target, samples.targets);
    for (std::size_t i = 0; i < samples.n; ++i) {
        if (!all_finite(std::span(answers).subspan(i * target.n_out(), target.n_out())))
            result.not_finite.push_back(rows[i]);
    }
    const double error = squares_about(truth, answers);
    result.rmse = std::sqrt(error / static_cast<double>(truth.size()));
    const double spread = squares_about(truth, means(truth, target.n_out()));
    if (spread > 0) result.r2 = 1 - error / spread;
}

}  // namespace

Score score(const Network& network, const Target& target, const Samples& samples, const Rows& rows) {
    Score result;
    result.samples = samples.n;
    result.loss = network.loss(samples) / static_cast<double>(samples.n);
    if (target.loss == LossKind::softmax) {
        score_classes(network, target, samples, rows, result);
    } else {
        score_numbers(network, target, samples, rows, result);
    }
    return result;
}

double baseline(const Target& target, const Samples& training, const Samples& scored) {
    if (target.loss == LossKind::mse) {
        const auto center = means(own_units(target, training.targets), target.n_out());
        const auto truth = own_units(target, scored.targets);
        return std::sqrt(squares_about(truth, center) / static_cast<double>(truth.size()));
    }
    std::vector<std::size_t> counts(target.classes.size());
    for (const auto c : training.classes) ++counts[c];
    const auto most = std::max_element(counts.begin(), counts.end()) - counts.begin();
    const auto right = std::count(scored.classes.begin(), scored.classes.end(), static_cast<std::uint32_t>(most));
    return static_cast<double>(right) / static_cast<double>(scored.n);
}

}  // namespace shunt
