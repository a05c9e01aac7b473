// See trust.hpp.
#include "offload/trust.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace shunt::offload {
namespace {

constexpr std::size_t most_accounts = 65536;  // some 5 MB

// Two shapes of one number would share an account: harmless, and rare.
std::uint64_t number_of(const KernelShape& shape) {
    std::uint64_t number = std::hash<std::string_view>()(shape.kernel);
    for (const std::uint64_t part :
         {std::uint64_t{shape.m}, std::uint64_t{shape.n}, std::uint64_t{shape.k}, shape.variant}) {
        number = (number ^ part) * 0x9e3779b97f4a7c15;
        number ^= number >> 32;
    }
    return number;
}

bool in_class(const Quarantine::Entry& entry, const KernelShape& shape) {
    return entry.kernel == shape.kernel && entry.m == std::bit_ceil(shape.m) && entry.n == std::bit_ceil(shape.n) &&
           entry.k == std::bit_ceil(shape.k);
}

}  // namespace

bool Sampler::due(const KernelShape& shape) const {
    const std::uint64_t number = number_of(shape);
    const std::lock_guard lock(mutex_);
    const auto found = accounts_.find(number);
    if (found == accounts_.end() || !found->second.checked) return true;
    const Account& account = found->second;
    return (account.checks + account.last_check) / share_ <= account.operators;  // right for 0 and infinity too
}

void Sampler::spent(const KernelShape& shape, double operator_seconds, std::optional<double> check_seconds) {
    const std::uint64_t number = number_of(shape);
    const std::lock_guard lock(mutex_);
    if (accounts_.size() >= most_accounts && !accounts_.contains(number)) accounts_.clear();
    Account& account = accounts_[number];
    account.operators += operator_seconds;
    if (!check_seconds) return;
    account.checks += *check_seconds;
    account.last_check = *check_seconds;
    account.checked = true;
}

bool Quarantine::holds(const KernelShape& shape) const {
    if (!any_.load(std::memory_order_acquire)) return false;
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(entries_, [&](const Entry& entry) { return in_class(entry, shape); });
}

void Quarantine::add(const KernelShape& shape, const std::string& what) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return in_class(entry, shape); });
    if (found != entries_.end()) {
        found->faults++;
        return;
    }
    entries_.push_back(
        {std::string(shape.kernel), std::bit_ceil(shape.m), std::bit_ceil(shape.n), std::bit_ceil(shape.k), what, 1});
    any_.store(true, std::memory_order_release);
}

std::vector<Quarantine::Entry> Quarantine::entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
}

}  // namespace shunt::offload
