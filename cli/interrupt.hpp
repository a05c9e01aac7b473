// Ctrl-C while training: the first one asks, a second one ends the process at once.
#pragma once

#include <string>

namespace shunt::cli {

// From its making to its end, SIGINT, SIGHUP and SIGTERM ask, those that are not ignored. One at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    bool asked() const;
    int status() const;                        // to exit with, after it was asked: 130 after Ctrl-C, as shells have it
    void ignore();                             // from here on files are being written: the moment for it has passed
    void end_at_once(std::string last_words);  // from here on one that comes writes them and ends the process
};

}  // namespace shunt::cli
