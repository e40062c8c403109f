#pragma once
// Writes a system of formulas as a C++ header.

#include <string>

#include "rattleback/language/model.hpp"

namespace rattleback {

/// Returns a header with a struct template as mechanics/system.hpp describes it, like those in kernels/rattleback/systems.
/// The text depends on the formulas alone. L = v.Mv/2 - U(q) with constant M gives `potential`, `force` and the mass;
/// any other Lagrangian that is quadratic in v gives the parts of L and, on R^n, `lagrangian` and its derivatives; the rest gives
/// `lagrangian` alone. All derivatives are formulas. Throws FormulaError as SystemGraph.
[[nodiscard]] std::string system_header(const SystemFormulas& system);

/// Returns the type that the header defines, such as "formulas::DoubleWellSystem<T>", inside namespace rattleback.
[[nodiscard]] std::string system_type(const SystemFormulas& system);

/// Returns the kind of constraint: "none", "velocity" or "holonomic".
[[nodiscard]] std::string system_kind(const SystemFormulas& system);

}  // namespace rattleback
