#pragma once
// The table of a system of formulas as text, for the effective study.

#include <string>
#include <string_view>

#include <toml++/toml.h>

namespace rattleback {

/// Returns a text as a basic string of TOML, in which a terminal shows every character as written.
[[nodiscard]] std::string basic_string(std::string_view text);

/// Returns the keys of a table [system], one per line, in the order of the text, without `name` and `parameters`.
[[nodiscard]] std::string formulas_as_toml(const toml::table& system);

}  // namespace rattleback
