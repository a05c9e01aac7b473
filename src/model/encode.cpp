// Rows of a table as the inputs of a network.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/text.hpp"
#include "model/features.hpp"

namespace shunt {

namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

// A feature tied to a column of one table: everything that is looked up by name was looked up.
struct Encoder {
    const Column* column = nullptr;
    std::size_t first = 0;  // input
    Scaling scaling;
    double fill = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::uint32_t> inputs;  // text: of each code, from `first` on; or nowhere
    std::uint32_t fill_input = nowhere;
    bool is_text = false;
    bool is_empty = false;  // no cell has a value, so that its kind does not matter
};

Encoder make_encoder(const Features& features, const ColumnSummary& summary, const Column& column, std::size_t first) {
    Encoder encoder;
    encoder.column = &column;
    encoder.first = first;
    encoder.scaling = scaling_of(summary, features.scale);
    encoder.is_text = summary.kind == ColumnKind::text;
    encoder.is_empty = column.kind != summary.kind;
    encoder.fill = summary.fill.value_or(encoder.fill);
    if (!encoder.is_text) return encoder;
    std::unordered_map<std::string_view, std::uint32_t> input_of;
    for (std::uint32_t i = 0; i < summary.values.size(); ++i) input_of[summary.values[i]] = i;
    const auto find = [&](const std::string& value) {
        const auto found = input_of.find(value);
        return found == input_of.end() ? nowhere : found->second;
    };
    for (const auto& value : column.values) encoder.inputs.push_back(find(value));
    if (features.missing == Missing::mean) encoder.fill_input = find(summary.fill_value);
    return encoder;
}

[[noreturn]] void refuse(const Table& table, std::size_t row, const Column& column, const std::string& because) {
    throw Error(Fault::bad_data, table.place(row) + ": column \"" + column.name + "\" " + because + ".");
}

void encode_text(const Features& features, const Table& table, const Encoder& encoder,
                 std::span<const std::size_t> rows, std::size_t width, double* out) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto code = encoder.is_empty ? Column::missing : encoder.column->codes[rows[i]];
        const auto input = code == Column::missing ? encoder.fill_input : encoder.inputs[code];
        if (input != nowhere) {
            out[i * width + encoder.first + input] = 1;
        } else if (code != Column::missing && features.unknown == Unknown::error) {
            refuse(table, rows[i], *encoder.column,
                   "has the value \"" + encoder.column->values[code] +
                       "\", which was not seen in training; a model trained with --unknown zero takes such values as "
                       "none of those seen");
        }
    }
}

void encode_numbers(const Table& table, const Encoder& encoder, std::span<const std::size_t> rows, std::size_t width,
                    double* out) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double x = encoder.is_empty ? encoder.fill : encoder.column->numbers[rows[i]];
        if (std::isnan(x)) x = encoder.fill;
        out[i * width + encoder.first] = encode_cell(encoder.scaling, x, table, rows[i], *encoder.column);
    }
}

void encode_tokens(const Table& table, std::span<const Column* const> columns, const Rows& rows, std::int64_t vocab,
                   std::vector<std::uint32_t>& tokens) {
    tokens.resize(rows.size() * columns.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const double x = columns[c]->numbers[rows[i]];
            if (!(x >= 0 && x < static_cast<double>(vocab) && x == std::floor(x))) {
                refuse(table, rows[i], *columns[c],
                       "has the value " + to_text(x) + "; a token is a whole number from 0 to " +
                           std::to_string(vocab - 1));
            }
            tokens[i * columns.size() + c] = static_cast<std::uint32_t>(x);
        }
    }
}

}  // namespace

void encode_features(const Features& features, const Table& table, std::span<const Column* const> columns,
                     const Rows& rows, Samples& samples) {
    samples.n = rows.size();
    if (features.vocab) {
        encode_tokens(table, columns, rows, *features.vocab, samples.tokens);
        return;
    }
    std::vector<Encoder> encoders;
    std::size_t width = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto& summary = features.columns[c];
        encoders.push_back(make_encoder(features, summary, *columns[c], width));
        width += summary.kind == ColumnKind::text ? summary.values.size() : 1;
    }
    samples.inputs.resize(rows.size() * width);
    // Columns become rows: in blocks that stay in the cache while every column writes into them.
    constexpr std::size_t block = 32;
    for (std::size_t begin = 0; begin < rows.size(); begin += block) {
        const auto part = std::span(rows).subspan(begin, std::min(block, rows.size() - begin));
        double* out = samples.inputs.data() + begin * width;
        for (const auto& encoder : encoders) {
            if (encoder.is_text) {
                encode_text(features, table, encoder, part, width, out);
            } else {
                encode_numbers(table, encoder, part, width, out);
            }
        }
    }
}

}  // namespace shunt
