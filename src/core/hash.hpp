// XXH3-128 of values, one list after another.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace shunt {

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
