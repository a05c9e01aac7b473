// Reading JSON that somebody else may have written.
#include "core/json.hpp"

#include <cmath>
#include <set>

#include "core/text.hpp"

namespace shunt {

nlohmann::json parse_json(std::string_view text, const std::string& what) {
    using Event = nlohmann::json::parse_event_t;
    std::vector<std::set<std::string>> keys;  // of the objects that are open
    const auto check = [&](int depth, Event event, nlohmann::json& parsed) {
        if (depth > 32) throw Error(Fault::bad_file, what + " is nested deeper than 32.");
        if (event == Event::object_start) keys.emplace_back();
        if (event == Event::object_end) keys.pop_back();
        if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
            throw Error(Fault::bad_file, what + " has the key " + parsed.dump() + " twice.");
        }
        return true;
    };
    try {
        return nlohmann::json::parse(text, check);
    } catch (const nlohmann::json::exception&) {
        throw Error(Fault::bad_file, what + " is not JSON.");
    }
}

JsonValue JsonValue::at(const std::string& key) const {
    if (!value_->is_object()) refuse("is not an object");
    const auto found = value_->find(key);
    if (found == value_->end()) refuse("has no \"" + key + "\"");
    return {*found, file_, path_.empty() ? key : path_ + "." + key};
}

std::optional<JsonValue> JsonValue::find(const std::string& key) const {
    if (!value_->is_object()) refuse("is not an object");
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return at(key);
}

std::vector<JsonValue> JsonValue::items() const {
    if (!value_->is_array()) refuse("is not a list");
    std::vector<JsonValue> list;
    list.reserve(value_->size());
    for (std::size_t i = 0; i < value_->size(); ++i) {
        list.emplace_back((*value_)[i], file_, path_ + "[" + std::to_string(i) + "]");
    }
    return list;
}

std::string JsonValue::string() const {
    if (!value_->is_string()) refuse("is not a string");
    return value_->get<std::string>();
}

double JsonValue::number() const {
    if (!value_->is_number()) refuse("is not a number");
    const auto number = value_->get<double>();
    if (!std::isfinite(number)) refuse("is not finite");
    return number;
}

std::int64_t JsonValue::integer(std::int64_t least, std::int64_t most) const {
    const bool fits =
        value_->is_number_unsigned() ? value_->get<std::uint64_t>() <= INT64_MAX : value_->is_number_integer();
    if (!fits) refuse("is not a whole number");
    const auto number = value_->get<std::int64_t>();
    if (number < least || number > most) {
        refuse("is " + std::to_string(number) + ", not in " + std::to_string(least) + " .. " + std::to_string(most));
    }
    return number;
}

std::vector<std::string> JsonValue::strings() const {
    std::vector<std::string> list;
    for (const auto& item : items()) list.push_back(item.string());
    return list;
}

std::vector<double> JsonValue::numbers() const {
    std::vector<double> list;
    for (const auto& item : items()) list.push_back(item.number());
    return list;
}

void JsonValue::refuse(const std::string& because) const {
    const auto subject = path_.empty() ? "the description" : path_;
    throw Error(Fault::bad_file, file_ + ": " + subject + " " + because + ".");
}

}  // namespace shunt
