#pragma once
// What follows for other keys of a study when some keys get new values, by `--set` and in Python alike.

#include <span>
#include <string>
#include <vector>

#include <toml++/toml.h>

namespace rattleback {

struct Consequences {
  /// Keys of tables at the top level that lose their old values: one from which a new value would follow (time.steps for
  /// time.end), and the options that a new method lacks.
  std::vector<std::string> dropped;
  /// Axes and columns that only replaced values used, such as that of the step. They become names of ensemble.unused.
  std::vector<std::string> unused;
};

/// Compares a document with the one in which `keys` ("time.steps", "ensemble.axes[0]") have new values.
/// `listed` says that arrays of the caller list the trajectories, so that a name may be one of their columns.
/// Throws Error(input) where a system that the study describes gets a parameter that no value of the study names.
[[nodiscard]] Consequences consequences_of(const toml::table& before, const toml::table& after,
                                           std::span<const std::string> keys, bool listed = false);

/// Gives keys of a document new values, KEY=VALUE, and changes the other keys accordingly. Throws Error(input) as parse_document.
void change(toml::table& document, std::span<const std::string> overrides);

}  // namespace rattleback
