#include "rattleback/study/observables.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace rattleback {
namespace {

using System = SystemEntry;
using Method = MethodEntry;
using Coded = ObservableCode;

bool holonomic(const System& system) { return system.constraint == ConstraintKind::holonomic; }
int one(const System&, const Method&) { return 1; }
int elements(const System& s, const Method&) { return s.elements; }
int dimension(const System& s, const Method&) { return s.n; }
int constraints(const System& s, const Method&) { return s.m; }
int dimension_if_holonomic(const System& s, const Method&) { return holonomic(s) ? s.n : 0; }
int hidden_constraints(const System& s, const Method&) { return s.positions; }
int multipliers(const System& s, const Method& m) { return shows_multiplier(s, m) ? s.m : 0; }
int exponents(const System& s, const Method&) { return tangent_dimension(s); }
int volumes(const System& s, const Method&) { return tangent_dimension(s) + 1; }
int one_if_two_exponents(const System& s, const Method&) { return tangent_dimension(s) > 1 ? 1 : 0; }
int one_if_driven(const System& s, const Method&) { return s.driven ? 1 : 0; }
int step_multipliers(const System& s, const Method& m) { return m.step_multiplier ? s.m : 0; }
int step_velocities(const System& s, const Method& m) { return m.step_velocity ? s.n : 0; }
int step_constraints(const System& s, const Method& m) { return m.step_velocity ? s.m : 0; }
int step_number(const System&, const Method& m) { return m.step_velocity ? 1 : 0; }

constexpr RunObservable run_observables_table[] = {
    {Coded::q, "q", false, elements, false, "configuration"},
    {Coded::v, "v", false, dimension, false, "velocity; on a group trivialised"},
    {Coded::p, "p", false, dimension, false, "momentum dL/dv; on a group trivialised"},
    {Coded::p_projected, "p_projected", false, dimension_if_holonomic, false,
     "momentum without its component across the holonomic constraint"},
    {Coded::lambda, "lambda", false, multipliers, false,
     "multiplier; with a velocity constraint and a method that carries none, that of the continuous equations"},
    {Coded::constraint, "constraint", false, constraints, false, "components of the constraint"},
    {Coded::hidden_constraint, "hidden_constraint", false, hidden_constraints, false,
     "components of the hidden constraint Dg(q) v, with g_t where g depends on the time"},
    {Coded::power, "power", false, one_if_driven, true,
     "power of forces and of explicit time, with the multipliers of the continuous equations", true},
    {Coded::work, "work", false, one_if_driven, true,
     "work of forces and of explicit time since the start, by the quadrature of the method", true},
    {Coded::energy_balance, "energy_balance", false, one_if_driven, true,
     "energy less work, which the exact motion keeps", true},
    {Coded::gamma, "gamma", true, step_multipliers, false, "second multiplier"},
    {Coded::step_v, "step_v", true, step_velocities, false, "velocity of the step"},
    {Coded::step_hidden_constraint, "step_hidden_constraint", true, step_constraints, false,
     "hidden constraint of step_v"},
    {Coded::step_energy, "step_energy", true, step_number, true, "energy p . v - L with step_v"},
    {Coded::step_kinetic, "step_kinetic", true, step_number, true, "kinetic part of step_energy"},
    {Coded::step_potential, "step_potential", true, step_number, true, "potential part of step_energy"},
    {Coded::iterations, "iterations", false, one, true, "iterations of all steps so far"},
    {Coded::residual, "residual", false, one, true, "largest residual that a step has left so far"},
    {Coded::step_size, "step_size", false, one, true, "size of the next step"},
    {Coded::density_error, "density_error", false, one, true,
     "of steps that follow a density: the number by which time.step is divided, over the density, less 1"},
    {Coded::lyapunov, "lyapunov", false, one, true,
     "largest Lyapunov exponent so far, with the Euclidean norm of (dq, dp) in the units of the study"},
    {Coded::exponent, "lyapunov", false, exponents, false, "Lyapunov exponents so far; the largest has the index 0"},
    {Coded::window, "lyapunov_window", false, exponents, false, "Lyapunov exponents of the time since the last sample"},
    {Coded::ln_gali, "ln_gali", false, volumes, false,
     "logarithm of the volume that i tangent vectors of length 1 span", false, 2},
    {Coded::gali, "gali", false, volumes, false,
     "volume that i tangent vectors of length 1 span, the alignment index GALI", false, 2},
    {Coded::sali, "sali", false, one_if_two_exponents, true, "smaller alignment index SALI of two tangent vectors"},
    {Coded::megno, "megno", false, one, true, "mean exponential growth of nearby orbits, MEGNO"},
    {Coded::megno_mean, "megno_mean", false, one, true,
     "mean of megno over the time; near 2 on regular orbits, lyapunov t / 2 on chaotic ones"},
    {Coded::fli, "fli", false, one, true, "fast Lyapunov indicator: largest growth ln |(dq, dp)| so far"},
};
static_assert(std::size(run_observables_table) + 4 == ObservableCode::kinds,
              "a kind of observables has no descriptor, or has two; system, formula and the derivatives have none");

}  // namespace

std::span<const RunObservable> run_observables() { return run_observables_table; }

int tangent_dimension(const SystemEntry& system) { return 2 * system.n - system.m - system.positions; }

bool has_derivative(ObservableCode::Kind kind) {
  constexpr Coded::Kind kinds[] = {Coded::system, Coded::q,      Coded::v,
                                   Coded::p,      Coded::lambda, Coded::formula,
                                   Coded::power,  Coded::work,   Coded::energy_balance};
  return std::ranges::find(kinds, kind) != std::end(kinds);
}

bool has_derivative(std::string_view statistic) {
  return statistic == "mean" || statistic == "std" || statistic == "mse" || statistic == "rms";
}

TangentNeeds::TangentNeeds(const Problem& problem) {
  const auto needs = [this](int vectors) { count = std::max(count, vectors); };
  std::vector<ObservableCode> codes = problem.codes;
  for (const Observable& observable : problem.study.observables)
    for (const std::string& other : observable.correlation) codes.push_back(problem.observable_code(other));
  if (const auto& asked = problem.study.lyapunov.exponents) needs(static_cast<int>(*asked));
  by_mass = problem.code.by_mass;
  transient = problem.transient;
  for (const auto& [kind, index] : codes) {
    window = window || kind == Coded::window;
    columns = columns || kind == Coded::ln_gali || kind == Coded::gali || kind == Coded::sali;
    growth = growth || kind == Coded::megno || kind == Coded::megno_mean || kind == Coded::fli;
    if (kind == Coded::lyapunov || growth) needs(1);
    if (kind == Coded::exponent || kind == Coded::window) needs(index + 1);
    if (kind == Coded::ln_gali || kind == Coded::gali) needs(index);
    if (kind == Coded::sali) needs(2);
  }
}

std::vector<NamedCode> observables_of(const SystemEntry& system, const MethodEntry& method) {
  std::vector<NamedCode> result;
  for (const ObservableInfo& info : system.observables)
    result.push_back({info.name, {ObservableCode::system, static_cast<int>(result.size())}});
  for (const RunObservable& observable : run_observables()) {
    const int components = observable.components(system, method);
    for (int i = observable.first; i < components; ++i)
      result.push_back(
          {observable.scalar ? observable.name : fmt::format("{}[{}]", observable.name, i), {observable.kind, i}});
  }
  return result;
}

}  // namespace rattleback
