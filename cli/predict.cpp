// shunt predict: a table's rows answered, as CSV.
#include <algorithm>
#include <cmath>
#include <utility>

#include "commands.hpp"
#include "model_options.hpp"
#include "print.hpp"
#include "shunt/file.hpp"
#include "shunt/model.hpp"

namespace shunt::cli {
namespace {

using Cells = std::vector<std::string>;

// A kept column shows what the file says, 007 and not 7: its cells, read as text.
Cells cells(const Column& column, std::size_t rows) {
    Cells out(rows);
    for (std::size_t row = 0; row < rows; row++) {
        if (column.kind == ColumnKind::numeric) {
            if (!std::isnan(column.numbers[row])) out[row] = to_text(column.numbers[row]);
        } else if (column.codes[row] != Column::missing) {
            out[row] = csv_cell(column.values[column.codes[row]]);
        }
    }
    return out;
}

struct Input {
    Table table;              // for the model
    std::vector<Cells> kept;  // of the columns to keep, in their order
    Cells kept_names;
};

bool is_feature(const Model& model, const std::string& name) {
    return std::any_of(model.features().begin(), model.features().end(),
                       [&](const ColumnSummary& feature) { return feature.name == name; });
}

// An .npz has the target beside the input, or the input alone.
Table parse(std::string bytes, const std::string& source, ReadOptions options, const Reading& reading) {
    if (!is_npz(bytes, source, reading) || !reading.target.empty())
        return parse_table(std::move(bytes), source, options);
    try {
        return parse_table(bytes, source, options);
    } catch (const Error& error) {
        if (error.fault() != Fault::bad_argument) throw;
    }
    options.target.clear();
    return parse_table(std::move(bytes), source, options);
}

// The table is parsed twice where numbers are kept: once for the model, once as text. What comes from
// stdin can be read only once.
Input read_input(const CommandLine& line, const ModelCommand& c, const Model& model, const Cells& keep) {
    ReadOptions options = reading_for(line, c, model);
    std::erase_if(options.categorical, [&](const std::string& name) { return !is_feature(model, name); });
    const std::string name = c.data == "-" ? "stdin" : c.data;
    std::string bytes = read_bytes(c.data);
    Input in{parse(keep.empty() ? std::move(bytes) : bytes, name, options, c.reading), {}, {}};
    bool numbers = false;
    for (const std::string& wanted : keep) {
        const Column& column = in.table.column(wanted);
        in.kept_names.push_back(csv_cell(column.name));
        numbers = numbers || column.kind == ColumnKind::numeric;
        options.categorical.push_back(column.name);
    }
    const std::optional<Table> as_text =
        numbers ? std::optional<Table>(parse(std::move(bytes), name, options, c.reading)) : std::nullopt;
    const Table& source = as_text ? *as_text : in.table;
    for (const std::string& wanted : keep)
        in.kept.push_back(cells(source.column(in.table.column(wanted).name), source.rows));
    return in;
}

std::string header(const Model& model, const Answers& answers, const Input& in, bool probabilities) {
    Cells names = in.kept_names;
    for (const std::string& name : answers.names) names.push_back(csv_cell(name));
    if (probabilities) {
        for (const std::string& name : model.classes()) names.push_back(csv_cell("p_" + name));
    }
    return joined(names, ",") + "\n";
}

void add_class(std::string& out, const Model& model, const Answers& answers, std::size_t row, bool probabilities) {
    const std::size_t n = model.classes().size();
    const std::optional<std::size_t> answer = answers.classes[row];
    if (answer) out += csv_cell(model.classes()[*answer]);
    for (std::size_t i = 0; probabilities && i < n; i++) {
        out += ",";
        if (answer) out += to_text(answers.probabilities[row * n + i]);
    }
}

void add_values(std::string& out, const Answers& answers, std::size_t row) {
    const std::size_t n = answers.names.size();
    for (std::size_t i = 0; i < n; i++) {
        const double value = answers.values[row * n + i];
        if (i > 0) out += ",";
        if (!std::isnan(value)) out += to_text(value);
    }
}

std::string as_csv(const Model& model, const Answers& answers, const Input& in, bool probabilities) {
    std::string out = header(model, answers, in, probabilities);
    for (std::size_t row = 0; row < in.table.rows; row++) {
        for (const Cells& column : in.kept) out += column[row] + ",";
        if (model.classes().empty()) {
            add_values(out, answers, row);
        } else {
            add_class(out, model, answers, row, probabilities);
        }
        out += "\n";
    }
    return out;
}

}  // namespace

int predict(Arguments arguments) {
    ModelCommand c;
    std::string output;
    bool probabilities = false;
    Cells keep;
    CommandLine line("predict", "MODEL DATA [options]", "Answers each row of a table, in order, as CSV.");
    add_model_and_data(line, c);
    line.group("Options");
    line.flag("--probabilities", probabilities, "a column p_CLASS for each class as well");
    line.list("--keep", keep, "COLS", "columns of DATA to copy in front");
    line.text("-o,--output", output, "FILE", "write here (standard output)");
    add_model_options(line, c);
    line.example("shunt predict iris.safetensors new.csv --probabilities --keep id -o answers.csv");
    if (!line.parse(arguments)) return 0;
    check(line, c);

    for (const std::string* read : {&c.model, &c.data, &c.reading.labels}) {
        if (is_read(output, *read)) line.refuse_usage("'" + output + "' is read; it cannot be written as well.");
    }
    if (!output.empty()) check_writable(output);
    const Model model = load_model(c);
    if (probabilities && model.classes().empty())
        throw Error(Fault::bad_argument, c.model + " predicts numbers: there are no --probabilities.");
    const Input in = read_input(line, c, model, keep);
    const Answers answers = model.predict(in.table);
    warn_of_header(in.table);
    warn_of_no_answers(in.table, answers.not_finite);
    const std::string csv = as_csv(model, answers, in, probabilities);
    if (output.empty()) {
        print(csv);
        return 0;
    }
    OutputFile file(output);
    file.write(csv);
    file.commit();
    return 0;
}

}  // namespace shunt::cli
