// Files that are whole or not there at all.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "shunt/file.hpp"

namespace shunt {

namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
    throw Error(Fault::bad_file, path + " cannot be written: " + std::system_category().message(error) + ".");
}

std::pair<std::string, std::string> directory_and_name(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {path.substr(0, slash == 0 ? 1 : slash), path.substr(slash + 1)};
}

// Where a chain of symbolic links ends, also when nothing is there yet.
std::string follow_links(const std::string& path) {
    std::string at = path;
    for (int links = 0; links <= 40; ++links) {
        char target[4096];
        const auto length = ::readlink(at.c_str(), target, sizeof target);
        if (length < 0) return at;  // not a link, or nothing there
        if (static_cast<std::size_t>(length) == sizeof target) refuse(path, ENAMETOOLONG);
        const std::string to(target, static_cast<std::size_t>(length));
        at = to.starts_with('/') ? to : directory_and_name(at).first + "/" + to;
    }
    refuse(path, ELOOP);
}

// /dev/stdout and the like: opening them anew would start at the front of a file that a shell has
// opened to append to, so the descriptor itself is used.
std::optional<int> descriptor_of(const std::string& path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(prefix)) continue;
        int number = -1;
        const char* end = path.data() + path.size();
        const auto read = std::from_chars(path.data() + prefix.size(), end, number);
        if (read.ec == std::errc() && read.ptr == end && number >= 0) return number;
    }
    return std::nullopt;
}

// What is at a path: the mode, or none for nothing. Refuses what can never be written to.
std::optional<mode_t> mode_of(const std::string& path) {
    if (path.empty()) throw Error(Fault::bad_file, "The name of a file to write is empty.");
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        if (errno != ENOENT) refuse(path, errno);
        if (path.ends_with('/')) refuse(path, EISDIR);
        return std::nullopt;
    }
    if (S_ISDIR(found.st_mode)) refuse(path, EISDIR);
    if (::access(path.c_str(), W_OK) != 0) refuse(path, errno);
    return found.st_mode;
}

// A new file beside `path`. O_EXCL, so that it is nobody else's; the mode is that of any new file.
std::pair<int, std::string> open_temporary(const std::string& path) {
    const auto [directory, name] = directory_and_name(path);
    for (int attempt = 0; attempt < 1000; ++attempt) {
        auto temporary = directory + "/." + name.substr(0, 200) + "." + std::to_string(::getpid()) + "." +
                         std::to_string(attempt) + ".tmp";
        const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return {fd, std::move(temporary)};
        if (errno != EEXIST) refuse(path, errno);
    }
    refuse(path, EEXIST);
}

// So that the new name survives a power cut. Some file systems cannot; the file is there all the same.
void sync_directory(const std::string& directory) {
    const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
    if (const auto descriptor = descriptor_of(path)) {
        fd_ = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
        if (fd_ < 0) refuse(path_, errno);
        return;
    }
    const auto mode = mode_of(path);
    if (mode && !S_ISREG(*mode)) {  // a device or a FIFO is written as it is
        fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd_ < 0) refuse(path_, errno);
        return;
    }
    path_ = follow_links(path);
    std::tie(fd_, temporary_) = open_temporary(path_);
    if (mode && ::fchmod(fd_, *mode & 07777) != 0) {
        const int error = errno;
        ::close(fd_);
        ::unlink(temporary_.c_str());
        refuse(path_, error);
    }
}

OutputFile::~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
    assert(fd_ >= 0);
    while (!bytes.empty()) {
        const auto written = ::write(fd_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuse(path_, errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void OutputFile::commit() {
    assert(fd_ >= 0);
    if (!temporary_.empty() && ::fsync(fd_) != 0) refuse(path_, errno);
    if (::close(std::exchange(fd_, -1)) != 0) refuse(path_, errno);
    if (temporary_.empty()) return;
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
    temporary_.clear();
    sync_directory(directory_and_name(path_).first);
}

void check_writable(const std::string& path) {
    if (!descriptor_of(path)) {
        const auto mode = mode_of(path);
        if (mode && !S_ISREG(*mode)) return;  // opening a FIFO would wait for, or end, its reader
    }
    const OutputFile file(path);
}

}  // namespace shunt
