#pragma once
// Reads the table [system] of a study, or of a file of its own, that writes a system as formulas.

#include <string>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "rattleback/formulas/model.hpp"

namespace rattleback {

/// Returns the entries of a table in the order of the text; the parser sorts them by name.
[[nodiscard]] std::vector<std::pair<std::string, const toml::node*>> entries_of(const toml::table& table);

/// Returns whether a table [system] writes a system as formulas: it has coordinates or a group.
[[nodiscard]] bool has_formulas(const toml::table& system);

/// Returns the keys of such a table.
[[nodiscard]] const std::vector<std::string>& keys_of_formulas();

/// Reads and checks a table. Throws Error(input) for an unknown key, a wrong type, counts that do not fit and names that
/// clash, and FormulaError for a formula that cannot be used. The keys of the table:
///
///   name                   letters, digits, - and _
///   summary, source        texts for `describe` (optional)
///   coordinates            names; "y[1..m]" means y1 to ym. On SO(3) and SE(3) the names R11 to R33 and, on SE(3),
///                          x, y, z come by themselves, and `coordinates` names those of R^n
///   velocities             names (optional: v_x for x; w1, w2, w3 of a rotation; u1, u2, u3 of SE(3), in the body)
///   group                  "SO(3)", "SE(3)", "SO(3) x R^2" (optional: R^n)
///   parameters             { b = 0.25, c = { value = 1, unit = "1/s", text = "what it is" } }; in a study also an
///                          expression, as of an axis; the default is then 1
///   dimensions             { m = 3 }: whole numbers for indices and sums
///   mass                   a number, a diagonal, or rows; 1 when absent
///   inertia                of the rotation, in place of its entries of `mass`: three moments, or rows
///   vector_potential, potential, lagrangian, constraints, velocity_constraints
///   observables            { spin = "x v_y - y v_x" }
///   conserved              names of observables
///   initial                { q = [..], v = [..] }; a rotation is 9 numbers, or 3 numbers, a rotation vector
///   time_scale             time in which the motion changes much; 1 when absent
///
/// `starts_there` says whether trajectories start in the default state, which then must keep the constraints and have an energy.
[[nodiscard]] SystemFormulas read_system_formulas(const toml::table& system, bool starts_there = true);

}  // namespace rattleback
