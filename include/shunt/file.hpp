// Writing results: numbers as text, and files that are whole or not there at all.
#pragma once

#include <string>
#include <string_view>

#include "shunt/error.hpp"

namespace shunt {

// The shortest decimal that reads back to the same double, whatever the locale: 0.1, 1e-05, nan.
std::string to_text(double value);

// A file that appears under its name only when it is complete: written beside it under a temporary
// name, synced, then renamed over what was there. Without commit() nothing is left behind.
class OutputFile {
public:
    explicit OutputFile(const std::string& path);  // bad_file where it cannot be written
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes);  // bad_file on a full disk
    void commit();

private:
    std::string path_, temporary_;
    int fd_ = -1;
};

// Throws what OutputFile would, leaving nothing: to be sure of the place before hours of work.
void check_writable(const std::string& path);

}  // namespace shunt
