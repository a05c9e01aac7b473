// One command's arguments: what it takes, how --help shows it, and the sentences that refuse it.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/error.hpp"

namespace shunt::cli {

// Wrong usage: exit 2.
class Usage : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Arguments = std::span<const char* const>;  // what follows the command's name

// Which numbers an option takes, and the words for it: "a number above 0".
struct Range {
    const char* words;
    bool (*holds)(double);
};

// The number in an optional one.
template <typename T>
struct Plain {
    using type = T;
};
template <typename T>
struct Plain<std::optional<T>> {
    using type = T;
};

// The names closest to what was typed: ". Did you mean --target?", or nothing that comes near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

class CommandLine {
public:
    CommandLine(std::string name, std::string arguments, std::string purpose);

    // Options belong to the group named last; within one, help keeps the order of the calls.
    void group(const std::string& title);
    void positional(const char* name, std::string& value, const char* help);
    void flag(const char* option, bool& value, const char* help);
    void text(const char* option, std::string& value, const char* placeholder, const char* help);
    void list(const char* option, std::vector<std::string>& value, const char* placeholder, const char* help);
    void example(std::string line);

    // T: int, std::int64_t or std::optional of it; whole numbers from `least` on.
    template <typename T>
    void whole(const char* option, T& value, std::int64_t least, const char* placeholder, const char* help) {
        custom(option, placeholder, help, [option, &value, least](const std::string& s) {
            typename Plain<T>::type number = 0;
            const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), number);
            if (error != std::errc() || end != s.data() + s.size() || number < least)
                refuse(option, s, "a whole number of at least " + std::to_string(least));
            value = number;
        });
    }

    // T: double or std::optional of it; finite numbers.
    template <typename T>
    void real(const char* option, T& value, Range range, const char* placeholder, const char* help) {
        custom(option, placeholder, help, [option, &value, range](const std::string& s) {
            double number = 0;
            const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), number);
            if (error != std::errc() || end != s.data() + s.size() || !std::isfinite(number) || !range.holds(number))
                refuse(option, s, range.words);
            value = number;
        });
    }

    // What `reader` makes of the text; its Error says what there is.
    template <typename T, typename Parse>
    void parsed(const char* option, T& value, Parse reader, const char* placeholder, const char* help) {
        custom(option, placeholder, help, [option, &value, reader](const std::string& s) {
            try {
                value = reader(s);
            } catch (const Error& error) {
                throw Usage(std::string(option) + " " + s + ": " + error.what());
            }
        });
    }

    // False: --help was asked for, and printed. Throws Usage.
    bool parse(Arguments arguments);
    bool given(const std::string& option) const;
    [[noreturn]] void refuse_usage(const std::string& sentence) const;  // with a pointer to --help

private:
    void custom(const char* option, const char* placeholder, const char* help,
                std::function<void(const std::string&)> take);
    [[noreturn]] static void refuse(const char* option, const std::string& value, const std::string& wanted);
    CLI::Option* add(CLI::Option* option, const char* placeholder);
    const CLI::Option* named(const std::string& argument) const;
    void check_values(Arguments arguments) const;
    void refuse_extras() const;
    std::string help() const;

    CLI::App app_;
    std::string name_, arguments_, purpose_, group_, examples_;
    bool help_ = false;
};

}  // namespace shunt::cli
