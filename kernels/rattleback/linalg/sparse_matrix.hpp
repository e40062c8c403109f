#pragma once
// Matrices with known zeros, which are not stored: compilers copy large objects in memory, zeros and all.

#include "rattleback/linalg/vector.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// The values of a predicate of two indices.
template <int rows, int columns>
struct PatternTable {
  bool values[rows * columns > 0 ? rows * columns : 1];
  RB_HD constexpr bool operator()(int i, int j = 0) const { return values[i * columns + j]; }
};
/// Evaluates a predicate at compile time. Inside a step compilers may leave its loops to be run.
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

/// Where a matrix with known zeros keeps its entries.
template <int rows, int columns>
struct EntryPlaces {
  int of[rows * columns];
  int count;
};
template <int rows, int columns, class Pattern>
consteval EntryPlaces<rows, columns> entry_places() {
  EntryPlaces<rows, columns> places{};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) places.of[i * columns + j] = Pattern::entry(i, j) ? places.count++ : -1;
  return places;
}
}  // namespace detail

/// A matrix whose zeros are known at compile time: `Pattern::entry(i, j)` is false where it is 0.
template <class T, int rows, int columns, class Pattern>
class SparseMatrix {
  static constexpr int count = detail::entry_places<rows, columns, Pattern>().count;
  RB_HD static constexpr int place(int i, int j) {
    constexpr auto places = detail::entry_places<rows, columns, Pattern>();
    return places.of[i * columns + j];
  }

 public:
  /// An entry that the pattern has.
  RB_HD T& operator()(int i, int j) { return entries_[place(i, j)]; }
  RB_HD const T& operator()(int i, int j) const { return entries_[place(i, j)]; }

 private:
  T entries_[count > 0 ? count : 1];
};

RB_NAMESPACE_END
