#pragma once
// Former names of what factors.hpp has.

#include "rattleback/linalg/lu.hpp"

RB_NAMESPACE_BEGIN

template <class T, int N, class Pattern>
using SparseInverse = Factors<T, N, Definite<Pattern>>;

/// The inverse of the positive definite matrix of m constraints, G M^-1 G^T.
template <class T, int m>
using GramInverse = Factors<T, m, Definite<>>;

RB_NAMESPACE_END
