// shunt/offload.h: errors, cards and weights.
#include "offload/c.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

using namespace shunt;
using namespace shunt::offload;

namespace {

std::string& message() {
    thread_local std::string text;
    return text;
}

shunt_status told(shunt_status status, const char* text) noexcept {
    try {
        message() = text;
    } catch (...) {
        message() = "No memory.";  // short enough to need none
    }
    return status;
}

shunt_status status_of(Fault fault) {
    switch (fault) {
        case Fault::bad_argument: return SHUNT_BAD_ARGUMENT;
        case Fault::bad_file: return SHUNT_BAD_FILE;
        case Fault::no_gpu: return SHUNT_NO_GPU;
        case Fault::gpu_broken:
        case Fault::device_lost: return SHUNT_GPU_BROKEN;
        case Fault::out_of_memory: return SHUNT_OUT_OF_MEMORY;
        case Fault::timed_out: return SHUNT_TIMED_OUT;
        case Fault::bad_data:
        case Fault::unsupported: break;
    }
    return SHUNT_FAILED;
}

// What `make` returns; null where it throws.
template <typename Make>
auto guarded_pointer(const Make& make) noexcept -> decltype(make()) {
    decltype(make()) made = nullptr;
    guarded([&] {
        made = make();
        return SHUNT_DONE;
    });
    return made;
}

char* text_of(const std::string& text) {
    char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

SharedWorker worker_of(const shunt_card_options& o) {
    if (o.share) return o.share->worker;
    CardOptions options;
    if (o.adapter) options.card.adapter = o.adapter;
    if (o.backend) options.backend = o.backend;
    if (o.weight_bytes) options.weight_bytes = o.weight_bytes;
    return SharedWorker::open(options);
}

Options options_of(const shunt_card_options& o) {
    Options options;
    options.policy = one_of(std::array{Policy::silent, Policy::warn, Policy::strict}, o.policy, "The policy");
    options.verify = one_of(std::array{Verify::off, Verify::sampled, Verify::always}, o.verify, "`verify`");
    if (o.warn)
        options.warn = [tell = o.warn, data = o.warn_data](const std::string& text) { tell(text.c_str(), data); };
    if (o.costs) options.costs = load_costs(o.costs);
    options.measure = o.measure;
    options.live = !o.fixed_costs;
    if (o.least_wait_ms) options.least_wait = std::chrono::milliseconds(o.least_wait_ms);
    return options;
}

}  // namespace

shunt_status shunt::offload::status_of_current_exception() noexcept {
    try {
        throw;
    } catch (const Error& error) {
        return told(status_of(error.fault()), error.what());
    } catch (const std::bad_alloc&) {
        return told(SHUNT_OUT_OF_MEMORY, "The machine has no memory for this.");
    } catch (const std::length_error&) {  // of a vector past all memory
        return told(SHUNT_OUT_OF_MEMORY, "No machine has memory for this.");
    } catch (const std::exception& error) {
        return told(SHUNT_FAILED, error.what());
    } catch (...) {
        return told(SHUNT_FAILED, "Something was thrown that is no error.");
    }
}

void shunt::offload::refuse_argument(const std::string& sentence) {
    throw Error(Fault::bad_argument, sentence);
}

const char* shunt_last_message(void) {
    return message().c_str();
}

void shunt_free(char* text) {
    std::free(text);
}

shunt_card* shunt_card_open(const shunt_card_options* options) {
    return guarded_pointer([&] {
        const shunt_card_options o = options ? *options : shunt_card_options{};
        const Options behaviour = options_of(o);
        const SharedWorker worker = worker_of(o);
        return new shunt_card{worker, GpuBackend(worker, behaviour)};
    });
}

void shunt_card_close(shunt_card* card) {
    delete card;
}

const char* shunt_card_reason(const shunt_card* card) {
    if (!card) return "No card was opened.";
    return card->worker ? nullptr : card->worker.reason().c_str();
}

char* shunt_card_last_error(const shunt_card* card) {
    return guarded_pointer([&]() -> char* {
        const auto error = card ? card->backend.last_error() : std::nullopt;
        return error ? text_of(*error) : nullptr;
    });
}

uint64_t shunt_card_offloaded(const shunt_card* card) {
    return card ? card->backend.offloaded() : 0;
}

char* shunt_card_report(const shunt_card* card) {
    return guarded_pointer([&] { return text_of(given(card, "The card of a report")->backend.report()); });
}

char* shunt_card_report_json(const shunt_card* card) {
    return guarded_pointer([&] { return text_of(given(card, "The card of a report")->backend.report_json()); });
}

char* shunt_card_costs(const shunt_card* card) {
    return guarded_pointer([&] { return text_of(to_string(given(card, "The card of costs")->backend.costs())); });
}

shunt_status shunt_card_save_costs(const shunt_card* card, const char* path) {
    return guarded([&] {
        save_costs(given(card, "The card of costs")->backend.costs(), given(path, "The path of costs"));
        return SHUNT_DONE;
    });
}

shunt_weight* shunt_weight_create(void) {
    return guarded_pointer([] { return new shunt_weight; });
}

void shunt_weight_changed(shunt_weight* weight) {
    if (weight) weight->weight.changed();
}

void shunt_weight_free(shunt_weight* weight) {
    delete weight;
}
