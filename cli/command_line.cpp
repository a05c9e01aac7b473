// CLI11 underneath; the help and the sentences are ours.
#include "command_line.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "print.hpp"

namespace shunt::cli {
namespace {

constexpr const char* positionals = "Arguments";

// Levenshtein: single-character changes that turn one into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); i++) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); j++) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names) {
    const std::string* best = nullptr;
    std::size_t least = typed.size() / 3 + 1;  // further away it is a guess, not a slip
    for (const std::string& name : names) {
        const std::size_t d = distance(typed, name);
        if (d <= least && (best == nullptr || d < least)) {
            best = &name;
            least = d;
        }
    }
    return best == nullptr ? "" : " Did you mean " + *best + "?";
}

CommandLine::CommandLine(std::string name, std::string arguments, std::string purpose)
    : name_(std::move(name)), arguments_(std::move(arguments)), purpose_(std::move(purpose)) {
    app_.set_help_flag("");
    app_.allow_extras();
    app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void CommandLine::group(const std::string& title) {
    group_ = title;
}

CLI::Option* CommandLine::add(CLI::Option* option, const char* placeholder) {
    return option->group(group_)->type_name(placeholder);
}

void CommandLine::positional(const char* name, std::string& value, const char* help) {
    app_.add_option(name, value, help)->group(positionals);
}

void CommandLine::flag(const char* option, bool& value, const char* help) {
    add(app_.add_flag(option, value, help), "");
}

void CommandLine::text(const char* option, std::string& value, const char* placeholder, const char* help) {
    custom(option, placeholder, help, [option, &value](const std::string& s) {
        if (s.empty()) throw Usage(std::string(option) + " is given without a value.");
        value = s;
    });
}

void CommandLine::list(const char* option, std::vector<std::string>& value, const char* placeholder, const char* help) {
    const auto take = [option, &value](const std::vector<std::string>& given) {
        for (const std::string& commas : given) {
            for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
                to = commas.find(',', from);
                const std::string name = commas.substr(from, to == std::string::npos ? to : to - from);
                if (name.empty()) throw Usage(std::string(option) + " '" + commas + "' names an empty column.");
                value.push_back(name);
            }
        }
    };
    add(app_.add_option_function<std::vector<std::string>>(option, take, help), placeholder)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->expected(1)
        ->allow_extra_args(false);
}

void CommandLine::custom(const char* option, const char* placeholder, const char* help,
                         std::function<void(const std::string&)> take) {
    add(app_.add_option_function<std::string>(option, take, help), placeholder);
}

void CommandLine::example(std::string line) {
    examples_ += "  " + std::move(line) + "\n";
}

void CommandLine::refuse(const char* option, const std::string& value, const std::string& wanted) {
    throw Usage(std::string(option) + " '" + value + "' is not " + wanted + ".");
}

void CommandLine::refuse_usage(const std::string& sentence) const {
    throw Usage(sentence + " See shunt " + name_ + " --help.");
}

bool CommandLine::given(const std::string& option) const {
    return app_.get_option(option)->count() > 0;
}

// The option that an argument names as it is, "--target" or "-o".
const CLI::Option* CommandLine::named(const std::string& argument) const {
    return argument.starts_with('-') ? app_.get_option_no_throw(argument) : nullptr;
}

// CLI11 takes whatever follows an option as its value, and drops what a flag is given.
void CommandLine::check_values(Arguments arguments) const {
    for (std::size_t i = 0; i < arguments.size() && std::string_view(arguments[i]) != "--"; i++) {
        const std::string argument = arguments[i], name = argument.substr(0, argument.find('='));
        const CLI::Option* option = named(name);
        if (option == nullptr) continue;
        const bool is_flag = option->get_items_expected_max() == 0, has_equals = name.size() < argument.size();
        if (is_flag && has_equals) refuse_usage(name + " takes no value.");
        if (is_flag || has_equals || i + 1 == arguments.size()) continue;
        i++;
        if (named(arguments[i]) != nullptr) refuse_usage(name + " needs a value.");
    }
}

void CommandLine::refuse_extras() const {
    std::vector<std::string> names = {"--help"};
    for (const CLI::Option* option : app_.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    for (const std::string& extra : app_.remaining()) {
        if (extra == "--") continue;
        if (extra.front() != '-') refuse_usage("'" + extra + "' is one argument too many.");
        const std::string name = extra.substr(0, extra.find('='));
        refuse_usage(name + " is not an option of shunt " + name_ + "." + did_you_mean(name, names));
    }
}

bool CommandLine::parse(Arguments arguments) {
    group("Other");
    flag("-h,--help", help_, "this text");
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    for (const std::string& argument : reversed) help_ = help_ || argument == "--help" || argument == "-h";
    if (help_) {
        print(help());
        return false;
    }
    check_values(arguments);
    try {
        app_.parse(std::move(reversed));
    } catch (const CLI::ArgumentMismatch&) {
        // With one value an option, what is missing is the value of the last one.
        refuse_usage(std::string(arguments.back()) + " needs a value.");
    } catch (const CLI::ParseError& error) {
        refuse_usage(one_line(error.what()) + ".");
    }
    refuse_extras();
    return true;
}

std::string CommandLine::help() const {
    std::string out = purpose_ + "\n\nUsage: shunt " + name_ + " " + arguments_ + "\n";
    const auto line = [&out](std::string left, const std::string& right) {
        if (left.size() < 28) left.resize(28, ' ');
        out += "  " + left + " " + right + "\n";
    };
    std::string gap = "\n";
    for (const CLI::Option* option : app_.get_options()) {
        if (!option->get_positional()) continue;
        out += std::exchange(gap, "");
        line(option->get_name(), option->get_description());
    }
    for (const std::string& title : app_.get_groups()) {
        if (title == positionals) continue;
        out += "\n" + title + "\n";
        for (const CLI::Option* option : app_.get_options()) {
            if (option->get_group() != title) continue;
            std::string left = option->get_snames().empty() ? "" : "-" + option->get_snames().front() + ", ";
            left += "--" + option->get_lnames().front();
            if (!option->get_type_name().empty()) left += " " + option->get_type_name();
            line(left, option->get_description());
        }
    }
    return examples_.empty() ? out : out + "\nFor example\n" + examples_;
}

}  // namespace shunt::cli
