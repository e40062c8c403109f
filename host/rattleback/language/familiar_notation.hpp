#pragma once
// What other languages and textbooks write in formulas, and what this language writes in its place.

#include <span>
#include <string>
#include <string_view>

namespace rattleback {

/// Returns "; write .." where the rest of a formula begins with a notation that the language does not have, "**" or a number behind
/// another factor for example; "" for other texts.
[[nodiscard]] std::string advice_on_notation(std::string_view rest);

/// Returns "; write .." for a name that other languages give a function or a constant, such as pow or e. Otherwise returns what
/// did_you_mean says with the known names.
[[nodiscard]] std::string advice_on_name(std::string_view name, std::span<const std::string> known);

}  // namespace rattleback
