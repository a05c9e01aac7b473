// Saving a network and loading it.
#include "net/file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/text.hpp"
#include "shunt/file.hpp"

namespace shunt {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 53;  // the whole numbers that JSON readers agree on

Input read_input(const JsonValue& value) {
    if (!value.json().is_object()) return value.integer(1, largest);
    return Tokens{value.at("tokens").integer(1, largest), value.at("vocab").integer(1, largest)};
}

std::vector<Layer> read_layers(const JsonValue& value) {
    std::vector<Layer> layers;
    for (const auto& item : value.items()) {
        try {
            const auto parsed = parse_layers(item.string());
            if (parsed.size() != 1) item.refuse("is not one layer");
            layers.push_back(parsed[0]);
        } catch (const Error& error) {
            if (error.fault() == Fault::bad_file) throw;
            item.refuse("is no layer: " + std::string(error.what()));
        }
    }
    if (layers.empty()) value.refuse("is empty");
    return layers;
}

// The parameters that the layers have, from their sizes alone.
struct Expected {
    std::string name;
    std::vector<std::uint64_t> shape;
};

std::vector<Expected> expected_tensors(const NetworkState& state, const JsonValue& layers) {
    std::vector<Expected> list;
    bool tokens = state.input.is_tokens();
    auto width = static_cast<std::uint64_t>(state.input.size);
    for (std::size_t i = 0; i < state.layers.size(); ++i) {
        const auto& layer = state.layers[i];
        const auto size = static_cast<std::uint64_t>(layer.size);
        const auto number = std::to_string(i);
        const bool embeds = layer.kind == LayerKind::embed;
        if (embeds != tokens) layers.refuse("do not fit the input: embed comes first on tokens, and only there");
        if ((embeds || layer.kind == LayerKind::dense) && layer.size < 1) layers.refuse("have a size below 1");
        if (embeds) {
            tokens = false;
            list.push_back({number + ".E", {static_cast<std::uint64_t>(state.input.tokens.vocab), size}});
            if (__builtin_mul_overflow(static_cast<std::uint64_t>(state.input.tokens.count), size, &width)) {
                layers.refuse("are too large");
            }
        } else if (layer.kind == LayerKind::dense) {
            list.push_back({number + ".W", {size, width}});
            list.push_back({number + ".b", {size}});
            width = size;
        }
    }
    return list;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + "]";
}

// opt.… and best.… are the state of a training that can go on; they are not needed to use the network.
bool is_weight(const StoredTensor& tensor) {
    return !tensor.name.starts_with("opt.") && !tensor.name.starts_with("best.");
}

Weights take_weights(const std::vector<Expected>& expected, Safetensors& content, const std::string& file) {
    const auto refuse = [&](const std::string& because) { throw Error(Fault::bad_file, file + ": " + because + "."); };
    Weights weights;
    for (const auto& wanted : expected) {
        const auto& name = wanted.name;
        const auto& shape = wanted.shape;
        const auto found = std::find_if(content.tensors.begin(), content.tensors.end(),
                                        [&](const StoredTensor& tensor) { return tensor.name == name; });
        if (found == content.tensors.end()) refuse("the layers ask for a tensor " + name + ", which is not there");
        if (found->shape != shape) {
            refuse("the tensor " + name + " is " + shape_text(found->shape) + "; the layers ask for " +
                   shape_text(shape));
        }
        weights.push_back(std::move(found->values));
    }
    const auto given = std::count_if(content.tensors.begin(), content.tensors.end(), is_weight);
    if (static_cast<std::size_t>(given) != expected.size()) refuse("it has tensors that belong to none of its layers");
    return weights;
}

}  // namespace

nlohmann::ordered_json describe_network(const Network& network) {
    nlohmann::ordered_json description;
    description["format"] = file_format;
    const auto& input = network.input();
    if (input.is_tokens()) {
        description["input"] = {{"tokens", input.tokens.count}, {"vocab", input.tokens.vocab}};
    } else {
        description["input"] = input.size;
    }
    description["layers"] = nlohmann::ordered_json::array();
    for (const auto& layer : network.layers()) description["layers"].push_back(to_string(layer));
    description["loss"] = to_string(network.loss_kind());
    description["seed"] = network.seed();
    description["n_params"] = network.n_params();
    if (!network.settled_on().empty()) description["settled_on"] = network.settled_on();
    return description;
}

std::string write_network(const Network& network, const nlohmann::ordered_json& description) {
    Safetensors content;
    content.metadata["shunt"] = to_json(description);
    const auto dtype = network.backend() == "plain" ? Dtype::f64 : Dtype::f32;
    auto weights = network.weights();
    const auto params = network.params();
    for (std::size_t i = 0; i < params.size(); ++i) {
        StoredTensor tensor;
        tensor.name = std::to_string(params[i].layer) + "." + params[i].name;
        tensor.dtype = dtype;
        const auto& shape = params[i].shape;
        // The file has b as [n_out], as every other framework does; here it is a row.
        for (std::size_t axis = params[i].name == "b" ? 1 : 0; axis < shape.rank(); ++axis) {
            tensor.shape.push_back(shape[axis]);
        }
        tensor.values = std::move(weights[i]);
        content.tensors.push_back(std::move(tensor));
    }
    return write_safetensors(content);
}

nlohmann::json read_description(const Safetensors& content, const std::string& file) {
    const auto found = content.metadata.find("shunt");
    if (found == content.metadata.end()) {
        throw Error(Fault::bad_file, file + ": it is a safetensors file without a description by shunt: not a model.");
    }
    auto description = parse_json(found->second, file + ": its description");
    const auto format = JsonValue(description, file).at("format").integer(1, largest);
    if (format > file_format) {
        throw Error(Fault::bad_file, file + ": it has the format " + std::to_string(format) +
                                         "; this version of shunt reads up to " + std::to_string(file_format) + ".");
    }
    return description;
}

NetworkState read_network(const JsonValue& description, Safetensors& content) {
    NetworkState state;
    state.input = read_input(description.at("input"));
    state.layers = read_layers(description.at("layers"));
    const auto loss = description.at("loss");
    const auto loss_name = loss.string();
    try {
        state.loss = parse_loss(loss_name);
    } catch (const Error& error) {
        loss.refuse("is no loss: " + std::string(error.what()));
    }
    state.seed = description.at("seed").number();
    if (const auto settled_on = description.find("settled_on")) state.settled_on = settled_on->string();
    state.weights = take_weights(expected_tensors(state, description.at("layers")), content, description.file());
    std::int64_t n_params = 0;
    for (const auto& list : state.weights) n_params += static_cast<std::int64_t>(list.size());
    const auto stated = description.at("n_params").integer(0, largest);
    if (stated != n_params) {
        description.at("n_params")
            .refuse("is " + std::to_string(stated) + "; the layers have " + std::to_string(n_params));
    }
    return state;
}

const Network& Network::save(const std::string& file) const {
    OutputFile out(file);
    out.write(write_network(*this, describe_network(*this)));
    out.commit();
    return *this;
}

Network Network::load(const std::string& file, const std::string& backend, int threads, const std::string& adapter) {
    auto content = read_safetensors(read_file(file), file);
    const auto description = read_description(content, file);
    const auto state = read_network(JsonValue(description, file), content);
    return from_state(state, backend, threads, adapter);
}

}  // namespace shunt
