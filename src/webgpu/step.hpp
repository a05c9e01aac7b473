// A whole training step of a narrow network in two dispatches: the texts of step_text.hpp, compiled and
// run.
#pragma once

#include "webgpu/launcher.hpp"
#include "webgpu/step_text.hpp"

namespace shunt::webgpu {

// UpdateOptions as the kernels take them. rest1 and rest2 are 1 − beta, taken in double.
struct Rates {
    float decay, scale, momentum, rate, beta1, rest1, beta2, rest2, epsilon;
};
Rates rates_of(const UpdateOptions& options);

class NarrowStep {
public:
    // False where is_narrow or the tensors' sizes say no.
    bool run(Launcher& card, const TrainStep& step);

private:
    void prepare(Launcher& card, const TrainStep& step);

    // What was prepared last: training asks for the same again and again.
    Layers layers_;
    bool softmax_ = true;
    std::size_t batch_ = 0;                                 // 0: preparing failed
    const Kernel *samples_ = nullptr, *weights_ = nullptr;  // of layers_; none where these are not narrow
    Tensor rows_;                                           // what the first kernel leaves to the second
};

}  // namespace shunt::webgpu
