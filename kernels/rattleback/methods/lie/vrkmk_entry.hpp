#pragma once
// The methods vrkmk and vrkmk-pade in the catalogue: options, checks, texts.

#include <cstdio>

#include "rattleback/catalogue/option.hpp"
#include "rattleback/methods/lie/vrkmk.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr const char* variational_iterations[] = {"newton", "chord", "fixed-point", "sweeps"};
inline constexpr OptionInfo variational_iteration{.name = "iteration",
                                                  .kind = OptionKind::choice,
                                                  .text =
                                                      "for the stage equations: Newton's method, with one Jacobian "
                                                      "(chord) or with the mass matrix (fixed-point), or sweeps of "
                                                      "second order in h, then Newton's method",
                                                  .standard = 3,
                                                  .choices = variational_iterations};

/// The names of the tableaus: the Gauss method of `stages` stages, the named tableaus in their order, and the tableau
/// of a study.
inline constexpr auto vrkmk_tableaus = [] {
  std::array<const char*, std::size(runge_kutta_tableaus) + 2> names{"gauss"};
  for (std::size_t i = 0; i + 2 < names.size(); ++i) names[i + 1] = runge_kutta_tableaus[i].name;
  names.back() = "given";
  return names;
}();

inline constexpr int max_vrkmk_stages = 4;
inline constexpr OptionInfo vrkmk_options[] = {
    {.name = "stages",
     .kind = OptionKind::integer,
     .text = "number of stages; that of the tableau where one is named or given",
     .standard = 2,
     .minimum = 1,
     .maximum = max_vrkmk_stages,
     .compiled = true},
    {.name = "tableau",
     .kind = OptionKind::choice,
     .text = "Runge-Kutta method; `gauss` is that of `stages` stages, `given` takes the one of `a` and `b`",
     .choices = vrkmk_tableaus},
    {.name = "cutoff",
     .kind = OptionKind::integer,
     .text = "largest power r of ad in the truncated series; -1 is the smallest that keeps the order of the tableau",
     .standard = -1,
     .minimum = -1,
     .maximum = TangentSeries::largest_cutoff},
    variational_iteration,
    {.name = "a", .kind = OptionKind::matrix, .text = "with tableau = \"given\", the rows of its matrix"},
    {.name = "b", .kind = OptionKind::numbers, .text = "with tableau = \"given\", its weights, one per stage"}};

/// The values of the options above.
struct VrkmkValues {
  int stages, cutoff;
  std::size_t tableau;
  StageIteration iteration;
  OptionValue a, b;

  explicit VrkmkValues(std::span<const OptionValue> values)
      : stages(static_cast<int>(values[0].number)),
        cutoff(static_cast<int>(values[2].number)),
        tableau(static_cast<std::size_t>(values[1].number)),
        iteration(static_cast<StageIteration>(static_cast<int>(values[3].number))),
        a(values[4]),
        b(values[5]) {}

  [[nodiscard]] bool by_stages() const { return tableau == 0; }
  [[nodiscard]] bool given() const { return tableau + 1 == vrkmk_tableaus.size(); }
  [[nodiscard]] const RungeKuttaTableau& named() const { return runge_kutta_tableaus[tableau - 1]; }
};

inline int stages_of_vrkmk(std::span<const OptionValue> values) {
  const VrkmkValues v(values);
  if (v.by_stages()) return v.stages;
  if (!v.given()) return v.named().stages;
  const auto stages = static_cast<int>(v.b.numbers.size());
  return stages < 1 ? 1 : stages < max_vrkmk_stages ? stages : max_vrkmk_stages;  // settling refuses other counts
}

/// Finds the tableau of a method; returns false, with a message, if there is none.
inline bool settle_vrkmk_tableau(const VrkmkValues& v, RungeKuttaTableau& tableau, char* message, std::size_t size) {
  const int stages = v.stages;
  if (!v.given() && (!v.a.numbers.empty() || !v.b.numbers.empty())) {
    std::snprintf(message, size, "method.a and method.b are given (the tableau is \"%s\"); set tableau = \"given\"",
                  vrkmk_tableaus[v.tableau]);
    return false;
  }
  if (!v.given()) {
    tableau = v.by_stages() ? gauss_tableau(stages) : v.named();
    if (tableau.stages == stages) return true;
    std::snprintf(message, size, "method.stages = %d (the tableau \"%s\" has %d stages); leave stages out", stages,
                  tableau.name, tableau.stages);
    return false;
  }
  const std::size_t count = v.b.numbers.size();
  if (count < 1 || count > max_vrkmk_stages) {
    std::snprintf(message, size, "method.b has %d weights (one per stage); give 1 to %d", static_cast<int>(count),
                  max_vrkmk_stages);
    return false;
  }
  if (count != static_cast<std::size_t>(stages)) {
    std::snprintf(message, size, "method.stages = %d (method.b has %d weights, one per stage); leave stages out",
                  stages, static_cast<int>(count));
    return false;
  }
  if (v.a.rows != stages || v.a.numbers.size() != count * count) {
    std::snprintf(message, size,
                  "method.a is not a square matrix with as many rows as method.b has weights, %d; give a = [[..], ..], "
                  "zeros included",
                  stages);
    return false;
  }
  tableau = {"given", stages, 0, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    tableau.b[i] = v.b.numbers[i];
    for (std::size_t j = 0; j < count; ++j) tableau.a[i][j] = v.a.numbers[i * count + j];
  }
  if (const char* fault = variational_tableau_fault(tableau)) {
    std::snprintf(message, size, "method.b: %s; change the tableau", fault);
    return false;
  }
  tableau.order = symplectic_pair_order(tableau);
  return true;
}

/// The order that a cutoff allows. The terms of odd order above 1 vanish in the series of dexp^-1.
constexpr int order_of_cutoff(int cutoff, bool pade) {
  return 2 + (!pade && cutoff > 0 && cutoff % 2 == 0 ? cutoff + 1 : cutoff);
}
/// The smallest cutoff that allows an order.
constexpr int cutoff_for(int order, bool pade) {
  int cutoff = 0;
  while (order_of_cutoff(cutoff, pade) < order) ++cutoff;
  return cutoff;
}

template <bool pade>
Settled settle_vrkmk(std::span<const OptionValue> values, const SystemEntry& system, double* numbers, char* message,
                     int message_size) {
  const VrkmkValues v(values);
  const auto size = static_cast<std::size_t>(message_size);
  RungeKuttaTableau tableau;
  if (!settle_vrkmk_tableau(v, tableau, message, size)) return Settled::refused;
  const int needed = cutoff_for(tableau.order, pade);
  // For a given tableau the known order is at most 4; the true order may be higher.
  const bool may_be_more = v.given() && tableau.order == 4;
  const int cutoff = v.cutoff >= 0 ? v.cutoff : may_be_more ? cutoff_for(2 * v.stages, pade) : needed;
  switch (v.stages) {
    case 1:
      VrkmkNumbers<1>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
    case 2:
      VrkmkNumbers<2>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
    case 3:
      VrkmkNumbers<3>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
    default:
      VrkmkNumbers<4>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
  }
  if (cutoff >= needed || system.turn == nullptr) return Settled::good;
  std::snprintf(message, size, "method.cutoff = %d lowers the order of the tableau \"%s\" from %d to %d; %d keeps it",
                cutoff, tableau.name, tableau.order, order_of_cutoff(cutoff, pade), needed);
  return Settled::doubtful;
}

template <bool pade>
int order_of_vrkmk(std::span<const OptionValue> values, const SystemEntry& system) {
  const VrkmkValues v(values);
  RungeKuttaTableau tableau;
  char message[400];
  if (!settle_vrkmk_tableau(v, tableau, message, sizeof message)) return 0;
  if (v.cutoff < 0 || system.turn == nullptr) return tableau.order;
  const int bound = order_of_cutoff(v.cutoff, pade);
  return bound < tableau.order ? bound : tableau.order;
}

inline constexpr MethodEntry vrkmk{
    .name = "vrkmk",
    .summary = "variational Runge-Kutta-Munthe-Kaas method; symplectic, keeps momentum maps",
    .source = "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, sections 3, 4.1",
    .order = "that of the tableau's symplectic pair, at most cutoff + 2 (+ 3 for even cutoff > 0)",
    .constraints = ConstraintKind::none,
    .options = vrkmk_options,
    .carries_multiplier = false,
    .settle = settle_vrkmk<false>,
    .order_of = order_of_vrkmk<false>,
    .stages_of = stages_of_vrkmk,
    .in_space = true};

inline constexpr MethodEntry vrkmk_pade{
    .name = "vrkmk-pade",
    .summary = "variational Runge-Kutta-Munthe-Kaas method with the series of dexp; symplectic, keeps momentum maps",
    .source = "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, section 4.1.1",
    .order = "that of the tableau's symplectic pair, at most cutoff + 2",
    .constraints = ConstraintKind::none,
    .options = vrkmk_options,
    .carries_multiplier = false,
    .settle = settle_vrkmk<true>,
    .order_of = order_of_vrkmk<true>,
    .stages_of = stages_of_vrkmk,
    .in_space = true};

}  // namespace methods

RB_NAMESPACE_END
