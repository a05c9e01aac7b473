// Files that are whole or not there at all.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "model_tables.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

void write_file(const std::string& path, const std::string& bytes) {
    OutputFile file(path);
    file.write(bytes);
    file.commit();
}

mode_t mode(const std::string& path) {
    struct stat found {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    return found.st_mode & 07777;
}

}  // namespace

TEST_CASE("an output file appears at commit, and only then") {
    const Directory here;
    const auto path = here.file("a");
    {
        OutputFile file(path);
        file.write("half");
        CHECK(!std::filesystem::exists(path));
    }
    CHECK(here.entries() == 0);
    write_file(path, "whole");
    CHECK(content(path) == "whole");
    {
        OutputFile file(path);
        file.write("other");
        CHECK(content(path) == "whole");
    }
    CHECK(content(path) == "whole");
    CHECK(here.entries() == 1);
}

TEST_CASE("two output files of one name do not disturb each other") {
    const Directory here;
    OutputFile a(here.file("x")), b(here.file("x"));
    a.write("a");
    b.write("b");
    a.commit();
    b.commit();
    CHECK(content(here.file("x")) == "b");
    CHECK(here.entries() == 1);
}

TEST_CASE("permissions") {
    const Directory here;
    const auto old = ::umask(027);
    write_file(here.file("new"), "x");
    CHECK(mode(here.file("new")) == 0640);
    ::chmod(here.file("new").c_str(), 0604);
    write_file(here.file("new"), "y");
    CHECK(mode(here.file("new")) == 0604);
    ::umask(old);
}

TEST_CASE("a symbolic link stays one, its target is written") {
    const Directory here;
    std::filesystem::create_directory(here.file("d"));
    put(here.file("d/target"), "old");
    std::filesystem::create_symlink("d/target", here.file("link"));
    std::filesystem::create_symlink("link", here.file("link2"));
    write_file(here.file("link2"), "new");
    CHECK(std::filesystem::is_symlink(here.file("link2")));
    CHECK(std::filesystem::is_symlink(here.file("link")));
    CHECK(content(here.file("d/target")) == "new");
    std::filesystem::create_symlink("d/later", here.file("dangling"));
    write_file(here.file("dangling"), "made");
    CHECK(content(here.file("d/later")) == "made");
    std::filesystem::create_symlink("loop", here.file("loop"));
    CHECK_MENTIONS(refusal(Fault::bad_file, [&] { check_writable(here.file("loop")); }), "symbolic links");
}

TEST_CASE("devices and FIFOs are written as they are") {
    write_file("/dev/null", "gone");
    CHECK(std::filesystem::is_character_file("/dev/null"));
    check_writable("/dev/null");
    check_writable("/dev/stdout");
    const Directory here;
    const auto fifo = here.file("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    check_writable(fifo);  // does not wait for a reader
    std::string got;
    std::thread reader([&] { got = content(fifo); });
    write_file(fifo, "through");
    reader.join();
    CHECK(got == "through");
    CHECK(std::filesystem::is_fifo(fifo));
}

TEST_CASE("a descriptor is written where it stands") {
    const Directory here;
    const int fd = ::open(here.file("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    REQUIRE(::write(fd, "first ", 6) == 6);
    write_file("/dev/fd/" + std::to_string(fd), "second");
    ::close(fd);
    CHECK(content(here.file("log")) == "first second");
    CHECK_MENTIONS(refusal(Fault::bad_file,
                           [] {
                               check_writable("/dev/fd/9999");
                               OutputFile file("/dev/fd/9999");
                           }),
                   "Bad file descriptor");
}

TEST_CASE("a full disk") {
    const auto text = refusal(Fault::bad_file, [] { write_file("/dev/full", "x"); });
    CHECK(text == "/dev/full cannot be written: No space left on device.");

    const Directory here;
    put(here.file("f"), "old");
    struct rlimit before {};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit low = before;
    low.rlim_cur = 1000;
    ::setrlimit(RLIMIT_FSIZE, &low);
    const auto too_large = refusal(Fault::bad_file, [&] { write_file(here.file("f"), std::string(5000, 'x')); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    CHECK_MENTIONS(too_large, "File too large");
    CHECK(content(here.file("f")) == "old");
    CHECK(here.entries() == 1);
}

TEST_CASE("places that cannot be written") {
    const Directory here;
    put(here.file("plain"), "");
    const auto why = [](const std::string& path) { return refusal(Fault::bad_file, [&] { check_writable(path); }); };
    CHECK_MENTIONS(why(""), "empty");
    CHECK_MENTIONS(why(here.file("")), "Is a directory");
    CHECK_MENTIONS(why(here.file("new/")), "Is a directory");
    CHECK_MENTIONS(why(here.file("no/f")), "No such file or directory");
    CHECK_MENTIONS(why(here.file("plain/f")), "Not a directory");
    CHECK_MENTIONS(why("/proc/f"), "/proc/f cannot be written: ");
    if (::geteuid() != 0) {
        put(here.file("fixed"), "");
        ::chmod(here.file("fixed").c_str(), 0400);
        CHECK_MENTIONS(why(here.file("fixed")), "Permission denied");
    }
    CHECK(why(here.file("fine")).empty());
    CHECK(here.entries() <= 2);
}
