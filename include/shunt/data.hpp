// Tables: what is read from CSV, IDX, .npy and .npz files, before anything is made of it.
//
// read_table is in the library shunt::data; the structs need no library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shunt/error.hpp"

namespace shunt {

enum class ColumnKind { numeric, text };

struct Column {
    static constexpr std::uint32_t missing = 0xffffffff;

    std::string name;
    ColumnKind kind = ColumnKind::numeric;
    std::vector<double> numbers;       // numeric: one a row, NaN where missing
    std::vector<std::uint32_t> codes;  // text: index into values, or `missing`
    std::vector<std::string> values;   // text: the distinct cells, in order of first appearance

    // A text column of numbers and words mixed: the sentence that refuses it (file:line, column and
    // the first cell of the smaller kind, and the way out). Empty for a sound column and for one
    // that was asked for as categories. Whoever uses the column throws it; one that nobody uses
    // does no harm.
    std::string mixture;

    std::size_t n_missing() const;
};

struct Table {
    std::string source;  // the file's name, for messages
    std::vector<Column> columns;
    std::size_t rows = 0;

    // CSV: the physical line of each row, from 1. Arrays: empty; a row is then named by its number.
    std::vector<std::uint64_t> lines;

    // CSV: a sentence where nobody said whether row 1 is the header, and the guess may well be wrong.
    std::string header_doubt;

    // "people.csv:17" or "digits.npy, row 17": where a row (from 0) stands.
    std::string place(std::size_t row) const;

    // By name, or by 1-based number where no column has that name. bad_argument, listing the
    // columns, for one that is not there.
    std::size_t find(const std::string& name_or_number) const;
    const Column& column(const std::string& name_or_number) const { return columns[find(name_or_number)]; }
};

struct ReadOptions {
    std::optional<bool> header = {};            // CSV; not given: row 1 is one unless all its cells are numbers
    std::vector<std::string> categorical = {};  // columns (name or 1-based number) whose numbers are categories
    std::string labels = {};                    // a .npy or IDX file that adds one column, named "label"
    std::string target = {};                    // .npz: the array that is the target, …
    std::string features = {};                  // … and the input; not given: the other one
};

// CSV, TSV (`,` `;` tab or `|`, found by itself), IDX, .npy, .npz; "-" is stdin; .gz of CSV
// and IDX. Every error names file, line and column.
Table read_table(const std::string& file, const ReadOptions& options = {});

// read_table in two: the bytes of a file, of stdin for "-", and what any of the formats makes of them.
// `source` is the name used in messages.
std::string read_bytes(const std::string& file);
Table parse_table(std::string bytes, const std::string& source, const ReadOptions& options = {});

// CSV alone, not packed.
Table read_csv(std::string text, const std::string& source, const ReadOptions& options = {});

}  // namespace shunt
