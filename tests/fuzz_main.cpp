// Runs a fuzzer without libFuzzer: each seed as it is, then ROUNDS changes of it drawn from a fixed seed,
// so that every run of the tests reads thousands of broken files.
//
// fuzz_data ROUNDS FILE-OR-FOLDER...
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using shunt::Random;

std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// One to four changes: a bit, a byte, a piece cut out, a piece doubled, the end cut off.
std::string changed(std::string bytes, Random& random) {
    for (std::size_t n = 1 + random.below(4); n > 0 && !bytes.empty(); n--) {
        const std::size_t at = random.below(bytes.size()),
                          length = 1 + random.below(std::min<std::size_t>(bytes.size() - at, 16));
        switch (random.below(5)) {
            case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))); break;
            case 1: bytes[at] = static_cast<char>(random.below(256)); break;
            case 2: bytes.erase(at, length); break;
            case 3: bytes.insert(at, bytes.substr(at, length)); break;
            default: bytes.resize(at); break;
        }
    }
    return bytes;
}

void run(const std::string& bytes) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
    const long rounds = argc > 2 ? std::strtol(argv[1], nullptr, 10) : 0;
    if (rounds < 1) {
        std::fprintf(stderr, "%s ROUNDS FILE-OR-FOLDER...\n", argv[0]);
        return 2;
    }
    std::vector<std::filesystem::path> seeds;
    for (int i = 2; i < argc; i++) {
        if (!std::filesystem::is_directory(argv[i]))
            seeds.emplace_back(argv[i]);
        else
            for (const auto& entry : std::filesystem::directory_iterator(argv[i])) seeds.push_back(entry.path());
    }
    Random random(1);
    for (const auto& seed : seeds) {
        const std::string bytes = content(seed);
        if (bytes.empty()) {
            std::fprintf(stderr, "%s is empty or not there\n", seed.c_str());
            return 1;
        }
        run(bytes);
        for (long i = 0; i < rounds; i++) run(changed(bytes, random));
    }
    std::printf("%zu seeds, %ld changes of each\n", seeds.size(), rounds);
}
