// Weights on the card: their keys, rent or buy against the best in hindsight, and the cache.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "offload/weights.hpp"
#include "shunt/backend.hpp"

using namespace shunt;
using namespace shunt::offload;

namespace {

constexpr std::size_t unlimited = std::size_t{1} << 60;

std::vector<float> random_values(std::size_t n, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> value(-1, 1);
    std::vector<float> list(n);
    for (float& v : list) v = value(random);
    return list;
}

WeightKey some_key(std::uint64_t number, std::size_t bytes = 400) {
    return {number, number * 7919, bytes};
}

// What stands in for a card.
const std::shared_ptr<Backend>& card() {
    static const std::shared_ptr<Backend> plain = make_backend("plain");
    return plain;
}

Tensor hundred() {
    return card()->zeros({100});
}

// Calls that go to the CPU before the one that sends the weight.
int calls_before_upload(const WeightCost& cost) {
    WeightCache cache(unlimited);
    for (int calls = 0; calls < 1000; calls++) {
        if (cache.decide(some_key(1), cost).choice == WeightChoice::upload) return calls;
    }
    return -1;
}

// Sends it whatever it costs, so that the next decisions find it there.
void put(WeightCache& cache, const WeightKey& key) {
    CHECK(cache.decide(key, {1, 0, 0}).choice == WeightChoice::upload);
    CHECK(cache.keep(key, hundred(), 0.5));
}

}  // namespace

// --- rent or buy ---------------------------------------------------------------------------------

TEST_CASE("a weight's transfer: repaid after 60 and after 6 calls, at once, never") {
    // 1×4096×4096 and 8×4096×4096 of the cost table: latency 50 µs, 0.1 ns a byte, 0.1 ps a multiply-add.
    const auto product = [](double m, double n, double k) {
        return WeightCost{m * n * k * 1e-11, 50e-6 + 4 * (m * k + m * n) * 1e-10 + m * n * k * 1e-13,
                          4 * k * n * 1e-10};
    };
    CHECK(calls_before_upload(product(1, 4096, 4096)) == 59);  // the 60th sends it
    CHECK(calls_before_upload(product(8, 4096, 4096)) == 5);
    CHECK(calls_before_upload(product(256, 256, 256)) == 0);   // faster with the transfer
    CHECK(calls_before_upload(product(1, 1024, 1024)) == -1);  // faster on the CPU
    CHECK(calls_before_upload({3, 1, 2}) == 0);                // exactly as much
    CHECK(calls_before_upload({3, 2, 4}) == 3);
    CHECK(calls_before_upload({2, 2, 0}) == -1);  // equal stays
}

TEST_CASE("rent or buy: never more than twice the best in hindsight, for every weight") {
    std::mt19937_64 random(20240607);
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    double worst = 0;
    for (int trace = 0; trace < 4000; trace++) {
        struct Lived {
            double transfer, scale;
            std::vector<WeightCost> calls;
            double spent = 0;
        };
        WeightCache cache(unlimited);
        std::vector<Lived> weights(1 + random() % 5);
        for (Lived& w : weights) {
            w.transfer = random() % 10 == 0 ? 0 : std::exp(uniform(-3, 3));
            w.scale = std::exp(uniform(-5, 2));
        }
        const std::size_t n_calls = 1 + random() % 200;
        for (std::size_t i = 0; i < n_calls; i++) {
            const std::size_t number = random() % weights.size();
            Lived& w = weights[number];
            // Some calls are faster on the CPU, and the gains of one weight differ a lot.
            const WeightCost cost{uniform(0, 1) * w.scale * (random() % 20 == 0 ? 30 : 1), uniform(0, 0.5) * w.scale,
                                  w.transfer};
            w.calls.push_back(cost);
            switch (cache.decide(some_key(number), cost).choice) {
                case WeightChoice::cpu: w.spent += cost.cpu; break;
                case WeightChoice::resident: w.spent += cost.gpu; break;
                case WeightChoice::upload:
                    w.spent += cost.gpu + cost.transfer;
                    REQUIRE(cache.keep(some_key(number), hundred(), cost.transfer));
                    break;
            }
        }
        // Beyond what no strategy avoids, the cheaper of both in every call: buying before call i, or never.
        for (const Lived& w : weights) {
            double floor = 0, lost = 0;
            for (const WeightCost& c : w.calls) floor += std::min(c.cpu, c.gpu);
            double best = w.transfer;  // before the first
            for (const WeightCost& c : w.calls) {
                lost += std::max(0.0, c.cpu - c.gpu);
                best = std::min(best, lost + w.transfer);
            }
            best = std::min(best, lost);  // never
            const double rounding = 1e-12 * (floor + w.transfer + lost);
            CHECK(w.spent - floor <= 2 * best + rounding);
            CHECK(w.spent <= 2 * (floor + best) + rounding);
            if (best > 0) worst = std::max(worst, (w.spent - floor) / best);
        }
    }
    CHECK(worst > 1.9);  // the traces do try it
}

// --- keys ----------------------------------------------------------------------------------------

TEST_CASE("weights have names of their own, copies the same until one changes") {
    std::vector<std::vector<std::uint64_t>> ids(4);
    std::vector<std::thread> threads;
    for (auto& list : ids) {
        threads.emplace_back([&list] {
            for (int i = 0; i < 500; i++) list.push_back(Weight().id());
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::set<std::uint64_t> all;
    for (const auto& list : ids) all.insert(list.begin(), list.end());
    CHECK(all.size() == 2000);

    Weight one, other = one;
    CHECK(key_of(one, 8) == key_of(other, 8));
    CHECK(key_of(one, 8).generation == key_of(other, 8).generation);
    CHECK_FALSE(key_of(one, 8) == key_of(one, 16));
    one.changed();
    other.changed();
    const std::uint64_t first = one.generation();
    CHECK(first != other.generation());
    one.changed();
    CHECK(one.generation() > first);
    CHECK(one.id() == other.id());
}

TEST_CASE("arrays are known by their contents, hashed once at one place") {
    ContentKeys keys;
    std::vector<float> values = random_values(100000, 1);
    const WeightKey key = *keys.key_of(values);
    CHECK(key.generation == 0);
    CHECK(key.bytes == 400000);
    for (int i = 0; i < 10; i++) CHECK(keys.key_of(values) == key);
    CHECK(keys.hashed() == 1);
    const std::vector<float> elsewhere = values;
    CHECK(keys.key_of(elsewhere) == key);
    CHECK(keys.hashed() == 2);
    CHECK_FALSE(keys.key_of(std::span(values).first(99999)) == key);

    std::ranges::copy(random_values(100000, 2), values.begin());  // another tensor in the same memory
    const WeightKey other = *keys.key_of(values);
    CHECK_FALSE(other == key);
    for (float& v : values) v *= 1.0001f;  // a step of training
    CHECK_FALSE(keys.key_of(values) == other);
    std::ranges::copy(elsewhere, values.begin());
    CHECK(keys.key_of(values) == key);
}

TEST_CASE("arrays: the first and the last value and every stretch of 6 % are looked at") {
    ContentKeys keys;
    const std::size_t n = 50000, stretch = 3000;
    std::vector<float> values = random_values(n, 3);
    const WeightKey key = *keys.key_of(values);
    for (const std::size_t at : {std::size_t{0}, n - 1}) {
        values[at] += 1;
        CHECK_FALSE(keys.key_of(values) == key);
        values[at] -= 1;
    }
    const std::vector<float> before = values;
    const WeightKey now = *keys.key_of(values);
    for (std::size_t from = 0; from + stretch <= n; from += 500) {
        for (std::size_t i = from; i < from + stretch; i++) values[i] += 1;
        CHECK_FALSE(keys.key_of(values) == now);
        values = std::vector<float>(before);
        keys.key_of(values);
    }
}

TEST_CASE("arrays of hardly any values but one have no key, whatever else is in them") {
    ContentKeys keys;
    std::vector<float> zeros(10000);
    CHECK_FALSE(keys.key_of(zeros));
    zeros[4321] = 1;
    CHECK_FALSE(keys.key_of(zeros));
    CHECK(keys.hashed() == 0);
    const std::vector<float> full = random_values(10000, 6);
    std::ranges::copy(full, zeros.begin());  // in the same memory
    CHECK(keys.key_of(zeros) == keys.key_of(full));
}

TEST_CASE("pruned arrays are hashed once, and known by the values that are left") {
    ContentKeys keys;
    std::vector<float> pruned = random_values(100000, 7);
    for (std::size_t i = 0; i < pruned.size(); i++)
        if (i % 100 != 17) pruned[i] = 0;
    const auto key = keys.key_of(pruned);
    REQUIRE(key);
    CHECK(keys.key_of(pruned) == key);
    CHECK(keys.hashed() == 1);
    const std::vector<float> before = pruned;
    for (float& v : pruned) v *= 1.0001f;
    CHECK(keys.key_of(pruned) != key);
    CHECK(keys.hashed() == 2);
    std::ranges::rotate(pruned, pruned.end() - 1);  // the same values one further
    CHECK(keys.key_of(pruned) != key);
    std::ranges::copy(before, pruned.begin());
    CHECK(keys.key_of(pruned) == key);
}

TEST_CASE("arrays of two values are hashed once, small ones each time") {
    ContentKeys keys;
    std::vector<float> signs = random_values(10000, 4);
    for (float& v : signs) v = v < 0 ? -1.0f : 1.0f;  // two values, and yet they tell one array from another
    keys.key_of(signs);
    keys.key_of(signs);
    CHECK(keys.hashed() == 1);

    std::vector<float> small = random_values(1000, 5);
    for (float& v : small) {
        const WeightKey before = *keys.key_of(small);
        v = -v;
        CHECK_FALSE(keys.key_of(small) == before);
    }
    CHECK(keys.key_of(std::span<const float>{})->bytes == 0);
}

// --- the cache -----------------------------------------------------------------------------------

TEST_CASE("the cache keeps what was used last within its budget") {
    WeightCache cache(1000);  // two of 400 bytes
    put(cache, some_key(1));
    put(cache, some_key(2));
    CHECK(cache.find(some_key(1)).exists());
    put(cache, some_key(3));
    CHECK(cache.resident(some_key(1)));
    CHECK_FALSE(cache.resident(some_key(2)));
    CHECK_FALSE(cache.find(some_key(2)).exists());
    CHECK(cache.decide(some_key(1), {1, 0, 9}).choice == WeightChoice::resident);  // a use too
    put(cache, some_key(4));
    CHECK(cache.resident(some_key(1)));
    CHECK_FALSE(cache.resident(some_key(3)));

    const WeightStats stats = cache.stats();
    CHECK(stats.bytes == 800);
    CHECK(stats.budget == 1000);
    CHECK(stats.resident == 2);
    CHECK(stats.accounts == 2);
    CHECK(stats.hits == 1);
    CHECK(stats.misses == 4);
    CHECK(stats.uploads == 4);
    CHECK(stats.evictions == 2);
    CHECK(stats.seconds_paid == 2);
    CHECK(stats.seconds_lost == 0);
}

TEST_CASE("the cache: two weights that do not fit together pay rent before they change places") {
    WeightCache cache(500);
    const WeightCost cost{2, 1, 5};
    int uploads = 0;
    for (int call = 0; call < 1000; call++) {
        const WeightKey key = some_key(static_cast<std::uint64_t>(call % 2));
        if (cache.decide(key, cost).choice != WeightChoice::upload) continue;
        cache.keep(key, hundred(), cost.transfer);
        uploads++;
    }
    CHECK(uploads > 10);
    CHECK(uploads <= 1000 / 5);
    CHECK(cache.stats().bytes == 400);
    CHECK(cache.stats().seconds_lost >= uploads * 4);
}

TEST_CASE("the cache: a weight larger than the budget goes when that pays at once, and is not kept") {
    WeightCache cache(1000);
    put(cache, some_key(1));
    const WeightKey large = some_key(2, 4000);
    for (int call = 0; call < 3; call++) {
        CHECK(cache.decide(large, {10, 1, 5}).choice == WeightChoice::upload);
        CHECK_FALSE(cache.keep(large, card()->zeros({1000}), 5));
        CHECK_FALSE(cache.find(large).exists());
    }
    for (int call = 0; call < 100; call++) CHECK(cache.decide(large, {5, 1, 5}).choice == WeightChoice::cpu);
    CHECK(cache.resident(some_key(1)));
    CHECK(cache.stats().accounts == 0);
}

TEST_CASE("the cache gives up the oldest to free memory, and a tensor in use lives on") {
    WeightCache cache(unlimited);
    for (std::uint64_t i = 1; i <= 4; i++) put(cache, some_key(i));
    Tensor in_use = cache.find(some_key(1));
    const std::weak_ptr<Storage> second = cache.find(some_key(2)).storage, first = in_use.storage;
    CHECK(cache.evict(401) == 800);  // 3 and 4
    CHECK(cache.resident(some_key(2)));
    CHECK_FALSE(cache.resident(some_key(4)));
    CHECK(cache.evict(100000) == 800);
    CHECK(cache.evict(1) == 0);
    CHECK(cache.stats().bytes == 0);
    CHECK(cache.stats().evictions == 4);
    CHECK(second.expired());
    REQUIRE_FALSE(first.expired());
    CHECK(card()->read(in_use) == std::vector<double>(100));
    in_use = {};
    CHECK(first.expired());
    CHECK(cache.decide(some_key(1), {1, 0, 3}).lost == 1);  // from the start
}

TEST_CASE("the cache after a lost card: what had paid comes back at once, the others go on from where they were") {
    WeightCache cache(unlimited);
    const WeightCost cost{2, 1, 3};
    for (int call = 0; call < 2; call++) CHECK(cache.decide(some_key(1), cost).choice == WeightChoice::cpu);
    CHECK(cache.decide(some_key(1), cost).choice == WeightChoice::upload);
    cache.keep(some_key(1), hundred(), 3);
    CHECK(cache.decide(some_key(2), cost).choice == WeightChoice::cpu);
    const std::weak_ptr<Storage> storage = cache.find(some_key(1)).storage;
    cache.clear();
    CHECK(storage.expired());
    CHECK(cache.stats().bytes == 0);
    CHECK(cache.stats().resident == 0);
    CHECK(cache.stats().evictions == 0);
    CHECK(cache.stats().seconds_paid == 3);
    CHECK(cache.stats().seconds_lost == 3);
    CHECK_FALSE(cache.resident(some_key(1)));
    CHECK(cache.decide(some_key(1), cost).choice == WeightChoice::upload);
    CHECK(cache.decide(some_key(2), cost).choice == WeightChoice::cpu);
    CHECK(cache.decide(some_key(2), cost).choice == WeightChoice::upload);
    cache.not_kept(some_key(2));
    CHECK(cache.decide(some_key(2), cost).lost == 1);
}

TEST_CASE("the cache: a weight that changed is another one, and the old copy goes") {
    WeightCache cache(unlimited);
    Weight weight;
    const Weight copy = weight;
    put(cache, key_of(weight, 400));
    const std::weak_ptr<Storage> old = cache.find(key_of(copy, 400)).storage;
    CHECK_FALSE(old.expired());
    weight.changed();
    CHECK_FALSE(cache.resident(key_of(weight, 400)));
    const WeightDecision decision = cache.decide(key_of(weight, 400), {3, 1, 5});
    CHECK(decision.choice == WeightChoice::cpu);
    CHECK(decision.lost == 2);
    CHECK_FALSE(old.expired());  // a decision releases nothing
    CHECK_FALSE(cache.find(key_of(weight, 400)).exists());
    CHECK(old.expired());
    CHECK(cache.stats().bytes == 0);
    put(cache, key_of(weight, 400));
    CHECK(cache.keep(key_of(weight, 400), hundred(), 0));  // two calls were at it
    CHECK(cache.stats().bytes == 400);
    CHECK(cache.stats().resident == 1);
}

TEST_CASE("the cache forgets the accounts of weights that were not used for long") {
    WeightCache cache(unlimited, 10);
    for (std::uint64_t i = 0; i < 10; i++) cache.decide(some_key(i), {2, 1, 5});
    cache.decide(some_key(0), {2, 1, 5});
    cache.decide(some_key(10), {2, 1, 5});  // instead of 1
    CHECK(cache.stats().accounts == 10);
    CHECK(cache.decide(some_key(0), {2, 1, 5}).lost == 3);
    CHECK(cache.decide(some_key(1), {2, 1, 5}).lost == 1);
    CHECK(cache.stats().accounts == 10);
}

TEST_CASE("the cache: decisions of many threads beside the one that sends") {
    WeightCache cache(10 * 400);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 3; t++) {
        threads.emplace_back([&cache, t] {
            for (std::uint64_t i = 0; i < 3000; i++) {
                const WeightKey key = some_key((i * (t + 1)) % 30);
                cache.decide(key, {2, 1, 2});
                cache.resident(key);
            }
        });
    }
    for (std::uint64_t i = 0; i < 2000; i++) {
        const WeightKey key = some_key(i % 30);
        if (!cache.find(key).exists()) cache.keep(key, hundred(), 1);
        if (i % 100 == 0) cache.evict(800);
        if (i % 500 == 0) cache.clear();
    }
    for (std::thread& thread : threads) thread.join();
    const WeightStats stats = cache.stats();
    CHECK(stats.hits + stats.misses == 9000);
    CHECK(stats.bytes == stats.resident * 400);
    CHECK(stats.bytes <= 4000);
    CHECK(stats.resident + stats.accounts == 30);
}
