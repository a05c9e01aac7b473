// How often a kernel is checked, and which ones are not used any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shunt::offload {

// What a call computes. A product's m, n, k; of a convolution o, oh·ow and (c/groups)·kh·kw; of an activation the
// count, 1, 1.
struct KernelShape {
    std::string_view kernel;  // "product", "conv2d depthwise", "gelu"
    std::size_t m = 1, n = 1, k = 1;
    std::uint64_t variant = 0;  // what else its way through the kernel depends on, packed: stride, padding …
};

// When to check: the first call of every shape and variant, and then as often as the checks of this one cost no more
// than a share of the time of its operators. Each shape has its own account, or the checks of small ones would use up
// what a large one needs. The answers follow from the seconds alone. Any thread.
class Sampler {
public:
    explicit Sampler(double share = 0.01) : share_(share) {}  // infinity: every call

    bool due(const KernelShape& shape) const;  // 40 ns, without allocation
    // After a call; without `check_seconds` where it was not checked. A check is expected to take what the last one
    // took.
    void spent(const KernelShape& shape, double operator_seconds, std::optional<double> check_seconds = {});

private:
    struct Account {
        double operators = 0, checks = 0, last_check = 0;  // seconds
        bool checked = false;
    };

    const double share_;
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, Account> accounts_;
};

// Kernels that gave a wrong result, in a class of shapes: all sizes up to the same powers of two, all variants.
// They stay here for the life of the process. Any thread.
class Quarantine {
public:
    struct Entry {
        std::string kernel;
        std::size_t m = 1, n = 1, k = 1;  // the class: up to these, from half of them on
        std::string what;                 // the first fault
        std::size_t faults = 0;
    };

    bool holds(const KernelShape& shape) const;  // 3 ns where there are none; never allocates
    void add(const KernelShape& shape, const std::string& what);
    std::vector<Entry> entries() const;

private:
    std::atomic<bool> any_ = false;
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace shunt::offload
