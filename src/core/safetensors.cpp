// Reading and writing the safetensors format.
#include "core/safetensors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include "core/json.hpp"
#include "core/text.hpp"

namespace shunt {

namespace {

constexpr std::uint64_t header_limit = 100'000'000;

std::size_t width(Dtype dtype) {
    return dtype == Dtype::f32 ? 4 : 8;
}

template <typename Unsigned>
void put(Unsigned value, std::string& out) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

template <typename Unsigned>
Unsigned get(const char* bytes) {
    Unsigned value = 0;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        value |= static_cast<Unsigned>(static_cast<Unsigned>(static_cast<unsigned char>(bytes[i])) << (8 * i));
    }
    return value;
}

void put_values(const StoredTensor& tensor, std::string& out) {
    for (const double value : tensor.values) {
        const auto rounded = static_cast<float>(value);
        const bool finite = tensor.dtype == Dtype::f32 ? std::isfinite(rounded) : std::isfinite(value);
        if (!finite) throw Error(Fault::bad_data, "The tensor " + tensor.name + " holds " + to_text(value) + ".");
        if (tensor.dtype == Dtype::f32) {
            put(std::bit_cast<std::uint32_t>(rounded), out);
        } else {
            put(std::bit_cast<std::uint64_t>(value), out);
        }
    }
}

// --- reading ---------------------------------------------------------------------------------------

struct Entry {
    StoredTensor tensor;  // without its values
    std::uint64_t from = 0, to = 0;
};

[[noreturn]] void refuse(const std::string& file, const std::string& because) {
    throw Error(Fault::bad_file, file + ": " + because + ".");
}

std::uint64_t size_of(const JsonValue& value) {
    if (!value.json().is_number_unsigned()) value.refuse("is not a whole number from 0 on");
    return value.json().get<std::uint64_t>();
}

// Bytes that a shape asks for; none on overflow.
std::optional<std::uint64_t> bytes_of(const StoredTensor& tensor) {
    std::uint64_t bytes = width(tensor.dtype);
    for (const auto size : tensor.shape) {
        if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
    }
    return bytes;
}

Entry read_entry(const std::string& name, const JsonValue& value, std::uint64_t available) {
    Entry entry;
    entry.tensor.name = name;
    const auto dtype = value.at("dtype").string();
    if (dtype != "F32" && dtype != "F64") value.refuse("has the type " + dtype + "; F32 and F64 are read");
    entry.tensor.dtype = dtype == "F32" ? Dtype::f32 : Dtype::f64;
    for (const auto& size : value.at("shape").items()) entry.tensor.shape.push_back(size_of(size));
    const auto offsets = value.at("data_offsets").items();
    if (offsets.size() != 2) value.at("data_offsets").refuse("is not a pair");
    entry.from = size_of(offsets[0]);
    entry.to = size_of(offsets[1]);
    const auto range = std::to_string(entry.from) + " .. " + std::to_string(entry.to);
    if (entry.from > entry.to || entry.to > available) {
        value.refuse("lies at " + range + " of " + std::to_string(available) + " bytes");
    }
    if (bytes_of(entry.tensor) != entry.to - entry.from) value.refuse("has a shape that does not fill " + range);
    return entry;
}

// The values of a file are the tensors one after another, nothing between, before or behind them.
void check_cover(std::vector<Entry>& entries, std::uint64_t available, const std::string& file) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    std::uint64_t end = 0;
    for (const auto& entry : entries) {
        if (entry.from < end) refuse(file, "the tensor " + entry.tensor.name + " overlaps the one before it");
        if (entry.from > end) refuse(file, "there is a gap before the tensor " + entry.tensor.name);
        end = entry.to;
    }
    if (end < available) refuse(file, counted(available - end, "byte") + " follow the last tensor");
}

void get_values(StoredTensor& tensor, std::string_view bytes, const std::string& file) {
    const auto step = width(tensor.dtype);
    tensor.values.reserve(bytes.size() / step);
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        const double value = tensor.dtype == Dtype::f32
                                 ? static_cast<double>(std::bit_cast<float>(get<std::uint32_t>(&bytes[at])))
                                 : std::bit_cast<double>(get<std::uint64_t>(&bytes[at]));
        if (!std::isfinite(value)) {
            refuse(file,
                   "value " + std::to_string(at / step) + " of the tensor " + tensor.name + " is " + to_text(value));
        }
        tensor.values.push_back(value);
    }
}

std::string_view header_of(std::string_view bytes, const std::string& file) {
    if (bytes.size() < 8) refuse(file, "it has " + counted(bytes.size(), "byte") + ", too short for a model");
    const auto length = get<std::uint64_t>(bytes.data());
    if (length > header_limit) {
        refuse(file, "is this a model? It does not begin as one does: its header would be " + std::to_string(length) +
                         " bytes long, over the limit of 100 MB");
    }
    if (length > bytes.size() - 8) {
        refuse(file, "it ends inside its header of " + std::to_string(length) + " bytes: not a model, or truncated");
    }
    const auto header = bytes.substr(8, length);
    if (!header.starts_with('{')) refuse(file, "its header does not begin with '{': not a model");
    return header;
}

}  // namespace

std::string write_safetensors(const Safetensors& content) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
    std::uint64_t end = 0;
    for (const auto& tensor : content.tensors) {
        const auto bytes = bytes_of(tensor);
        assert(bytes == tensor.values.size() * width(tensor.dtype) && !header.contains(tensor.name));
        header[tensor.name] = {{"dtype", tensor.dtype == Dtype::f32 ? "F32" : "F64"},
                               {"shape", tensor.shape},
                               {"data_offsets", {end, end + *bytes}}};
        end += *bytes;
    }
    auto text = to_json(header);
    text.append((8 - text.size() % 8) % 8, ' ');  // values on multiples of 8, for readers that map the file
    std::string out;
    out.reserve(8 + text.size() + end);
    put(static_cast<std::uint64_t>(text.size()), out);
    out += text;
    for (const auto& tensor : content.tensors) put_values(tensor, out);
    return out;
}

Safetensors read_safetensors(std::string_view bytes, const std::string& file) {
    const auto header = header_of(bytes, file);
    const auto data = bytes.substr(8 + header.size());
    const auto json = parse_json(header, file + ": its header");

    Safetensors content;
    std::vector<Entry> entries;
    for (const auto& [name, value] : json.items()) {
        const JsonValue member(value, file, name);
        if (name != "__metadata__") {
            entries.push_back(read_entry(name, member, data.size()));
            continue;
        }
        if (!value.is_object()) member.refuse("is not an object");
        for (const auto& [key, text] : value.items()) {
            content.metadata[key] = JsonValue(text, file, name + "." + key).string();
        }
    }
    check_cover(entries, data.size(), file);
    for (auto& entry : entries) {
        get_values(entry.tensor, data.substr(entry.from, entry.to - entry.from), file);
        content.tensors.push_back(std::move(entry.tensor));
    }
    return content;
}

std::string read_file(const std::string& file) {
    const auto fail = [&](int error) {
        throw Error(Fault::bad_file, file + " cannot be read: " + std::system_category().message(error) + ".");
    };
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(errno);
    struct Closer {
        int fd;
        ~Closer() { ::close(fd); }
    } const closer{fd};
    struct stat found {};
    std::string bytes;
    if (::fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) bytes.reserve(static_cast<std::size_t>(found.st_size) + 1);
    std::array<char, 1 << 16> block;
    while (true) {
        const auto got = ::read(fd, block.data(), block.size());
        if (got == 0) return bytes;
        if (got > 0) bytes.append(block.data(), static_cast<std::size_t>(got));
        if (got < 0 && errno != EINTR) fail(errno);
    }
}

}  // namespace shunt
