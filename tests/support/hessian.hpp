#pragma once
// Second derivatives by nested dual numbers.

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// First and second derivatives of a function of (q, v) with R components: qq[r][i][j] = d2 f_r / dq_i dq_j,
/// vq[r][i][j] = d2 f_r / dv_i dq_j, vv[r][i][j] = d2 f_r / dv_i dv_j.
template <class T, int n, int R>
struct Hessian {
  Gradient<T, n, R> first;
  Matrix<T, n, n> qq[R], vq[R], vv[R];
};

template <int R, class T, int n, class F>
Hessian<T, n, R> hessian(F&& f, const Vector<T, n>& q, const Vector<T, n>& v) {
  using Inner = Dual<T, 1>;
  Hessian<T, n, R> h;
  for (int direction = 0; direction < 2 * n; ++direction) {
    Vector<Inner, n> iq, iv;
    for (int i = 0; i < n; ++i) {
      iq[i].value = q[i];
      iq[i].partial[0] = T(direction == i ? 1.0 : 0.0);
      iv[i].value = v[i];
      iv[i].partial[0] = T(direction == n + i ? 1.0 : 0.0);
    }
    const Gradient<Inner, n, R> g = gradient<R>(f, iq, iv);
    for (int r = 0; r < R; ++r) {
      h.first.value[r] = g.value[r].value;
      for (int i = 0; i < n; ++i) {
        h.first.dq[r][i] = g.dq[r][i].value;
        h.first.dv[r][i] = g.dv[r][i].value;
        if (direction < n) {
          h.qq[r][i][direction] = g.dq[r][i].partial[0];
          h.vq[r][i][direction] = g.dv[r][i].partial[0];
        } else {
          h.vv[r][i][direction - n] = g.dv[r][i].partial[0];
        }
      }
    }
  }
  return h;
}

RB_NAMESPACE_END
