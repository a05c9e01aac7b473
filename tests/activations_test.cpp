// Activations: values, ends and bounds on every backend, and which have a gradient.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "shunt/backend.hpp"

using namespace shunt;

namespace {

using A = Activation;

constexpr int n_kinds = static_cast<int>(A::mish) + 1;

double at(Backend& b, const ActivationOptions& options, double x) {
    return b.read(b.activate(options, b.upload(std::array{x}, {1})))[0];
}

}  // namespace

TEST_CASE("plain: activations at 1 and −2, against values from 20 digits") {
    auto b = make_backend("plain");
    struct Row {
        ActivationOptions options;
        double at_1, at_minus_2;
    };
    for (const Row& row : {Row{{A::leaky_relu, 0.25f}, 1, -0.5}, Row{A::relu6, 1, 0},
                           Row{{A::hard_sigmoid, 0.25f}, 0.75, 0}, Row{{A::hard_sigmoid, 0.25f, 0.625f}, 0.875, 0.125},
                           Row{A::hard_swish, 0.66666666666666667, -0.33333333333333333},
                           Row{A::gelu, 0.84134474606854294859, -0.045500263896358414401},
                           Row{A::gelu_tanh, 0.84119199060827670478, -0.045402305912224981219},
                           Row{A::silu, 0.73105857863000487926, -0.23840584404423511188},
                           Row{A::softplus, 1.3132616875182228340, 0.12692801104297249644},
                           Row{{A::elu, 0.5f}, 1, -0.43233235838169365405},
                           Row{A::mish, 0.86509838826731034612, -0.25250148269570886364}}) {
        INFO(to_string(row.options.kind));
        CHECK(at(*b, row.options, 1) == doctest::Approx(row.at_1).epsilon(1e-13));
        CHECK(at(*b, row.options, -2) == doctest::Approx(row.at_minus_2).epsilon(1e-13));
    }
    CHECK(ActivationOptions(A::leaky_relu) == ActivationOptions(A::leaky_relu, 0.01f));
    CHECK(ActivationOptions(A::hard_sigmoid) == ActivationOptions(A::hard_sigmoid, 0.2f, 0.5f));
    CHECK(ActivationOptions(A::elu) == ActivationOptions(A::elu, 1.0f));
}

TEST_CASE("activations have their limits at the ends, and NaN stays NaN") {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double far = static_cast<double>(3e38f);
    struct Row {
        ActivationOptions options;
        double below, above;  // at −∞ and ∞
    };
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        for (const Row& row :
             {Row{A::none, -inf, inf}, Row{A::relu, 0, inf}, Row{A::tanh, -1, 1}, Row{A::sigmoid, 0, 1},
              Row{A::leaky_relu, -inf, inf}, Row{{A::leaky_relu, -1.0f}, inf, inf}, Row{A::relu6, 0, 6},
              Row{A::hard_sigmoid, 0, 1}, Row{A::hard_swish, 0, inf}, Row{A::gelu, 0, inf}, Row{A::gelu_tanh, 0, inf},
              Row{A::silu, 0, inf}, Row{A::softplus, 0, inf}, Row{A::elu, -1, inf}, Row{{A::elu, 3.0f}, -3, inf},
              Row{A::mish, 0, inf}}) {
            INFO(to_string(row.options.kind));
            CHECK(at(*b, row.options, -inf) == row.below);
            CHECK(at(*b, row.options, inf) == row.above);
            CHECK(std::isnan(at(*b, row.options, nan)));
            if (std::isfinite(row.below)) CHECK(at(*b, row.options, -far) == row.below);
            CHECK(at(*b, row.options, far) == (std::isfinite(row.above) ? row.above : far));
        }
    }
}

// The bound that backend.hpp states. A float's rounding is 6e-8 of 1 + |y|, and each has a few.
TEST_CASE("activations are within their bound of plain from −100 to 100") {
    std::vector<double> x;
    for (int i = -100000; i <= 100000; i++) x.push_back(static_cast<double>(static_cast<float>(i * 1e-3)));
    for (int i = -100000; i <= 100000; i++) x.push_back(static_cast<double>(static_cast<float>(i * 8e-5)));
    auto plain = make_backend("plain");
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        const Tensor on_plain = plain->upload(x, {x.size()}), on_b = b->upload(x, {x.size()});
        for (int number = 0; number < n_kinds; number++) {
            const auto kind = static_cast<A>(number);
            INFO(to_string(kind));
            const auto expected = plain->read(plain->activate(kind, on_plain)), got = b->read(b->activate(kind, on_b));
            double worst = 0;
            for (std::size_t i = 0; i < x.size(); i++) {
                const double off = std::abs(got[i] - expected[i]) / (1 + std::abs(expected[i]));
                worst = std::max(worst, std::isfinite(off) ? off : INFINITY);
            }
            CHECK(worst <= 4e-7);
        }
    }
}

TEST_CASE("gradients of others than relu, tanh and sigmoid are refused before anything runs") {
    for (const std::string& name : available_backends()) {
        INFO(name);
        auto b = make_backend(name);
        const Tensor x = b->zeros({3, 2}), w = b->zeros({4, 2}), dy = b->zeros({3, 4});
        for (int number = 0; number < n_kinds; number++) {
            const auto kind = static_cast<A>(number);
            INFO(to_string(kind));
            CHECK(has_gradient(kind) == (number <= static_cast<int>(A::sigmoid)));
            if (has_gradient(kind)) {
                CHECK_NOTHROW(b->activate_grad(kind, x, x));
                CHECK_NOTHROW(b->affine_grad(x, w, dy, {.activation = kind}));
                continue;
            }
            try {
                b->activate_grad(kind, x, x);
                FAIL("no error");
            } catch (const Error& error) {
                CHECK(error.fault() == Fault::unsupported);
            }
            CHECK_THROWS_AS(b->affine_grad(x, w, dy, {.activation = kind}), Error);
        }
        CHECK_THROWS_WITH_AS(b->activate_grad(A::gelu, x, x),
                             "activate_grad: there is no gradient of gelu, only of relu, tanh and sigmoid.", Error);
    }
}
