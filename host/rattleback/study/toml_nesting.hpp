#pragma once

#include <string_view>

namespace rattleback {

/// Throws Error(input) when brackets and dotted keys of a TOML text nest deeper than 64 levels, because the parser
/// recurses on each level. `origin` is a file, or an option that starts with "--" and has no lines.
void check_nesting(std::string_view toml, std::string_view origin);

}  // namespace rattleback
