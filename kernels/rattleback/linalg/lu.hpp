#pragma once
// Former names of what factors.hpp has.

#include "rattleback/linalg/factors.hpp"

RB_NAMESPACE_BEGIN

template <class T, int N, class Team = LaneTile<1>>
using Lu = Factors<T, N, Pivoted<Team>>;

template <class T, int N>
RB_HD mask_t<T> solve_small(const Matrix<T, N, N>& a, Vector<T, N>& b) {
  return solve_once<PivotedUnrolled>(a, b);
}
template <class T, int N>
RB_HD mask_t<T> solve_by_cofactors(const Matrix<T, N, N>& a, Vector<T, N>& b) {
  static_assert(N <= 3);
  return solve_once<Definite<>>(a, b);
}
template <class T, int N>
RB_HD mask_t<T> solve_guide(const Matrix<T, N, N>& a, Vector<T, N>& b) {
  return solve_once<Definite<>>(a, b);
}
template <class T, int N>
RB_HD mask_t<T> factorise(Matrix<T, N, N>& a) {
  detail::UnrolledElimination<T, N, false, FullPattern> method;
  method.a = a;
  method.factorise();
  a = method.a;
  return method.singular();
}
template <class T, int N>
RB_HD void solve_factorised(const Matrix<T, N, N>& a, Vector<T, N>& b) {
  detail::UnrolledElimination<T, N, false, FullPattern> method;
  method.a = a;
  b = method.solve(b);
}

RB_NAMESPACE_END
