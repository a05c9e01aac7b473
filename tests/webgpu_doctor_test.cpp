// What a card needs: where drivers are looked for, what a driver file names, and the order of the checks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "card.hpp"
#include "shunt/backend.hpp"
#include "webgpu/doctor.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;

namespace {

using Places = std::vector<std::string>;

Places places(const std::map<std::string, std::string>& variables) {
    return driver_places([&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
    });
}

std::string refusal(std::string_view text) {
    try {
        driver_library(text, "/d/card.json");
    } catch (const Error& error) {
        CHECK(error.fault() == Fault::bad_file);
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("doctor: drivers are looked for where Vulkan's loader looks, and only in what is named") {
    CHECK(places({{"HOME", "/home/a"}}) == Places{"/home/a/.config/vulkan/icd.d", "/etc/xdg/vulkan/icd.d",
                                                  "/etc/vulkan/icd.d", "/home/a/.local/share/vulkan/icd.d",
                                                  "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"});
    CHECK(places({{"VK_ICD_FILENAMES", "/a.json:/b.json"}}) == Places{"/a.json", "/b.json"});
    CHECK(places({{"VK_ICD_FILENAMES", "/a.json"}, {"VK_DRIVER_FILES", "/c.json"}}) == Places{"/c.json"});
    CHECK(places({{"HOME", "/h"}, {"XDG_DATA_DIRS", "/x::/y"}, {"VK_ADD_DRIVER_FILES", "/more.json"}}) ==
          Places{"/more.json", "/h/.config/vulkan/icd.d", "/etc/xdg/vulkan/icd.d", "/etc/vulkan/icd.d",
                 "/h/.local/share/vulkan/icd.d", "/x/vulkan/icd.d", "/y/vulkan/icd.d"});
}

TEST_CASE("doctor: a driver file names a library by path, beside the file, or for the system to find") {
    CHECK(driver_library(R"({"ICD": {"library_path": "/lib/a.so"}})", "/d/card.json") == "/lib/a.so");
    CHECK(driver_library(R"({"ICD": {"library_path": "../a.so"}})", "/d/card.json") == "/d/../a.so");
    CHECK(driver_library(R"({"ICD": {"library_path": "a.so"}})", "/d/card.json") == "a.so");
    CHECK(refusal("{").find("/d/card.json") != std::string::npos);
    CHECK(refusal(R"({"ICD": {}})").find("library_path") != std::string::npos);
    CHECK(refusal(R"({"ICD": {"library_path": 3}})").find("library_path") != std::string::npos);
}

TEST_CASE("doctor: the checks follow each other, and each that fails comes with a line of advice") {
    const Diagnosis diagnosis = shunt::diagnose();
    REQUIRE(diagnosis.checks.size() >= 6);
    CHECK(diagnosis.checks.front().what == "WebGPU library");
    CHECK(diagnosis.checks[1].what == "Vulkan loader");
    CHECK(diagnosis.checks.back().what == "a kernel");
    CHECK(diagnosis.works == diagnosis.checks.back().ok);
    CHECK(diagnosis.works == have_card());
    for (const Check& check : diagnosis.checks) {
        INFO(check.what);
        CHECK(!check.found.empty());
        CHECK(check.ok == check.advice.empty());
        CHECK(std::ranges::find(check.advice, '\n') == check.advice.end());
    }
}
