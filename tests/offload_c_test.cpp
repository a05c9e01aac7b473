// shunt/offload.h beside shunt/offload.hpp: the same answers, and no exception past the border. What C can see by
// itself is in offload_c.c.
#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>

#include "failing_backend.hpp"
#include "offload_cases.hpp"
#include "refusal.hpp"
#include "shunt/offload.h"
#include "shunt/offload.hpp"

using namespace shunt;
using namespace shunt::test;

namespace {

struct Closing {
    void operator()(shunt_card* card) const { shunt_card_close(card); }
};
using Card = std::unique_ptr<shunt_card, Closing>;

constexpr const char* costs_file = "offload_c_costs.json";

Card test_card(shunt_card_options options = {}, const offload::Costs& costs = card_always) {
    offload::save_costs(costs, costs_file);
    if (!options.backend) options.backend = "test card";
    options.costs = costs_file;
    Card card(shunt_card_open(&options));
    std::remove(costs_file);
    INFO(shunt_last_message());
    REQUIRE(card);
    return card;
}

std::string taken(char* text) {
    const std::string copy = text ? text : "";
    shunt_free(text);
    return copy;
}

const std::vector<float>& a() {
    static const std::vector<float> values = some(12 * 40, 1);
    return values;
}
const std::vector<float>& b() {
    static const std::vector<float> values = some(40 * 9, 2);
    return values;
}

struct Answer {
    shunt_status status;
    std::vector<float> values = std::vector<float>(12 * 9, 42);

    bool untouched() const { return values == std::vector<float>(12 * 9, 42); }
};

Answer ask(shunt_card* card, decltype(shunt_matmul)* matmul) {
    Answer answer{};
    answer.status = matmul(card, 12, 9, 40, a().data(), b().data(), answer.values.data(), nullptr);
    return answer;
}

// Declines, and counts that it was asked.
struct Counting final : offload::Accelerator {
    int asked = 0;
    std::optional<offload::Array> matmul(const offload::View&, const offload::View&, bool) override {
        return asked++, std::nullopt;
    }
    std::optional<offload::Array> conv2d(const offload::View&, const offload::View&, std::span<const float>,
                                         const offload::ConvOptions&) override {
        return asked++, std::nullopt;
    }
    bool activate(std::span<float>, const ActivationOptions&) override { return asked++, false; }
};

}  // namespace

TEST_CASE("C: every activation is the one of that name, with its alpha and beta") {
    constexpr std::array kinds{Activation::none,         Activation::relu,       Activation::tanh,
                               Activation::sigmoid,      Activation::leaky_relu, Activation::relu6,
                               Activation::hard_sigmoid, Activation::hard_swish, Activation::gelu,
                               Activation::gelu_tanh,    Activation::silu,       Activation::softplus,
                               Activation::elu,          Activation::mish};
    constexpr std::array c_kinds{SHUNT_NONE,  SHUNT_RELU,         SHUNT_TANH,       SHUNT_SIGMOID, SHUNT_LEAKY_RELU,
                                 SHUNT_RELU6, SHUNT_HARD_SIGMOID, SHUNT_HARD_SWISH, SHUNT_GELU,    SHUNT_GELU_TANH,
                                 SHUNT_SILU,  SHUNT_SOFTPLUS,     SHUNT_ELU,        SHUNT_MISH};
    std::vector<float> x = some(200, 3);
    for (float& value : x) value *= 8;
    for (std::size_t i = 0; i < kinds.size(); i++) {
        INFO(to_string(kinds[i]));
        for (const bool own : {false, true}) {
            shunt_activation activation = shunt_activation_of(c_kinds[i]);
            ActivationOptions options(kinds[i]);
            if (own) {
                activation.alpha = options.alpha = 0.3f;
                activation.beta = options.beta = 0;
            }
            std::vector<float> right = x, got = x;
            ops::activate(right, options);
            CHECK(shunt_activate(nullptr, got.size(), got.data(), activation) == SHUNT_DONE);
            CHECK(got == right);
        }
    }
}

TEST_CASE("C: the bits are those of C++") {
    const std::vector<float> right = ops::matmul({a(), {12, 40}}, {b(), {40, 9}}).values;
    CHECK(ask(nullptr, shunt_matmul).values == right);
    Failures none("cpu");
    const Card card = test_card();
    const Answer answer = ask(card.get(), shunt_card_matmul);
    CHECK(answer.status == SHUNT_DONE);
    CHECK(difference(answer.values, right) < rounding);
    CHECK(shunt_card_offloaded(card.get()) == 1);
}

TEST_CASE("C: no card is the CPU, whatever the process has installed") {
    Counting counting;
    const offload::ScopedAccelerator process(counting, offload::ScopedAccelerator::Scope::process);
    const offload::ScopedAccelerator thread(counting);
    CHECK(ask(nullptr, shunt_matmul).status == SHUNT_DONE);
    CHECK(counting.asked == 0);
    CHECK(offload::current_accelerator() == &counting);
}

TEST_CASE("C: where the card fails the answer is the CPU's, or its error by the policy strict") {
    const std::vector<float> right = ops::matmul({a(), {12, 40}}, {b(), {40, 9}}).values;
    Failures failures("cpu");
    failures.fault = Fault::gpu_broken;
    failures.at = 0, failures.forever = true;
    const Card card = test_card();
    const Answer declined = ask(card.get(), shunt_card_matmul);
    CHECK(declined.status == SHUNT_DECLINED);
    CHECK(declined.untouched());
    CHECK_MENTIONS(taken(shunt_card_last_error(card.get())), "This card fails at call");
    const Answer answered = ask(card.get(), shunt_matmul);
    CHECK(answered.status == SHUNT_DONE);
    CHECK(answered.values == right);
    CHECK(shunt_card_offloaded(card.get()) == 0);

    const Card strict = test_card({.policy = SHUNT_STRICT});
    const Answer refused = ask(strict.get(), shunt_matmul);
    CHECK(refused.status == SHUNT_GPU_BROKEN);
    CHECK(refused.untouched());
    CHECK_MENTIONS(std::string(shunt_last_message()), "This card fails at call");
}

TEST_CASE("C: what no memory holds is out_of_memory, with nothing written") {
    float one = 1, result = 42;
    const std::size_t many = std::size_t{1} << 29;  // a square of it is past all address spaces, but a size_t of bytes
    CHECK(shunt_matmul(nullptr, many, many, 1, &one, &one, &result, nullptr) == SHUNT_OUT_OF_MEMORY);
    CHECK_MENTIONS(std::string(shunt_last_message()), "memory");
    CHECK(shunt_matmul(nullptr, many, many * 8, 1, &one, &one, &result, nullptr) == SHUNT_OUT_OF_MEMORY);
    CHECK(result == 42);
}

TEST_CASE("C: what is thrown and is no error ends at the border too") {
    Failures none("cpu");
    struct Seven {
        static void thrower(const char*, void*) { throw 7; }
    };
    none.at = 0, none.forever = true, none.fault = Fault::gpu_broken;
    const Card card = test_card({.policy = SHUNT_WARN, .warn = Seven::thrower});
    const Answer answer = ask(card.get(), shunt_card_matmul);
    CHECK(answer.status == SHUNT_FAILED);
    CHECK(answer.untouched());
    CHECK_MENTIONS(std::string(shunt_last_message()), "no error");
}

TEST_CASE("C: a message is the thread's own, and stays when calls succeed") {
    CHECK(shunt_activate(nullptr, 0, nullptr, {}) == SHUNT_BAD_ARGUMENT);
    const std::string mine = shunt_last_message();
    CHECK_MENTIONS(mine, "n 0");
    std::thread([] {
        CHECK(std::string(shunt_last_message()).empty());
        CHECK(shunt_conv2d_sizes(nullptr, nullptr, nullptr) == SHUNT_BAD_ARGUMENT);
    }).join();
    CHECK(ask(nullptr, shunt_matmul).status == SHUNT_DONE);
    CHECK(ask(nullptr, shunt_card_matmul).status == SHUNT_DECLINED);
    CHECK(shunt_last_message() == mine);
}

TEST_CASE("C: cards that share open the device once, and one goes on after the other is closed") {
    Failures none("cpu");
    Card first = test_card();
    const Card second = test_card({.share = first.get()});
    CHECK(ask(first.get(), shunt_card_matmul).status == SHUNT_DONE);
    first.reset();
    CHECK(ask(second.get(), shunt_card_matmul).status == SHUNT_DONE);
    CHECK(none.opened == 1);
}

TEST_CASE("C: costs are given, are told, and come back from a file") {
    Failures none("cpu");
    const offload::Costs costs{.latency = 0.25, .cpu_gemm = 1};
    const Card card = test_card({.fixed_costs = true}, costs);
    CHECK(taken(shunt_card_costs(card.get())) == offload::to_string(costs));
    CHECK(shunt_card_save_costs(card.get(), costs_file) == SHUNT_DONE);
    CHECK(offload::load_costs(costs_file) == costs);
    std::remove(costs_file);
}

TEST_CASE("C: options reach the card") {
    Failures none("cpu");
    const shunt_matmul_options constant{.b_is_weight = true, .weight = nullptr};
    std::vector<float> c(12 * 9);
    const Card small = test_card({.weight_bytes = 16});
    CHECK(shunt_card_matmul(small.get(), 12, 9, 40, a().data(), b().data(), c.data(), &constant) == SHUNT_DONE);
    const std::int64_t calls = none.calls;
    CHECK(shunt_card_matmul(small.get(), 12, 9, 40, a().data(), b().data(), c.data(), &constant) == SHUNT_DONE);
    const std::int64_t again = none.calls - calls;
    const Card large = test_card();
    CHECK(shunt_card_matmul(large.get(), 12, 9, 40, a().data(), b().data(), c.data(), &constant) == SHUNT_DONE);
    const std::int64_t before = none.calls;
    CHECK(shunt_card_matmul(large.get(), 12, 9, 40, a().data(), b().data(), c.data(), &constant) == SHUNT_DONE);
    CHECK(none.calls - before < again);  // the weight was there already
}
