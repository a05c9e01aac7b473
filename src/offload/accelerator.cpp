// Which accelerator ops:: asks, and the answer where it has none.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "core/stopwatch.hpp"
#include "offload/shapes.hpp"

namespace shunt::offload {
namespace {

std::mutex process_mutex;
std::atomic<Accelerator*> of_process = nullptr;  // the newest one's, for who only asks

}  // namespace

// Those that are installed, newest first, each with the one before it. Threads install and remove one for the process
// in any order, and what is left has to be one that still exists.
struct Installed {
    static inline ScopedAccelerator* in_process = nullptr;  // process_mutex
    static inline thread_local ScopedAccelerator* in_thread = nullptr;

    static void add(ScopedAccelerator*& newest, ScopedAccelerator& one) { one.before_ = std::exchange(newest, &one); }
    static void remove(ScopedAccelerator*& newest, const ScopedAccelerator& one) {
        ScopedAccelerator** place = &newest;
        while (*place && *place != &one) place = &(*place)->before_;
        if (*place) *place = one.before_;
    }
    static Accelerator* accelerator(const ScopedAccelerator* one) { return one ? &one->accelerator_ : nullptr; }
};

Accelerator* current_accelerator() {
    return Installed::in_thread ? Installed::accelerator(Installed::in_thread) : of_process.load();
}

ScopedAccelerator::ScopedAccelerator(Accelerator& accelerator, Scope scope) : scope_(scope), accelerator_(accelerator) {
    if (scope_ == Scope::thread) {
        Installed::add(Installed::in_thread, *this);
    } else {
        const std::lock_guard lock(process_mutex);
        Installed::add(Installed::in_process, *this);
        of_process = &accelerator;
    }
}

ScopedAccelerator::~ScopedAccelerator() {
    if (scope_ == Scope::thread) {
        Installed::remove(Installed::in_thread, *this);
    } else {
        const std::lock_guard lock(process_mutex);
        Installed::remove(Installed::in_process, *this);
        of_process = Installed::accelerator(Installed::in_process);
    }
}

}  // namespace shunt::offload

namespace shunt::ops {
namespace {

// Each thread has its own: a backend is used by one thread at a time.
Backend& cpu() {
    thread_local const std::shared_ptr<Backend> backend = make_backend("cpu");
    return *backend;
}

// The backend cpu reads what it borrows, and writes only where it is told to.
Tensor borrowed(std::span<const float> values, Shape shape) {
    return cpu().borrow({const_cast<float*>(values.data()), values.size()}, shape);
}

// Runs `work`, and tells the accelerator that declined how long it took.
template <typename Work>
void on_cpu(offload::Accelerator* asked, const Work& work) {
    const Stopwatch watch;
    work();
    if (asked) asked->computed_on_cpu(watch.seconds());
}

}  // namespace

Array matmul(const View& a, const View& b, bool b_is_weight) {
    const offload::ProductCall call = offload::product_call(a, b);
    offload::Accelerator* const card = offload::current_accelerator();
    if (card) {
        if (auto c = card->matmul(a, b, b_is_weight)) return std::move(*c);
    }
    Array c{std::vector<float>(call.m * call.n), {call.m, call.n}};
    on_cpu(card, [&] {
        cpu().matmul(borrowed(a.values, a.shape), borrowed(b.values, b.shape), {.out = borrowed(c.values, c.shape)});
    });
    return c;
}

Array conv2d(const View& x, const View& w, std::span<const float> bias, const offload::ConvOptions& options) {
    const offload::ConvCall call = offload::conv_call(x, w, bias, options);
    offload::Accelerator* const card = offload::current_accelerator();
    if (card) {
        if (auto y = card->conv2d(x, w, bias, options)) return std::move(*y);
    }
    Array y{std::vector<float>(call.y.size()), call.result};
    on_cpu(card, [&] {
        Conv2dOptions o = call.options();
        if (!bias.empty()) o.bias = borrowed(bias, {bias.size()});
        o.out = borrowed(y.values, call.y);
        cpu().conv2d(borrowed(x.values, call.x), borrowed(w.values, call.w), o);
    });
    return y;
}

void activate(std::span<float> values, const ActivationOptions& activation) {
    offload::expect_there(values, "activate", "values");
    offload::Accelerator* const card = offload::current_accelerator();
    if (card && card->activate(values, activation)) return;
    on_cpu(card, [&] {
        // A piece at a time, which stays in the cache until it is copied back.
        constexpr std::size_t piece = std::size_t{1} << 18;
        for (std::size_t first = 0; first < values.size(); first += piece) {
            const std::span<float> some = values.subspan(first, std::min(piece, values.size() - first));
            cpu().read(cpu().activate(activation, borrowed(some, {some.size()})), some);
        }
    });
}

}  // namespace shunt::ops
