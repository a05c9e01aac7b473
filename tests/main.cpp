// The program of all unit tests: doctest's own main.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>

namespace {

// What tests measure stays in a folder of theirs, and goes with it.
const struct Cache {
    Cache() { ::setenv("SHUNT_CACHE", ::mkdtemp(folder), 1); }
    ~Cache() {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    char folder[32] = "/tmp/shunt-cache-XXXXXX";
} cache;

}  // namespace
