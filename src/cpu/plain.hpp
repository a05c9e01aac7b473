// The reference backend.
#pragma once

#include <memory>

#include "shunt/backend.hpp"

namespace shunt::cpu {

std::shared_ptr<Backend> make_plain(const BackendOptions& options);

}  // namespace shunt::cpu
