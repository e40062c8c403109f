#pragma once
// What becomes of trajectories: the fates of a study, and the maps of labels over two axes.

#include <cstdint>
#include <string>
#include <vector>

#include "rattleback/language/expression.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {

/// How a trajectory has ended.
struct FinalState {
  const double *q, *v, *p;   ///< of the result
  const double* parameters;  ///< all parameters of the system
  double time;
  std::uint32_t stop;  ///< 1 + the index of the stop that ended the trajectory; 0 where none did
};

/// The conditions of the fates of a study. Threads must not share an object.
class Fates {
 public:
  /// Throws Error(input) for a fate that is not a condition on the final state, and for one of an unknown stop.
  explicit Fates(const Problem& problem);
  Fates(const Fates&) = delete;
  Fates& operator=(const Fates&) = delete;

  [[nodiscard]] bool empty() const { return conditions_.empty(); }
  /// Returns 1 + the index of the first fate that holds for a state; 0 where none does.
  [[nodiscard]] std::uint32_t operator()(const FinalState& state);

 private:
  /// A fate is an expression, or a stop.
  struct Condition {
    std::vector<Expression> expression;  ///< one, or none
    std::uint32_t stop = 0;
  };
  /// Adds the names that a state has.
  void add_names(const Problem& problem);
  /// Adds the condition of fate i.
  void add(const Study& study, std::size_t i);

  std::vector<std::string> names_;
  std::vector<std::size_t> places_;  ///< the place of each name among the numbers of a state
  std::vector<double> slots_;        ///< the number of each name
  std::vector<double> numbers_;      ///< of a state: q, v, p, parameters, parameters that fix a dimension, time
  std::size_t elements_, n_, parameters_;
  std::vector<Condition> conditions_;
};

/// The axes of a map.
struct MapAxes {
  std::string row, column;  ///< names
  std::uint64_t rows, columns;
  bool rows_first;  ///< the axis of the rows comes before that of the columns, which then varies faster
};
/// Returns the axes of map i. Throws Error(input) where they are not two axes with given values, or where another axis has more
/// than one value.
[[nodiscard]] MapAxes axes_of_map(const Study& study, std::size_t i);

/// Checks the fates and maps of a study. Throws Error(input).
void check_fates(const Problem& problem);

}  // namespace rattleback
