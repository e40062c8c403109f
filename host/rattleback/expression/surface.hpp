#pragma once
// Compiles surfaces of section, which are expressions of a study, to programs that run inside the time loop.

#include <span>
#include <string>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// The surface of a section: the states in which an expression is 0.
struct SurfaceText {
  std::string name;     ///< of the section
  std::string surface;  ///< expression in q[i], v[i], p[i], the names of the coordinates, and the system parameters
  int direction = 1;    ///< 1: from negative to positive, -1: the other way, 0: both
  std::string where;
};

/// Returns the programs of all surfaces, in order. A surface is an expression (parser.hpp) of + - * / ^ (whole
/// exponents), sin, cos, exp, sqrt, abs in pi, q[i], v[i], p[i] (also q0, v0, p0), the system's coordinate names and
/// parameters. Throws Error(input) when a surface is not an expression, uses an unknown name, or is too long.
[[nodiscard]] Surfaces compile_surfaces(std::span<const SurfaceText> sections, const SystemEntry& system);

}  // namespace rattleback
