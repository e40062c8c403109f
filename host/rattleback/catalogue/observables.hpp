#pragma once
// The observables that runs of every system can have, besides those of the system: one descriptor each. Validation, messages,
// help and evaluation follow from the table; `observe_lanes` (loop/observe.hpp) has the value of each kind.

#include <span>
#include <string>
#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

struct RunObservable {
  ObservableCode::Kind kind;
  const char* name;
  bool of_step;  ///< of the last step of a method (loop/last_step.hpp), not of the state alone
  /// Number of components, name[0], name[1], ..; 0 where the system or the method has none.
  int (*components)(const SystemEntry& system, const MethodEntry& method);
  bool scalar;  ///< a single number, without an index
  const char* text;

  /// As it is shown: "q[i]", "residual".
  [[nodiscard]] std::string title() const { return scalar ? name : std::string(name) + "[i]"; }
};

std::span<const RunObservable> run_observables();

struct NamedCode {
  std::string name;
  ObservableCode code;
};
/// All observables of runs of a system with a method: those of the system first.
std::vector<NamedCode> observables_of(const SystemEntry& system, const MethodEntry& method);

}  // namespace rattleback
