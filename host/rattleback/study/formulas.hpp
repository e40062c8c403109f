#pragma once
// Evaluates the expressions of a study from the values of the axes.

#include <string>
#include <vector>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/language/expression.hpp"
#include "rattleback/study/initial_data.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// The formulas of InitialData as nodes of a graph whose variables are the axes.
struct FormulaNodes {
  std::vector<int> parameters, q, v, p, lambda;
  int step = 0;
  int condition = -1;  ///< of the ensemble; -1 where there is none
  std::vector<int>
      before_the_condition;  ///< parameters that the condition reads: they are finite where it does not hold, too
};

/// Computes InitialData of one trajectory after another. An expression without axes is evaluated once. Any other
/// expression is evaluated again only when one of its axes has changed.
class Formulas {
 public:
  /// `axes` are the names of the axes or of the columns of a file. The study must have a system and all parameters.
  /// Throws Error(input) on names that clash and on expressions that do not parse.
  Formulas(const Study& study, const SystemEntry& system, const std::vector<std::string>& axes);

  [[nodiscard]] bool step_varies() const { return step_.front().varies; }
  [[nodiscard]] bool parameter_varies(int index) const { return parameters_[static_cast<std::size_t>(index)].varies; }

  /// Returns whether an expression reads an axis.
  [[nodiscard]] bool reads(std::size_t axis) const;

  /// Adds all formulas but the periods to a graph. Where parameters are `apart`, those that formulas read are variables behind the axes.
  [[nodiscard]] FormulaNodes nodes(Graph& graph, bool apart = false) const;
  [[nodiscard]] bool has_periods() const { return !periods_.empty(); }

  void set_axis(std::size_t axis, double value);
  /// Updates `data` for the present axes; where the condition of the ensemble does not hold, only `taken`. Throws Error(input) when a value is not finite.
  void evaluate();

  /// `data` is complete after evaluate(); before, only values that do not vary are set. Vectors that the study does not
  /// give are empty.
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
  void compile_condition(const Study& study);
  /// Updates the parameters that the condition reads, or the others.
  void evaluate_parameters(bool of_condition);
  void set_slot(std::size_t slot, double value);

  std::vector<std::string> names_;  ///< axes, numeric parameters, structural parameters
  std::vector<double> slots_;       ///< values of the names
  std::vector<char> varies_, changed_;
  std::vector<Formula> parameters_, step_, q_, v_, p_, lambda_, periods_;
  std::vector<Formula> condition_;  ///< of the ensemble; empty where there is none
  std::vector<char> in_condition_;  ///< the parameters that the condition reads
  bool first_ = true;
};

}  // namespace rattleback
