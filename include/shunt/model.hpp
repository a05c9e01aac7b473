// From a table to answers: a network together with how rows become its inputs and its outputs
// become answers (encoders, scalers, class names), in one file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shunt/data.hpp"
#include "shunt/network.hpp"

namespace shunt {

enum class Scale { standard, minmax, none };  // (x − mean) / sd, or to [0, 1]; over the training rows
enum class Missing { error, mean, drop };     // mean: text columns take their most frequent value
enum class Unknown { error, zero };           // a text value not seen in training

// Both directions, one list of names for the tool, the file and C++.
std::string_view to_string(Scale scale);
std::string_view to_string(Missing missing);
std::string_view to_string(Unknown unknown);
Scale parse_scale(std::string_view text);
Missing parse_missing(std::string_view text);
Unknown parse_unknown(std::string_view text);

class Model;

struct ModelOptions {
    std::vector<std::string> target = {};    // a column; several numeric ones under mse
    std::vector<std::string> features = {};  // empty: all that are not target, weights or dropped
    std::vector<std::string> drop = {};
    std::string sample_weights = {};  // a column of weights, used in training; a score counts each row once
    std::vector<Layer> layers = {};   // complete; empty: hidden layers and an output layer
    std::vector<std::int64_t> hidden = {64, 64};
    LayerKind activation = LayerKind::relu;  // after each hidden layer
    std::optional<LossKind> loss = {};       // not given: softmax for a text target, mse for numbers
    Scale scale = Scale::standard;
    Missing missing = Missing::error;
    Unknown unknown = Unknown::error;
    std::optional<std::int64_t> tokens = {};  // the vocabulary's size: every feature is a token
    double hold_out = 0;                      // share of the rows kept for validation, 0 for none:
    // floor(share·rows) rows, drawn with Random(seed + 1); under softmax as many of each class as its
    // share says, the remainders to the largest, and never a class's last row.
    double seed = 1;
    std::string backend = {};
    int threads = 0;
    std::string adapter = {};

    // Called with the trained model before it is scored: one that is saved here is not lost when scoring fails.
    std::function<void(const Model&)> on_trained = {};
};

// How answers compare with the truth.
struct Score {
    static constexpr std::size_t most_confusion_classes = 4096;

    std::size_t samples = 0;
    double loss = 0;  // mean, in scaled units; each row counts once, also where training weighted it

    std::optional<double> accuracy;                   // softmax
    std::vector<std::vector<std::size_t>> confusion;  // softmax: [true][predicted]; empty past so many classes
    std::optional<double> rmse, r2;  // mse, in the targets' own units, over all targets; no r2 where they are constant

    // Rows of the table without an answer, as Answers::not_finite: wrong under softmax, and in no column of
    // the confusion matrix.
    std::vector<std::size_t> not_finite;
};

// Answers, one a row. A row with a missing value has none where the model drops such rows, and none
// has one for which the network gives a number that is not finite.
struct Answers {
    std::vector<std::string> names;                   // "prediction", or the targets' names under mse
    std::vector<std::optional<std::size_t>> classes;  // softmax: index into Model::classes()
    std::vector<double> probabilities;                // softmax: rows × classes, NaN where there is no answer
    std::vector<double> values;                       // mse: rows × targets, NaN where there is none
    std::vector<std::size_t> not_finite;              // rows (from 0) whose values overflow inside the network
};

struct ColumnSummary {  // a feature, as the model takes it
    std::string name;
    ColumnKind kind = ColumnKind::numeric;
    std::vector<std::string> values;  // text: one one-hot column each, sorted by code point
    double mean = 0, sd = 1;          // numeric, standard: of the training rows
    double min = 0, max = 1;          // numeric, minmax
    std::optional<double> fill;       // numeric, missing = mean
    std::string fill_value;           // text, missing = mean
};

struct Trained;

class Model {
public:
    // Trains on a table. validate: held-out rows of their own (not with hold_out).
    // train.validate is set from them.
    static Trained train(const Table& table, const ModelOptions& options, TrainOptions train = {},
                         const Table* validate = nullptr);

    static Model load(const std::string& file, const std::string& backend = "", int threads = 0,
                      const std::string& adapter = "");
    void save(const std::string& file) const;  // whole or not at all; earlier file intact on error

    Answers predict(const Table& table) const;  // needs every feature column, by name
    Score evaluate(const Table& table) const;   // needs the target too

    // Columns of a table that must be read as categories for this model (ReadOptions::categorical):
    // its text features. The target, which a table may lack, is understood however it was read.
    std::vector<std::string> categorical() const;

    const Network& network() const;
    const std::vector<ColumnSummary>& features() const;
    const std::vector<std::string>& targets() const;  // column names
    const std::vector<std::string>& classes() const;  // empty under mse
    const std::vector<Epoch>& history() const;
    Stopped stopped() const;
    std::string description() const;  // the JSON text that the file holds

    ~Model();
    Model(Model&&) noexcept;
    Model& operator=(Model&&) noexcept;

    struct Impl;

private:
    explicit Model(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

struct Trained {
    Model model;
    TrainResult result;
    Score training;                   // on the training rows, at the end
    std::optional<Score> validation;  // on the held-out ones
    double baseline = 0;              // accuracy of the most frequent class, or rmse of the mean, of the
                                      // training rows, on the rows that are scored (held-out if there are any)
    std::size_t dropped = 0;          // rows left out for missing values
    std::vector<std::string> warnings;
};

}  // namespace shunt
