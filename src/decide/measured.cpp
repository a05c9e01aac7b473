// The file of measured figures: {"format": 1, "figures": {KEY: {"at": seconds, "values": {NAME: number}}}}.
#include "decide/measured.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/json.hpp"
#include "core/text.hpp"
#include "shunt/file.hpp"

namespace shunt::decide {
namespace {

constexpr int format = 1;
constexpr std::size_t most_keys = 2000;  // some 300 KB
constexpr auto longest_wait = std::chrono::milliseconds(500);

std::string folder() {
    if (const std::string named = environment("SHUNT_CACHE"); !named.empty()) return named;
    if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/shunt";
    const std::string home = environment("HOME");
    return home.empty() ? "" : home + "/.cache/shunt";
}

struct Entry {
    std::int64_t at = 0;  // when it was measured, in seconds of the system's clock
    Figures values;
};

struct Content {
    std::map<std::string, Entry> entries;
    std::string reason;  // why they are none
    bool ours = true;    // may be written over
};

std::map<std::string, Entry> parse(const nlohmann::json& json, const std::string& file) {
    std::map<std::string, Entry> entries;
    const JsonValue figures = JsonValue(json, file).at("figures");
    if (!figures.json().is_object()) figures.refuse("is not an object");
    for (const auto& [key, unused] : figures.json().items()) {
        const JsonValue entry = figures.at(key), values = entry.at("values");
        if (!values.json().is_object()) values.refuse("is not an object");
        Entry& to = entries[key];
        to.at = entry.at("at").integer(0, std::int64_t{1} << 53);
        for (const auto& [name, number] : values.json().items()) to.values[name] = values.at(name).number();
    }
    return entries;
}

Content load(const std::string& path) {
    std::error_code none;
    const auto found = std::filesystem::status(path, none);
    if (!std::filesystem::exists(found)) return {};
    // Opening a FIFO would wait for somebody at its other end, in reading as in writing.
    if (!std::filesystem::is_regular_file(found)) return {{}, path + " is no regular file.", false};
    try {
        std::ifstream in(path, std::ios::binary);
        if (!in) return {{}, path + " cannot be read.", true};
        const std::string text(std::istreambuf_iterator<char>(in), {});
        const nlohmann::json json = parse_json(text, path);
        const std::int64_t version = JsonValue(json, path).at("format").integer(0, 1 << 30);
        if (version != format)
            return {{},
                    path + " has the format " + std::to_string(version) + ", not " + std::to_string(format) + ".",
                    false};
        return {parse(json, path), "", true};
    } catch (const std::exception& error) {
        return {{}, error.what(), true};
    }
}

// Held by one writer at a time. The lock is a file of its own: the other is replaced at each writing.
class Lock {
public:
    explicit Lock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        const auto end = std::chrono::steady_clock::now() + longest_wait;
        while (fd_ >= 0 && !(held_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0)) {
            if (std::chrono::steady_clock::now() > end) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    ~Lock() {
        if (fd_ >= 0) ::close(fd_);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    bool held() const { return held_; }

private:
    int fd_;
    bool held_ = false;
};

void drop_oldest(std::map<std::string, Entry>& entries) {
    while (entries.size() > most_keys) {
        entries.erase(
            std::ranges::min_element(entries, [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
    }
}

std::string text_of(const std::map<std::string, Entry>& entries) {
    nlohmann::ordered_json json;
    json["format"] = format;
    json["figures"] = nlohmann::ordered_json::object();
    for (const auto& [key, entry] : entries) json["figures"][key] = {{"at", entry.at}, {"values", entry.values}};
    return to_json(json, 1) + "\n";
}

}  // namespace

std::string measured_file() {
    const std::string place = folder();
    return place.empty() ? "" : place + "/measured.json";
}

Recalled recall(const std::string& key) {
    const std::string path = measured_file();
    if (path.empty()) return {{}, "There is no place for measured figures: HOME is not set, nor SHUNT_CACHE."};
    Content content = load(path);
    const auto found = content.entries.find(key);
    if (found == content.entries.end()) return {{}, content.reason};
    return {std::move(found->second.values), ""};
}

std::string remember(const std::string& key, const Figures& figures) {
    const std::string path = measured_file();
    if (path.empty()) return recall(key).reason;
    for (const auto& [name, value] : figures) {
        if (!std::isfinite(value)) return "The figure " + name + " is not finite.";
    }
    std::error_code failed;
    std::filesystem::create_directories(folder(), failed);
    if (failed) return folder() + " cannot be made: " + failed.message() + ".";
    const Lock lock(folder() + "/measured.lock");
    if (!lock.held()) return folder() + "/measured.lock cannot be locked.";
    Content content = load(path);
    if (!content.ours) return content.reason;
    content.entries[key] = {static_cast<std::int64_t>(std::time(nullptr)), figures};
    drop_oldest(content.entries);
    try {
        OutputFile file(path);
        file.write(text_of(content.entries));
        file.commit();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace shunt::decide
