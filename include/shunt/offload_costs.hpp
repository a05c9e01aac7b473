// What an operator costs on the CPU and on the card, by figures that were measured: pure functions.
//
// A side's time is what the call costs anyhow, the bytes moved and the arithmetic. The card is chosen where its
// time, with the uncertainty of the figures on top, is below the CPU's.
#pragma once

#include <cstddef>
#include <string>

#include "shunt/backend.hpp"

namespace shunt::offload {

// All in seconds. The first ten are the model; those behind them are the parts of it that do not grow with the work,
// and what keeps small work from running at full speed. 0 leaves a part out.
struct Costs {
    double latency = 0;                   // an empty round trip to the card
    double up = 0, down = 0;              // per byte to and from the card
    double gpu_gemm = 0;                  // per multiply-add of a product
    double gpu_direct = 0;                // per multiply-add of a depthwise convolution
    double gpu_col = 0;                   // per value gathered from a convolution's windows
    double cpu_gemm = 0, cpu_conv = 0;    // per multiply-add
    double cpu_act = 0, gpu_act = 0;      // per value of an activation; the CPU's of gelu, the dearest
    double up_fixed = 0, down_fixed = 0;  // a transfer
    double gpu_step = 0;                  // per k of a product, however few tiles it has
    double cpu_fixed = 0, gpu_fixed = 0;  // an operator
    double cpu_byte = 0;                  // per byte of an operator's arguments and results, at least
    double cpu_depthwise = 0;             // per multiply-add of a depthwise convolution; 0: cpu_conv
    double cpu_act_cheap = 0;             // of relu and its like; 0: cpu_act
    double tile_m = 1, tile_n = 1;        // products are padded to these on the card
    double spread = 0;                    // how far a prediction may be off, as a share of it

    bool operator==(const Costs&) const = default;
};

std::string to_string(const Costs& costs);  // for people, a figure a line

// A JSON object of the figures by name. bad_file, with the figure, for what is missing, unknown, negative or
// not finite.
Costs load_costs(const std::string& path);
void save_costs(const Costs& costs, const std::string& path);
std::string costs_json(const Costs& costs);  // what save_costs writes

struct GemmShape {
    std::size_t m = 0, n = 0, k = 0;
};

struct ConvShape {
    std::size_t n = 1, c = 0, h = 0, w = 0;  // pictures
    std::size_t o = 0, kh = 1, kw = 1, groups = 1;
    std::size_t oh = 0, ow = 0;
    bool as_product = false;  // 1×1, stride 1, no padding: the pictures are the matrix

    bool depthwise() const { return groups > 1 && c == groups; }
    double macs() const;
};

// Seconds, term by term.
struct Prediction {
    double cpu = 0;
    double queue = 0, latency = 0, upload = 0, weight = 0, kernel = 0, download = 0;  // of the card

    double gpu() const { return queue + latency + upload + weight + kernel + download; }
    double resident() const { return gpu() - weight; }  // with the weight on the card already
};

// With the transfer of the weight, on a card that has nothing else to do.
Prediction predict_gemm(const Costs& costs, const GemmShape& shape);
Prediction predict_conv(const Costs& costs, const ConvShape& shape);
Prediction predict_act(const Costs& costs, Activation kind, std::size_t n);

// Strictly faster, the uncertainty included; equal stays on the CPU.
bool faster_on_gpu(const Costs& costs, double cpu, double gpu);

bool gemm_on_gpu(const Costs& costs, const GemmShape& shape, bool cached_b);
bool conv_on_gpu(const Costs& costs, const ConvShape& shape, bool cached_w);
bool act_on_gpu(const Costs& costs, std::size_t n, Activation kind = Activation::gelu);

}  // namespace shunt::offload
