#pragma once
// Functions for the options of a study's method.

#include <string>
#include <vector>

#include "rattleback/study/problem.hpp"

namespace rattleback {

/// Describes the systems that a method accepts: "systems with holonomic constraints or none and a Lagrangian v.Mv/2 -
/// U(q) on R^n".
[[nodiscard]] std::string systems_in_words(const MethodEntry& method);

/// Returns the range or the choices: "2 to 5", "cay, exp"; "" when every value is allowed.
[[nodiscard]] std::string range_in_words(const OptionInfo& option);

/// Returns the default value.
[[nodiscard]] MethodOption default_of(const OptionInfo& option);

/// Checks the options of a study's method, converts each to the kind of the option, and sets missing options to
/// defaults.
void complete_options(Study& study, const SystemEntry& system, const MethodEntry& method);

/// Sets the key, the numbers and the warning of a problem from the complete options of the study.
void settle_options(Problem& problem);

/// Returns whether the constraint on velocities holds to round-off.
[[nodiscard]] bool keeps_hidden_constraint(const Problem& problem);

/// Returns the order of q; 0 for an unknown order.
[[nodiscard]] int order_of(const Problem& problem);

/// Returns whether the step of the problem's method is symmetric.
[[nodiscard]] bool is_symmetric(const Problem& problem);

/// Returns the methods that take a system and are symmetric with their default options there.
[[nodiscard]] std::vector<std::string> symmetric_methods(const SystemEntry& system);

/// Returns "3 stages, retraction exp": the options that choose a compiled loop, and the other options with values that
/// are not the default. "" when no option is listed.
[[nodiscard]] std::string options_in_words(const Problem& problem);

}  // namespace rattleback
