// .npz: a zip of .npy files, through libzip.
#include <zip.h>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "core/text.hpp"
#include "data/formats.hpp"
#include "data/text.hpp"

namespace shunt::data {

namespace {

// Deflate makes at most 1032 bytes of one: an entry that promises more lies about its size.
constexpr zip_uint64_t deflate_most = 1032;

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Entry = std::unique_ptr<zip_file_t, Discard>;

Archive open(const std::string& bytes, const std::string& source) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const buffer = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    Archive archive(buffer ? zip_open_from_source(buffer, ZIP_RDONLY, &error) : nullptr);
    const std::string why = archive ? "" : zip_error_strerror(&error);
    if (!archive && buffer) zip_source_free(buffer);
    zip_error_fini(&error);
    if (!archive) throw Error(Fault::bad_file, source + " is a damaged zip file (" + why + ").");
    return archive;
}

// The arrays of an archive by name, and the bytes of one of them.
class Arrays {
public:
    Arrays(const std::string& bytes, const std::string& source)
        : source_(source), size_(bytes.size()), archive_(open(bytes, source)) {
        const zip_int64_t n = zip_get_num_entries(archive_.get(), 0);
        for (zip_int64_t i = 0; i < n; ++i) {
            const char* const raw = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
            const std::string name = raw ? raw : "";
            if (name.size() <= 4 || !name.ends_with(".npy")) continue;
            check_utf8(name, source);
            names_.push_back(name.substr(0, name.size() - 4));
            indices_.push_back(static_cast<zip_uint64_t>(i));
        }
        if (!names_.empty()) return;
        throw Error(Fault::bad_file, source +
                                         " is a zip file without an array (.npy) in it. A spreadsheet is to be "
                                         "saved as CSV.");
    }

    const std::vector<std::string>& names() const { return names_; }

    std::string list() const {
        std::string text;
        for (const std::string& name : names_) text += (text.empty() ? "" : ", ") + name;
        return text;
    }

    // option: that names another one
    Array read(const std::string& name, const std::string& option) const {
        const auto at = std::find(names_.begin(), names_.end(), name);
        if (at == names_.end()) {
            throw Error(Fault::bad_argument, source_ + " has no array " + shown(name) + "; its arrays are " + list() +
                                                 ", and " + option + " names one of them.");
        }
        if (std::find(at + 1, names_.end(), name) != names_.end()) {
            throw Error(Fault::bad_file, source_ + " has two arrays named " + shown(name) + ".");
        }
        const std::string place = source_ + ", array " + shown(name);
        Array array = parse_npy(bytes_of(indices_[static_cast<std::size_t>(at - names_.begin())], place), place);
        return array;
    }

private:
    [[noreturn]] void refuse(const std::string& place, const std::string& why) const {
        throw Error(Fault::bad_file, place + " cannot be read (" + why + ").");
    }

    // What the entry says that it holds, if it can be true.
    std::size_t size_of(zip_uint64_t index, const std::string& place) const {
        zip_stat_t stat;
        if (zip_stat_index(archive_.get(), index, 0, &stat) != 0) refuse(place, zip_strerror(archive_.get()));
        constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
        if ((stat.valid & needed) != needed) refuse(place, "the zip file does not tell its size");
        if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
            throw Error(Fault::unsupported, place + " is packed by method " + std::to_string(stat.comp_method) +
                                                " of zip; what numpy writes is read: stored and deflated.");
        }
        if (stat.comp_size > size_) refuse(place, "the zip file is smaller than it says");
        // Not a product: it could overflow.
        const zip_uint64_t ratio = stat.comp_method == ZIP_CM_STORE ? 1 : deflate_most;
        if (stat.size / ratio > stat.comp_size) {
            refuse(place, std::to_string(stat.size) + " bytes cannot come from " + std::to_string(stat.comp_size));
        }
        return stat.size;
    }

    std::string bytes_of(zip_uint64_t index, const std::string& place) const {
        const std::size_t size = size_of(index, place);
        const Entry entry(zip_fopen_index(archive_.get(), index, 0));
        if (!entry) refuse(place, zip_strerror(archive_.get()));
        std::string bytes(size, '\0');
        std::size_t n = 0;
        while (n < size) {
            const zip_int64_t got = zip_fread(entry.get(), bytes.data() + n, size - n);
            if (got < 0) refuse(place, zip_file_strerror(entry.get()));
            if (got == 0)
                refuse(place, "it ends after " + std::to_string(n) + " of " + std::to_string(size) + " bytes");
            n += static_cast<std::size_t>(got);
        }
        // The checksum is looked at by the read that meets the end.
        char beyond;
        const zip_int64_t more = zip_fread(entry.get(), &beyond, 1);
        if (more < 0) refuse(place, zip_file_strerror(entry.get()));
        if (more > 0) refuse(place, "it is longer than the zip file says");
        return bytes;
    }

    const std::string& source_;
    std::size_t size_;
    Archive archive_;
    std::vector<std::string> names_;
    std::vector<zip_uint64_t> indices_;
};

// The input: the one asked for, or the only one that is not the target.
std::string pick_features(const Arrays& arrays, const std::string& source, const ReadOptions& options) {
    if (!options.features.empty()) return options.features;
    std::vector<std::string> others;
    std::copy_if(arrays.names().begin(), arrays.names().end(), std::back_inserter(others),
                 [&](const std::string& name) { return name != options.target; });
    if (others.size() == 1) return others[0];
    if (others.empty()) {
        throw Error(Fault::bad_argument, source + " has no array but the target " + shown(options.target) + ".");
    }
    const bool no_target = options.target.empty() && options.labels.empty();
    throw Error(Fault::bad_argument,
                source + " has the arrays " + arrays.list() + "; name the input with --features" +
                    (no_target ? ", and with --target the target, where it is to be read too." : "."));
}

// The input's columns are c1, c2, …, and the target could have such a name.
void check_names(const Table& table) {
    std::unordered_set<std::string_view> names;
    for (const Column& column : table.columns) {
        if (names.insert(column.name).second) continue;
        throw Error(Fault::bad_data, table.source + ": the input's columns are named c1, c2, …; the target cannot be " +
                                         shown(column.name) + ".");
    }
}

}  // namespace

bool is_zip(std::string_view bytes) {
    return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

Table parse_npz(const std::string& bytes, const std::string& source, const ReadOptions& options) {
    const Arrays arrays(bytes, source);
    Table table;
    table.source = source;
    const auto has = [&](const std::string& name) {
        return std::find(arrays.names().begin(), arrays.names().end(), name) != arrays.names().end();
    };
    if (!options.target.empty() && !has(options.target)) arrays.read(options.target, "--target");  // throws
    const std::string features_name = pick_features(arrays, source, options);
    if (features_name == options.target) {
        throw Error(Fault::bad_argument, source + ": array " + shown(options.target) + " is both input and target.");
    }
    const Array features = arrays.read(features_name, "--features");
    add_columns(table, features);
    if (options.target.empty()) return table;

    const Array target = arrays.read(options.target, "--target");
    if (target.rows() != features.rows()) {
        throw Error(Fault::bad_data, source + ": " + shown(features_name) + " has " + counted(features.rows(), "row") +
                                         ", " + shown(options.target) + " has " + std::to_string(target.rows()) + ".");
    }
    add_columns(table, target, options.target);
    check_names(table);
    return table;
}

}  // namespace shunt::data
