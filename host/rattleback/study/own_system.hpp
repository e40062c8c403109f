#pragma once
// Systems that a study brings: as formulas, or as a C++ header.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Returns the entry of the system that a study writes as formulas. The kernels do not depend on values of parameters.
[[nodiscard]] const SystemEntry& system_of_formulas(const SystemFormulas& formulas);

/// Returns the entry of the system in a header of the user. Completes path and digest in the study. Throws Error(input).
[[nodiscard]] const SystemEntry& system_of_header(Study& study);

}  // namespace rattleback
