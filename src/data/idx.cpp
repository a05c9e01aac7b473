// IDX, the format of MNIST: 0 0 type n_dimensions, the sizes, the items, all big-endian.
#include "data/formats.hpp"
#include "data/text.hpp"

namespace shunt::data {

namespace {

struct Type {
    unsigned char code;
    ItemKind kind;
    std::size_t size;
};

constexpr Type types[] = {
    {0x08, ItemKind::unsigned_integer, 1}, {0x09, ItemKind::signed_integer, 1}, {0x0b, ItemKind::signed_integer, 2},
    {0x0c, ItemKind::signed_integer, 4},   {0x0d, ItemKind::floating, 4},       {0x0e, ItemKind::floating, 8},
};

const Type* find_type(char code) {
    for (const Type& type : types) {
        if (type.code == static_cast<unsigned char>(code)) return &type;
    }
    return nullptr;
}

}  // namespace

bool is_idx(std::string_view bytes) {
    return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && find_type(bytes[2]) != nullptr;
}

Array parse_idx(std::string bytes, const std::string& source) {
    if (!is_idx(bytes)) {
        throw Error(Fault::bad_file, source +
                                         " is no IDX file: it does not begin with 0 0 and one of the types 8, 9, "
                                         "11, 12, 13 and 14.");
    }
    const Type& type = *find_type(bytes[2]);
    const std::size_t n_dimensions = static_cast<unsigned char>(bytes[3]);
    Array array{.source = source, .kind = type.kind, .item_size = type.size, .big_endian = true};
    array.begin = 4 + 4 * n_dimensions;
    if (bytes.size() < array.begin) throw Error(Fault::bad_file, source + " is truncated within its IDX header.");
    for (std::size_t d = 0; d < n_dimensions; ++d) {
        std::uint64_t size = 0;
        for (std::size_t k = 0; k < 4; ++k) size = size << 8 | static_cast<unsigned char>(bytes[4 + 4 * d + k]);
        array.shape.push_back(size);
    }
    array.bytes = std::move(bytes);
    check_size(array);
    return array;
}

}  // namespace shunt::data
