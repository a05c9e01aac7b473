// Numbers, lists, JSON and the environment as text.
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace shunt {

std::string to_text(double value) {
    if (std::isnan(value)) return "nan";  // to_chars would write the sign of some
    std::array<char, 32> text;            // the longest is -2.2250738585072014e-308
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

std::optional<double> to_number(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return std::nullopt;
    text = text.substr(first, text.find_last_not_of(" \t") - first + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::string counted(std::size_t n, std::string_view thing) {
    return std::to_string(n) + " " + std::string(thing) + (n == 1 ? "" : "s");
}

std::string listed(std::span<const std::string> names, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text;
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

namespace {

using Json = nlohmann::ordered_json;

void write_string(const std::string& value, std::string& out) {
    try {
        out += Json(value).dump();
    } catch (const Json::exception&) {
        throw Error(Fault::bad_data, "A text that is to be written as JSON is not UTF-8.");
    }
}

void write_number(double value, std::string& out) {
    if (!std::isfinite(value)) {
        out += "null";
    } else if (value == 0 && std::signbit(value)) {
        out += "-0.0";  // "-0" would be read as the integer 0
    } else {
        out += to_text(value);
    }
}

void write_value(const Json& value, int indent, int depth, std::string& out);

void write_members(const Json& value, int indent, int depth, std::string& out) {
    const bool object = value.is_object();
    out += object ? '{' : '[';
    bool first = true;
    const auto new_line = [&](int at) {
        if (indent >= 0) out += "\n" + std::string(static_cast<std::size_t>(indent * at), ' ');
    };
    for (auto member = value.begin(); member != value.end(); ++member) {
        if (!first) out += ',';
        first = false;
        new_line(depth + 1);
        if (object) {
            write_string(member.key(), out);
            out += indent >= 0 ? ": " : ":";
        }
        write_value(*member, indent, depth + 1, out);
    }
    if (!first) new_line(depth);
    out += object ? '}' : ']';
}

void write_value(const Json& value, int indent, int depth, std::string& out) {
    if (value.is_structured()) {
        write_members(value, indent, depth, out);
    } else if (value.is_string()) {
        write_string(value.get_ref<const std::string&>(), out);
    } else if (value.is_number_float()) {
        write_number(value.get<double>(), out);
    } else {
        out += value.dump();
    }
}

}  // namespace

std::string to_json(const nlohmann::ordered_json& value, int indent) {
    std::string out;
    write_value(value, indent, 0, out);
    return out;
}

std::string time_in_words(double seconds) {
    const auto rounded = [](double x) {
        const double unit = std::pow(10.0, std::floor(std::log10(std::max(x, 1e-9))) - 1);
        return to_text(unit < 1 ? std::round(x / unit) / std::round(1 / unit) : std::round(x / unit) * unit);
    };
    if (seconds < 0.995e-3) return rounded(seconds * 1e6) + " µs";
    if (seconds < 0.995) return rounded(seconds * 1e3) + " ms";
    return rounded(seconds) + " s";
}

}  // namespace shunt
