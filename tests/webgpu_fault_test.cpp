// A card that fails: for every call of a program and every kind of fault, an error that says what
// happened or the right answer, and a card that works the next time.
#include <doctest/doctest.h>

#include <chrono>
#include <optional>

#include "card.hpp"
#include "shunt/backend.hpp"
#include "webgpu/backend.hpp"
#include "webgpu/fault.hpp"

using namespace shunt;
using namespace shunt::test;
using namespace shunt::webgpu;
using namespace std::chrono_literals;

namespace {

// Uploads, operators, three submissions and more, reads.
std::vector<double> program(Backend& b) {
    std::vector<float> values(40);
    for (std::size_t i = 0; i < values.size(); i++) values[i] = 0.125f * static_cast<float>(i % 7) - 0.3f;
    const std::span<const float> all(values);
    const Tensor x = b.upload(all.first(30), {6, 5}), w = b.upload(all.first(20), {4, 5});
    const Tensor y = b.matmul(x, w, {.trans_b = true, .activation = Activation::tanh});
    b.finish();
    const Tensor dy = b.activate_grad(Activation::tanh, y, b.upload(all.first(24), {6, 4}));
    const AffineGrad grad = b.affine_grad(x, w, dy);
    std::vector<double> result = b.read(grad.dw);
    b.update({.rule = UpdateRule::sgd, .scale = 0.5, .lr = 0.1}, w, grad.dw, b.upload(all.first(20), {4, 5}));
    for (const Tensor& t : {w, y, grad.db, grad.dx}) {
        const std::vector<double> read = b.read(t);
        result.insert(result.end(), read.begin(), read.end());
    }
    return result;
}

struct Outcome {
    std::optional<Fault> fault;
    std::string message;
    std::vector<double> answer;
};

template <typename Work>
Outcome outcome(const Work& work) {
    Outcome o;
    try {
        o.answer = work();
    } catch (const Error& error) {
        o.fault = error.fault();
        o.message = error.what();
    }
    return o;
}

std::shared_ptr<Backend> open(std::chrono::milliseconds deadline = 60s) {
    return make_gpu({}, {.deadline = deadline});
}

struct Sweep {
    Trouble trouble;
    int times;
    Fault expected;                            // the fault that may be reported
    bool goes_on;                              // whether the same backend may be asked again and must answer
    std::chrono::milliseconds deadline = 60s;  // of the program that the fault strikes
};

enum class Hit { struck, past_the_end, too_slow };

// The program with the fault at its n-th call, then what has to work afterwards.
Hit fail_at(const Sweep& sweep, std::uint64_t n, const std::vector<double>& right) {
    INFO("at call ", n);
    FaultyCard card({.trouble = sweep.trouble, .at = n, .times = sweep.times});
    {
        std::shared_ptr<Backend> backend;
        const Outcome first = outcome([&] {
            backend = open(sweep.deadline);
            return program(*backend);
        });
        INFO(first.message);
        CHECK((first.fault ? first.fault == sweep.expected : first.answer == right));
        if (!card.happened()) return first.fault ? Hit::too_slow : Hit::past_the_end;
        // Memory may be refused once more.
        if (backend && (sweep.goes_on || first.fault)) {
            Outcome again = outcome([&] { return program(*backend); });
            if (sweep.goes_on && again.fault == sweep.expected) again = outcome([&] { return program(*backend); });
            INFO("again: ", again.message);
            CHECK((sweep.goes_on ? again.answer == right : again.fault == sweep.expected));
        }
        // And a card that went after the last answer was not missed yet.
        Outcome next = outcome([&] { return program(*open()); });
        if ((sweep.goes_on || !first.fault) && next.fault == sweep.expected) {
            next = outcome([&] { return program(*open()); });
        }
        CHECK(next.answer == right);
    }
    CHECK(lines(card.aborts()) == "");
    // wgpu-core would wait for a card that hangs, so that one is kept.
    const bool kept = sweep.expected == Fault::timed_out && !card.alive().empty();
    CHECK(lines(card.alive()) == (kept ? "AdapterRequestDevice\nDeviceGetQueue\n" : ""));
    return Hit::struck;
}

void at_every_call(const Sweep& sweep) {
    const std::vector<double> right = program(*make_backend("gpu"));
    std::uint64_t n = 1;
    for (;; n++) {
        Sweep patient = sweep;
        Hit hit = fail_at(patient, n, right);
        while (hit == Hit::too_slow) {  // other work on this machine
            patient.deadline *= 2;
            hit = fail_at(patient, n, right);
        }
        if (hit == Hit::past_the_end) break;
    }
    CHECK(n > 60);
}

}  // namespace

TEST_CASE("a card that refuses memory once, at any call: the right answer or out_of_memory, and it goes on") {
    if (have_card()) at_every_call({Trouble::memory, 1, Fault::out_of_memory, true});
}

TEST_CASE("a card that refuses memory twice, at any call: out_of_memory, and it goes on") {
    if (have_card()) at_every_call({Trouble::memory, 2, Fault::out_of_memory, true});
}

TEST_CASE("a card that refuses an object, at any call: gpu_broken, and it goes on") {
    if (have_card()) at_every_call({Trouble::refused, 1, Fault::gpu_broken, true});
}

TEST_CASE("a card that is lost, at any call: the right answer or device_lost, and the next open works") {
    if (have_card()) at_every_call({Trouble::lost, 1, Fault::device_lost, false});
}

TEST_CASE("a card that hangs, from any call on: timed_out in time, and the next open works") {
    if (have_card()) at_every_call({Trouble::hang, 1, Fault::timed_out, false, 30ms});
}

TEST_CASE("a card that answers late is waited for until the deadline") {
    if (!have_card()) return;
    const std::vector<double> right = program(*make_backend("gpu"));
    FaultyCard card({.latency = 40ms});
    CHECK(program(*open()) == right);
    const Outcome late = outcome([] { return program(*open(5ms)); });
    CHECK(late.fault == Fault::timed_out);
    CHECK(program(*open()) == right);
    CHECK(lines(card.aborts()) == "");
}

TEST_CASE("a card with the smallest limits is asked for no more, and answers the same") {
    if (!have_card()) return;
    const std::vector<double> right = program(*make_backend("gpu"));
    const FaultyCard card({.limits = [](WGPULimits& limits) {
        limits.maxBufferSize = limits.maxStorageBufferBindingSize = 1 << 21;
        limits.maxStorageBuffersPerShaderStage = 8;
        limits.maxComputeWorkgroupStorageSize = 16384;
        limits.maxComputeInvocationsPerWorkgroup = limits.maxComputeWorkgroupSizeX = 256;
        limits.maxComputeWorkgroupsPerDimension = 64;
        limits.minStorageBufferOffsetAlignment = limits.minUniformBufferOffsetAlignment = 256;
    }});
    const auto backend = open();
    CHECK(program(*backend) == right);
    const Outcome past = outcome([&] { return backend->read(backend->zeros({1 << 20})); });
    CHECK(past.fault == Fault::out_of_memory);
    CHECK(past.message.find("2097152") != std::string::npos);
}

TEST_CASE("a card whose answers are altered on the way gives other answers, once: the fault is there to be found") {
    if (!have_card()) return;
    const std::vector<double> right = program(*make_backend("gpu"));
    FaultyCard card({.trouble = Trouble::wrong, .at = 1});
    const auto backend = open();
    CHECK(program(*backend) != right);
    CHECK(program(*backend) == right);
}

TEST_CASE("the fault device records what would end the process: ranges, scopes, bindings, submissions") {
    if (!have_card()) return;
    const FaultyCard card;
    const auto device = Device::open();
    const Buffer from = device->make_buffer(16, WGPUBufferUsage_CopySrc),
                 to = device->make_buffer(16, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
    const auto copied = [&](WGPUBuffer source) {
        const CommandEncoder encoder(api().DeviceCreateCommandEncoder(device->handle(), nullptr));
        api().CommandEncoderCopyBufferToBuffer(encoder.get(), source, 0, to.get(), 0, 16);
        return CommandBuffer(api().CommandEncoderFinish(encoder.get(), nullptr));
    };
    const auto submit = [&](const CommandBuffer& commands) {
        const WGPUCommandBuffer raw = commands.get();
        api().QueueSubmit(device->queue(), 1, &raw);
    };
    auto newest = [&, seen = std::size_t{0}]() mutable {
        const std::vector<std::string> all = card.aborts();
        REQUIRE(all.size() == ++seen);
        return all.back();
    };
    submit(copied(from.get()));
    CHECK(card.aborts().empty());
    api().BufferGetConstMappedRange(to.get(), 0, 16);
    CHECK(newest().find("unmapped buffer") != std::string::npos);
    api().DevicePopErrorScope(device->handle(), {});
    CHECK(newest().find("error scope") != std::string::npos);
    submit(copied(to.get()));  // which cannot be copied from
    CHECK(newest().find("failed to finish") != std::string::npos);
    CHECK(outcome([&]() -> std::vector<double> {
              device->check();
              return {};
          }).fault == Fault::gpu_broken);  // reported outside a scope
    const CommandBuffer late = copied(from.get());
    WGPUBufferMapCallbackInfo on_map = {};
    on_map.mode = WGPUCallbackMode_AllowProcessEvents;
    on_map.callback = [](WGPUMapAsyncStatus, WGPUStringView, void*, void*) {};
    api().BufferMapAsync(to.get(), WGPUMapMode_Read, 0, 16, on_map);
    submit(late);
    CHECK(newest().find("mapped buffer") != std::string::npos);
    WGPUBindGroupEntry empty = {};
    empty.buffer = from.get();
    outcome([&]() -> std::vector<double> {
        device->make_bind_group(device->kernel("fill"), std::span(&empty, 1));
        return {};
    });
    CHECK(newest().find("size 0") != std::string::npos);
}

TEST_CASE("the fault device records what would end the process: a lost device used, a hung one released") {
    if (!have_card()) return;
    {
        const FaultyCard card({.trouble = Trouble::lost});
        const auto device = Device::open();
        api().DevicePoll(device->handle(), false, nullptr);
        api().QueueSubmit(device->queue(), 0, nullptr);
        CHECK(card.aborts().size() == 2);
        CHECK(!device->usable());
    }
    const FaultyCard card({.trouble = Trouble::hang});
    auto device = Device::open();
    device.reset();  // nobody waited for it in vain, so nobody knew
    CHECK(card.aborts().size() == 1);
}
