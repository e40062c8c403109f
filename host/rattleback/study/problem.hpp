#pragma once
// A study whose names are resolved with the catalogue.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/language/study_code.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// By what a study has derivatives: an axis, or column; a parameter of the system; a component of the initial q, v or p.
struct DerivativeBy {
  enum Kind { axis, parameter, q, v, p } kind;
  int index;         ///< of the parameter, or of the component
  std::string name;  ///< in the result
};

/// A complete study and the meaning of its names. Runs, orders and benchmarks need no other input from a study.
struct Problem {
  /// Resolves a study: sets every default and checks all values that need no evaluation of the ensemble. A study
  /// converts implicitly to a problem. Throws Error(input) with the place of the fault in the study's file.
  Problem(Study given);

  /// Reads and resolves a study file. `overrides` are KEY=VALUE with dotted keys (time.step=0.05,
  /// ensemble.axes[0].count=31), and `changes` are more of them, which may replace some: where one names another method, the options
  /// that this method lacks go. Throws Error(input) with FILE:LINE.
  [[nodiscard]] static Problem load(const std::filesystem::path& file, std::span<const std::string> overrides = {},
                                    std::span<const std::string> changes = {});
  /// Reads and resolves a study from text. `origin` replaces the file name in messages.
  [[nodiscard]] static Problem parse(std::string_view toml, std::string_view origin = "study",
                                     std::span<const std::string> overrides = {});

  Study study;  ///< all defaults are set; resolving this study again gives the same problem
  const SystemEntry* system = nullptr;
  const MethodEntry* method = nullptr;
  PairKey key{};                          ///< the compiled options, which choose a loop of the pair
  std::vector<double> numbers;            ///< max_method_numbers numbers that the step takes from the other options
  std::string warning;                    ///< a doubt about the options; empty without doubts
  std::vector<ObservableCode> codes;      ///< codes of study.observables, in order
  std::vector<DerivativeBy> derivatives;  ///< in the order of study.derivatives.by
  std::uint64_t transient = 0;            ///< the sample from which the growth of tangent vectors counts
  Surfaces surfaces{};                    ///< surfaces of study.sections, then of study.stops, in order
  StudyCode code;                         ///< C++ of the surfaces, and of the observables with a formula
  double read_seconds = 0.0;              ///< that it took to read and resolve the study, where load or parse did so

  /// Returns the code of an observable of this system and method, or of the study. Throws Error(input) with the nearest
  /// name.
  [[nodiscard]] ObservableCode observable_code(const std::string& name, const std::string& where = "") const;
  /// Returns the steps between two samples of a trajectory whose step size varies over the ensemble; 0 where they follow a density. Throws
  /// Error(input) when (end - start) / (samples * step) is not a whole number.
  [[nodiscard]] std::uint64_t steps_per_sample(double step) const;
  /// Returns the time of a sample, for trajectories with this step size; sample 0 is at the start.
  [[nodiscard]] double sample_time(double step, std::uint64_t sample) const;
  /// Returns the times of all samples, for trajectories with this step size.
  [[nodiscard]] std::vector<double> sample_times(double step) const;
  /// Returns whether the study gives v and p of the initial states in space. A result as initial file may say
  /// otherwise.
  [[nodiscard]] bool given_in_space() const;
};

}  // namespace rattleback
