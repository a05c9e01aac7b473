// Samples: adding them one by one, the checks before they are used, and the first few.
#include "net/samples.hpp"

#include <algorithm>
#include <cmath>

namespace shunt {
namespace {

[[noreturn]] void refuse(Fault fault, const std::string& sentence) {
    throw Error(fault, sentence);
}

std::string number(std::size_t n) {
    return std::to_string(n);
}

// "Sample 3" counts from 0, as the vectors do.
void expect_length(std::size_t length, std::size_t expected, std::size_t sample, const char* what) {
    if (length == expected) return;
    refuse(Fault::bad_argument, "Sample " + number(sample) + " has " + number(length) + " " + what +
                                    "; the samples before it have " + number(expected) + ".");
}

constexpr std::span<const double> no_numbers;

template <typename To, typename From>
void append(std::vector<To>& all, std::span<const From> one) {
    all.insert(all.end(), one.begin(), one.end());
}

// Leaves samples unchanged when it refuses them.
template <typename Number, typename TargetNumber>
void add_sample(Samples& s, std::span<const Number> input, std::span<const std::uint32_t> tokens,
                std::optional<std::int64_t> sample_class, std::span<const TargetNumber> target, double weight) {
    if (sample_class && (*sample_class < 0 || *sample_class > 0xfffffffe)) {
        refuse(Fault::bad_data,
               "Sample " + number(s.n) + " has the class " + std::to_string(*sample_class) + "; classes count from 0.");
    }
    if (s.n > 0) {
        expect_length(input.size(), s.inputs.size() / s.n, s.n, "inputs");
        expect_length(tokens.size(), s.tokens.size() / s.n, s.n, "tokens");
        expect_length(target.size(), s.targets.size() / s.n, s.n, "targets");
        expect_length(sample_class ? 1 : 0, s.classes.size() / s.n, s.n, "classes");
    }
    append(s.inputs, input);
    append(s.tokens, tokens);
    append(s.targets, target);
    if (sample_class) s.classes.push_back(static_cast<std::uint32_t>(*sample_class));
    if (s.weights.empty() && weight != 1) s.weights.assign(s.n, 1.0);
    if (!s.weights.empty() || weight != 1) s.weights.push_back(weight);
    s.n++;
}

void expect_count(std::size_t values, std::size_t n, std::size_t each, const char* what, const char* unit) {
    if (values == n * each) return;
    refuse(Fault::bad_argument, "Samples hold " + number(values) + " " + what + "; " + number(n) + " samples of " +
                                    number(each) + " " + unit + " each need " + number(n * each) + ".");
}

void expect_finite(std::span<const double> values, std::size_t each, const char* what) {
    const auto bad = std::ranges::find_if(values, [](double v) { return !std::isfinite(v); });
    if (bad == values.end()) return;
    const std::size_t at = static_cast<std::size_t>(bad - values.begin());
    refuse(Fault::bad_data, "Sample " + number(at / each) + ", " + what + " " + number(at % each) + " is " +
                                (std::isnan(*bad) ? "not a number." : "infinite."));
}

}  // namespace

Samples& Samples::add(std::span<const double> input, std::int64_t sample_class, double weight) {
    add_sample(*this, input, {}, sample_class, no_numbers, weight);
    return *this;
}
Samples& Samples::add(std::span<const double> input, std::span<const double> target, double weight) {
    add_sample(*this, input, {}, {}, target, weight);
    return *this;
}
Samples& Samples::add(std::span<const float> input, std::int64_t sample_class, double weight) {
    add_sample(*this, input, {}, sample_class, no_numbers, weight);
    return *this;
}
Samples& Samples::add(std::span<const float> input, std::span<const float> target, double weight) {
    add_sample(*this, input, {}, {}, target, weight);
    return *this;
}
Samples& Samples::add(std::span<const std::uint32_t> input, std::int64_t sample_class, double weight) {
    add_sample(*this, no_numbers, input, sample_class, no_numbers, weight);
    return *this;
}
Samples& Samples::add(std::span<const std::uint32_t> input, std::span<const double> target, double weight) {
    add_sample(*this, no_numbers, input, {}, target, weight);
    return *this;
}
Samples& Samples::add(std::span<const std::uint32_t> input, std::span<const float> target, double weight) {
    add_sample(*this, no_numbers, input, {}, target, weight);
    return *this;
}
Samples& Samples::add(std::initializer_list<double> input, std::int64_t sample_class, double weight) {
    return add(std::span(input.begin(), input.size()), sample_class, weight);
}
Samples& Samples::add(std::initializer_list<double> input, std::initializer_list<double> target, double weight) {
    return add(std::span(input.begin(), input.size()), std::span(target.begin(), target.size()), weight);
}

void check_inputs(const Samples& s, const Input& input) {
    if (!input.is_tokens()) {
        const std::size_t each = static_cast<std::size_t>(input.size);
        if (!s.tokens.empty()) refuse(Fault::bad_argument, "The network takes numbers; these samples have tokens.");
        expect_count(s.inputs.size(), s.n, each, "inputs", "numbers");
        expect_finite(s.inputs, each, "input");
        return;
    }
    const std::size_t each = static_cast<std::size_t>(input.tokens.count);
    if (!s.inputs.empty()) refuse(Fault::bad_argument, "The network takes tokens; these samples have numbers.");
    expect_count(s.tokens.size(), s.n, each, "tokens", "tokens");
    for (std::size_t i = 0; i < s.tokens.size(); i++) {
        if (s.tokens[i] < input.tokens.vocab) continue;
        refuse(Fault::bad_data, "Sample " + number(i / each) + ", token " + number(i % each) + " is " +
                                    number(s.tokens[i]) + "; the vocabulary has " + std::to_string(input.tokens.vocab) +
                                    " (0 to " + std::to_string(input.tokens.vocab - 1) + ").");
    }
}

void check_answers(const Samples& s, LossKind loss, std::size_t n_out) {
    if (loss == LossKind::softmax) {
        if (!s.targets.empty()) refuse(Fault::bad_argument, "Under softmax a sample has a class; these have targets.");
        expect_count(s.classes.size(), s.n, 1, "classes", "class");
        for (std::size_t i = 0; i < s.n; i++) {
            if (s.classes[i] < n_out) continue;
            refuse(Fault::bad_data, "Sample " + number(i) + " has the class " + number(s.classes[i]) +
                                        "; the network has " + number(n_out) + " outputs (classes 0 to " +
                                        number(n_out - 1) + ").");
        }
    } else {
        if (!s.classes.empty()) refuse(Fault::bad_argument, "Under mse a sample has targets; these have classes.");
        expect_count(s.targets.size(), s.n, n_out, "targets", "targets");
        expect_finite(s.targets, n_out, "target");
    }
    if (s.weights.empty()) return;
    expect_count(s.weights.size(), s.n, 1, "weights", "weight");
    expect_finite(s.weights, 1, "weight");
}

Samples first_of(const Samples& s, std::size_t n) {
    const auto first = [&](const auto& values) {
        const std::size_t each = values.size() / s.n;
        return std::vector(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n * each));
    };
    Samples some;
    some.inputs = first(s.inputs);
    some.tokens = first(s.tokens);
    some.classes = first(s.classes);
    some.targets = first(s.targets);
    some.weights = first(s.weights);
    some.n = n;
    return some;
}

}  // namespace shunt
