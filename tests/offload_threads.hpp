// Threads that offload at once, in every way a program can, and what has to hold of their answers and of the counts.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "offload_cases.hpp"

namespace shunt::test {

// What a report's data say.
struct Counts {
    std::uint64_t on_card = 0, on_cpu = 0, failed = 0;
    bool add_up = true;  // each side's count is the sum of its reasons
};

inline Counts counts_of(const offload::GpuBackend& card) {
    const auto json = nlohmann::json::parse(card.report_json());
    Counts counts;
    for (const char* side : {"on_card", "on_cpu"}) {
        std::uint64_t sum = 0;
        for (const auto& [why, n] : json.at(side).items()) sum += why == "count" ? 0 : n.get<std::uint64_t>();
        counts.add_up = counts.add_up && json.at(side).at("count") == sum;
    }
    counts.on_card = json.at("on_card").at("count");
    counts.on_cpu = json.at("on_cpu").at("count");
    for (const char* why : {"failed", "timed out", "wrong"})
        counts.failed += json.at("on_cpu").at(why).get<std::uint64_t>();
    return counts;
}

// One thread's operators. The memory of its arguments is gone, or has other values, as soon as a call has returned.
class Calls {
public:
    explicit Calls(std::uint64_t seed) : seed_(static_cast<double>(seed)) {}

    std::uint64_t offered = 0;
    double worst = 0;  // difference from the right answer

    static const std::vector<float>& right() {
        static const std::vector<float> answers = offloaded_program();  // nothing is installed: on the CPU
        return answers;
    }

    void all() {
        compare(offloaded_program(), right());
        offered += n_offloaded;
        // A weight of this thread, and a copy of one that all threads have a copy of: each parts from the others.
        static const offload::Weight of_all;
        offload::Weight own, copy = of_all;
        std::vector<float> b = some(24 * 10, seed_), c = some(24 * 10, seed_ + 0.5);
        copy.changed();  // its values are not those of the others
        for (int change = 0; change < 3; change++) {
            for (int again = 0; again < 2; again++) {
                product(3, 10, 24, b, &own);
                product(2, 10, 24, c, &copy);
            }
            for (float& value : b) value = 0.25f - value;
            own.changed();
            for (float& value : c) value = -0.5f * value;
            copy.changed();
        }
        // One without a handle, large enough to be known by samples of its words.
        static const std::vector<float> large = some(40 * 128, 77);
        product(2, 128, 40, large, nullptr);
    }

private:
    void compare(const std::vector<float>& got, const std::vector<float>& expected) {
        worst = std::max(worst, difference(got, expected));
    }

    // With a fresh a, against the sums of the definition.
    void product(std::size_t m, std::size_t n, std::size_t k, const std::vector<float>& b,
                 const offload::Weight* weight) {
        const std::vector<float> a = some(m * k, seed_ + 0.001 * static_cast<double>(++offered));
        std::vector<float> expected;
        for (std::size_t i = 0; i < m; i++) {
            for (std::size_t j = 0; j < n; j++) {
                double sum = 0;
                for (std::size_t l = 0; l < k; l++) sum += double{a[i * k + l]} * double{b[l * n + j]};
                expected.push_back(static_cast<float>(sum));
            }
        }
        const offload::View named = weight ? offload::View(b, {k, n}, *weight) : offload::View(b, {k, n});
        compare(ops::matmul({a, {m, k}}, named, true).values, expected);
    }

    double seed_;
};

struct Stress {
    std::uint64_t offered = 0, on_card = 0, failed = 0;
    double worst = 0;
    bool add_up = true;
};

// Eight threads: half of them ask the process's backend, the others make one of their own each time, on the same
// worker, which ends with the last of them. Another one reads the report meanwhile.
inline Stress eight_threads(offload::SharedWorker worker, const offload::Options& options, int times) {
    using namespace offload;
    Calls::right();
    Stress stress;
    std::array<Stress, 8> parts;
    GpuBackend card(worker, options);
    {
        const ScopedAccelerator use(card, ScopedAccelerator::Scope::process);
        std::atomic<int> running = 0;
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < parts.size(); t++) {
            running++;
            threads.emplace_back([&, t, worker] {
                Stress& part = parts[t];
                Calls calls(t);
                for (int i = 0; i < times; i++) {
                    if (t % 2 == 0) {
                        calls.all();
                        part.offered = calls.offered;
                        continue;
                    }
                    const std::uint64_t before = calls.offered;
                    GpuBackend own(worker, options);
                    const ScopedAccelerator here(own);
                    calls.all();
                    const Counts counts = counts_of(own);
                    part.add_up = part.add_up && counts.add_up && counts.on_card == own.offloaded() &&
                                  counts.on_card + counts.on_cpu == calls.offered - before;
                    part.on_card += counts.on_card;
                    part.failed += counts.failed;
                }
                part.worst = calls.worst;
                running--;
            });
        }
        worker = SharedWorker();
        threads.emplace_back([&] {
            std::uint64_t seen = 0;
            while (running > 0) {
                const std::uint64_t offloaded = card.offloaded();
                const Counts counts = counts_of(card);
                stress.add_up = stress.add_up && counts.add_up && counts.on_card >= offloaded &&
                                counts.on_card + counts.on_cpu >= seen && card.costs() == *options.costs;
                seen = counts.on_card + counts.on_cpu;
                stress.add_up = stress.add_up && !card.report().empty();
                if (counts.failed > 0) stress.add_up = stress.add_up && card.last_error().has_value();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
    }
    const Counts counts = counts_of(card);
    for (const Stress& part : parts) {
        stress.offered += part.offered;  // to the process's backend
        stress.worst = std::max(stress.worst, part.worst);
        stress.add_up = stress.add_up && part.add_up;
    }
    stress.add_up = stress.add_up && counts.add_up && counts.on_card == card.offloaded() &&
                    counts.on_card + counts.on_cpu == stress.offered;
    stress.on_card = counts.on_card, stress.failed = counts.failed;
    for (const Stress& part : parts) stress.on_card += part.on_card, stress.failed += part.failed;
    return stress;
}

}  // namespace shunt::test
