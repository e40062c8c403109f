#pragma once
// Reads the table [system] of a study, or of a file of its own, that writes a system as formulas.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "rattleback/language/model.hpp"

namespace rattleback {

/// Returns the entries of a table in the order of the text; the parser sorts them by name.
[[nodiscard]] std::vector<std::pair<std::string, const toml::node*>> entries_of(const toml::table& table);

/// Returns whether a table [system] writes a system as formulas: it has coordinates or a group.
[[nodiscard]] bool has_formulas(const toml::table& system);

/// A key of such a table.
struct FormulaKey {
  const char *key, *standard;  ///< the default in Markdown
  const char *text, *wanted;   ///< what the value means, in Markdown, and its type in words
  const char* schema;          ///< the JSON schema of a value
};
/// Returns the keys in the order of docs/formulas.md, which has their texts.
[[nodiscard]] std::span<const FormulaKey> keys_of_formulas();

/// Reads and checks a table. Throws Error(input) for an unknown key, a wrong type, counts that do not fit and names that
/// clash, and FormulaError for a formula that cannot be used. In a study a parameter may be an expression, as of an axis.
/// `starts_there` says whether trajectories start in the default state, which then must keep the constraints and have an energy.
[[nodiscard]] SystemFormulas read_system_formulas(const toml::table& system, bool starts_there = true);

}  // namespace rattleback
