#pragma once
// The nonholonomic Lobatto step of the chaotic system (constraint as printed, m = 3), written by hand for AVX-512 and
// for eight trajectories. The comparison gives the cost of the generic kernels. The code needs AVX-512F and a compiler
// that contracts a * b + c.

#include <immintrin.h>

#include "rattleback/tableaus/lobatto.hpp"

namespace hand_written {

using V = __m512d;
constexpr int lanes = 8, n = 7, z = 4;

inline V all(double x) { return _mm512_set1_pd(x); }

/// Computes the potential forces. The parts along z are in f[z..].
inline void force(const V (&q)[n], V (&f)[n]) {
  const V one = all(1.0);
  V y2[3], z2[3];
  for (int i = 0; i < 3; ++i) {
    y2[i] = q[1 + i] * q[1 + i];
    z2[i] = q[z + i] * q[z + i];
  }
  f[0] = -q[0];
  for (int i = 0; i < 3; ++i) f[1 + i] = -q[1 + i] * (one + z2[i]);
  f[z] = -q[z] * (one + y2[0] + z2[1]);
  f[z + 1] = -q[z + 1] * (one + y2[1] + z2[0]);
  f[z + 2] = -q[z + 2] * (one + y2[2]);
}

inline V product(const V (&a)[n], const V (&b)[n]) { return a[z] * b[z] + a[z + 1] * b[z + 1] + a[z + 2] * b[z + 2]; }

/// Sets x = matrix^-1 x by Cramer's rule, with one division.
template <int size>
inline void solve(const V (&m)[size][size], V (&x)[size]) {
  static_assert(size <= 3);
  if constexpr (size == 1) {
    x[0] = x[0] / m[0][0];
  } else if constexpr (size == 2) {
    const V inverse = all(1.0) / (m[0][0] * m[1][1] - m[0][1] * m[1][0]);
    const V x_0 = x[0];
    x[0] = (m[1][1] * x_0 - m[0][1] * x[1]) * inverse;
    x[1] = (m[0][0] * x[1] - m[1][0] * x_0) * inverse;
  } else {
    V minor[3][3];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        minor[i][j] = m[(i + 1) % 3][(j + 1) % 3] * m[(i + 2) % 3][(j + 2) % 3] -
                      m[(i + 1) % 3][(j + 2) % 3] * m[(i + 2) % 3][(j + 1) % 3];
    const V inverse = all(1.0) / (m[0][0] * minor[0][0] + m[0][1] * minor[0][1] + m[0][2] * minor[0][2]);
    V y[3];
    for (int j = 0; j < 3; ++j) y[j] = (minor[0][j] * x[0] + minor[1][j] * x[1] + minor[2][j] * x[2]) * inverse;
    for (int j = 0; j < 3; ++j) x[j] = y[j];
  }
}

/// Takes `steps` steps of eight trajectories. The state has rows q, v, lambda of eight numbers each. Functional
/// iteration runs to round-off, until the slowest trajectory has converged.
template <int S>
void advance(double* state, long steps, double step) {
  constexpr auto t = rattleback::lobatto_pair<S>();
  constexpr int inner = S - 2, last = S - 2;
  const V h = all(step);
  V q[n], v[n], lambda = _mm512_loadu_pd(state + 2 * n * lanes);
  for (int k = 0; k < n; ++k) {
    q[k] = _mm512_loadu_pd(state + k * lanes);
    v[k] = _mm512_loadu_pd(state + (n + k) * lanes);
  }
  for (long count = 0; count < steps; ++count) {
    V w_1[n];
    force(q, w_1);
    w_1[0] = w_1[0] + lambda;
    for (int k = z; k < n; ++k) w_1[k] = w_1[k] + lambda * q[k];

    V base[S - 1][n], known[S - 1][n];  // constant parts: of the positions, and of the velocities divided by h
    for (int i = 1; i < S; ++i)
      for (int k = 0; k < n; ++k) {
        base[i - 1][k] = q[k] + all(t.c[i] * step) * v[k] + all(t.a_ah[i][0] * step * step) * w_1[k];
        known[i - 1][k] = v[k] * all(1 / step) + all(t.a[i][0]) * w_1[k];
      }
    V w[S - 1][n];  // accelerations of the stages 2..s
    for (int j = 0; j < inner; ++j)
      for (int k = 0; k < n; ++k) w[j][k] = w_1[k];

    V largest_q = all(0.0), largest_v = all(0.0);
    for (int k = 0; k < n; ++k) {
      largest_q = _mm512_max_pd(largest_q, _mm512_abs_pd(q[k]));
      largest_v = _mm512_max_pd(largest_v, _mm512_abs_pd(v[k]));
    }
    const V scale = largest_q + h * largest_v, small = all(1e-16 / (step * step)) * scale, floor = all(1e5) * small;
    V previous = all(__builtin_huge_val());
    __mmask8 active = 0xff;

    V position[S - 1][n], multiplier[S - 1];
    while (true) {
      V f[S - 1][n];
      for (int i = 0; i < S - 1; ++i) {
        for (int k = 0; k < n; ++k) {
          position[i][k] = base[i][k];
          for (int j = 0; j < inner; ++j) position[i][k] += all(t.a_ah[i + 1][j + 1] * step * step) * w[j][k];
        }
        force(position[i], f[i]);
      }
      V matrix[S - 1][S - 1];
      for (int i = 0; i < S - 1; ++i) {
        V rate[n];
        for (int k : {0, z, z + 1, z + 2}) {
          rate[k] = known[i][k];
          for (int j = 0; j < S - 1; ++j) rate[k] += all(t.a[i + 1][j + 1]) * f[j][k];
        }
        multiplier[i] = -rate[0] - product(position[i], rate);
        for (int j = 0; j <= i; ++j) {
          const V gram = all(1.0) + product(position[i], position[j]);
          matrix[i][j] = all(t.a[i + 1][j + 1]) * gram;
          matrix[j][i] = all(t.a[j + 1][i + 1]) * gram;
        }
      }
      solve(matrix, multiplier);
      V change = all(0.0);
      for (int j = 0; j < S - 1; ++j) {
        f[j][0] += multiplier[j];
        for (int k = z; k < n; ++k) f[j][k] += multiplier[j] * position[j][k];
        for (int k = 0; k < n; ++k) {
          if (j < inner) change = _mm512_max_pd(change, _mm512_abs_pd(f[j][k] - w[j][k]));
          w[j][k] = f[j][k];
        }
      }
      if constexpr (inner == 0) break;
      active &= ~(_mm512_cmp_pd_mask(change, small, _CMP_LE_OQ) |
                  (_mm512_cmp_pd_mask(change, previous, _CMP_GE_OQ) & _mm512_cmp_pd_mask(change, floor, _CMP_LE_OQ)));
      if (!active) break;
      previous = change;
    }
    for (int k = 0; k < n; ++k) {
      V impulse = all(t.b[0] * step) * w_1[k];
      for (int j = 0; j < S - 1; ++j) impulse += all(t.b[j + 1] * step) * w[j][k];
      v[k] += impulse;
      q[k] = position[last][k];
    }
    lambda = multiplier[last];
  }
  _mm512_storeu_pd(state + 2 * n * lanes, lambda);
  for (int k = 0; k < n; ++k) {
    _mm512_storeu_pd(state + k * lanes, q[k]);
    _mm512_storeu_pd(state + (n + k) * lanes, v[k]);
  }
}

}  // namespace hand_written
