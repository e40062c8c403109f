#include "rattleback/engine/backend.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/nvrtc.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {
namespace {

[[noreturn]] void unknown(const std::string& specification) {
  throw Error(
      Error::Kind::input,
      fmt::format("unknown backend {} (known: auto, cpu, cuda, cuda:0 and so on for one of several GPUs, cpu:scalar, "
                  "cpu:avx2, cpu:avx512, cpu:neon, cpu:threads=N and combinations such as cpu:avx2,threads=1)",
                  quote(specification)));
}

/// Makes the backend for a specification `cpu:OPTION,OPTION`; `options` is the part after the colon.
std::unique_ptr<Backend> cpu_backend(const std::string& specification, std::string_view options, unsigned threads) {
  std::optional<Isa> isa;
  bool threads_given = false;
  const auto given_twice = [&](std::string_view what) {
    input_error("", fmt::format("backend {} gives {} twice; leave one out", quote(specification), what));
  };
  for (bool more = true; more;) {
    const std::string_view option = options.substr(0, options.find(','));
    more = option.size() < options.size();
    options.remove_prefix(option.size() + more);
    if (option.starts_with("threads=")) {
      if (std::exchange(threads_given, true)) given_twice("the number of threads");
      const std::string_view number = option.substr(8);
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), threads);
      if (error != std::errc() || end != number.data() + number.size() || threads == 0) unknown(specification);
      continue;
    }
    const std::optional<Isa> before = isa;
    for (const Isa candidate : known_isas)
      if (option == to_string(candidate)) isa = candidate;
    if (!isa || option != to_string(*isa)) unknown(specification);
    if (before) given_twice("the instruction set");
  }
  const Isa chosen = isa.value_or(best_isa());
  if (!has_isa(chosen))
    throw Error(Error::Kind::input, fmt::format("{} is not available on this processor (widest here: {}); use cpu",
                                                to_string(chosen), to_string(best_isa())));
  return make_cpu_backend(chosen, threads);
}

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& specification, unsigned threads,
                                      const std::function<void(const std::string&)>& warn) {
  if (specification == "cpu") return make_cpu_backend(best_isa(), threads);
  if (specification.starts_with("cpu:")) return cpu_backend(specification, specification.substr(4), threads);
  const bool wants_cuda = specification.starts_with("cuda");
  std::optional<int> device;
  if (specification.starts_with("cuda:")) {
    device = 0;
    const auto [end, error] =
        std::from_chars(specification.data() + 5, specification.data() + specification.size(), *device);
    if (error != std::errc() || end != specification.data() + specification.size()) unknown(specification);
  } else if (specification != "auto" && specification != "cuda") {
    unknown(specification);
  }

  std::string reason;
  bool unusable = false;
  auto cuda = make_cuda_backend(reason, device, &unusable);
  if (cuda && !wants_cuda && Kernels::instance().policy() == KernelPolicy::automatic) {
    try {
      (void)Nvrtc::instance();
    } catch (const Error& error) {
      reason = error.what();
      unusable = true;
      cuda = nullptr;
    }
  }
  if (cuda && unusable && warn) warn("a GPU is left out (" + reason + ")");
  if (cuda) return cuda;
  if (wants_cuda)
    throw Error(Error::Kind::input,
                fmt::format("backend '{}' is not available ({}); use --backend cpu", specification, reason));
  if (unusable && warn) warn("no GPU is used (" + reason + ")");
  return make_cpu_backend(best_isa(), threads);
}

}  // namespace rattleback
