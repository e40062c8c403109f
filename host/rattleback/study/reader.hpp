#pragma once
// Converts TOML to a Study, before validation.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "rattleback/study/study.hpp"

namespace rattleback {

/// Reads keys and types, sets Study::places, and reports faults that need no catalogue: syntax, unknown keys, wrong
/// types, missing keys, keys that exclude each other. `changes` follow on `overrides`: what a change replaces may come from an override.
/// `states_follow` says that the caller adds the initial states. The path of a
/// system in a file of its own begins in `folder`, or where that is empty in the folder of `origin`.
[[nodiscard]] Study read_study(std::string_view toml, std::string_view origin, std::span<const std::string> overrides,
                               std::span<const std::string> changes = {}, bool states_follow = false,
                               const std::filesystem::path& folder = {});

/// Reads a file with read_study.
[[nodiscard]] Study read_study_file(const std::filesystem::path& file, std::span<const std::string> overrides = {},
                                    std::span<const std::string> changes = {});

}  // namespace rattleback
