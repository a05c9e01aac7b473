// The elementwise loops of the cpu backend, vectorised for what the machine has.
#pragma once

#include <cstddef>
#include <span>

#include "shunt/backend.hpp"

namespace shunt::cpu::loops {

void to_float(std::span<const double> from, float* to);

// Those that oneDNN does not do here; y may be x.
void activate(const ActivationOptions& options, const float* x, float* y, std::size_t n);
void activate_grad(Activation kind, const float* y, const float* dy, float* dx, std::size_t n);  // dx may be dy

void add(const float* x, float* y, std::size_t n);  // y += x
void column_sums(const float* x, std::size_t rows, std::size_t cols, std::size_t stride, float* sums);

// One range of a parameter tensor; the first n_decayed values of it decay.
void update(const UpdateOptions& options, std::size_t n, std::size_t n_decayed, float* p, const float* g, float* m,
            float* v);

}  // namespace shunt::cpu::loops
