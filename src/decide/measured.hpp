// Figures measured on this machine, kept from one run to the next in one file:
// $SHUNT_CACHE/measured.json, else $XDG_CACHE_HOME/shunt/…, else ~/.cache/shunt/….
//
// What is there can always be measured again: no trouble with the file is ever an error. A file that
// is broken is written anew; one of another version is left alone.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace shunt::decide {

// By name, all in the units of whoever measured them; finite.
using Figures = std::map<std::string, double>;

struct Recalled {
    std::optional<Figures> figures;
    std::string reason;  // why there are none, where the file is to blame; empty: never measured
};

// The figures under a key. A key is made of all that they depend on: what was measured, the work's
// shape, the hardware and its driver, the library's version.
Recalled recall(const std::string& key);

// Keeps figures, in place of those that were there. The reason where that is not possible, else
// nothing. Safe beside other threads and processes; of very many keys the oldest are dropped.
std::string remember(const std::string& key, const Figures& figures);

// Where they are kept; empty where the environment names no place.
std::string measured_file();

}  // namespace shunt::decide
