#pragma once
// What follows for other keys of a study when some keys get new values, by `--set` and in Python alike.

#include <functional>
#include <string>
#include <string_view>
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

/// Compares a document with the one in which some keys have new values. `given` says whether a key ("time.steps") has one.
/// `listed` says that arrays of the caller list the trajectories, so that a name may be one of their columns.
[[nodiscard]] Consequences consequences_of(const toml::table& before, const toml::table& after,
                                           const std::function<bool(const std::string& key)>& given,
                                           bool listed = false);

/// Changes the other keys of a document accordingly.
void apply(const Consequences& consequences, toml::table& document);

}  // namespace rattleback
