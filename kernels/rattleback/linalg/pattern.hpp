#pragma once
// Patterns of known zeros as tables.

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// The values of a predicate of one or two indices.
template <int rows, int columns>
struct PatternTable {
  bool values[rows * columns > 0 ? rows* columns : 1];
  RB_HD constexpr bool operator()(int i, int j = 0) const { return values[i * columns + j]; }
  RB_HD constexpr bool operator[](int i) const { return values[i]; }
  /// Whether all values are true.
  [[nodiscard]] consteval bool full() const {
    for (const bool value : values)
      if (!value) return false;
    return true;
  }
};

/// Evaluates a predicate at compile time. A step that asks the predicate itself may run the loops of the predicate: compilers do
/// not unroll all of them, which made steps of six coordinates twice as slow.
template <int rows, int columns = 1, class Predicate>
consteval PatternTable<rows, columns> tabulated(Predicate predicate) {
  PatternTable<rows, columns> table{};
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      if constexpr (requires { predicate(i, j); }) {
        table.values[i * columns + j] = predicate(i, j);
      } else {
        table.values[i] = predicate(i);
      }
    }
  }
  return table;
}

/// The entry number i of the constant `Table::value`. On a GPU the constant is static in a function of its own: as a constant of each
/// function that looks something up, it would be copied at each look-up, and steps of the top in directors took minutes to compile.
template <class Table>
RB_HD auto static_entry(int i) {
  static constexpr auto values = Table::value;
  return values[i];
}
template <class Table>
RB_HD constexpr auto entry_of(int i) {
  if (RB_CONSTANT_EVALUATED) {
    RB_TABLE values = Table::value;
    return values[i];
  } else {
    return static_entry<Table>(i);
  }
}

/// The table of a predicate, which is a class without members.
template <int rows, int columns, class Predicate>
inline constexpr PatternTable<rows, columns> table_of = tabulated<rows, columns>(Predicate{});

template <int rows, int columns, class Predicate>
struct TableOf {
  static constexpr auto value = table_of<rows, columns, Predicate>;
};

/// Looks a predicate up in its table. Where it is always true nothing is looked up: loops over entries that are not unrolled would read the
/// table each time.
template <int rows, int columns, class Predicate>
RB_HD constexpr bool looked_up(int i, int j = 0) {
  if constexpr (table_of<rows, columns, Predicate>.full()) {
    return true;
  } else {
    return entry_of<TableOf<rows, columns, Predicate>>(i * columns + j);
  }
}
}  // namespace detail

RB_NAMESPACE_END
