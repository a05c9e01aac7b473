// The two things that `shunt info` shows.
#pragma once

#include <string>

#include "shunt/data.hpp"

namespace shunt::cli {

std::string model_info(const std::string& file, bool json);
std::string table_info(const Table& table, bool json);

}  // namespace shunt::cli
