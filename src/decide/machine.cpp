// See machine.hpp.
#include "decide/machine.hpp"

#include <thread>

#include "core/text.hpp"
#include "shunt/gpu.hpp"

namespace shunt::decide {

Machine machine(const std::string& backend, const BackendOptions& options) {
    if (backend != "gpu") {
        const std::string limit = environment("SHUNT_THREADS");
        const std::string threads = options.threads > 0 ? std::to_string(options.threads)
                                    : !limit.empty()    ? limit
                                                        : std::to_string(std::thread::hardware_concurrency());
        return {.there = true, .facts = backend + ", " + threads + " threads", .name = backend};
    }
    // The driver is not even asked: a program that hides its card is to have nothing to do with it.
    if (environment("SHUNT_GPU") == "off") return {.there = false, .reason = "SHUNT_GPU=off hides the graphics card."};
    const AdapterList list = list_adapters(options.adapter);
    for (const Adapter& a : list.adapters) {
        if (!a.used) continue;
        return {.there = true,
                .facts = backend + ", " + a.name + ", " + a.driver,
                .name = a.name,
                .software = a.kind == "software"};
    }
    return {.there = false, .reason = list.reason};
}

}  // namespace shunt::decide
