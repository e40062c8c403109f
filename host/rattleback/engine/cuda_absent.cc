#include "rattleback/engine/backend.hpp"

namespace rattleback {

std::unique_ptr<Backend> make_cuda_backend(std::string& reason, std::optional<int>, bool*) {
  reason = "this build has no CUDA backend";
  return nullptr;
}

}  // namespace rattleback
