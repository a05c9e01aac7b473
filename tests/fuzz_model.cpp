// Fuzzes the reader of model files: whatever the bytes, a model or an Error. (fuzz_main.cpp runs it.)
//
// What begins with { is taken for a header alone, so that the header's length need not be right for
// the JSON readers to be reached.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/safetensors.hpp"
#include "model/impl.hpp"

namespace {

using namespace shunt;

// What was read is written and read again: the same bytes, or something was lost.
void read(std::string_view bytes) {
    try {
        const auto model = read_model(bytes, "fuzz", "plain", 1);
        if (describe_model(*model).empty()) __builtin_trap();
    } catch (const Error&) {
    }
    try {
        const auto once = write_safetensors(read_safetensors(bytes, "fuzz"));
        if (write_safetensors(read_safetensors(once, "again")) != once) __builtin_trap();
    } catch (const Error& error) {
        if (std::string_view(error.what()).starts_with("again")) __builtin_trap();
    }
}

// A file of this header, with as many zeros behind it as the network of the golden model has.
std::string with_length(std::string_view header) {
    std::string bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>((header.size() >> (8 * i)) & 0xff);
    bytes += header;
    return bytes + std::string(272, '\0');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (size == 0) return 0;
    if (bytes[0] == '{') {
        read(with_length(bytes));
    } else {
        read(bytes);
    }
    return 0;
}
