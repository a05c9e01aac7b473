// The readers of one format each, over bytes in memory. All of them throw shunt::Error alone.
#pragma once

#include <string>
#include <string_view>

#include "data/array.hpp"
#include "shunt/data.hpp"

namespace shunt::data {

// `source` is the name used in messages; `bytes` are the whole file.
Array parse_npy(std::string bytes, const std::string& source);
Array parse_idx(std::string bytes, const std::string& source);
Table parse_npz(const std::string& bytes, const std::string& source, const ReadOptions& options);

bool is_npy(std::string_view bytes);
bool is_idx(std::string_view bytes);
bool is_zip(std::string_view bytes);
bool is_gzip(std::string_view bytes);

std::string gunzip(std::string_view bytes, const std::string& source);

}  // namespace shunt::data
