#pragma once
// Elimination of matrices with known zeros, entry by entry: a method of factors.hpp.

#include <utility>

#include "rattleback/linalg/elimination_order.hpp"
#include "rattleback/linalg/vector.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Elimination without exchanges in the order that the pattern asks for. The diagonal holds the inverse pivots. Each operation is written by
/// a template, whose indices are constants: of loops that look the entries up, compilers unroll all passes before they drop those of the zeros,
/// which took a GPU compiler seconds for the 18 multipliers of the top in directors.
template <class T, int N, class Pattern>
class SparseElimination {
  enum class Side { before, after };
  enum class Line { row, column };
  /// Pivots before or after pivot number k where its row or column has entries, in the order of the pivots.
  template <int k, Line line, Side side>
  static constexpr Places<N> places() {
    constexpr const auto& order = elimination_order<N, Pattern>;
    Places<N> r{};
    const int p = order.pivot[k];
    for (int other = side == Side::after ? k + 1 : 0; other < (side == Side::after ? N : k); ++other) {
      const int o = order.pivot[other];
      if (line == Line::row ? order.factors(p, o) : order.factors(o, p)) r.at[r.count++] = o;
    }
    return r;
  }
  /// The place number c of those in the line of pivot number k.
  template <int k, Line line, Side side, int c>
  static constexpr int place = places<k, line, side>().at[c];
  template <int k, Line line, Side side>
  using Count = std::make_integer_sequence<int, places<k, line, side>().count>;
  template <int k>
  static constexpr int pivot = elimination_order<N, Pattern>.pivot[k];

 public:
  Matrix<T, N, N> a;

  /// Factorises; right-hand sides `b` are reduced on the way. Their solution then lacks `substitute_back`.
  template <class... Right>
  RB_HD void factorise(Right&... b) {
    if constexpr (elimination_order<N, Pattern>.products > most_inlined) {
      factorise_apart(b...);
    } else {
      factorise_here(b...);
    }
  }
  RB_HD void substitute_back(Vector<T, N>& b) const { back(std::make_integer_sequence<int, N>{}, b); }
  RB_HD Vector<T, N> solve(Vector<T, N> b) const {
    forward(std::make_integer_sequence<int, N>{}, b);
    substitute_back(b);
    return b;
  }
  RB_HD mask_t<T> solve_once(Vector<T, N>& b) {
    factorise(b);
    substitute_back(b);
    return singular_;
  }
  RB_HD const mask_t<T>& singular() const { return singular_; }

  /// Whether the inverse has this entry.
  RB_HD static constexpr bool inverse_entry(int i, int j) { return entry_of<Inverse>(i * N + j); }

 private:
  /// Products up to which the code is part of the step.
  static constexpr int most_inlined = 1000;

  struct Inverse {
    static constexpr auto value = elimination_order<N, Pattern>.inverse;
  };
  static constexpr Places<N> filled_in(int i) {
    constexpr const auto& order = elimination_order<N, Pattern>;
    Places<N> r{};
    for (int j = 0; j < N; ++j)
      if (order.fill(i, j)) r.at[r.count++] = j;
    return r;
  }

  template <class... Right>
  RB_NOINLINE void factorise_apart(Right&... b) {
    factorise_here(b...);
  }
  template <class... Right>
  RB_HD void factorise_here(Right&... b) {
    fill(std::make_integer_sequence<int, N>{});
    singular_ = mask_t<T>(false);
    eliminate(std::make_integer_sequence<int, N>{}, b...);
  }

  template <int i>
  static constexpr Places<N> fills = filled_in(i);

  template <int... i>
  RB_HD void fill(std::integer_sequence<int, i...>) {
    (fill_row<i>(std::make_integer_sequence<int, fills<i>.count>{}), ...);
  }
  template <int i, int... c>
  RB_HD void fill_row(std::integer_sequence<int, c...>) {
    ((a[i][fills<i>.at[c]] = T(0.0)), ...);
  }

  template <int... k, class... Right>
  RB_HD void eliminate(std::integer_sequence<int, k...>, Right&... b) {
    (eliminate_by<k>(Count<k, Line::column, Side::after>{}, b...), ...);
  }
  template <int k, int... r, class... Right>
  RB_HD void eliminate_by(std::integer_sequence<int, r...>, Right&... b) {
    constexpr int p = pivot<k>;
    a[p][p] = T(1.0) / a[p][p];
    singular_ = singular_ | !is_finite(a[p][p]);
    (eliminate_row<k, place<k, Line::column, Side::after, r>>(Count<k, Line::row, Side::after>{}, b...), ...);
  }
  template <int k, int i, int... c, class... Right>
  RB_HD void eliminate_row(std::integer_sequence<int, c...>, Right&... b) {
    constexpr int p = pivot<k>;
    a[i][p] = a[i][p] * a[p][p];
    (eliminate_entry<p, i, place<k, Line::row, Side::after, c>>(), ...);
    ((b[i] = fma(-a[i][p], b[p], b[i])), ...);
  }
  template <int p, int i, int j>
  RB_HD void eliminate_entry() {
    a[i][j] = fma(-a[i][p], a[p][j], a[i][j]);
  }

  template <int... k>
  RB_HD void forward(std::integer_sequence<int, k...>, Vector<T, N>& b) const {
    (subtract<pivot<k>, k, Side::before>(Count<k, Line::row, Side::before>{}, b), ...);
  }
  template <int... k>
  RB_HD void back(std::integer_sequence<int, k...>, Vector<T, N>& b) const {
    (back_by<N - 1 - k>(b), ...);
  }
  template <int k>
  RB_HD void back_by(Vector<T, N>& b) const {
    constexpr int p = pivot<k>;
    subtract<p, k, Side::after>(Count<k, Line::row, Side::after>{}, b);
    b[p] = b[p] * a[p][p];
  }
  template <int p, int k, Side side, int... c>
  RB_HD void subtract(std::integer_sequence<int, c...>, Vector<T, N>& b) const {
    ((b[p] = fma(-a[p][place<k, Line::row, side, c>], b[place<k, Line::row, side, c>], b[p])), ...);
  }

  mask_t<T> singular_{false};
};

}  // namespace detail

RB_NAMESPACE_END
