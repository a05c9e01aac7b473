// The safetensors format: named tensors and a map of texts in one file.
//
//   8 bytes   n, the header's length, little-endian
//   n bytes   {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets": [from, to]}}
//   the rest  the tensors' values, little-endian, without gaps
//
// https://github.com/huggingface/safetensors#format
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shunt/error.hpp"

namespace shunt {

enum class Dtype { f32, f64 };

struct StoredTensor {
    std::string name;
    Dtype dtype = Dtype::f64;
    std::vector<std::uint64_t> shape;
    std::vector<double> values;  // rounded to float when written as f32
};

struct Safetensors {
    std::map<std::string, std::string> metadata;
    std::vector<StoredTensor> tensors;  // in the order of their values in the file
};

// The same value gives the same bytes. bad_data for values that are not finite.
std::string write_safetensors(const Safetensors& content);

// Everything is checked before any value is taken; `file` names the bytes in errors.
Safetensors read_safetensors(std::string_view bytes, const std::string& file);

std::string read_file(const std::string& file);  // bad_file with the system's reason

}  // namespace shunt
