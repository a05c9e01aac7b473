// Bytes as text: is it UTF-8, which line is this, and how a cell is shown in a message.
#include "data/text.hpp"

#include <cstring>

#include "shunt/error.hpp"

namespace shunt::data {

namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
    return static_cast<unsigned char>(text[i]);
}

// Bytes of the UTF-8 sequence that begins at i; 0 if it is none. The second byte's range rules out
// overlong forms, surrogates and what is past U+10FFFF.
std::size_t sequence_length(std::string_view text, std::size_t i) {
    const unsigned char lead = byte_at(text, i);
    if (lead < 0x80) return lead == 0 ? 0 : 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (text.size() - i < length) return 0;
    const unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte_at(text, i + 1) < least || byte_at(text, i + 1) > most) return 0;
    for (std::size_t k = 2; k < length; ++k) {
        if ((byte_at(text, i + k) & 0xc0) != 0x80) return 0;
    }
    return length;
}

// True if the 8 bytes are ASCII and none is NUL.
bool is_plain_word(const char* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    return ((word | ((word - ones) & ~word)) & highs) == 0;
}

[[noreturn]] void refuse(std::string_view text, std::size_t i, const std::string& source) {
    const std::string place = source + ":" + std::to_string(count_line_ends(text.substr(0, i)) + 1);
    if (text[i] == '\0') throw Error(Fault::bad_data, place + ": a NUL byte; this is no text file.");
    constexpr char digits[] = "0123456789abcdef";
    const unsigned char byte = byte_at(text, i);
    throw Error(Fault::bad_data, place + ": byte 0x" + digits[byte >> 4] + digits[byte & 15] +
                                     " is not UTF-8; save the file with that encoding.");
}

}  // namespace

void check_utf8(std::string_view text, const std::string& source) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
        throw Error(Fault::bad_data, source + ":1: the text is UTF-16; save the file as UTF-8.");
    }
    std::size_t i = 0;
    while (i < text.size()) {
        if (text.size() - i >= 8 && is_plain_word(text.data() + i)) {
            i += 8;
            continue;
        }
        const std::size_t length = sequence_length(text, i);
        if (length == 0) refuse(text, i, source);
        i += length;
    }
}

std::uint64_t count_line_ends(std::string_view text) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        n += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    }
    return n;
}

std::string shown(std::string_view cell) {
    constexpr std::size_t most = 40;
    std::size_t size = cell.size();
    if (size > most) {
        size = most;
        while (size > 0 && (byte_at(cell, size) & 0xc0) == 0x80) --size;
    }
    std::string text = "\"";
    for (const char c : cell.substr(0, size)) {
        const auto byte = static_cast<unsigned char>(c);
        text += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
    return text + (size < cell.size() ? "…\"" : "\"");
}

}  // namespace shunt::data
