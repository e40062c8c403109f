#pragma once
// The expressions of a study, evaluated from the values of the axes.

#include <string>
#include <vector>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/ensemble/initial_data.hpp"
#include "rattleback/expression/expression.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Computes InitialData of one trajectory after another. What depends on no axis is evaluated once; the rest is
/// evaluated again only when an axis that it reads has changed.
class Formulas {
 public:
  /// `axes` are the names of the axes or of the columns of a file. The study has its system chosen and every parameter
  /// filled in. Throws Error(input) on names that clash and on expressions that do not parse.
  Formulas(const Study& study, const SystemEntry& system, const std::vector<std::string>& axes);

  [[nodiscard]] bool step_varies() const { return step_.front().varies; }
  [[nodiscard]] bool parameter_varies(int index) const { return parameters_[static_cast<std::size_t>(index)].varies; }

  void set_axis(std::size_t axis, double value);
  /// Brings `data` up to date with the axes. Throws Error(input) when a value is not finite.
  void evaluate();

  /// Complete after evaluate(); before it, only what does not vary. Vectors that the study does not give are empty.
  InitialData data;

 private:
  struct Formula {
    Expression expression;
    bool varies;
  };
  void add_names(const Study& study, const SystemEntry& system, const std::vector<std::string>& axes);
  [[nodiscard]] std::vector<Formula> compile(std::span<const Value> values, const std::string& what);
  [[nodiscard]] Formula compile(const Value& value, const std::string& what, std::size_t names,
                                std::string_view hint = "");
  [[nodiscard]] bool stale(const Formula& formula) const;
  void evaluate(const std::vector<Formula>& formulas, double* results) const;
  void set_slot(std::size_t slot, double value);

  std::vector<std::string> names_;  ///< axes, numeric parameters, structural parameters
  std::vector<double> slots_;       ///< their values
  std::vector<char> varies_, changed_;
  std::vector<Formula> parameters_, step_, q_, v_, p_, lambda_;
  bool first_ = true;
};

}  // namespace rattleback
