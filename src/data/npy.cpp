// .npy: a magic, a version, a header that is a Python literal, and the items.
//
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <charconv>
#include <optional>

#include "data/formats.hpp"
#include "data/text.hpp"

namespace shunt::data {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_dimensions = 64;  // numpy's own limit

// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class Header {
public:
    Header(std::string_view text, const std::string& source) : text_(text), source_(source) {}

    void read() {
        expect('{');
        while (!accept('}')) {
            read_entry();
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (skip_spaces(); at_ != text_.size()) refuse();
        if (!type || !fortran_order || !shape) refuse();
    }

    std::optional<std::string> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;

private:
    void read_entry() {
        const std::string key = read_string();
        expect(':');
        if (key == "descr") {
            skip_spaces();
            if (at_ < text_.size() && text_[at_] == '[') {
                throw Error(Fault::unsupported,
                            source_ + " holds records of several fields; an array of numbers is read.");
            }
            type = read_string();
        } else if (key == "fortran_order") {
            fortran_order = read_bool();
        } else if (key == "shape") {
            shape = read_shape();
        } else {
            refuse();
        }
    }

    std::string read_string() {
        skip_spaces();
        if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) refuse();
        const std::size_t begin = at_ + 1;
        const std::size_t end = text_.find(text_[at_], begin);
        if (end == std::string_view::npos) refuse();
        at_ = end + 1;
        return std::string(text_.substr(begin, end - begin));
    }

    bool read_bool() {
        skip_spaces();
        for (const bool value : {false, true}) {
            const std::string_view word = value ? "True" : "False";
            if (!text_.substr(at_).starts_with(word)) continue;
            at_ += word.size();
            return value;
        }
        refuse();
    }

    std::vector<std::uint64_t> read_shape() {
        std::vector<std::uint64_t> sizes;
        expect('(');
        while (!accept(')')) {
            skip_spaces();
            std::uint64_t size = 0;
            const auto [stop, fault] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
            if (fault != std::errc() || sizes.size() == most_dimensions) refuse();
            at_ = static_cast<std::size_t>(stop - text_.data());
            accept('L');  // Python 2 wrote long integers so
            sizes.push_back(size);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return sizes;
    }

    void skip_spaces() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    }

    bool accept(char c) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    void expect(char c) {
        if (!accept(c)) refuse();
    }

    [[noreturn]] void refuse() const {
        throw Error(Fault::bad_file, source_ + ": the .npy header is damaged: " + shown(text_) + ".");
    }

    std::string_view text_;
    const std::string& source_;
    std::size_t at_ = 0;
};

void set_type(Array& array, std::string_view type) {
    const std::string_view whole = type;
    array.big_endian = type.starts_with('>');
    if (!type.empty() && std::string_view("<>|=").find(type[0]) != std::string_view::npos) type.remove_prefix(1);
    const bool is_integer = type == "i1" || type == "i2" || type == "i4" || type == "i8";
    const bool is_unsigned = type == "u1" || type == "u2" || type == "u4" || type == "u8";
    const bool is_floating = type == "f4" || type == "f8";
    if (!is_integer && !is_unsigned && !is_floating && type != "b1") {
        throw Error(Fault::unsupported,
                    array.source + " holds items of type " + shown(whole) +
                        "; f4, f8, i1 to i8, u1 to u8 and bool are read. In Python: a.astype('f8').");
    }
    array.kind = is_integer    ? ItemKind::signed_integer
                 : is_unsigned ? ItemKind::unsigned_integer
                 : is_floating ? ItemKind::floating
                               : ItemKind::boolean;
    array.item_size = static_cast<std::size_t>(type[1] - '0');
}

}  // namespace

bool is_npy(std::string_view bytes) {
    return bytes.starts_with(magic);
}

Array parse_npy(std::string bytes, const std::string& source) {
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
    if (!is_npy(bytes)) throw Error(Fault::bad_file, source + " is no .npy file: it does not begin as one.");
    if (bytes.size() < 10) throw Error(Fault::bad_file, source + " is truncated within its .npy header.");
    const std::size_t version = byte(6);
    if (version < 1 || version > 3) {
        throw Error(Fault::unsupported,
                    source + " is a .npy file of version " + std::to_string(version) + "; versions 1 to 3 are read.");
    }
    const std::size_t begin = version == 1 ? 10 : 12;
    if (bytes.size() < begin) throw Error(Fault::bad_file, source + " is truncated within its .npy header.");
    std::size_t size = byte(8) | byte(9) << 8;
    if (version > 1) size |= byte(10) << 16 | byte(11) << 24;
    if (size > bytes.size() - begin) throw Error(Fault::bad_file, source + " is truncated within its .npy header.");

    Array array{.source = source};
    Header header(std::string_view(bytes).substr(begin, size), source);
    header.read();
    set_type(array, *header.type);
    array.shape = *header.shape;
    array.fortran_order = *header.fortran_order;
    array.begin = begin + size;
    array.bytes = std::move(bytes);
    check_size(array);
    return array;
}

}  // namespace shunt::data
