#pragma once
// Observables that every system can have, besides the observables of the system. Each has one descriptor. Validation,
// messages, help and evaluation use this table; `observe_lanes` (loop/observe.hpp) computes the values.

#include <span>
#include <string>
#include <vector>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {

struct RunObservable {
  ObservableCode::Kind kind;
  const char* name;
  bool of_step;  ///< depends on the last step of a method (loop/last_step.hpp), not on the state alone
  /// Returns the number of components name[0], name[1], ..; 0 when the system or the method has no such observable.
  int (*components)(const SystemEntry& system, const MethodEntry& method);
  bool scalar;  ///< a single number, without an index
  const char* text;
  bool of_drive = false;  ///< of driven systems only (mechanics/power.hpp)
  int first = 0;          ///< index of the first component; those below it do not exist

  /// Returns the displayed name: "q[i]", "residual".
  [[nodiscard]] std::string title() const { return scalar ? name : std::string(name) + "[i]"; }
};

std::span<const RunObservable> run_observables();

struct NamedCode {
  std::string name;
  ObservableCode code;
};
/// Returns how many tangent vectors the states of a system have, those that satisfy the linearised constraints: its Lyapunov exponents.
[[nodiscard]] int tangent_dimension(const SystemEntry& system);

/// Whether an observable is a function of the state, of which there are derivatives.
[[nodiscard]] bool has_derivative(ObservableCode::Kind kind);

/// Whether the derivative of a statistic follows from those of trajectories.
[[nodiscard]] bool has_derivative(std::string_view statistic);

/// What a study asks of tangent vectors (loop/frame.hpp): its observables, those that they are correlated with, and [lyapunov].
struct TangentNeeds {
  int count = 0;  ///< of vectors
  bool columns = false, growth = false, window = false, by_mass = false;
  std::uint64_t transient = 0;  ///< the sample from which growth counts

  explicit TangentNeeds(const Problem& problem);
  /// Whether the loop is that with several vectors, which also has the sums and the columns, the metric and the transient.
  [[nodiscard]] bool frame() const { return count > 1 || columns || growth || window || by_mass || transient > 0; }
};

/// Returns all observables of a system with a method. The observables of the system come first.
std::vector<NamedCode> observables_of(const SystemEntry& system, const MethodEntry& method);

}  // namespace rattleback
