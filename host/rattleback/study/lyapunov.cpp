// Checks what a study asks of tangent vectors besides its observables: the table [lyapunov].

#include <fmt/format.h>

#include <cmath>

#include "rattleback/base/message.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/parts.hpp"

namespace rattleback {
namespace {

/// Returns the sample at the end of the transient.
std::uint64_t sample_of_transient(const Problem& problem, double transient, double step) {
  const Study::Time& time = problem.study.time;
  const std::string where = problem.study.place("lyapunov.transient");
  const auto fail = [&](std::string_view message) {
    input_error(where, fmt::format("lyapunov.transient = {} {}", transient, message));
  };
  if (!(transient > 0.0 && std::isfinite(transient))) fail("must be a time above 0");
  if (time.by_density())
    fail("needs steps of one size, and time.control is \"density\"; take lyapunov[j] at two samples and subtract");
  const double span = std::abs(*time.end - time.start);
  const double interval = *time.sample_every == 0 ? span / static_cast<double>(*time.samples)
                                                  : static_cast<double>(*time.sample_every) * std::abs(step);
  const double samples = std::round(transient / interval);
  if (!(transient < span * (1.0 - 1e-9)))
    fail(fmt::format("is not shorter than the time of the run, {}; exponents need a time after it", span));
  if (samples >= 1.0 && std::abs(transient - samples * interval) <= 1e-9 * transient)
    return static_cast<std::uint64_t>(samples);
  fail(fmt::format("ends at no sample: samples are {} apart; change it, or time.samples", interval));
  return 0;
}

}  // namespace

void check_lyapunov(Problem& problem, double step) {
  const Study::Lyapunov& asked = problem.study.lyapunov;
  const SystemEntry& system = *problem.system;
  const auto place = [&](std::string_view key) { return problem.study.place(fmt::format("lyapunov.{}", key)); };
  problem.code.by_mass = asked.metric == "mass";
  if (const auto vectors = static_cast<std::uint64_t>(tangent_dimension(system)); asked.exponents.value_or(0) > vectors)
    input_error(place("exponents"),
                fmt::format("lyapunov.exponents = {} is too many: the states of '{}' have {} tangent "
                            "vectors that keep the constraints",
                            *asked.exponents, system.name, vectors));
  if (problem.code.by_mass && system.hamiltonian_alone)
    input_error(place("metric"), fmt::format("lyapunov.metric = \"mass\" needs a mass matrix, and velocities do not "
                                             "determine the momenta of '{}'; take \"euclidean\"",
                                             system.name));
  if (asked.transient) problem.transient = sample_of_transient(problem, *asked.transient, step);
  if (TangentNeeds(problem).count > 0) return;
  if (const std::string where = problem.study.place("lyapunov");
      !where.empty() || asked.transient || problem.code.by_mass)
    input_error(where,
                "[lyapunov] is given, and nothing is asked of tangent vectors; give lyapunov.exponents, or add an "
                "[[observable]] such as lyapunov");
}

}  // namespace rattleback
