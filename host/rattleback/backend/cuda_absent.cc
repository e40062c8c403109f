#include "rattleback/backend/backend.hpp"
#include "rattleback/catalogue/builtin/builtin.hpp"

namespace rattleback {

std::unique_ptr<Backend> make_cuda_backend(std::string& reason, std::optional<int>, bool*) {
  reason = "this build has no CUDA backend";
  return nullptr;
}

void add_cuda_pairs(Catalogue&) {}

}  // namespace rattleback
