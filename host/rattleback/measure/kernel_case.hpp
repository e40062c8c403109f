#pragma once
// Lists the compiled kernels, and makes a study that exercises one kernel.

#include <string>
#include <string_view>
#include <vector>

#include "rattleback/study/catalogue.hpp"

namespace rattleback {

/// A system and a method with the values of the compiled options.
struct KernelCase {
  const SystemEntry* system;
  const MethodEntry* method;
  PairKey key;

  /// Calls f with each compiled option and its value.
  template <class F>
  void for_options(F&& f) const {
    const int* next = key.value;
    for (const OptionInfo& option : method->options)
      if (option.compiled) f(option, *next++);
  }
  /// Returns letters, digits and underscores. Different cases have different names.
  [[nodiscard]] std::string name() const;
  /// Returns the method and the options as keys of a study.
  [[nodiscard]] std::string method_toml() const;
};

/// Returns every kernel of this build, in the order of the catalogue.
[[nodiscard]] std::vector<KernelCase> kernel_cases();
/// Returns those whose names contain a match of a regular expression of the option `option`. The expression has at most 200
/// bytes, and no counts {m,n} and no references to groups: the time for a name and the depth of the recursion are then small.
/// Throws Error(input).
[[nodiscard]] std::vector<KernelCase> kernel_cases_that_match(const std::string& expression, std::string_view option);

/// Settings of a study of a kernel. The study always has steps and statistics of all kinds. Each flag runs another
/// kernel or another part of the kernel.
struct Exercise {
  double step = 0.05;  ///< in units of the system's time scale
  int steps = 40, draws = 300;
  bool sections = false;  ///< two surfaces; trajectories cross only one
  bool lyapunov = false;  ///< the study has a tangent vector
  bool uneven = false;    ///< step sizes from small to too large: lanes end at different steps, and some lanes fail
};

/// Returns the text of a study. The trajectories start at random points near the default state of the system, projected
/// onto the constraint.
[[nodiscard]] std::string study_of(const KernelCase& kernel, const Exercise& exercise);

}  // namespace rattleback
