// What was measured on a machine, kept in a file, and the choices that are made of it.
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <thread>
#include <vector>

#include "decide/choose.hpp"
#include "decide/machine.hpp"
#include "decide/measured.hpp"
#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::decide;
using namespace shunt::test;

namespace {

// An environment variable for the length of a test.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* was = ::getenv(name)) was_ = was;
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() { was_ ? ::setenv(name_, was_->c_str(), 1) : ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> was_;
};

}  // namespace

TEST_CASE("measured figures are found again, bit for bit, and only under their own key") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("deep/down"));
    CHECK(!recall("a").figures);
    CHECK(recall("a").reason.empty());
    CHECK(remember("a", {{"step", 0.1}, {"epoch", 1e-300}}) == "");
    CHECK(remember("b", {{"step", 3}}) == "");
    CHECK(remember("b", {{"step", 4}}) == "");
    CHECK(recall("a").figures == Figures{{"step", 0.1}, {"epoch", 1e-300}});
    CHECK(recall("b").figures == Figures{{"step", 4}});
    CHECK(!recall("c").figures);
    CHECK(measured_file() == here.file("deep/down/measured.json"));
}

TEST_CASE("measured figures: a broken file is ignored with the reason and written anew") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("."));
    for (const char* text : {"", "{", "[]", "{\"format\": 1}", "{\"format\": 1, \"figures\": {\"a\": 3}}",
                             "{\"format\": 1, \"figures\": {\"a\": {\"at\": 1, \"values\": {\"step\": \"x\"}}}}",
                             "{\"format\": 1, \"figures\": {\"a\": {\"at\": -1, \"values\": {\"step\": 1}}}}"}) {
        put(measured_file(), text);
        INFO(text);
        CHECK(!recall("a").figures);
        CHECK(recall("a").reason.find("measured.json") != std::string::npos);
        CHECK(remember("a", {{"step", 1}}) == "");
        CHECK(recall("a").figures);
    }
}

TEST_CASE("measured figures: a file of another version is ignored with the reason and left alone") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("."));
    const std::string later = "{\"format\": 2, \"figures\": []}";
    put(measured_file(), later);
    CHECK(!recall("a").figures);
    CHECK(recall("a").reason.find("format 2") != std::string::npos);
    CHECK(remember("a", {{"step", 1}}).find("format 2") != std::string::npos);
    CHECK(content(measured_file()) == later);
}

TEST_CASE("measured figures: what is no regular file is a reason, no error and no wait, and is left alone") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("."));
    const auto check = [] {
        CHECK(!recall("a").figures);
        CHECK(recall("a").reason == measured_file() + " is no regular file.");
        CHECK(remember("a", {{"step", 1}}) == measured_file() + " is no regular file.");
    };
    REQUIRE(::mkdir(measured_file().c_str(), 0777) == 0);
    check();
    REQUIRE(::rmdir(measured_file().c_str()) == 0);
    REQUIRE(::mkfifo(measured_file().c_str(), 0666) == 0);
    check();
}

TEST_CASE("measured figures: a place that cannot be written, or is not named, is a reason and no error") {
    const Directory here;
    put(here.file("file"), "");
    {
        const Variable cache("SHUNT_CACHE", here.file("file"));
        CHECK(!remember("a", {{"step", 1}}).empty());
        CHECK(!recall("a").figures);
    }
    const Variable no_cache("SHUNT_CACHE", ""), no_xdg("XDG_CACHE_HOME", ""), no_home("HOME", "");
    CHECK(measured_file().empty());
    CHECK(!remember("a", {{"step", 1}}).empty());
    CHECK(recall("a").reason == remember("a", {{"step", 1}}));
}

TEST_CASE("measured figures: the place is SHUNT_CACHE, XDG_CACHE_HOME/shunt or ~/.cache/shunt") {
    const Variable cache("SHUNT_CACHE", ""), home("HOME", "/h");
    {
        const Variable xdg("XDG_CACHE_HOME", "/x");
        CHECK(measured_file() == "/x/shunt/measured.json");
    }
    const Variable xdg("XDG_CACHE_HOME", "");
    CHECK(measured_file() == "/h/.cache/shunt/measured.json");
}

TEST_CASE("measured figures: values that are not finite are not kept") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("."));
    CHECK(!remember("a", {{"step", std::numeric_limits<double>::infinity()}}).empty());
    CHECK(!recall("a").figures);
}

TEST_CASE("measured figures of many writers at once are all there") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("."));
    std::vector<std::thread> writers;
    for (int w = 0; w < 4; w++) {
        writers.emplace_back([w] {
            for (int i = 0; i < 5; i++) {
                while (!remember(std::to_string(w) + "," + std::to_string(i), {{"step", w * 10 + i}}).empty()) {
                }
            }
        });
    }
    for (std::thread& writer : writers) writer.join();
    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < 5; i++) {
            const auto found = recall(std::to_string(w) + "," + std::to_string(i)).figures;
            REQUIRE(found);
            CHECK(found->at("step") == w * 10 + i);
        }
    }
    CHECK(here.entries() == 2);  // the file and its lock, no temporary ones
}

TEST_CASE("measured figures: a lock that somebody keeps is a reason and no wait without end") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("."));
    REQUIRE(remember("a", {{"step", 1}}).empty());
    const int other = ::open(here.file("measured.lock").c_str(), O_RDWR);
    REQUIRE(::flock(other, LOCK_EX) == 0);
    CHECK(remember("b", {{"step", 1}}).find("locked") != std::string::npos);
    ::close(other);
    CHECK(remember("b", {{"step", 1}}).empty());
}

TEST_CASE("measured figures: of very many keys the oldest go") {
    const Directory here;
    const Variable cache("SHUNT_CACHE", here.file("."));
    std::string text = "{\"format\": 1, \"figures\": {";
    for (int i = 0; i < 2000; i++) {
        text += (i ? "," : "") + ("\"k" + std::to_string(i)) + "\": {\"at\": " + std::to_string(1000 - i / 2) +
                ", \"values\": {\"step\": 1}}";
    }
    put(measured_file(), text + "}}");
    REQUIRE(recall("k1998").figures);
    REQUIRE(remember("new", {{"step", 1}}).empty());
    CHECK(recall("new").figures);
    CHECK(recall("k0").figures);
    CHECK((!recall("k1998").figures || !recall("k1999").figures));
}

TEST_CASE("training costs: steps, epochs, uploads, validation, and opening where it is still to be paid") {
    const TrainingCost cost{.step = 2, .epoch = 10, .sample = 0.5, .validation = 0.25, .opening = 1000};
    const TrainingWork work{.samples = 6, .validation = 4, .epochs = 3, .steps = 9};
    CHECK(seconds(cost, work, false) == 9 * 2 + 3 * (10 + 1) + 5);
    CHECK(seconds(cost, work, true) == 9 * 2 + 3 * (10 + 1) + 5 + 1000);
}

TEST_CASE("choices: the fastest, ties to the first, what is hopeless, close, or below all worth") {
    CHECK(fastest({2, 1, 3}) == 1);
    CHECK(fastest({1, 1}) == 0);
    CHECK(hopeless(0.31, 0.1));
    CHECK(!hopeless(0.29, 0.1));
    CHECK(!hopeless(0.0019, 1e-6));  // the wait for a card alone
    CHECK(close_to(0.3, 0.1));
    CHECK(!close_to(0.301, 0.1));
    CHECK(surely_below(2, 100, 4, 1000));
    CHECK(!surely_below(2, 1e7, 4096, 30));
    CHECK(!surely_below(0, 1, 1, 1));
}

TEST_CASE("choices: the CPU answers what it manages in the time of the card's chunk, all where it is faster") {
    CHECK(rows_on_cpu(10, 1, 256) == 25);
    CHECK(rows_on_cpu(1000, 1, 256) == 0);
    CHECK(rows_on_cpu(1.6e308, 1e308, 256) == 160);
    CHECK(rows_on_cpu(1, 1, 256) == std::numeric_limits<std::size_t>::max());
}

TEST_CASE("machine: a hidden card is not there, for that reason, and not looked for") {
    const Variable hidden("SHUNT_GPU", "off");
    for (const char* adapter : {"", "no such card"}) {
        const Machine card = machine("gpu", {.adapter = adapter});
        CHECK(!card.there);
        CHECK(card.reason == "SHUNT_GPU=off hides the graphics card.");
    }
    CHECK(machine("cpu", {.threads = 3}).facts == "cpu, 3 threads");
}
