#pragma once
// The options of a study's method.

#include <string>
#include <vector>

#include "rattleback/problem/problem.hpp"

namespace rattleback {

/// The systems a method takes: "systems with holonomic constraints or none and a Lagrangian v.Mv/2 - U(q) on R^n".
[[nodiscard]] std::string systems_in_words(const MethodEntry& method);

/// Whether an option makes a difference on a system.
[[nodiscard]] bool has_effect(const OptionInfo& option, const SystemEntry& system);

/// The range or the choices: "2 to 5", "cay, exp"; "" where any value will do.
[[nodiscard]] std::string range_in_words(const OptionInfo& option);

/// The default value.
[[nodiscard]] MethodOption default_of(const OptionInfo& option);

/// Checks the options of a study's method, each in the form of its kind, and fills in the others.
void complete_options(Study& study, const SystemEntry& system, const MethodEntry& method);

/// Sets the key, the numbers and the warning of a problem from the complete options of its study.
void settle_options(Problem& problem);

/// The order of q; 0 where it is not known.
[[nodiscard]] int order_of(const Problem& problem);

/// "3 stages, retraction exp": the options that pick a compiled loop, and others that are not at their default. "" where there is nothing to say.
[[nodiscard]] std::string options_in_words(const Problem& problem);

}  // namespace rattleback
