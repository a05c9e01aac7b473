// Weights on the card: what one is known by, when its transfer pays, and which of them stay there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "shunt/tensor.hpp"
#include "shunt/weight.hpp"

namespace shunt::offload {

struct WeightKey {
    std::uint64_t low = 0, high = 0;  // XXH3-128 of the contents; of a handle: its id and 0
    std::uint64_t bytes = 0;
    std::uint64_t generation = 0;  // of a handle; 0: of contents. Not compared: a newer one takes the older one's place

    bool operator==(const WeightKey& other) const {
        return low == other.low && high == other.high && bytes == other.bytes;
    }
};

WeightKey key_of(const Weight& weight, std::size_t bytes);

// Keys of arrays without a handle. The contents are hashed once; as long as 32 sampled words of an array at the
// same address with the same length stay as they were, it counts as the same: 0.06 µs where they are in the
// caches, instead of a pass over it at 6 GB/s. Below 16 KiB the contents are always hashed, in 1.3 µs at most.
//
// The words are the first, the last and 30 spread without a period. They tell another tensor in the same
// memory, and an array that changed everywhere (a step of training). They do not tell an array that was changed in
// a few places, or in a stretch of less than some 5 % of it: there the caller breaks the promise that the bytes stay,
// and a handle with `changed()` is what he needs. Where three quarters of the sampled words or more are equal, as in
// pruned weights, other values are looked for and sampled instead. Where there are hardly any, as in zeros, the array
// has no key: hashing it at each call takes as long as a product with one row.
//
// Any thread.
class ContentKeys {
public:
    static constexpr std::size_t n_words = 32;

    std::optional<WeightKey> key_of(std::span<const float> values);
    std::uint64_t hashed() const;  // how many times contents were

private:
    using Words = std::array<std::uint32_t, n_words>;
    struct Place {
        const float* data;
        std::size_t size;
        bool operator==(const Place&) const = default;
    };
    struct PlaceHash {
        std::size_t operator()(const Place& place) const noexcept;
    };
    using Places = std::vector<std::size_t>;  // of the words; empty: where they usually are
    struct Seen {
        Places at;
        Words words;
        std::optional<WeightKey> key;
    };
    static Words sample(std::span<const float> values, const Places& at);
    static Seen look_at(std::span<const float> values);

    mutable std::mutex mutex_;
    std::unordered_map<Place, Seen, PlaceHash> seen_;
    std::uint64_t hashed_ = 0;
};

// Seconds of one call. `gpu` is with the weight on the card, `transfer` what it takes to get there.
struct WeightCost {
    double cpu = 0, gpu = 0, transfer = 0;
};

// Rent or buy. A weight that is not on the card loses cpu − gpu at each call that stays on the CPU; it is sent in
// the call that would bring the sum, `lost`, to the cost of the transfer (at once, where one call does). So at most
// twice the best in hindsight is spent: where all calls together would have lost less than the transfer, exactly that
// is lost, which is the best; else the best is the transfer at the first call, and here less than that was lost before
// the same transfer was paid.
bool transfer_pays(double lost, const WeightCost& cost);

enum class WeightChoice { cpu, resident, upload };

struct WeightDecision {
    WeightChoice choice = WeightChoice::cpu;
    double lost = 0;  // by staying on the CPU so far; with this call, where it stays there
};

struct WeightStats {
    std::size_t bytes = 0, budget = 0;
    std::size_t resident = 0, accounts = 0;  // weights on the card; others of which is known what they lost
    std::uint64_t hits = 0, misses = 0;      // decisions for the card's sake that found the weight there, or not
    std::uint64_t uploads = 0, evictions = 0;
    double seconds_lost = 0, seconds_paid = 0;  // on the CPU before transfers; for transfers
};

// The weights on the card, the least recently used given up where they are more than the budget, and the
// accounts of those that are not there. A weight that is given up starts its account anew, or two that do not fit
// together would push each other out at every call.
class WeightCache {
public:
    explicit WeightCache(std::size_t budget_bytes, std::size_t most_accounts = 4096);

    // Any thread. 30 ns, without allocation, for a weight that is known; never releases a tensor.
    // Enters what it decides into the account, and so is asked once a call, last of all. One larger than the whole
    // budget goes to the card where that pays at once, every time.
    WeightDecision decide(const WeightKey& key, const WeightCost& cost);
    bool resident(const WeightKey& key) const;
    WeightStats stats() const;

    // For the thread that the tensors' backend belongs to: these release tensors, unless an operator still holds them.

    // Not exists: it is not there. After `resident` too, when it had to go in between; and it is there after `upload`
    // when another call was first: so this is asked before each use.
    Tensor find(const WeightKey& key);
    // `seconds`: what the transfer took. False: larger than the budget, it is used once and not kept.
    bool keep(const WeightKey& key, const Tensor& tensor, double seconds);
    // The transfer failed: the account starts anew, so that the next call does not try again at once.
    void not_kept(const WeightKey& key);
    // Gives up the least recently used ones until so many bytes are free; how many those were.
    std::size_t evict(std::size_t bytes);
    // The card is lost. The accounts stay: what has paid for its transfer goes to the next card with its next call.
    void clear();

private:
    struct Entry {
        WeightKey key;
        double lost = 0;
        Tensor tensor;                 // exists: on the card
        std::uint64_t generation = 0;  // that the tensor is of
    };
    using Entries = std::list<Entry>;
    struct KeyHash {
        std::size_t operator()(const WeightKey& key) const noexcept { return key.low ^ key.high; }
    };
    static bool on_card(const Entry& entry, std::uint64_t generation) {
        return entry.tensor.exists() && entry.generation == generation;
    }

    Entries::iterator entry_of(const WeightKey& key);
    Tensor take_off(Entries::iterator entry);
    std::vector<Tensor> give_up(std::size_t most_bytes);

    const std::size_t budget_, most_accounts_;
    mutable std::mutex mutex_;
    Entries resident_, accounts_;  // most recently used first
    std::unordered_map<WeightKey, Entries::iterator, KeyHash> entries_;
    WeightStats stats_;
};

}  // namespace shunt::offload
