// shunt train: read, train, write, tell.
#include <cmath>
#include <new>
#include <set>
#include <stop_token>

#include "commands.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "shunt/file.hpp"
#include "summary.hpp"
#include "train_options.hpp"

namespace shunt::cli {
namespace {

constexpr const char* nothing_written = "No -o MODEL: the model will not be written.\n";

// The held-out rows are understood as the training rows were: columns by name, numbers as
// categories where they were read so.
std::optional<Table> read_validation(const TrainCommand& c, const Table& table) {
    if (c.validate.empty()) return std::nullopt;
    ReadOptions options = train_reading(c);
    for (std::string& column : options.categorical) column = table.column(column).name;
    options.labels = c.validate_labels;
    return read_table(c.validate, options);
}

// Whole numbers of which there are few: perhaps the user does not know that numbers mean mse.
bool looks_like_classes(const Column& column) {
    std::set<double> different;
    for (const double x : column.numbers) {
        if (x != std::floor(x) || different.size() > 10) return false;
        different.insert(x);
    }
    return !different.empty() && different.size() <= 10;
}

// "iris.csv: 150 rows, 4 features, target species (3 classes: setosa 50, versicolor 50, virginica 50)"
std::string table_in_words(const TrainCommand& c, const Table& table) {
    const ModelOptions& m = c.model;
    std::set<std::size_t> others;
    for (const auto* columns : {&m.target, &m.drop}) {
        for (const std::string& column : *columns) others.insert(table.find(column));
    }
    if (!m.sample_weights.empty()) others.insert(table.find(m.sample_weights));
    const std::size_t features = m.features.empty() ? table.columns.size() - others.size() : m.features.size();
    std::vector<std::string> names;
    for (const std::string& target : m.target) names.push_back(one_line(table.column(target).name));
    std::string out = one_line(table.source) + ": " + counted(table.rows, "row", "rows") + ", " +
                      counted(features, "feature", "features") + ", target " + joined(names);
    const Column& target = table.column(m.target.front());
    if (target.kind == ColumnKind::text)
        out += " (" + counted(target.values.size(), "class", "classes") + ": " + values_in_words(target, 8) + ")";
    if (looks_like_classes(target) && !c.model.loss)
        out += " (numbers, but few different ones: --loss softmax takes them as classes)";
    return out + "\n";
}

std::string opening(const TrainCommand& c, const Table& table) {
    return (c.output.empty() ? nothing_written : "") + table_in_words(c, table);
}

std::size_t rows_trained(const TrainCommand& c, const Table& table) {
    return table.rows - static_cast<std::size_t>(c.model.hold_out * static_cast<double>(table.rows));
}

// Then there is no result: a model that has learned next to nothing is not to replace an earlier one.
bool before_the_first_epoch(const Model& model) {
    return model.stopped() == Stopped::interrupted && model.history().empty();
}

void write_results(const TrainCommand& c, const Model& model) {
    if (before_the_first_epoch(model)) return;
    if (!c.output.empty()) model.save(c.output);
    if (c.history.empty()) return;
    OutputFile file(c.history);
    file.write(history_csv(model.history()));
    file.commit();
}

// Of a model that was trained for an epoch or more: "the model is in m, the history in h.csv"
std::string where_results_are(const TrainCommand& c, const std::string& model = "the model") {
    if (c.output.empty() && c.history.empty()) return "nothing was written";
    if (c.output.empty()) return "the history is in " + c.history + ", and no model was written";
    return model + " is in " + c.output + (c.history.empty() ? "" : ", the history in " + c.history);
}

// What an interrupt says that ends the scoring.
std::string last_words(const TrainCommand& c, const Model& model) {
    if (before_the_first_epoch(model)) return "interrupted before the first epoch ended; nothing was written.";
    return "interrupted while the trained model was scored; " + where_results_are(c) + ".";
}

Error scoring_failed(const TrainCommand& c, const std::exception& why) {
    const auto* error = dynamic_cast<const Error*>(&why);
    const bool memory = dynamic_cast<const std::bad_alloc*>(&why) != nullptr;
    return {error != nullptr ? error->fault() : Fault::out_of_memory,
            "scoring the trained model failed; " + where_results_are(c) + ": " +
                (memory ? "there is not enough memory." : why.what())};
}

// Trains with progress on standard error, and writes the results before the model is scored. Ctrl-C ends the
// training after the step under way, and the scoring at once.
Trained train_shown(TrainCommand& c, const Table& table, const Table* validate, Interrupt& interrupt) {
    Progress progress(opening(c, table), c.train.epochs, rows_trained(c, table), c.quiet);
    std::stop_source stop;
    c.train.stop = stop.get_token();
    c.train.on_step = [&](std::int64_t step, std::int64_t steps) {
        if (interrupt.asked()) stop.request_stop();
        progress.step(step, steps);
    };
    c.train.on_epoch = [&](const Epoch& epoch) {
        progress.epoch(epoch);
        return true;
    };
    bool scoring = false;
    c.model.on_trained = [&](const Model& model) {
        if (!model.history().empty()) progress.epoch(model.history().back());
        progress.close();
        interrupt.ignore();
        write_results(c, model);
        interrupt.end_at_once("shunt: " + one_line(last_words(c, model)) + "\n");
        scoring = true;
    };
    try {
        return Model::train(table, c.model, c.train, validate);
    } catch (const std::exception& why) {
        if (!scoring) throw;
        throw scoring_failed(c, why);
    }
}

int end(const TrainCommand& c, const Table& table, const Table& validate, const Trained& trained,
        const Interrupt& interrupt) {
    const bool interrupted = trained.result.stopped == Stopped::interrupted;
    const bool no_result = before_the_first_epoch(trained.model);
    if (!c.quiet) {
        for (const std::string& warning : trained.warnings) note("warning: " + one_line(warning) + "\n");
        warn_of_no_answers(table, trained.training.not_finite);
        if (trained.validation) warn_of_no_answers(validate, trained.validation->not_finite);
        for (const std::string& what : trained.result.notes) note("shunt: note: " + one_line(what) + "\n");
    }
    if (c.json) {
        print(to_json_text(as_json(trained)));
        if (c.output.empty() && !c.quiet) note("No model was written: -o MODEL writes it.\n");
    } else if (!c.quiet && !no_result) {
        print(in_words(c, trained));
    }
    if (!interrupted) return 0;
    if (no_result) {
        note("shunt: " + last_words(c, trained.model) + "\n");
        return interrupt.status();
    }
    note("shunt: interrupted after " + counted(trained.result.history.size(), "epoch", "epochs") + "; " +
         one_line(where_results_are(c, "the model so far")) + ".\n");
    return interrupt.status();
}

}  // namespace

int train(Arguments arguments) {
    std::optional<TrainCommand> c = parse_train(arguments);
    if (!c) return 0;
    // Hours of work are not to end in a place that cannot be written.
    for (const std::string* place : {&c->output, &c->history}) {
        if (!place->empty()) check_writable(*place);
    }
    const Table table = read_table(c->data, train_reading(*c));
    const std::optional<Table> validate = read_validation(*c, table);
    // Of an .npz, --features has named the array: all its columns are features.
    if (c->data.ends_with(".npz") && c->model.features.size() == 1) c->model.features.clear();

    Interrupt interrupt;
    const Trained trained = train_shown(*c, table, validate ? &*validate : nullptr, interrupt);
    interrupt.ignore();
    return end(*c, table, validate ? *validate : table, trained, interrupt);
}

}  // namespace shunt::cli
