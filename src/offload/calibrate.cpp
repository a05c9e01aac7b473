// See calibrate.hpp.
#include "offload/calibrate.hpp"

#include <algorithm>
#include <vector>

#include "core/stopwatch.hpp"

namespace shunt::offload {
namespace {

double f(std::size_t n) {
    return static_cast<double>(n);
}

class Calibrating {
public:
    Calibrating(Backend& cpu, const OnCard& on_card, double budget) : cpu_(cpu), on_card_(on_card), budget_(budget) {}

    Calibration operator()() {
        warm_up();
        products();
        if (!result_.hopeless) transfers();
        convolutions();
        activations();
        c_.spread = std::max(0.05, spread_);
        return result_;
    }

private:
    // The median of at least five; the more, the more room there is. `counts`: their spread is one of the figures'.
    double median(const std::function<void()>& work, bool counts = false) {
        constexpr std::size_t least = 5, most = 25;
        const double share = budget_ / 24;
        std::vector<double> times;
        const Stopwatch all;
        while (times.size() < least || (times.size() < most && all.seconds() < share)) {
            const Stopwatch one;
            work();
            times.push_back(one.seconds());
        }
        std::ranges::sort(times);
        const double middle = times[times.size() / 2];
        if (counts) spread_ = std::max(spread_, (times[times.size() * 3 / 4] - times[times.size() / 4]) / (2 * middle));
        return middle;
    }

    double on_card(const std::function<void(Backend&)>& work, bool counts = false) {
        return median([&] { on_card_(work); }, counts);
    }

    static void wait_for(Backend& b, const Tensor& t) {
        float one = 0;
        b.read(t.view(0, {1}), std::span(&one, 1));
    }

    // Of one run among many on the card, without the round trip.
    double in_a_row(const std::function<Tensor(Backend&)>& run) {
        const auto times = [&](int n) {
            return on_card([&](Backend& b) {
                Tensor last;
                for (int i = 0; i < n; i++) last = run(b);
                wait_for(b, last);
            });
        };
        const double one = times(1), nine = times(9);
        return std::max((nine - one) / 8, 0.0);
    }

    Tensor filled(Backend& b, Shape shape) { return b.upload(std::vector<float>(shape.size(), 0.5f), shape); }

    struct Operands {
        Tensor a, b;
    };
    Operands on_gpu(Shape a, Shape b) {
        Operands made;
        on_card_([&](Backend& gpu) { made = {filled(gpu, a), filled(gpu, b)}; });
        return made;
    }
    // What was made on the card goes there.
    void forget(Operands& operands) {
        on_card_([&](Backend&) { operands = {}; });
    }

    void warm_up() {
        on_card_([&](Backend& b) {
            for (std::size_t size : {16, 48, 256}) {
                const Tensor x = filled(b, {size, size});
                wait_for(b, b.matmul(x, x));
            }
            const Tensor picture = filled(b, {1, 16, 32, 32});
            wait_for(b, b.conv2d(picture, filled(b, {16, 16, 3, 3}), {.pad = {1, 1}}));
            wait_for(b, b.conv2d(picture, filled(b, {16, 1, 3, 3}), {.pad = {1, 1}, .groups = 16}));
            wait_for(b, b.activate(Activation::gelu, picture));
        });
    }

    void products() {
        // The CPU: square, as a matrix by a vector, and next to nothing.
        const auto cpu_product = [&](std::size_t m, std::size_t n, std::size_t k, bool counts) {
            const Tensor a = filled(cpu_, {m, k}), b = filled(cpu_, {k, n}), out = cpu_.empty({m, n});
            cpu_.matmul(a, b, {.out = out});
            return median([&] { cpu_.matmul(a, b, {.out = out}); }, counts);
        };
        c_.cpu_fixed = cpu_product(4, 4, 4, false);
        c_.cpu_gemm = std::max(cpu_product(384, 384, 384, true) - c_.cpu_fixed, 0.0) / (384.0 * 384 * 384);
        const std::size_t wide = 2048;
        c_.cpu_byte = std::max(cpu_product(1, wide, wide, false) - c_.cpu_fixed, 0.0) / (4 * f(wide) * f(wide));

        // The card: an empty round trip, then products without transfers, the larger the faster it is.
        Operands few = on_gpu({16, 16}, {16, 16});
        on_card_([&](Backend& b) { wait_for(b, few.a); });
        c_.latency = on_card([&](Backend& b) { wait_for(b, few.a); }, true);
        c_.gpu_fixed = in_a_row([&](Backend& b) { return b.matmul(few.a, few.b); });
        forget(few);
        c_.tile_m = c_.tile_n = 16;
        std::size_t size = 256;
        {
            Operands square = on_gpu({size, size}, {size, size});
            const double once = on_card([&](Backend& b) { wait_for(b, b.matmul(square.a, square.b)); });
            forget(square);
            c_.gpu_gemm = std::max(once - c_.latency - c_.gpu_fixed, 1e-12) / (f(size) * f(size) * f(size));
            result_.hopeless = c_.gpu_gemm > 10 * c_.cpu_gemm;
        }
        if (result_.hopeless) {  // the bus as this machine's memory
            c_.up = c_.down = std::max(c_.cpu_byte, 1e-12);
            return;
        }
        for (double took = 0;; size *= 2) {
            Operands square = on_gpu({size, size}, {size, size});
            took = in_a_row([&](Backend& b) { return b.matmul(square.a, square.b); });
            forget(square);
            c_.gpu_gemm = std::max(took - c_.gpu_fixed, 1e-12) / (f(size) * f(size) * f(size));
            if (took > 4e-4 || size >= 2048) break;
        }
        const std::size_t k = 4096;
        Operands narrow = on_gpu({16, k}, {k, 16});
        c_.gpu_step =
            std::max(in_a_row([&](Backend& b) { return b.matmul(narrow.a, narrow.b); }) - c_.gpu_fixed, 0.0) / f(k);
        forget(narrow);
    }

    void transfers() {
        constexpr std::size_t little = 16384, much = std::size_t{1} << 21;  // values
        const std::vector<float> values(much, 0.5f);
        std::vector<float> back(much);
        Tensor t;
        on_card_([&](Backend& b) { t = b.upload(values, {much}); });
        const auto up = [&](std::size_t n) {
            return on_card([&](Backend& b) {
                b.write(t.view(0, {n}), std::span<const float>(values).first(n));
                wait_for(b, t);
            });
        };
        const auto down = [&](std::size_t n) {
            return on_card([&](Backend& b) { b.read(t.view(0, {n}), std::span(back).first(n)); });
        };
        const auto fit = [&](double few, double many, double& each, double& fixed) {
            each = std::max(many - few, 0.0) / (4.0 * f(much - little));
            fixed = std::max(few - c_.latency - 4.0 * f(little) * each, 0.0);
        };
        fit(up(little), up(much), c_.up, c_.up_fixed);
        fit(down(little), down(much), c_.down, c_.down_fixed);
        on_card_([&](Backend&) { t = {}; });
    }

    // What a hopeless card was not measured for is taken to lose as much as its product did.
    double slowdown() const { return c_.gpu_gemm / c_.cpu_gemm; }

    void convolutions() {
        const auto both = [&](Shape x, Shape w, const Conv2dOptions& o, double& cpu, double& gpu) {
            const Tensor cx = filled(cpu_, x), cw = filled(cpu_, w);
            cpu_.conv2d(cx, cw, o);
            cpu = std::max(median([&] { cpu_.conv2d(cx, cw, o); }) - c_.cpu_fixed, 0.0);
            if (result_.hopeless) {
                gpu = cpu * slowdown();
                return;
            }
            Operands g = on_gpu(x, w);
            gpu = std::max(in_a_row([&](Backend& b) { return b.conv2d(g.a, g.b, o); }) - c_.gpu_fixed, 0.0);
            forget(g);
        };
        double cpu = 0, gpu = 0;
        both({1, 64, 64, 64}, {64, 64, 3, 3}, {.pad = {1, 1}}, cpu, gpu);
        const double macs = 64.0 * 64 * 9 * 64 * 64;
        c_.cpu_conv = cpu / macs;
        c_.gpu_col = std::max(gpu - macs * c_.gpu_gemm, 0.0) / (64.0 * 9 * 64 * 64);
        both({1, 64, 96, 96}, {64, 1, 3, 3}, {.pad = {1, 1}, .groups = 64}, cpu, gpu);
        const double few = 64.0 * 9 * 96 * 96;
        c_.cpu_depthwise = cpu / few;
        c_.gpu_direct = gpu / few;
    }

    void activations() {
        constexpr std::size_t n = std::size_t{1} << 18;
        const Tensor x = filled(cpu_, {n});
        const auto cpu = [&](Activation kind) {
            cpu_.activate(kind, x);
            return std::max(median([&] { cpu_.activate(kind, x); }) - c_.cpu_fixed, 0.0) / f(n);
        };
        c_.cpu_act = cpu(Activation::gelu);
        c_.cpu_act_cheap = cpu(Activation::relu);
        if (result_.hopeless) {
            c_.gpu_act = c_.cpu_act * slowdown();
            return;
        }
        Operands g = on_gpu({n}, {1});
        c_.gpu_act =
            std::max(in_a_row([&](Backend& b) { return b.activate(Activation::gelu, g.a); }) - c_.gpu_fixed, 0.0) /
            f(n);
        forget(g);
    }

    Backend& cpu_;
    const OnCard& on_card_;
    const double budget_;
    double spread_ = 0;
    Calibration result_;
    Costs& c_ = result_.costs;
};

}  // namespace

Calibration calibrate(Backend& cpu, const OnCard& on_card, double budget) {
    return Calibrating(cpu, on_card, budget)();
}

}  // namespace shunt::offload
