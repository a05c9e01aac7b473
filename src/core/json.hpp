// Reading JSON that somebody else may have written: each refusal names the file and the place in it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/error.hpp"

namespace shunt {

// bad_file for a text that is not JSON, names a member twice or nests deeper than 32. `what` names
// the text in the error: "m.safetensors: the header".
nlohmann::json parse_json(std::string_view text, const std::string& what);

// A value inside a JSON document, and its path. Whatever is not as asked for is a bad_file.
class JsonValue {
public:
    JsonValue(const nlohmann::json& value, std::string file, std::string path = "")
        : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

    JsonValue at(const std::string& key) const;
    std::optional<JsonValue> find(const std::string& key) const;  // none where it is absent or null
    std::vector<JsonValue> items() const;                         // of an array
    const nlohmann::json& json() const { return *value_; }
    const std::string& file() const { return file_; }

    std::string string() const;
    double number() const;
    std::int64_t integer(std::int64_t least, std::int64_t most) const;
    std::vector<std::string> strings() const;
    std::vector<double> numbers() const;

    [[noreturn]] void refuse(const std::string& because) const;  // "FILE: PATH because."

private:
    const nlohmann::json* value_;
    std::string file_, path_;
};

}  // namespace shunt
