// cpu: float32 on oneDNN.
#include "cpu/fast.hpp"

namespace shunt::cpu {

std::shared_ptr<Backend> make_fast(const BackendOptions&) { throw Error(Fault::unsupported, "being written"); }

}  // namespace shunt::cpu
