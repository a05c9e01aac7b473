// The breaker, with a clock set by hand.
#include "core/breaker.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace shunt;
using namespace std::chrono_literals;
using Pass = Breaker::Pass;

namespace {

Breaker::Time at(std::chrono::nanoseconds t) {
    return Breaker::Time(1h + t);
}

constexpr BreakerOptions options{.errors = 3, .pause = 100ms, .longest_pause = 350ms};

std::string asked(Breaker& breaker, Breaker::Time now, Pass& pass) {
    const bool declines = breaker.declines(now);
    pass = breaker.ask(now);
    if (declines != (pass == Pass::declined)) return "declines() says otherwise";
    return pass == Pass::ordinary ? "ordinary" : pass == Pass::probe ? "probe" : "declined";
}

// Goes through the steps and gives back what came of them. The answer that is expected asks; a report is of the last
// pass, or of an ordinary one from earlier where it is late; a number moves the clock by as many ms.
std::string run(const std::string& steps) {
    Breaker breaker(options);
    Pass last = Pass::declined;
    auto now = at(0ms);
    std::istringstream in(steps);
    std::string step, got;
    bool late = false;
    while (in >> step) {
        const Pass of = late ? Pass::ordinary : last;
        late = step == "late";
        if (step == "ordinary" || step == "probe" || step == "declined") step = asked(breaker, now, last);
        if (step == "succeeds") breaker.succeeded(of);
        if (step == "fails") breaker.failed(of, now);
        if (step == "stalls") breaker.stalled(of, now);
        if (step == "unused") breaker.unused(of);
        if (step.find_first_not_of("0123456789") == step.npos) now += std::chrono::milliseconds(std::stoi(step));
        got += (got.empty() ? "" : " ") + step;
    }
    return got;
}

}  // namespace

TEST_CASE("breaker: a table of what it answers") {
    const struct {
        const char *name, *steps;
    } rows[] = {
        {"closed, it passes everybody", "ordinary succeeds ordinary ordinary unused ordinary"},
        {"a success ends a row of errors", "ordinary fails fails succeeds fails fails ordinary"},
        {"the third error in a row opens it", "ordinary fails fails ordinary fails declined"},
        {"unused is neither success nor error", "ordinary fails fails unused fails declined"},
        {"a stall opens it at once", "ordinary stalls declined"},
        {"it declines to the end of the pause and not longer", "ordinary stalls 99 declined 1 probe"},
        {"one probe at a time, however long that takes", "ordinary stalls 100 probe declined 5000 declined"},
        {"a probe that succeeds closes it", "ordinary stalls 100 probe succeeds ordinary ordinary"},
        {"closing forgets the errors", "ordinary fails fails fails 100 probe succeeds ordinary fails fails ordinary"},
        {"a probe that fails doubles the pause", "ordinary stalls 100 probe fails 199 declined 1 probe"},
        {"so does one that stalls", "ordinary stalls 100 probe stalls 199 declined 1 probe"},
        {"up to the bound", "ordinary stalls 100 probe fails 200 probe fails 349 declined 1 probe fails 349 declined"},
        {"closing puts the pause back",
         "ordinary stalls 100 probe fails 200 probe succeeds ordinary stalls 99 declined 1 probe"},
        {"a probe that was not used leaves the next one at once, and the pause as it was",
         "ordinary stalls 100 probe unused probe fails 199 declined 1 probe"},
        {"a late success does not close it", "ordinary stalls late succeeds declined 100 probe late succeeds declined"},
        {"late errors and stalls change no pause",
         "ordinary stalls late fails late fails late fails 60 late stalls 39 declined 1 probe"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        CHECK(run(row.steps) == row.steps);
    }
}

TEST_CASE("breaker: of eight threads that ask at one moment exactly one gets the probe") {
    Breaker breaker(options);
    breaker.stalled(Pass::ordinary, at(0ms));
    constexpr int rounds = 500, n = 8;
    std::atomic<int> probes = 0;
    std::barrier together(n);
    std::vector<std::jthread> threads;
    for (int t = 0; t < n; t++) {
        threads.emplace_back([&] {
            for (int round = 1; round <= rounds; round++) {
                const auto now = at(round * 1s);  // past every pause
                const Pass pass = breaker.ask(now);
                together.arrive_and_wait();
                if (pass == Pass::probe) {
                    probes++;
                    if (round % 2 == 0) breaker.failed(pass, now);
                    if (round % 2 == 1) breaker.stalled(pass, now);
                }
                together.arrive_and_wait();
            }
        });
    }
    threads.clear();
    CHECK(probes == rounds);
}
