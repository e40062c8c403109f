#pragma once
// Surfaces of section: the expressions of a study as programs that run inside the time loop.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// The programs of all sections of a study, in order. A surface is an expression (parser.hpp) of + - * / ^ (whole exponents), sin, cos,
/// exp, sqrt, abs in pi, q[i], v[i], p[i] (also q0, v0, p0), the system's names of its coordinates and its parameters.
/// Throws Error(input) when one is no expression, uses another name, or is too long.
[[nodiscard]] Surfaces compile_surfaces(const Study& study, const SystemEntry& system);

}  // namespace rattleback
