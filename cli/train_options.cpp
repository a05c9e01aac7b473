// The options of `shunt train`, in the groups that --help shows, and which of them go together.
#include "train_options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "model_options.hpp"

namespace shunt::cli {
namespace {

constexpr Range any = {"a finite number", [](double) { return true; }};
constexpr Range positive = {"a number above 0", [](double x) { return x > 0; }};
constexpr Range not_negative = {"a number of at least 0", [](double x) { return x >= 0; }};
constexpr Range share = {"a number above 0 and below 1", [](double x) { return x > 0 && x < 1; }};
constexpr Range below_one = {"a number of at least 0 and below 1", [](double x) { return x >= 0 && x < 1; }};

LayerKind parse_activation(const std::string& text) {
    constexpr LayerKind kinds[] = {LayerKind::relu, LayerKind::tanh, LayerKind::sigmoid};
    std::vector<std::string> names;
    for (const LayerKind kind : kinds) {
        names.push_back(to_string(Layer{kind}));
        if (names.back() == text) return kind;
    }
    throw Error(Fault::bad_argument,
                "There is no activation '" + text + "'. There are: " + joined(names) + "." + did_you_mean(text, names));
}

std::vector<std::int64_t> parse_hidden(const std::string& text) {
    std::vector<std::int64_t> sizes;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
        to = text.find(',', from);
        const std::string size = text.substr(from, to == std::string::npos ? to : to - from);
        std::int64_t n = 0;
        const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), n);
        if (error != std::errc() || end != size.data() + size.size() || n < 1)
            throw Error(Fault::bad_argument, "'" + size + "' is not a layer's size, a whole number of at least 1.");
        sizes.push_back(n);
    }
    return sizes;
}

void add_data(CommandLine& line, TrainCommand& c) {
    line.positional("DATA", c.data, "a table: CSV (also ; tab |), .npy, .npz, IDX, .gz; - reads CSV from stdin");
    line.group("What to learn");
    line.list("--target", c.model.target, "COLS", "column to predict, by name or number; several under mse");
    add_labels_option(line, c.reading);
    line.list("--features", c.model.features, "COLS", "columns to predict from (all the others)");
    line.list("--drop", c.model.drop, "COLS", "columns to leave out");
    line.text("--sample-weights", c.model.sample_weights, "COL", "column with each row's weight");
    line.list("--categorical", c.categorical, "COLS", "columns whose numbers are categories");
    line.parsed("--missing", c.model.missing, parse_missing, "HOW", "missing values: error, mean, drop (error)");
    line.parsed("--unknown", c.model.unknown, parse_unknown, "HOW", "text not seen in training: error, zero (error)");
    line.whole("--tokens", c.model.tokens, 1, "VOCAB", "features are tokens below VOCAB; the first layer is embed:D");
    add_header_options(line, c.reading);
}

void add_network(CommandLine& line, TrainCommand& c) {
    line.group("The network");
    line.parsed("--hidden", c.model.hidden, parse_hidden, "SIZES", "hidden layers; the output is added (64,64)");
    line.parsed("--activation", c.model.activation, parse_activation, "NAME", "after each: relu, tanh, sigmoid (relu)");
    line.parsed("--layers", c.model.layers, parse_layers, "LAYERS", "all of them instead: dense:64,relu,dense:3");
    line.parsed("--loss", c.model.loss, parse_loss, "NAME", "softmax, mse (softmax for text, mse for numbers)");
    line.parsed("--scale", c.model.scale, parse_scale, "HOW", "standard, minmax, none (standard)");
    line.real("--seed", c.model.seed, any, "N", "of the weights and the shuffles (1)");
}

void add_training(CommandLine& line, TrainCommand& c) {
    line.group("Training");
    line.whole("--epochs", c.train.epochs, 1, "N", "how often each row is seen (50)");
    line.whole("--batch", c.train.batch, 1, "N", "rows per update (16)");
    line.parsed("--optimizer", c.train.optimizer, parse_optimizer, "NAME", "adam, sgd (adam)");
    line.real("--lr", c.train.lr, positive, "RATE", "learning rate (adam 0.005, sgd 0.1)");
    line.real("--momentum", c.train.momentum, below_one, "X", "of sgd (0.9)");
    line.real("--weight-decay", c.train.weight_decay, not_negative, "X",
              "shrinks weights by rate times X an update (0)");
    line.real("--lr-decay", c.train.lr_decay, positive, "X", "rate times X after each epoch (1)");
    line.whole("--patience", c.train.patience, 0, "N",
               "stop after N epochs without improvement, keep the best weights");
    line.real("--min-delta", c.train.min_delta, not_negative, "X", "improvement means by more than X (0)");
    line.real("--target-loss", c.train.target_loss, any, "X", "stop when an epoch's loss is at most X");
    add_backend_options(line, c.model.backend, c.model.threads, c.model.adapter);
}

void add_results(CommandLine& line, TrainCommand& c) {
    line.group("How good it is");
    line.real("--hold-out", c.model.hold_out, share, "SHARE", "keep this share of the rows for validation: 0.2");
    line.text("--validate", c.validate, "FILE", "validate on the rows of this file");
    line.text("--validate-labels", c.validate_labels, "FILE", "the target for --validate (.npy, IDX)");
    line.group("Results");
    line.text("-o,--output", c.output, "MODEL", "write the model here; without it no model is written");
    line.text("--history", c.history, "FILE.csv", "write each epoch's losses here");
    line.flag("--json", c.json, "print one JSON document");
    line.flag("--quiet", c.quiet, "print errors only, and what --json asks for");
}

bool softmax(const TrainCommand& c) {
    return c.model.loss == LossKind::softmax;
}

void check_target(const CommandLine& line, TrainCommand& c) {
    if (c.data.empty()) line.refuse_usage("train needs DATA, a table.");
    if (!c.reading.labels.empty()) {
        if (!c.model.target.empty() && c.model.target != std::vector<std::string>{"label"})
            line.refuse_usage("--labels gives the target; --target is not needed with it.");
        c.model.target = {"label"};
    }
    if (c.model.target.empty()) line.refuse_usage("train needs --target COL, the column to predict.");
    if (softmax(c) && c.model.target.size() > 1)
        line.refuse_usage("--loss softmax takes one target, not " + std::to_string(c.model.target.size()) + ".");
}

void check_together(const CommandLine& line, const TrainCommand& c) {
    if (line.given("--layers") && (line.given("--hidden") || line.given("--activation")))
        line.refuse_usage("--layers is the whole network; it excludes --hidden and --activation.");
    if (!c.validate.empty() && line.given("--hold-out"))
        line.refuse_usage("--validate and --hold-out exclude each other.");
    if (c.validate.empty() && !c.validate_labels.empty()) line.refuse_usage("--validate-labels needs --validate.");
    if (!c.validate.empty() && c.reading.labels.empty() != c.validate_labels.empty())
        line.refuse_usage("--labels and --validate-labels go together where there is --validate.");
    if (line.given("--momentum") && c.train.optimizer != OptimizerKind::sgd)
        line.refuse_usage("--momentum belongs to --optimizer sgd.");
    check_backend(line, c.model.backend);
    if (line.given("--min-delta") && !c.train.patience) line.refuse_usage("--min-delta needs --patience.");
}

// Results never replace what they are made from.
void check_places(const CommandLine& line, const TrainCommand& c) {
    for (const std::string* written : {&c.output, &c.history}) {
        for (const std::string* read : {&c.data, &c.reading.labels, &c.validate, &c.validate_labels}) {
            if (is_read(*written, *read))
                line.refuse_usage("'" + *written + "' is read; it cannot be written as well.");
        }
    }
    if (same_file(c.output, c.history)) line.refuse_usage("-o and --history are the same file, '" + c.output + "'.");
}

}  // namespace

std::optional<TrainCommand> parse_train(Arguments arguments) {
    TrainCommand c;
    c.train.epochs = 50;
    CommandLine line("train", "DATA --target COL [options]",
                     "Trains a network on a table and says how good it is. (Defaults are in brackets.)");
    add_data(line, c);
    add_network(line, c);
    add_training(line, c);
    add_results(line, c);
    line.example("shunt train iris.csv --target species --hold-out 0.2 --patience 10 -o iris.safetensors");
    if (!line.parse(arguments)) return std::nullopt;
    check_target(line, c);
    check_together(line, c);
    check_places(line, c);
    read_options(line, c.reading);
    return c;
}

ReadOptions train_reading(const TrainCommand& c) {
    ReadOptions options;
    if (c.reading.header || c.reading.no_header) options.header = c.reading.header;
    options.labels = c.reading.labels;
    options.categorical = c.categorical;
    // Classes of numbers are named by the text of their first row, so they are read as text.
    if (softmax(c)) options.categorical.insert(options.categorical.end(), c.model.target.begin(), c.model.target.end());
    // Of an .npz, these are names of arrays.
    if (c.reading.labels.empty() && c.model.target.size() == 1) options.target = c.model.target.front();
    if (c.model.features.size() == 1) options.features = c.model.features.front();
    return options;
}

}  // namespace shunt::cli
