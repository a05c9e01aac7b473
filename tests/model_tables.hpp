// Tables and files for the tests of models.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "refusal.hpp"
#include "shunt/shunt.hpp"

namespace shunt::test {

// A directory of its own that goes with all that is in it.
class Directory {
public:
    Directory() {
        std::string name = (std::filesystem::temp_directory_path() / "shunt-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    std::string file(const std::string& name) const { return path_ / name; }
    std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

private:
    std::filesystem::path path_;
};

inline std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void put(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
}

inline Table csv(const std::string& text, const std::vector<std::string>& categorical = {}) {
    ReadOptions options;
    options.categorical = categorical;
    return read_csv(text, "t.csv", options);
}

inline ModelOptions small(const std::string& target) {
    ModelOptions options;
    options.target = {target};
    options.hidden = {4};
    options.backend = "plain";
    return options;
}

inline TrainOptions short_run(std::int64_t epochs = 2) {
    TrainOptions options;
    options.epochs = epochs;
    options.batch = 4;
    return options;
}

// Flowers with two numbers and a colour.
inline const char* const flowers =
    "length,width,colour,kind\n"
    "1,0.5,red,rose\n2,0.25,blue,iris\n1.5,0.5,red,rose\n2.5,0.125,blue,iris\n1.25,0.75,white,rose\n"
    "3,0.25,white,iris\n1,1,red,rose\n2.75,0.5,blue,iris\n";

}  // namespace shunt::test
