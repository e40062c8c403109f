#pragma once
// Writes a system of formulas as a C++ header.

#include <string>
#include <vector>

#include "rattleback/catalogue/form.hpp"
#include "rattleback/language/model.hpp"

namespace rattleback {

/// Returns a header with a struct template as mechanics/system.hpp describes it, like those in kernels/rattleback/systems.
/// The text depends on the formulas alone. L = v.Mv/2 - U(q) with constant M gives `potential`, `force` and the mass;
/// any other Lagrangian that is quadratic in v gives the parts of L and, on R^n, `lagrangian` and its derivatives; the rest gives
/// `lagrangian` alone. All derivatives are formulas. Throws FormulaError as SystemGraph.
[[nodiscard]] std::string system_header(const SystemFormulas& system);

/// A system of formulas as a header, and what is known of it without compiling the header. All of this depends on the formulas alone.
struct PrintedSystem {
  std::string header;
  SystemForm form;                             ///< what the concepts find in the header
  bool force_of_velocity = false;              ///< SystemEntry::force_of_velocity
  std::vector<std::string> separable_without;  ///< SystemEntry::separable_without
  std::string without_quotient;                ///< SystemEntry::without_quotient
};
[[nodiscard]] PrintedSystem print_system(const SystemFormulas& system);

/// Returns the type that the header defines, such as "formulas::DoubleWellSystem<T>", inside namespace rattleback.
[[nodiscard]] std::string system_type(const SystemFormulas& system);

}  // namespace rattleback
