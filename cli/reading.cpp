// Options and words about tables.
#include "reading.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace shunt::cli {
namespace {

namespace fs = std::filesystem;

// What is written to a name goes to the end of its links, also where nothing is there.
fs::path behind_links(const std::string& name) {
    std::error_code none;
    fs::path path = fs::absolute(name, none);
    for (int links = 0; links < 40 && fs::is_symlink(path, none); links++)
        path = path.parent_path() / fs::read_symlink(path, none);
    return path;
}

}  // namespace

void add_header_options(CommandLine& line, Reading& reading) {
    line.flag("--header", reading.header, "row 1 of DATA names the columns, even if it is all numbers");
    line.flag("--no-header", reading.no_header, "row 1 is data; the columns are c1, c2, ...");
}

void add_labels_option(CommandLine& line, Reading& reading) {
    line.text("--labels", reading.labels, "FILE", "the target in a file of its own (.npy, IDX)");
}

void add_array_options(CommandLine& line, Reading& reading) {
    line.text("--features", reading.features, "NAME", "of an .npz: the array that is the input");
    line.text("--target", reading.target, "NAME", "of an .npz: the array that is the target");
}

bool is_npz(const std::string& bytes, const std::string& source, const Reading& reading) {
    if (bytes.starts_with("PK")) return true;
    if (!reading.features.empty() || !reading.target.empty())
        throw Error(Fault::bad_argument,
                    "--features and --target name arrays of an .npz file, and " + source + " is none.");
    return false;
}

Table read_data(const std::string& file, const Reading& reading, const ReadOptions& options) {
    const std::string source = file == "-" ? "stdin" : file;
    std::string bytes = read_bytes(file);
    is_npz(bytes, source, reading);
    return parse_table(std::move(bytes), source, options);
}

ReadOptions read_options(const CommandLine& line, const Reading& reading, std::vector<std::string> categorical) {
    if (reading.header && reading.no_header) line.refuse_usage("--header and --no-header exclude each other.");
    if (!reading.labels.empty() && !reading.target.empty())
        line.refuse_usage("--labels gives the target; --target is not needed with it.");
    ReadOptions options;
    options.features = reading.features;
    options.target = reading.target;
    if (reading.header) options.header = true;
    if (reading.no_header) options.header = false;
    options.categorical = std::move(categorical);
    options.labels = reading.labels;
    return options;
}

void warn_of_header(const Table& table) {
    if (!table.header_doubt.empty()) note("warning: " + one_line(table.header_doubt) + "\n");
}

void warn_of_no_answers(const Table& table, const std::vector<std::size_t>& rows, const std::string& also) {
    if (rows.empty()) return;
    const std::string first = table.place(rows.front());
    const std::string which = rows.size() == 1
                                  ? first + " has no answer"
                                  : std::to_string(rows.size()) + " rows have no answer, the first is " + first;
    note("warning: " + one_line(which) +
         ": the network's outputs are not finite numbers. Values far beyond those of the training rows overflow inside "
         "it." +
         also + "\n");
}

std::vector<std::size_t> value_counts(const Column& column) {
    std::vector<std::size_t> counts(column.values.size());
    for (const std::uint32_t code : column.codes) {
        if (code != Column::missing) counts[code]++;
    }
    return counts;
}

std::string values_in_words(const Column& column, std::size_t shown) {
    const std::vector<std::size_t> counts = value_counts(column);
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
    std::vector<std::string> parts;
    for (const std::size_t i : order) {
        if (parts.size() == shown) break;
        parts.push_back(one_line(column.values[i]) + " " + std::to_string(counts[i]));
    }
    if (order.size() > shown) parts.push_back("...");
    return joined(parts);
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code none;
    if (a.empty() || b.empty()) return false;
    if (a == b || fs::equivalent(a, b, none)) return true;
    // Of what is not there yet, the folder is.
    const fs::path x = behind_links(a), y = behind_links(b);
    return x.filename() == y.filename() && fs::equivalent(x.parent_path(), y.parent_path(), none);
}

bool is_read(const std::string& written, const std::string& input) {
    std::error_code none;
    if (same_file(written, input)) return true;
    // A terminal or /dev/null may be both; of a file, what is still to be read would be gone.
    return input == "-" && fs::is_regular_file(written, none) && fs::equivalent(written, "/dev/stdin", none);
}

}  // namespace shunt::cli
