#include "rattleback/version.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "rattleback/backend.hpp"

namespace rattleback {

const char* version() { return RATTLEBACK_VERSION; }
const char* git_commit() { return RATTLEBACK_GIT; }

std::vector<std::pair<std::string, std::string>> build_information() {
  std::string reason;
  const auto cuda = make_cuda_backend(reason);
  return {{"compiler", RATTLEBACK_COMPILER},
          {"build type", RATTLEBACK_BUILD_TYPE},
          {"instruction sets", fmt::format("{} (widest here: {})", RATTLEBACK_ISA_NAMES, to_string(best_isa()))},
          {"CUDA", RATTLEBACK_CUDA_TOOLKIT},
          {"processor",
           fmt::format("{}, {} hardware threads", processor_name(), std::max(1u, std::thread::hardware_concurrency()))},
          {"CUDA device", cuda ? cuda->device() : fmt::format("none ({})", reason)}};
}

}  // namespace rattleback
