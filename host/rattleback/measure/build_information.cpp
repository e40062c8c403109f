#include "rattleback/measure/build_information.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/processors.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/kernels/compiler.hpp"
#include "rattleback/kernels/store.hpp"

namespace rattleback {
namespace {

std::string cuda_device() {
  std::string reason;
  try {
    if (const auto cuda = make_cuda_backend(reason)) return fmt::format("{}, {}", cuda->device(), cuda->driver());
  } catch (const Error& error) {
    reason = error.what();
  }
  return fmt::format("none ({})", reason);
}

std::string kernel_compiler() {
  try {
    const Compiler compiler = find_compiler();
    return fmt::format("{} ({}, {})", compiler.path, compiler.version, compiler.target);
  } catch (const Error& error) {
    return fmt::format("none ({})", error.what());
  }
}

std::string kernel_cache() {
  const std::filesystem::path folder = Store::default_folder();
  return folder.empty() ? "none (neither XDG_CACHE_HOME nor HOME is an absolute path)" : folder.string();
}

/// Returns the instruction sets of this kind of processor.
std::string isa_names() {
  std::string names;
  for (const Isa isa : all_isas()) names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(isa));
  return names;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> build_information() {
  const unsigned hardware = std::max(1u, std::thread::hardware_concurrency()), usable = usable_processors();
  return {{"compiler", RATTLEBACK_COMPILER},
          {"build type", RATTLEBACK_BUILD_TYPE},
          {"instruction sets", fmt::format("{} (widest here: {})", isa_names(), to_string(best_isa()))},
          {"kernel compiler", kernel_compiler()},
          {"kernel cache", kernel_cache()},
          {"CUDA", RATTLEBACK_CUDA_TOOLKIT},
          {"processor", fmt::format("{}, {} hardware threads{}", processor_name(), hardware,
                                    usable < hardware ? fmt::format(" ({} for this process)", usable) : "")},
          {"CUDA device", cuda_device()}};
}

}  // namespace rattleback
