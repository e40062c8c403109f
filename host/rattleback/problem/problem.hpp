#pragma once
// A study resolved against the catalogue.

#include <cstdint>
#include <string>
#include <vector>

#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// A complete study and what its names stand for: everything that runs, orders and benchmarks need to know of a study.
struct Problem {
  /// Resolves a study: fills in every default and checks all that can be checked without evaluating the ensemble. A study is
  /// accepted wherever a problem is asked for. Throws Error(input), with the place of the fault in the study's file.
  Problem(Study given);

  Study study;  ///< every default filled in; resolving it again gives the same problem
  const SystemEntry* system = nullptr;
  const MethodEntry* method = nullptr;
  PairKey key{};                      ///< the compiled options, which choose one of the pair's loops
  std::vector<double> numbers;        ///< what the step takes from the other options: max_method_numbers
  std::string warning;                ///< what is doubtful about the options; empty where nothing is
  std::vector<ObservableCode> codes;  ///< of study.observables, in order
  Surfaces surfaces{};                ///< of study.sections, in order

  /// The code of an observable of this system and method. Throws Error(input) with the nearest name.
  [[nodiscard]] ObservableCode observable_code(const std::string& name, const std::string& where = "") const;
  /// Steps between two samples of a trajectory whose step size varies over the ensemble. Throws Error(input) when
  /// (end - start) / (samples * step) is not a whole number.
  [[nodiscard]] std::uint64_t steps_per_sample(double step) const;
  /// Whether v and p of the initial states of the study are given in space, unless the result that they come from says
  /// otherwise.
  [[nodiscard]] bool given_in_space() const;
};

}  // namespace rattleback
