// See conditions.hpp.
#include "conditions.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>

namespace shunt::cli {

extern const char* const built_commit;  // written by cmake/commit.cmake at each build

namespace {

// Linux on x86 has the name there; other machines mostly do not.
std::string processor() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

// As the backend cpu counts them, which has refused what is no number.
int most_threads(int asked) {
    if (asked > 0) return asked;
    const char* limit = std::getenv("SHUNT_THREADS");
    const int n = limit == nullptr ? 0 : std::atoi(limit);
    return n > 0 ? n : static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

Conditions conditions(bool with_card, const std::string& adapter, int threads) {
    Conditions c{.commit = built_commit, .cpu = processor(), .threads = most_threads(threads), .adapter = {}};
    if (!with_card) return c;
    for (Adapter& a : list_adapters(adapter).adapters) {
        if (a.used) c.adapter = std::move(a);
    }
    return c;
}

Json as_json(const Conditions& c) {
    Json out;
    out["version"] = SHUNT_VERSION;
    out["commit"] = c.commit.empty() ? Json(nullptr) : Json(c.commit);
    out["cpu"] = {{"name", c.cpu}, {"threads", c.threads}};
    out["adapter"] = nullptr;
    if (c.adapter)
        out["adapter"] = {{"name", c.adapter->name}, {"kind", c.adapter->kind}, {"driver", c.adapter->driver}};
    return out;
}

std::string in_words(const Conditions& c) {
    std::string out = "shunt " SHUNT_VERSION + (c.commit.empty() ? "" : ", commit " + c.commit) + "\n";
    out += "CPU   " + c.cpu + ", " + counted(static_cast<std::size_t>(c.threads), "thread", "threads") + "\n";
    if (c.adapter) {
        const std::string& driver = c.adapter->driver;
        out += "card  " + c.adapter->name + ", " + c.adapter->kind + ", driver " +
               (driver.empty() ? "unknown" : driver) + "\n";
    }
    return out;
}

std::string rate_in_words(double per_second, const std::string& unit) {
    constexpr std::array prefixes = {"", "k", "M", "G", "T", "P"};
    std::size_t i = 0;
    for (; per_second >= 1000 && i + 1 < prefixes.size(); i++) per_second /= 1000;
    return short_text(per_second) + " " + prefixes[i] + unit;
}

std::string time_in_words(double seconds) {
    if (seconds >= 1) return short_text(seconds) + " s";
    if (seconds >= 1e-3) return short_text(1e3 * seconds) + " ms";
    if (seconds >= 1e-6) return short_text(1e6 * seconds) + " µs";
    return short_text(1e9 * seconds) + " ns";
}

}  // namespace shunt::cli
