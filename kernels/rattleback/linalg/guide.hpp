#pragma once
// Former names of what factors.hpp has.

#include "rattleback/linalg/sparse_inverse.hpp"

RB_NAMESPACE_BEGIN

template <class T, int N>
struct GuideFactors : Factors<T, N, Guide> {
  RB_HD void solve(Vector<T, N>& b) const { b = Factors<T, N, Guide>::solve(b); }
};

RB_NAMESPACE_END
