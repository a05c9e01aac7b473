// A network as the part of a safetensors file that describes it, and back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "shunt/network.hpp"

namespace shunt {

// The newest version of the file that this library reads, and the one it writes.
constexpr int file_format = 1;

// {format, input, layers, loss, seed, n_params, settled_on where auto settled on a backend}
nlohmann::ordered_json describe_network(const Network& network);

// The tensors 0.W, 0.b, 0.E …, by layer index; f64 from plain, which computes in double, else f32.
// The metadata's key "shunt" holds the description.
std::string write_network(const Network& network, const nlohmann::ordered_json& description);

// The JSON text under the key "shunt", parsed; refuses a format that is newer than this library.
nlohmann::json read_description(const Safetensors& content, const std::string& file);

// Takes the weights out of `content`. No size in the description is used before it was found to be
// that of a tensor in the file.
NetworkState read_network(const JsonValue& description, Safetensors& content);

}  // namespace shunt
