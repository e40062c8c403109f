#pragma once
// Patterns of known zeros as tables.

#include <type_traits>
#include <utility>

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

/// Calls f with first, .., end - 1: with constants where loops are unrolled, so that f may choose code by them. Of loops that look zeros up,
/// compilers unroll all passes before they drop those of the zeros, which takes a GPU compiler seconds for large matrices.
template <int end, int first = 0, class F>
RB_HD void for_constants(const F& f) {
  if constexpr (RB_UNROLLS != 0) {
    [&]<int... i>(std::integer_sequence<int, i...>) RB_INLINED {
      (f(std::integral_constant<int, first + i>{}), ...);
    }(std::make_integer_sequence<int, (end > first ? end - first : 0)>{});
  } else {
    for (int i = first; i < end; ++i) f(i);
  }
}

/// The same for the row numbers k of the entries (k, column) of a matrix with so many rows.
template <int rows, class Pattern, class Column, class F>
RB_HD void for_entries(Column column, const F& f) {
  for_constants<rows>([&](auto k) RB_INLINED {
    if constexpr (std::is_same_v<Column, int>) {
      if (Pattern::entry(k, column)) f(k);
    } else {
      if constexpr (Pattern::entry(decltype(k)::value, Column::value)) f(k);
    }
  });
}

/// Some indices below N, in a certain order.
template <int N>
struct Places {
  int count;
  int at[N > 0 ? N : 1];
};

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
