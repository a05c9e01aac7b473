// The backend that is fast: float32 on oneDNN.
#pragma once

#include <memory>

#include "shunt/backend.hpp"

namespace shunt::cpu {

std::shared_ptr<Backend> make_fast(const BackendOptions& options);

}  // namespace shunt::cpu
