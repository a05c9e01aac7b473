// Writing text out.
#include "print.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "shunt/error.hpp"
#include "shunt/file.hpp"

namespace shunt::cli {
namespace {

// 0, or the errno of what stopped it.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
}

void add_json(const Json& value, int depth, std::string& out) {
    if (value.is_number_float()) {
        const double number = value.get<double>();
        out += std::isfinite(number) ? to_text(number) : "null";
        return;
    }
    if (!value.is_structured() || value.empty()) {
        out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
        return;
    }
    // A line for each member of the document, and for each of a list of objects or lists.
    const bool tall = depth == 0 || (depth == 1 && value.is_array() && value.front().is_structured());
    const std::string indent(static_cast<std::size_t>(2 * depth + 2), ' ');
    out += value.is_object() ? '{' : '[';
    for (auto member = value.begin(); member != value.end(); ++member) {
        if (member != value.begin()) out += tall ? "," : ", ";
        if (tall) out += "\n" + indent;
        if (value.is_object()) out += Json(member.key()).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
        add_json(*member, depth + 1, out);
    }
    if (tall) out += "\n" + indent.substr(2);
    out += value.is_object() ? '}' : ']';
}

}  // namespace

void print(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error != 0 && error != EPIPE)
        throw Error(Fault::bad_file, std::string("standard output cannot be written: ") + std::strerror(error) + ".");
}

void note(std::string_view text) {
    write_all(STDERR_FILENO, text);
}

std::string to_json_text(const Json& document) {
    std::string out;
    add_json(document, 0, out);
    return out + "\n";
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
    std::vector<std::size_t> widths(right.size());
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); i++) {
            line += (i == 0 ? "" : "  ") + padded(row[i], widths[i], right[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t columns, bool right) {
    const std::string pad(columns - std::min(width(text), columns), ' ');
    return right ? pad + text : text + pad;
}

std::string csv_cell(const std::string& text) {
    const bool bare = text.find_first_of(",;\t|\"\r\n") == std::string::npos &&
                      (text.empty() || (text.front() != ' ' && text.back() != ' '));
    if (bare) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string one_line(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
        out += c == '\n' ? ' ' : control ? '?' : c;
    }
    return out;
}

std::string short_text(double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 4);
    return {buffer, end.ptr};
}

std::string counted(std::size_t n, const std::string& one, const std::string& many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
    return out;
}

}  // namespace shunt::cli
