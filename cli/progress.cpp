// The bar and the lines.
#include "progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "print.hpp"
#include "shunt/file.hpp"

namespace shunt::cli {
namespace {

constexpr auto redraw = std::chrono::milliseconds(100);

std::size_t terminal_width() {
    winsize size = {};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

bool takes_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const std::string locale = value;
        return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return false;
}

std::string times(std::int64_t n, const char* text) {
    std::string out;
    for (std::int64_t i = 0; i < n; i++) out += text;
    return out;
}

// 0:07, 12:30, 3:05:00
std::string as_time(double seconds) {
    const auto s = static_cast<std::int64_t>(std::min(std::ceil(seconds), 3.5e6));
    const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    if (s < 3600) return std::to_string(s / 60) + ":" + two(s % 60);
    return std::to_string(s / 3600) + ":" + two(s / 60 % 60) + ":" + two(s % 60);
}

std::string time_taken(double seconds) {
    return seconds < 60 ? short_text(seconds) + " s" : as_time(seconds);
}

// To three digits, in groups: 12,300
std::string as_rate(double rate) {
    if (rate < 1000) return short_text(std::round(rate));
    const double unit = std::pow(10.0, std::floor(std::log10(rate)) - 2);
    std::string digits = std::to_string(std::llround(std::round(rate / unit) * unit));
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

}  // namespace

Progress::Progress(std::string opening, std::int64_t epochs, std::size_t rows, bool quiet)
    : opening_(std::move(opening)), epochs_(epochs), rows_(rows), quiet_(quiet) {
    terminal_ = !quiet && isatty(STDERR_FILENO) == 1;
    utf8_ = takes_utf8();
    start_ = Clock::now();
}

Progress::~Progress() {
    if (drawn_) note("\n");
}

void Progress::open() {
    if (!opened_ && !quiet_) note(opening_);
    opened_ = true;
}

void Progress::step(std::int64_t step, std::int64_t steps) {
    open();
    step_ = step;
    steps_ = steps;
    if (terminal_ && (!drawn_ || Clock::now() - drawn_at_ >= redraw)) draw(false);
}

void Progress::epoch(const Epoch& epoch) {
    if (epoch.epoch == epoch_) return;
    open();
    epoch_ = epoch.epoch;
    loss_ = epoch.loss;
    validation_ = epoch.validation;
    if (terminal_ || quiet_) return;
    const std::string held = epoch.validation ? "  held out " + to_text(*epoch.validation) : "";
    note("epoch " + std::to_string(epoch.epoch) + "  loss " + to_text(epoch.loss) + held + "\n");
}

void Progress::close() {
    open();
    if (terminal_ && steps_ > 0) {
        draw(true);
        note("\n");
    }
    drawn_ = false;
}

void Progress::draw(bool last) {
    note("\r" + line(terminal_width(), last) + "\x1b[K");
    drawn_ = true;
    drawn_at_ = Clock::now();
}

// Shorter than the terminal is wide: one that fills it would be broken, and the next drawn below. What has no room
// is left out as a whole, the least telling first.
std::string Progress::line(std::size_t columns, bool last) const {
    const double seconds = std::max(std::chrono::duration<double>(Clock::now() - start_).count(), 1e-9);
    const std::string total = std::to_string(epochs_);
    std::string number = std::to_string(last ? epoch_ : std::min(epoch_ + 1, epochs_));
    number.insert(0, total.size() - std::min(total.size(), number.size()), ' ');
    const std::string epoch = "epoch " + number + "/" + total;
    // Sizes that depend on the terminal alone, so that little jumps from one moment to the next.
    std::string bar = "  " + as_bar(columns < 90 ? 10 : columns < 110 ? 20 : 30);
    std::string loss = loss_ ? "  loss " + short_text(*loss_) : "";
    std::string held_out = validation_ ? "  held out " + short_text(*validation_) : "";
    std::string rate = "  " + rows_a_second(seconds) + (columns < 120 ? "/s" : " samples/s");
    std::string time = "  " + (last ? time_taken(seconds) : time_left(seconds));
    const auto all = [&] { return epoch + bar + loss + held_out + rate + time; };
    for (std::string* part : {&rate, &bar, &held_out, &loss, &time}) {
        if (width(all()) < columns) return all();
        part->clear();
    }
    return epoch.substr(0, columns - 1);
}

std::string Progress::as_bar(std::size_t columns) const {
    const double share = static_cast<double>(step_) / static_cast<double>(std::max<std::int64_t>(steps_, 1));
    const auto size = static_cast<std::int64_t>(columns);
    const std::int64_t full =
        std::clamp(std::llround(share * static_cast<double>(size)), 0LL, static_cast<long long>(size));
    return times(full, utf8_ ? "━" : "#") + times(size - full, utf8_ ? "─" : ".");
}

std::string Progress::rows_a_second(double seconds) const {
    const double epochs = static_cast<double>(step_) * static_cast<double>(epochs_) / static_cast<double>(steps_);
    return as_rate(epochs * static_cast<double>(rows_) / seconds);
}

std::string Progress::time_left(double seconds) const {
    return as_time(seconds * static_cast<double>(steps_ - step_) / static_cast<double>(step_)) + " left";
}

}  // namespace shunt::cli
