// Putting WGSL together.
#pragma once

#include <cassert>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "shunt/backend.hpp"

namespace shunt::webgpu {

// As common.wgsl numbers them.
inline std::uint32_t kind_of(Activation kind) {
    return static_cast<std::uint32_t>(kind);
}

using Words = std::map<std::string, std::uint64_t, std::less<>>;

// `text` with each $word replaced by its number, as a u32 literal.
inline std::string put(std::string_view text, const Words& words) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] != '$') {
            out += text[at++];
            continue;
        }
        std::size_t end = at + 1;
        while (end < text.size() && (std::islower(static_cast<unsigned char>(text[end])) || text[end] == '_')) end++;
        const auto found = words.find(text.substr(at + 1, end - at - 1));
        assert(found != words.end());
        out += std::to_string(found->second) + "u";
        at = end;
    }
    return out;
}

inline std::string str(std::uint32_t n) {
    return std::to_string(n);
}

// `text` with every $key replaced. No key begins another.
inline std::string with(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> values) {
    std::string result(text);
    for (const auto& [key, value] : values) {
        for (std::size_t at = result.find(key); at != result.npos; at = result.find(key, at + value.size()))
            result.replace(at, key.size(), value);
    }
    return result;
}

// `text` with each mark replaced by `by`.
inline std::string replaced(std::string_view text, char mark, std::string_view by) {
    std::string out;
    for (char c : text) {
        if (c == mark)
            out += by;
        else
            out += c;
    }
    return out;
}

}  // namespace shunt::webgpu
