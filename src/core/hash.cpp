// XXH3-128 of values.
#include "core/hash.hpp"

#include <xxhash.h>

#include <string_view>

#include "shunt/error.hpp"

namespace shunt {

Checksum checksum(std::span<const std::byte> bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.low64, hash.high64};
}

// Made by the library itself, which wants it aligned to 64 bytes.
struct Hash::State {
    std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(), XXH3_freeState};
};

Hash::Hash() : state_(std::make_unique<State>()) {
    if (state_->state == nullptr) throw Error(Fault::out_of_memory, "There is no memory for a checksum.");
    XXH3_128bits_reset(state_->state.get());
}

Hash::~Hash() = default;

void Hash::add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_->state.get(), bytes.data(), bytes.size());
}

std::string Hash::text() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_->state.get()));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto byte : canonical.digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace shunt
