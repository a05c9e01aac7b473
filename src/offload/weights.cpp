// See weights.hpp.
#include "offload/weights.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "core/hash.hpp"

namespace shunt::offload {
namespace {

constexpr std::size_t small_size = 4096;    // floats: hashed in under 1 µs
constexpr std::size_t most_places = 16384;  // some 200 bytes each
constexpr std::uint64_t golden =
    0x9e3779b97f4a7c15;  // 2^64 / golden ratio: its multiples spread evenly, without a period

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

WeightKey content_key(std::span<const float> values) {
    const Checksum sum = checksum(std::as_bytes(values));
    return {sum.low, sum.high, values.size_bytes()};
}

using Words = std::array<std::uint32_t, ContentKeys::n_words>;
constexpr std::size_t least_others = ContentKeys::n_words / 4;  // of words that are not the commonest one

std::uint32_t word(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

std::uint32_t commonest(Words words) {
    std::ranges::sort(words);
    std::uint32_t best = words[0];
    for (std::size_t i = 0, run = 1, longest = 1; i + 1 < words.size(); i++) {
        run = words[i + 1] == words[i] ? run + 1 : 1;
        if (run > longest) longest = run, best = words[i];
    }
    return best;
}

bool tells_enough(const Words& words, std::uint32_t common) {
    return words.size() - static_cast<std::size_t>(std::ranges::count(words, common)) > least_others;
}

// A place in each of equal stretches where there is another value than the common one; the first where there is none.
std::vector<std::size_t> places_of_others(std::span<const float> values, std::uint32_t common) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ContentKeys::n_words; i++) {
        const std::size_t from = values.size() / ContentKeys::n_words * i;
        const auto stretch = values.subspan(from, values.size() / ContentKeys::n_words);
        const auto found = std::ranges::find_if(stretch, [&](float value) { return word(value) != common; });
        places.push_back(from + (found == stretch.end() ? 0 : static_cast<std::size_t>(found - stretch.begin())));
    }
    return places;
}

}  // namespace

Weight::Weight() : id_(next_number()), generation_(next_number()) {}

void Weight::changed() {
    generation_ = next_number();
}

WeightKey key_of(const Weight& weight, std::size_t bytes) {
    return {weight.id(), 0, bytes, weight.generation()};
}

// --- arrays without a handle ---------------------------------------------------------------------

std::size_t ContentKeys::PlaceHash::operator()(const Place& place) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(place.data) ^ place.size) * golden;
}

ContentKeys::Words ContentKeys::sample(std::span<const float> values, const Places& at) {
    Words words;
    for (std::uint64_t i = 0; i < n_words; i++) {
        const std::size_t usual = i + 1 == n_words ? values.size() - 1 : (i * golden >> 40) * values.size() >> 24;
        words[i] = word(values[at.empty() ? usual : at[i]]);
    }
    return words;
}

// Reads them all: milliseconds.
ContentKeys::Seen ContentKeys::look_at(std::span<const float> values) {
    Seen seen{.at = {}, .words = sample(values, {}), .key = {}};
    const std::uint32_t common = commonest(seen.words);
    if (!tells_enough(seen.words, common)) {
        Places others = places_of_others(values, common);
        const Words words = sample(values, others);
        if (!tells_enough(words, common)) return seen;
        seen.at = std::move(others), seen.words = words;
    }
    seen.key = content_key(values);
    return seen;
}

std::optional<WeightKey> ContentKeys::key_of(std::span<const float> values) {
    if (values.size() < small_size) return content_key(values);
    const Place place{values.data(), values.size()};
    const Words usual = sample(values, {});  // without the lock, as all that reads the array, but for rare ones
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = seen_.find(place); found != seen_.end()) {
            const Seen& seen = found->second;
            if (seen.words == (seen.at.empty() ? usual : sample(values, seen.at))) return seen.key;
        }
    }
    Seen seen = look_at(values);
    const std::lock_guard lock(mutex_);
    hashed_ += seen.key ? 1 : 0;
    if (seen_.size() >= most_places) seen_.erase(seen_.begin());  // whichever: it is hashed once more
    return seen_.insert_or_assign(place, std::move(seen)).first->second.key;
}

std::uint64_t ContentKeys::hashed() const {
    const std::lock_guard lock(mutex_);
    return hashed_;
}

// --- which are on the card -----------------------------------------------------------------------

bool transfer_pays(double lost, const WeightCost& cost) {
    const double gain = cost.cpu - cost.gpu;
    return gain > 0 && lost + gain >= cost.transfer;
}

WeightCache::WeightCache(std::size_t budget_bytes, std::size_t most_accounts)
    : budget_(budget_bytes), most_accounts_(most_accounts) {}

// The entry of a key, at the front of its list; of a key that is not known, a new account.
WeightCache::Entries::iterator WeightCache::entry_of(const WeightKey& key) {
    if (const auto found = entries_.find(key); found != entries_.end()) {
        const Entries::iterator entry = found->second;
        Entries& list = entry->tensor.exists() ? resident_ : accounts_;
        list.splice(list.begin(), list, entry);
        if (entry->key.generation != key.generation) {
            entry->key.generation = key.generation;
            entry->lost = 0;
        }
        return entry;
    }
    while (accounts_.size() >= most_accounts_ && !accounts_.empty()) {
        entries_.erase(accounts_.back().key);
        accounts_.pop_back();
    }
    accounts_.push_front({key});
    try {
        entries_.emplace(key, accounts_.begin());
    } catch (...) {
        accounts_.pop_front();
        throw;
    }
    return accounts_.begin();
}

WeightDecision WeightCache::decide(const WeightKey& key, const WeightCost& cost) {
    const double gain = cost.cpu - cost.gpu;
    if (!(gain > 0)) return {};
    const std::lock_guard lock(mutex_);
    if (key.bytes > budget_) {
        stats_.misses++;
        return {transfer_pays(0, cost) ? WeightChoice::upload : WeightChoice::cpu};
    }
    Entry& entry = *entry_of(key);
    if (on_card(entry, key.generation)) {
        stats_.hits++;
        return {WeightChoice::resident, entry.lost};
    }
    stats_.misses++;
    const double before = entry.lost;
    entry.lost += gain;
    if (transfer_pays(before, cost)) return {WeightChoice::upload, before};
    stats_.seconds_lost += gain;
    return {WeightChoice::cpu, entry.lost};
}

bool WeightCache::resident(const WeightKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found != entries_.end() && on_card(*found->second, key.generation);
}

WeightStats WeightCache::stats() const {
    const std::lock_guard lock(mutex_);
    WeightStats stats = stats_;
    stats.budget = budget_;
    stats.resident = resident_.size();
    stats.accounts = accounts_.size();
    return stats;
}

// Makes an account of a weight on the card. The tensor is the caller's, who lets go of it without the lock: on a
// card that may take a while.
Tensor WeightCache::take_off(Entries::iterator entry) {
    accounts_.splice(accounts_.begin(), resident_, entry);
    stats_.bytes -= entry->tensor.size() * sizeof(float);
    return std::exchange(entry->tensor, {});
}

// Until at most so many bytes are held.
std::vector<Tensor> WeightCache::give_up(std::size_t most_bytes) {
    std::vector<Tensor> released;
    while (!resident_.empty() && stats_.bytes > most_bytes) {
        resident_.back().lost = 0;
        released.push_back(take_off(std::prev(resident_.end())));
        stats_.evictions++;
    }
    return released;
}

Tensor WeightCache::find(const WeightKey& key) {
    Tensor stale;
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second->tensor.exists()) return {};
    const Entries::iterator entry = entry_of(key);
    if (on_card(*entry, key.generation)) return entry->tensor;
    stale = take_off(entry);
    return {};
}

bool WeightCache::keep(const WeightKey& key, const Tensor& tensor, double seconds) {
    std::vector<Tensor> released;
    Tensor replaced;
    const std::lock_guard lock(mutex_);
    stats_.uploads++;
    stats_.seconds_paid += seconds;
    const std::size_t bytes = tensor.size() * sizeof(float);
    if (bytes > budget_) return false;
    const Entries::iterator entry = entry_of(key);
    if (entry->tensor.exists()) replaced = take_off(entry);
    released = give_up(budget_ - bytes);
    entry->tensor = tensor;
    entry->generation = key.generation;
    stats_.bytes += bytes;
    resident_.splice(resident_.begin(), accounts_, entry);
    return true;
}

void WeightCache::not_kept(const WeightKey& key) {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) found->second->lost = 0;
}

std::size_t WeightCache::evict(std::size_t bytes) {
    std::vector<Tensor> released;
    const std::lock_guard lock(mutex_);
    const std::size_t before = stats_.bytes;
    released = give_up(before > bytes ? before - bytes : 0);
    return before - stats_.bytes;
}

void WeightCache::clear() {
    std::vector<Tensor> released;
    const std::lock_guard lock(mutex_);
    while (!resident_.empty()) released.push_back(take_off(std::prev(resident_.end())));
}

}  // namespace shunt::offload
