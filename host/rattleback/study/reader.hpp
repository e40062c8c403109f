#pragma once
// Converts TOML to a Study, before validation.

#include <span>
#include <string>
#include <string_view>

#include "rattleback/study/study.hpp"

namespace rattleback {

/// Reads keys and types, sets Study::places, and reports faults that need no catalogue: syntax, unknown keys, wrong
/// types, missing keys, keys that exclude each other. `states_follow` says that the caller adds the initial states.
[[nodiscard]] Study read_study(std::string_view toml, std::string_view origin, std::span<const std::string> overrides,
                               bool states_follow = false);

}  // namespace rattleback
