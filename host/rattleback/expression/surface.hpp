#pragma once
// Compiles surfaces of section, which are expressions of a study, to programs that run inside the time loop.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Returns the programs of all sections of a study, in order. A surface is an expression (parser.hpp) of + - * / ^
/// (whole exponents), sin, cos, exp, sqrt, abs in pi, q[i], v[i], p[i] (also q0, v0, p0), the system's coordinate names
/// and parameters. Throws Error(input) when a surface is not an expression, uses an unknown name, or is too long.
[[nodiscard]] Surfaces compile_surfaces(const Study& study, const SystemEntry& system);

}  // namespace rattleback
