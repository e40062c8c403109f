#pragma once
// Writes the formulas of a study besides those of its system: surfaces of section, and observables.

#include <span>
#include <string>
#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

struct FormulaText;

/// The formulas of a study as C++, from which kernels are compiled (loop/formula.hpp): struct templates StudySurfaces,
/// StudyObservables, StudyDensity and StudyAverages over the scalar. Empty where the study has none.
struct StudyCode {
  std::string surfaces, observables, density, averages;
  bool tangents = false;     ///< with the observables of tangent vectors (loop/exponents.hpp)
  bool derivatives = false;  ///< of trajectories and observables (loop/variations.hpp)
  bool by_mass = false;      ///< tangent vectors are orthogonal in the metric of the mass matrix (loop/frame.hpp)
  int vectors = 0;           ///< tangent vectors whose start is computed (loop/start_tangents.hpp)
};

/// What formulas may name: the coordinates, parameters and observables of the system, q[i], v[i] and p[i], the time t, and what
/// follows. The names of the system come first.
struct FormulaNames {
  const SystemEntry& system;
  std::span<const std::string> velocities;  ///< names of the velocities, or none
  std::span<const std::string> momenta;     ///< names of the momenta, or none
  std::vector<std::string> multipliers;     ///< names of lambda[i], some of them empty, or none
  bool multiplier;                          ///< lambda[i]
};

/// Returns a struct template `name` whose function `evaluate` has the values of all formulas. The text depends on the
/// formulas and the names alone. Throws FormulaError for a formula that is no expression or uses an unknown name, and,
/// with `of_state`, for one that depends neither on the state nor on the time. `constants` are further members, "int stops = 1".
[[nodiscard]] std::string study_code(const std::string& name, std::span<const FormulaText> formulas,
                                     const FormulaNames& names, bool of_state, const std::string& constants = "");

/// Returns the struct template StudyDensity of a formula. Throws FormulaError where it depends on more than coordinates and parameters.
[[nodiscard]] std::string density_code(const FormulaText& formula, const FormulaNames& names);

}  // namespace rattleback
