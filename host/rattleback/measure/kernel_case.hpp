#pragma once
// The compiled kernels one by one, and a study that exercises each.

#include <string>
#include <vector>

#include "rattleback/catalogue/catalogue.hpp"

namespace rattleback {

/// A system and a method with the values of its compiled options.
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
  /// Letters, digits and underscores; no two cases have the same name.
  [[nodiscard]] std::string name() const;
  /// The method with its options, as keys of a study.
  [[nodiscard]] std::string method_toml() const;
};

/// Every kernel of this build, in the order of the catalogue.
[[nodiscard]] std::vector<KernelCase> kernel_cases();

/// What a study of a kernel has besides steps and statistics of all kinds. Each of them runs another kernel, or another part.
struct Exercise {
  double step = 0.05;  ///< in units of the system's time scale
  int steps = 40, draws = 300;
  bool sections = false;  ///< two surfaces, of which one is crossed
  bool lyapunov = false;  ///< a tangent vector
  bool uneven = false;    ///< step sizes from small to hopeless: lanes end at different steps, and some fail
};

/// The text of a study: random starts around the default state of the system, put on its constraint.
[[nodiscard]] std::string study_of(const KernelCase& kernel, const Exercise& exercise);

}  // namespace rattleback
