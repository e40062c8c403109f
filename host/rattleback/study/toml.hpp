#pragma once
// Reads TOML documents with overrides. Messages of conversions name the place.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/message.hpp"
#include "rattleback/language/model.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Throws Error(input) when the text is not TOML or nests too deeply.
[[nodiscard]] toml::table parse_document(std::string_view text, std::string_view origin);

/// Throws Error(input) when an override KEY=VALUE does not fit the document.
void apply_overrides(toml::table& document, std::span<const std::string> overrides);

/// Returns "FILE:LINE", "--set KEY", or "".
[[nodiscard]] std::string place_of(const toml::source_region& source);

[[noreturn]] void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted);

// These functions convert single nodes. `key` is the full key, for messages.

/// Throws for an empty text, because the user can leave the key out.
[[nodiscard]] std::string to_text(const toml::node& node, const std::string& key);
[[nodiscard]] bool to_flag(const toml::node& node, const std::string& key);
[[nodiscard]] std::uint64_t to_count(const toml::node& node, const std::string& key);
[[nodiscard]] Value to_value(const toml::node& node, const std::string& key);
[[nodiscard]] double to_number(const toml::node& node, const std::string& key);

}  // namespace rattleback
