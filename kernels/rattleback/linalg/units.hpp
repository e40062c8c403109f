#pragma once
// Linear equations between numbers of different units: pivots are chosen as if all units were 1.

#include "rattleback/linalg/factors.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Solves A x = b in place with exchanges of rows; returns the singular lanes. Small systems stay in registers. Row i of A has the unit of
/// number i mod r, whose inverse is that of column i: which rows are exchanged is decided without units.
template <bool has_units, class T, int N, int r>
RB_HD_LARGE mask_t<T> solve_square(Matrix<T, N, N>& a, Vector<T, N>& b, [[maybe_unused]] const Vector<T, r>& units) {
  if constexpr (has_units) {
    Vector<T, r> per_unit;
    for (int i = 0; i < r; ++i) per_unit[i] = T(1.0) / units[i];
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) a[i][j] = (per_unit[i % r] * units[j % r]) * a[i][j];
      b[i] = per_unit[i % r] * b[i];
    }
  }
  mask_t<T> singular(false);
  if constexpr (N <= 4) {
    singular = solve_once<PivotedUnrolled>(a, b);
  } else {
    const Factors<T, N> lu(a);
    b = lu.solve(b);
    singular = lu.singular();
  }
  for (int i = 0; has_units && i < N; ++i) b[i] = units[i % r] * b[i];
  return singular;
}

/// The power of two near the root of a size: scaling by it leaves digits as they are. It is 1 for sizes from 0.72 to 2.8, so that rounding does
/// not change it for masses such as 1 and 2, and for what is no number above 0.
template <class T>
RB_HD T unit_of(const T& size) {
  const auto value = abs(value_of(size));
  using Real = std::remove_const_t<decltype(value)>;
  const Real usual = select((value > Real(1e-300)) & (value < Real(1e300)), value, Real(1.0));
  return T(exp2_integer(exponent_of(sqrt(Real(1.4) * usual))));
}

}  // namespace detail

RB_NAMESPACE_END
