#pragma once
// The components of initial states, some of which one text may stand for.

#include <string_view>
#include <vector>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/language/value.hpp"

namespace rattleback {

/// Returns a value for each component of a part of the state, "q", "v", "p" or "lambda". "for i in A..B: F" is a value for each
/// whole number i from A to B, which the parameters that fix a dimension may state; "for i: F" is one for each component i that no
/// other entry gives. Throws Error(input).
[[nodiscard]] std::vector<Value> components(const std::vector<Value>& values, const SystemEntry& system,
                                            std::string_view part);

}  // namespace rattleback
