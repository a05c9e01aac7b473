// The names of layers, losses, optimizers and stop reasons: one list for C++, the tool and the file.
#include <array>
#include <charconv>

#include "shunt/network.hpp"

namespace shunt {
namespace {

template <typename T>
struct Named {
    T value;
    std::string_view name;
};
template <typename T>
Named(T, const char*) -> Named<T>;  // clang 14 does not deduce it for itself

constexpr std::array layer_names = {Named{LayerKind::dense, "dense"}, Named{LayerKind::embed, "embed"},
                                    Named{LayerKind::relu, "relu"}, Named{LayerKind::tanh, "tanh"},
                                    Named{LayerKind::sigmoid, "sigmoid"}};
constexpr std::array loss_names = {Named{LossKind::mse, "mse"}, Named{LossKind::softmax, "softmax"}};
constexpr std::array optimizer_names = {Named{OptimizerKind::adam, "adam"}, Named{OptimizerKind::sgd, "sgd"}};
constexpr std::array stopped_names = {Named{Stopped::epochs, "epochs"}, Named{Stopped::patience, "patience"},
                                      Named{Stopped::on_epoch, "on_epoch"}, Named{Stopped::target_loss, "target_loss"},
                                      Named{Stopped::interrupted, "interrupted"}};

template <typename T, std::size_t N>
std::string_view name_of(const std::array<Named<T>, N>& names, T value) {
    for (const auto& n : names) {
        if (n.value == value) return n.name;
    }
    throw Error(Fault::bad_argument, "A value that is none of its enumeration.");
}

template <typename T, std::size_t N>
T value_of(const std::array<Named<T>, N>& names, std::string_view name, const char* what) {
    std::string known;
    for (const auto& n : names) {
        if (n.name == name) return n.value;
        known += (known.empty() ? "" : ", ") + std::string(n.name);
    }
    throw Error(Fault::bad_argument,
                "There is no " + std::string(what) + " '" + std::string(name) + "'. There are: " + known + ".");
}

Layer parse_layer(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    Layer layer{value_of(layer_names, name, "layer")};
    const bool sized = layer.kind == LayerKind::dense || layer.kind == LayerKind::embed;
    if (!sized) {
        if (colon != text.npos) {
            throw Error(Fault::bad_argument,
                        "Layer '" + std::string(text) + "': " + std::string(name) + " takes no size.");
        }
        return layer;
    }
    const std::string_view size = colon == text.npos ? std::string_view() : text.substr(colon + 1);
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), layer.size);
    if (size.empty() || error != std::errc() || end != size.data() + size.size() || layer.size < 1) {
        throw Error(Fault::bad_argument, "Layer '" + std::string(text) + "' needs a size of 1 or more, as in '" +
                                             std::string(name) + ":8'.");
    }
    return layer;
}

}  // namespace

std::string to_string(const Layer& layer) {
    std::string text(name_of(layer_names, layer.kind));
    if (layer.kind == LayerKind::dense || layer.kind == LayerKind::embed) text += ":" + std::to_string(layer.size);
    return text;
}

std::vector<Layer> parse_layers(std::string_view text) {
    std::vector<Layer> layers;
    while (true) {
        const std::size_t comma = text.find(',');
        layers.push_back(parse_layer(text.substr(0, comma)));
        if (comma == text.npos) return layers;
        text.remove_prefix(comma + 1);
    }
}

std::string_view to_string(LossKind loss) {
    return name_of(loss_names, loss);
}
LossKind parse_loss(std::string_view text) {
    return value_of(loss_names, text, "loss");
}

std::string_view to_string(OptimizerKind kind) {
    return name_of(optimizer_names, kind);
}
OptimizerKind parse_optimizer(std::string_view text) {
    return value_of(optimizer_names, text, "optimizer");
}

std::string_view to_string(Stopped reason) {
    return name_of(stopped_names, reason);
}

}  // namespace shunt
