#pragma once

#include <string_view>

namespace rattleback {

/// Throws Error(input) where brackets and dotted keys of a TOML text are more than 64 levels deep together: the parser
/// calls itself for each. `origin` is the file, or the option when that starts with "--", which has no lines.
void check_nesting(std::string_view toml, std::string_view origin);

}  // namespace rattleback
