// What every command that reads a table shares: its options, and how the table is told in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "print.hpp"
#include "shunt/data.hpp"

namespace shunt::cli {

struct Reading {
    bool header = false, no_header = false;
    std::string labels;
    std::string features, target;  // arrays of an .npz
};

void add_header_options(CommandLine& line, Reading& reading);
void add_labels_option(CommandLine& line, Reading& reading);

void add_array_options(CommandLine& line, Reading& reading);

// Whether a file's bytes are those of an .npz, a zip file. Else names of arrays are refused.
bool is_npz(const std::string& bytes, const std::string& source, const Reading& reading);

// read_table, that refuses names of arrays where there are none.
Table read_data(const std::string& file, const Reading& reading, const ReadOptions& options);

// Refuses --header with --no-header, and --labels with --target.
ReadOptions read_options(const CommandLine& line, const Reading& reading, std::vector<std::string> categorical = {});

// A warning where it is in doubt what a table's first row is.
void warn_of_header(const Table& table);

// A warning where a table has rows without an answer, for Answers::not_finite and Score::not_finite.
// also: of what follows for them, " They count as wrong."
void warn_of_no_answers(const Table& table, const std::vector<std::size_t>& rows, const std::string& also = "");

// Whether both are names of one file.
bool same_file(const std::string& a, const std::string& b);

// Whether writing there would replace what is read: the file `input`, or for "-" the one on stdin.
bool is_read(const std::string& written, const std::string& input);

// A text column's values with how many rows have each; in the column's order.
std::vector<std::size_t> value_counts(const Column& column);

// "3 values: setosa 50, versicolor 50, virginica 50", at most `shown` of them.
std::string values_in_words(const Column& column, std::size_t shown);

}  // namespace shunt::cli
