// Ctrl-C while training: the first one asks, a second one ends the process at once.
#pragma once

namespace shunt::cli {

// From its making to its end, SIGINT and SIGTERM ask. One at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    bool asked() const;
    void ignore();  // from here on files are being written: the moment for it has passed
};

}  // namespace shunt::cli
