// What training shows on standard error: a bar on a terminal, a line an epoch elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "shunt/network.hpp"

namespace shunt::cli {

class Progress {
public:
    // `opening` is shown when the first step is done: a command that fails before says nothing else.
    Progress(std::string opening, std::int64_t epochs, std::size_t rows, bool quiet);
    ~Progress();  // leaves the cursor at the start of a line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step(std::int64_t step, std::int64_t steps);
    void epoch(const Epoch& epoch);  // once each; a repeated one is left out
    void close();                    // the last state of the bar, and what was not shown yet

private:
    using Clock = std::chrono::steady_clock;

    void open();
    void draw(bool last);
    std::string line(std::size_t columns, bool last) const;
    std::string as_bar(std::size_t columns) const;
    std::string rows_a_second(double seconds) const;
    std::string time_left(double seconds) const;

    std::string opening_;
    std::int64_t epochs_ = 0, epoch_ = 0, step_ = 0, steps_ = 0;
    std::size_t rows_ = 0;
    bool quiet_ = false, terminal_ = false, utf8_ = false, drawn_ = false, opened_ = false;
    std::optional<double> loss_, validation_;
    Clock::time_point start_, drawn_at_;
};

}  // namespace shunt::cli
