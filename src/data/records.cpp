// CSV text cut into records of cells, before anybody asks what a cell means.
#include "data/records.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "core/text.hpp"
#include "data/cells.hpp"
#include "data/text.hpp"
#include "shunt/error.hpp"

namespace shunt::data {

namespace {

constexpr std::array separators = {',', ';', '\t', '|'};
constexpr std::size_t n_looked_at = 20;  // records

// What is wrong with a quoted cell; the search for the separator counts it, the reader throws it.
enum class Flaw { none, open_quote, text_after_quote };

struct Field {
    Cell cell = {};
    bool quoted = false;
    bool doubled = false;  // quotes in it are still doubled
    Flaw flaw = Flaw::none;
};

// Walks over text field by field. A quote counts as one only at the beginning of a cell.
class Scanner {
public:
    Scanner(std::string_view text, char separator) : text_(text), separator_(separator) {}

    // To the next line that is not blank; false at the end.
    bool next_record() {
        for (;;) {
            const std::size_t i = skip_spaces(at_);
            if (i < text_.size() && !ends_line(text_[i])) return true;
            at_ = i;
            if (i == text_.size()) return false;
            end_line();
        }
    }

    // The next cell; last_in_record() then says whether it was the last of its record.
    Field next_field() {
        const std::size_t i = skip_spaces(at_);
        Field field = i < text_.size() && text_[i] == '"' ? quoted(i + 1) : plain(at_);
        trim(field.cell);
        last_ = at_ == text_.size() || text_[at_] != separator_;
        if (!last_) {
            ++at_;
        } else if (at_ < text_.size()) {
            end_line();
        }
        return field;
    }

    bool last_in_record() const { return last_; }
    std::uint64_t line() const { return line_; }

private:
    static bool ends_line(char c) { return c == '\n' || c == '\r'; }
    bool is_space(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }

    std::size_t skip_spaces(std::size_t i) const {
        while (i < text_.size() && is_space(text_[i])) ++i;
        return i;
    }

    void end_line() {
        at_ += text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n' ? 2 : 1;
        ++line_;
    }

    void skip_plain() {
        const char* const text = text_.data();
        std::size_t i = at_;
        while (i < text_.size() && text[i] != separator_ && !ends_line(text[i])) ++i;
        at_ = i;
    }

    Field plain(std::size_t begin) {
        skip_plain();
        return {.cell = {begin, at_ - begin}};
    }

    Field quoted(std::size_t begin) {
        Field field{.quoted = true};
        std::size_t end = begin;
        for (;; end += 2) {
            end = text_.find('"', end);
            if (end == std::string_view::npos) {
                at_ = text_.size();
                return {.cell = {begin, at_ - begin}, .quoted = true, .flaw = Flaw::open_quote};
            }
            if (end + 1 == text_.size() || text_[end + 1] != '"') break;
            field.doubled = true;
        }
        field.cell = {begin, end - begin};
        line_ += count_line_ends(field.cell.in(text_));
        at_ = skip_spaces(end + 1);
        const std::size_t rest = at_;
        skip_plain();
        if (at_ != rest) field.flaw = Flaw::text_after_quote;
        return field;
    }

    void trim(Cell& cell) const {
        while (cell.size > 0 && is_space(text_[cell.begin])) ++cell.begin, --cell.size;
        while (cell.size > 0 && is_space(text_[cell.begin + cell.size - 1])) --cell.size;
    }

    std::string_view text_;
    char separator_;
    std::size_t at_ = 0;
    std::uint64_t line_ = 1;
    bool last_ = false;
};

// How well a separator cuts the first records.
struct Trial {
    bool same = false;      // the same number, more than 1, in every record
    bool likely = false;    // more than 1 in the first record and in half of them: some are ragged
    std::size_t flaws = 0;  // cells that look as if they were to be cut otherwise
};

bool looks_uncut(const Field& field, std::string_view text, char separator) {
    if (field.quoted) return field.flaw != Flaw::none;
    const std::string_view cell = field.cell.in(text);
    const bool holds_another = std::any_of(separators.begin(), separators.end(), [&](char other) {
        return other != separator && cell.find(other) != std::string_view::npos;
    });
    return holds_another && !is_decimal_comma(cell);
}

Trial try_separator(std::string_view text, char separator) {
    Scanner scanner(text, separator);
    Trial trial;
    std::vector<std::size_t> counts;
    while (counts.size() < n_looked_at && scanner.next_record()) {
        std::size_t n = 0;
        do {
            trial.flaws += looks_uncut(scanner.next_field(), text, separator);
            ++n;
        } while (!scanner.last_in_record());
        counts.push_back(n);
    }
    if (counts.empty() || counts[0] < 2) return trial;
    const auto n_cut =
        static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 1; }));
    trial.same = std::all_of(counts.begin(), counts.end(), [&](auto n) { return n == counts[0]; });
    trial.likely = 2 * n_cut >= counts.size();
    return trial;
}

// "a""b" is a"b: moves the rest of the cell down, within its own bytes.
void undouble(std::string& text, Cell& cell) {
    std::size_t to = cell.begin;
    const std::size_t end = cell.begin + cell.size;
    for (std::size_t from = cell.begin; from < end; ++from) {
        text[to++] = text[from];
        if (text[from] == '"') ++from;
    }
    cell.size = to - cell.begin;
}

[[noreturn]] void refuse(Flaw flaw, const std::string& source, std::uint64_t line) {
    const std::string place = source + ":" + std::to_string(line) + ": ";
    if (flaw == Flaw::open_quote) throw Error(Fault::bad_data, place + "the quote that opens here is never closed.");
    throw Error(Fault::bad_data, place + "text after a closing quote; a quote within quotes is written twice.");
}

}  // namespace

char find_separator(std::string_view text) {
    char ragged = no_separator, best = no_separator;
    std::size_t least = std::numeric_limits<std::size_t>::max(), least_ragged = least;
    for (const char separator : separators) {
        const Trial trial = try_separator(text, separator);
        if (trial.same && trial.flaws < least) best = separator, least = trial.flaws;
        if (trial.likely && trial.flaws < least_ragged) ragged = separator, least_ragged = trial.flaws;
    }
    return best != no_separator ? best : ragged;
}

Records cut(std::string& text, char separator, const std::string& source) {
    Scanner scanner(text, separator);
    Records records;
    while (scanner.next_record()) {
        const std::uint64_t first_line = scanner.line();
        const std::size_t before = records.cells.size();
        do {
            const std::uint64_t line = scanner.line();
            Field field = scanner.next_field();
            if (field.flaw == Flaw::open_quote) refuse(field.flaw, source, line);
            if (field.flaw == Flaw::text_after_quote) {
                refuse(field.flaw, source, line + count_line_ends(field.cell.in(text)));
            }
            if (field.doubled) undouble(text, field.cell);
            records.cells.push_back(field.cell);
        } while (!scanner.last_in_record());
        const std::size_t n = records.cells.size() - before;
        if (records.lines.empty()) records.n_fields = n;
        if (n != records.n_fields) {
            throw Error(Fault::bad_data, source + ":" + std::to_string(first_line) + ": " + counted(n, "field") +
                                             " where line " + std::to_string(records.lines[0]) + " has " +
                                             std::to_string(records.n_fields) + ".");
        }
        records.lines.push_back(first_line);
    }
    return records;
}

}  // namespace shunt::data
