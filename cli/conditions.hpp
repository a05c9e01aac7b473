// What a figure depends on, told beside it: this build, the processor, the card.
#pragma once

#include <optional>
#include <string>

#include "print.hpp"
#include "shunt/gpu.hpp"

namespace shunt::cli {

struct Conditions {
    std::string commit;  // that shunt was built from, "-dirty" where files differed; empty: not known
    std::string cpu;     // "AMD EPYC 9554"
    int threads = 0;
    std::optional<Adapter> adapter;
};

// `threads` and `adapter` as on the command line; `with_card`: the card is looked up.
Conditions conditions(bool with_card, const std::string& adapter, int threads = 0);

Json as_json(const Conditions& conditions);
std::string in_words(const Conditions& conditions);

// "12.3 GFLOP/s", "1.2 GB/s"
std::string rate_in_words(double per_second, const std::string& unit);

// "12.3 µs"
std::string time_in_words(double seconds);

}  // namespace shunt::cli
