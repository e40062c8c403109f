#include "rattleback/measure/selftest.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/fnv.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/measure/kernel_case.hpp"
#include "rattleback/rattleback.hpp"
#include "rattleback/results/diff.hpp"

namespace rattleback {
namespace {

/// Adds all bits of a result to the hash.
void add_to(Fnv1a& hash, const Result& result) {
  for (const std::string& path : result.paths()) {
    hash.add(path);
    std::visit(
        [&](const auto& values) {
          for (const auto value : values) {
            std::uint64_t word = 0;
            std::memcpy(&word, &value, sizeof value);
            hash.add_word(word);
          }
        },
        result.dataset(path).values);
  }
}

std::string different(const Result& a, const Result& b) {
  std::string paths;
  for (const std::string& path : a.paths()) {
    const bool same =
        b.has(path) && std::visit(
                           [&](const auto& x) {
                             const auto* y = std::get_if<std::decay_t<decltype(x)>>(&b.dataset(path).values);
                             return y && x.size() == y->size() &&
                                    (x.empty() || std::memcmp(x.data(), y->data(), x.size() * sizeof x[0]) == 0);
                           },
                           a.dataset(path).values);
    if (!same) paths += (paths.empty() ? "" : " ") + path;
  }
  return paths;
}

constexpr Exercise exercises[] = {Exercise{}, Exercise{.sections = true}, Exercise{.sections = true, .lyapunov = true},
                                  Exercise{.draws = 3, .sections = true, .uneven = true}};

/// Compiles the kernels of several tests side by side. A test meets a kernel that does not compile again, and reports it.
void prepare(std::span<const KernelCase> kernels, Session& tested, Session& reference) {
  try {
    std::vector<Problem> problems;
    for (const KernelCase& kernel : kernels)
      for (const Exercise& exercise : exercises) problems.push_back(Problem::parse(study_of(kernel, exercise)));
    for (Session* session : {&tested, &reference}) session->prepare(problems);
  } catch (const Error&) {
  }
}

SelftestKernel test(const KernelCase& kernel, Session& tested, Session& reference, double seconds, Fnv1a& digest) {
  SelftestKernel outcome{kernel.name(), {}, 0, 0.0};
  const auto take = [&](const Problem& problem) {
    Result result = tested.run(problem);
    outcome.trajectory_steps += result.summary.trajectory_steps;
    outcome.seconds += result.summary.wall_seconds;
    return result;
  };
  try {
    for (const Exercise& exercise : exercises) {
      const Problem problem = Problem::parse(study_of(kernel, exercise));
      const Result expected = reference.run(problem);
      add_to(digest, expected);
      outcome.fault = different(expected, take(problem));
      if (!outcome.fault.empty()) return outcome;
    }
    const Problem problem = Problem::parse(study_of(kernel, {}));
    for (const Result first = take(problem); outcome.seconds < seconds && outcome.fault.empty();)
      outcome.fault = different(first, take(problem));
    if (!outcome.fault.empty()) outcome.fault += " (from one run to the next)";
  } catch (const Error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

/// Returns the first kernels of two systems for each method.
std::vector<KernelCase> two_of_each_method(const std::vector<KernelCase>& all) {
  std::vector<KernelCase> chosen;
  for (const KernelCase& kernel : all) {
    const auto same_method = [&](const KernelCase& other) { return other.method == kernel.method; };
    const auto same_system = [&](const KernelCase& other) {
      return same_method(other) && std::string_view(other.system->name) == kernel.system->name;
    };
    if (std::ranges::count_if(chosen, same_method) < 2 && std::ranges::none_of(chosen, same_system))
      chosen.push_back(kernel);
  }
  return chosen;
}

}  // namespace

std::uint64_t SelftestReport::faults() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(kernels, [](const auto& k) { return !k.fault.empty(); }));
}

std::string SelftestReport::outcome() const {
  return faults() == 0 ? fmt::format("passed, {} kernels, digest {}", kernels.size(), digest)
                       : fmt::format("failed, {} of {} kernels, digest {}", faults(), kernels.size(), digest);
}

SelftestReport selftest(const SelftestOptions& options) {
  const FloatingPointScope environment;
  std::vector<KernelCase> cases = kernel_cases_that_match(options.match, "--match");
  if (options.match.empty()) cases = two_of_each_method(cases);
  if (cases.empty()) input_error("--match", fmt::format("no kernel of this build matches {}", quote(options.match)));

  SelftestReport report;
  {
    const auto backend = make_backend(options.backend, 0);
    report.backend = backend->name();
    report.device = backend->device();
    report.driver = backend->driver();
    report.fma_rate = backend->measure_peak_flops();
    report.copy_rate = backend->measure_copy_rate();
  }
  Session tested({.backend = options.backend}), reference({.backend = "cpu:scalar", .threads = 1});
  Fnv1a digest;
  const std::size_t batch = std::size_t{4} * worker_count(0);
  for (const KernelCase& kernel : cases) {
    if (const std::size_t done = report.kernels.size(); done % batch == 0)
      prepare(std::span(cases).subspan(done, std::min(batch, cases.size() - done)), tested, reference);
    if (options.stop && options.stop()) throw Error(Error::Kind::runtime, "interrupted");
    if (options.progress) options.progress(report.kernels.size(), cases.size());
    report.kernels.push_back(test(kernel, tested, reference, options.seconds, digest));
  }
  report.digest = fmt::format("{:016x}", digest.value);
  return report;
}

}  // namespace rattleback
