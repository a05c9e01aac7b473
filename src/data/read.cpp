// A file's bytes, and which reader they go to.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>

#include "core/text.hpp"
#include "data/formats.hpp"
#include "data/text.hpp"

namespace shunt {

namespace data {

namespace {

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void refuse(const std::string& file, int error) {
    throw Error(Fault::bad_file, file + " cannot be read: " + std::strerror(error) + ".");
}

std::string read_stream(std::FILE* stream, const std::string& name, std::size_t expected) {
    std::string bytes;
    std::size_t n = 0;
    // One more than expected: the read that finds the end then needs no further room.
    for (bytes.resize(expected + 1);; bytes.resize(2 * bytes.size())) {
        errno = 0;
        n += std::fread(bytes.data() + n, 1, bytes.size() - n, stream);
        if (std::ferror(stream)) refuse(name, errno);
        if (n < bytes.size()) break;
    }
    bytes.resize(n);
    return bytes;
}

std::string bytes_of(const std::string& file) {
    if (file == "-") return read_stream(stdin, "stdin", 1 << 16);
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) refuse(file, EISDIR);
    const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "rb"));
    if (!stream) refuse(file, errno);
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    return read_stream(stream.get(), file, error ? 1 << 16 : size);
}

bool names_idx(std::string_view source) {
    if (source.ends_with(".gz")) source.remove_suffix(3);
    return source.ends_with("ubyte") || source.ends_with(".idx");
}

// Formats that people have and that are not read. Their first bytes alone could begin a CSV.
void refuse_other_formats(std::string_view bytes, const std::string& source) {
    struct Format {
        std::string_view name, begin, end;
    };
    using namespace std::string_view_literals;
    constexpr std::array formats = {
        Format{"a Parquet file", "PAR1", "PAR1"},
        Format{"an Arrow file", "ARROW1\0\0"sv, ""},
        Format{"an HDF5 file", "\x89HDF\r\n\x1a\n", ""},
        Format{"packed with xz",
               "\xfd"
               "7zXZ\0"sv,
               ""},
        Format{"packed with zstd", "\x28\xb5\x2f\xfd", ""},
        Format{"packed with bzip2", "BZh91AY&SY", ""},
        Format{"an old Excel file", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ""},
    };
    for (const Format& format : formats) {
        if (!bytes.starts_with(format.begin) || !bytes.ends_with(format.end)) continue;
        throw Error(Fault::unsupported, source + " is " + std::string(format.name) +
                                            ", which this version does not read; save it as CSV, .npy or .npz.");
    }
}

void refuse_other_names(const std::string& source) {
    struct Claim {
        std::string_view extension, format;
    };
    for (const Claim& claim : {Claim{".npy", ".npy"}, Claim{".npz", ".npz"}, Claim{".gz", "gzip"}}) {
        if (!source.ends_with(claim.extension)) continue;
        throw Error(Fault::bad_file,
                    source + " is no " + std::string(claim.format) + " file: it does not begin as one.");
    }
}

Array read_labels(const std::string& file) {
    std::string bytes = bytes_of(file);
    if (is_gzip(bytes)) bytes = gunzip(bytes, file);
    if (is_npy(bytes)) return parse_npy(std::move(bytes), file);
    if (is_idx(bytes)) return parse_idx(std::move(bytes), file);
    throw Error(Fault::bad_file, file + " is neither a .npy nor an IDX file, and labels are read from those.");
}

void add_labels(Table& table, const std::string& file) {
    const Array labels = read_labels(file);
    if (labels.rows() != table.rows) {
        throw Error(Fault::bad_data, table.source + " has " + counted(table.rows, "row") + ", and " + file + " has " +
                                         counted(labels.rows(), "label") + ".");
    }
    for (const Column& column : table.columns) {
        if (column.name != "label") continue;
        throw Error(Fault::bad_data, table.source + " has a column \"label\" already; the labels of " + file +
                                         " would be a second one.");
    }
    table.columns.push_back(label_column(labels));
}

Table table_of(const Array& array, const std::string& source) {
    Table table;
    table.source = source;
    add_columns(table, array);
    return table;
}

// Before labels and categories: the format is known by its first bytes, else it is CSV. The extension of
// `source` only decides what to say about bytes that do not match it.
Table plain_table(std::string bytes, const std::string& source, const ReadOptions& options) {
    const bool gzip = is_gzip(bytes);
    if (gzip) bytes = gunzip(bytes, source);
    if (bytes.empty()) throw Error(Fault::bad_data, source + " is empty.");
    if (is_npy(bytes)) return table_of(parse_npy(std::move(bytes), source), source);
    if (is_zip(bytes)) return parse_npz(bytes, source, options);
    if (is_idx(bytes) || names_idx(source)) return table_of(parse_idx(std::move(bytes), source), source);
    refuse_other_formats(bytes, source);
    if (!gzip) refuse_other_names(source);
    return read_csv(std::move(bytes), source, options);
}

std::string name_of(const std::string& file) {
    return file == "-" ? "stdin" : file;
}

template <typename Work>
auto within_memory(const std::string& source, const Work& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        throw Error(Fault::out_of_memory, source + " is too large for this machine's memory.");
    } catch (const std::length_error&) {
        throw Error(Fault::out_of_memory, source + " is too large for this machine's memory.");
    }
}

}  // namespace

}  // namespace data

std::string read_bytes(const std::string& file) {
    return data::within_memory(data::name_of(file), [&] { return data::bytes_of(file); });
}

Table parse_table(std::string bytes, const std::string& source, const ReadOptions& options) {
    return data::within_memory(source, [&] {
        Table table = data::plain_table(std::move(bytes), source, options);
        if (!options.labels.empty()) data::add_labels(table, options.labels);
        for (const std::string& name : options.categorical) data::make_categories(table.columns[table.find(name)]);
        return table;
    });
}

Table read_table(const std::string& file, const ReadOptions& options) {
    return parse_table(read_bytes(file), data::name_of(file), options);
}

}  // namespace shunt
