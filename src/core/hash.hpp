// XXH3-128: of one array, and of values one list after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace shunt {

struct Checksum {
    std::uint64_t low = 0, high = 0;

    bool operator==(const Checksum&) const = default;
};

Checksum checksum(std::span<const std::byte> bytes);

class Hash {
public:
    Hash();
    ~Hash();
    Hash(const Hash&) = delete;
    Hash& operator=(const Hash&) = delete;

    void add(std::span<const std::byte> bytes);
    std::string text() const;  // 32 hexadecimal digits

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace shunt
