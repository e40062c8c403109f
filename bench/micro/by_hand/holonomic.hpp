#pragma once
// Steps of the holonomic Lobatto pairs, written by hand: the spherical pendulum in a magnetic field with two and three stages, the
// spherical pendulum with a mass that depends on the height with two (TwoStageSweeps, StageSweeps). G = q for both.

#include "magnetic.hpp"
#include "rattleback/tableaus/lobatto.hpp"

namespace by_hand {

/// Puts p on the constraint where G M^-1 is a multiple of q and G A is 0; returns the impulse.
inline P put_on_sphere(const V3& q, V3& p) {
  const P impulse = -(dot3(q, p) / dot3(q, q));
  p = fma(impulse, q, p);
  return impulse;
}

/// The updates of V_1, V_2 and y from those without constraint, where G is g at the end.
struct TwoStages {
  V3 response_1, response_2, response;
  void respond(const V3& first, const V3& second) {
    response_1 = first;
    response_2 = second;
    response = P(0.5) * (first + second);
  }
  void update(Lanes& lanes, const V3& g, const P& position, const V3& c_1, const V3& c_2, V3& first, V3& second,
              P& y) const {
    const P dy = -(fma(P(0.5), dot3(g, c_1 + c_2), position) / dot3(g, response));
    const V3 d_1 = fma(dy, response_1, c_1), d_2 = fma(dy, response_2, c_2);
    lanes.add(first, d_1);
    lanes.add(second, d_2);
    lanes.add(y, dy);
    lanes.settle(max(size(d_1), size(d_2)));
  }
};

inline Report magnetic_2(const Magnetic& s, State& state, const P& h) {
  const V3 q_0 = state.q;
  const P half = P(0.5) * h, inverse = P(1.0) / s.mass, e = half * s.half, per_h = P(1.0) / h;
  const V3 v = s.velocity(inverse, q_0, state.p), g_0 = s.scale * q_0;
  const Rotation j(s.mass, e);  // of both stages: B^T is -B
  P y = half * state.lambda[0];
  V3 first = inverse * s.plus_force(half, v, fma(y, g_0, s.mass * v)),
     second = first + j * plus_turned(P(2.0) * e, first, V3{});
  Lanes lanes(size(v) + size(first - v) + P(0.01) * per_h * size(q_0));
  const V3 response = j * g_0;
  TwoStages stages;
  stages.respond(response, j * plus_turned(e, response, s.mass * response));
  V3 q, p;
  P residual;
  for (int iteration = 0;; ++iteration) {
    q = fma(half, first + second, q_0);
    p = s.plus_force(half, first, fma(y, g_0, state.p));
    const V3 p_first = s.momentum(q_0, first), e_1 = p - p_first, e_2 = p_first - s.momentum(q, second);
    const P position = P(0.5) * s.scale * per_h * (dot3(q, q) - s.square);
    const V3 g = s.scale * q;
    residual = max(max(size(e_1), size(e_2)), abs(position));
    if (!lanes.more(iteration)) break;
    const V3 c_1 = j * e_1, c_2 = j * plus_turned(e, c_1, fma(s.mass, c_1, e_2));
    stages.update(lanes, g, position, c_1, c_2, first, second, y);
  }
  state.q = q;
  state.p = s.plus_force(half, second, p);
  state.lambda[0] = P(2.0) * per_h * put_on_sphere(q, state.p) / s.scale;
  return lanes.report(residual);
}

struct VariableMass {
  P mass, variation, weight, square;
};
/// What depends on the height: M and half of its derivative.
struct Height {
  P mass, slope;
  Height() = default;
  Height(const VariableMass& s, const P& z)
      : mass(s.mass * fma(s.variation, z * z, P(1.0))), slope(s.mass * s.variation * z) {}
  /// y + t L_q.
  [[nodiscard]] V3 plus_force(const VariableMass& s, const P& t, const V3& v, const V3& y) const {
    return {y[0], y[1], fma(t, fma(slope, dot3(v, v), -s.weight), y[2])};
  }
};

inline Report variable_mass_2(const VariableMass& s, State& state, const P& h) {
  const V3 q_0 = state.q;
  const P half = P(0.5) * h, per_h = P(1.0) / h;
  const Height at(s, q_0[2]);
  const P inverse = P(1.0) / at.mass;
  const V3 v = inverse * state.p;
  P y = half * state.lambda[0];
  const V3 row = (-(h * at.slope)) * v;  // of M - h/2 B^T below M
  const P row_inverse = P(1.0) / (at.mass + row[2]);
  const auto inverse_1 = [&](const V3& r) {
    const P x_0 = inverse * r[0], x_1 = inverse * r[1];
    return V3{x_0, x_1, row_inverse * fma(-row[0], x_0, fma(-row[1], x_1, r[2]))};
  };
  V3 first = inverse * at.plus_force(s, half, v, fma(y, q_0, state.p));
  V3 second = first - inverse_1((P(2.0) * h * at.slope * first[2]) * v);
  Lanes lanes(size(v) + size(first - v) + P(0.01) * per_h * size(q_0));
  V3 q, p, column;
  TwoStages stages;
  P end_inverse, column_inverse, residual;
  Height end;
  const auto carried = [&](const V3& x, const V3& r) { return fma(-x[2], column, fma(at.mass, x, r)); };
  const auto inverse_2 = [&](const V3& r) {
    const P z = column_inverse * r[2];
    return V3{end_inverse * fma(-column[0], z, r[0]), end_inverse * fma(-column[1], z, r[1]), z};
  };
  for (int iteration = 0;; ++iteration) {
    q = fma(half, first + second, q_0);
    end = Height(s, q[2]);
    p = at.plus_force(s, half, first, fma(y, q_0, state.p));
    const V3 p_first = at.mass * first, e_1 = p - p_first, e_2 = p_first - end.mass * second;
    const P position = P(0.5) * per_h * (dot3(q, q) - s.square);
    residual = max(max(size(e_1), size(e_2)), abs(position));
    if (!lanes.more(iteration)) break;
    if (iteration == 0) {
      column = (h * end.slope) * second;  // h/2 B
      end_inverse = P(1.0) / end.mass;
      column_inverse = P(1.0) / (end.mass + column[2]);
      const V3 response = inverse_1(q_0);
      stages.respond(response, inverse_2(carried(response, V3{})));
    }
    const V3 c_1 = inverse_1(e_1), c_2 = inverse_2(carried(c_1, e_2));
    stages.update(lanes, q, position, c_1, c_2, first, second, y);
  }
  state.q = q;
  state.p = end.plus_force(s, half, second, p);
  state.lambda[0] = P(2.0) * per_h * put_on_sphere(q, state.p);
  return lanes.report(residual);
}

/// Three stages. The multipliers of the stages 1 and 2 solve two equations; all matrices are those of the guess.
inline Report magnetic_3(const Magnetic& s, State& state, const P& h) {
  constexpr auto t = rattleback::lobatto_pair<3>();
  const V3 q_0 = state.q, p_0 = state.p;
  const P inverse = P(1.0) / s.mass, per_h = P(1.0) / h, l_0 = h * state.lambda[0], e = h * s.half;
  const V3 v = s.velocity(inverse, q_0, p_0);
  const V3 by_force = inverse * s.plus_force(h, v, (l_0 * s.scale) * q_0),
           by_motion = plus_turned(inverse * e, v, V3{});
  Lanes lanes(size(v) + size(by_force) + size(by_motion) + P(0.01) * per_h * size(q_0));
  V3 x[3], g[3] = {s.scale * q_0}, made[3] = {g[0]}, q[3] = {q_0}, w[3];
  P l[3] = {l_0, l_0, P(0.0)}, factors[2][2], residual;
  for (int i = 0; i < 3; ++i) {
    double c_hat = 0.0;
    for (int j = 0; j < 3; ++j) c_hat += t.ah[i][j];
    x[i] = fma(P(c_hat), by_force, fma(P(t.c[i]), by_motion, v));
  }
  for (int iteration = 0;; ++iteration) {
    V3 r[3];
    P c[3];
    for (int j = 0; j < 3; ++j) {
      if (j > 0) q[j] = fma(h, fma(P(t.a[j][2]), x[2], fma(P(t.a[j][1]), x[1], P(t.a[j][0]) * x[0])), q_0);
      g[j] = s.scale * q[j];
      r[j] = s.momentum(q[j], x[j]) - p_0;
      if (j < 2) w[j] = s.plus_force(h, x[j], l[j] * g[j]);
    }
    residual = P(0.0);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 2; ++j) r[i] = fma(P(-t.ah[i][j]), w[j], r[i]);
      residual = max(residual, size(r[i]));
      if (i > 0) c[i - 1] = P(0.5) * s.scale * per_h * (dot3(q[i], q[i]) - s.square);
      if (i > 0) residual = max(residual, abs(c[i - 1]));
    }
    if (!lanes.more(iteration)) break;
    if (iteration == 0) {
      for (int i = 1; i < 3; ++i) made[i] = g[i];
      P m[2][2];
      for (int i = 1; i < 3; ++i)
        for (int j = 0; j < 2; ++j) {
          double sum = 0.0;
          for (int k = 0; k < 3; ++k) sum += t.a[i][k] * t.ah[k][j];
          m[i - 1][j] = P(sum) * inverse * dot3(made[i], made[j]);
        }
      const P determinant = P(1.0) / fma(m[0][0], m[1][1], -(m[0][1] * m[1][0]));
      factors[0][0] = determinant * m[1][1];
      factors[1][1] = determinant * m[0][0];
      factors[0][1] = -(determinant * m[0][1]);
      factors[1][0] = -(determinant * m[1][0]);
    }
    const auto solve = [&](V3(&y)[3], P(&m)[3]) {
      for (int i = 0; i < 3; ++i) y[i] = inverse * y[i];
      P right[2];
      for (int i = 1; i < 3; ++i)
        right[i - 1] = m[i - 1] - dot3(made[i], fma(P(t.a[i][2]), y[2], fma(P(t.a[i][1]), y[1], P(t.a[i][0]) * y[0])));
      m[0] = fma(factors[0][0], right[0], factors[0][1] * right[1]);
      m[1] = fma(factors[1][0], right[0], factors[1][1] * right[1]);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j) y[i] = fma(P(t.ah[i][j]) * inverse * m[j], made[j], y[i]);
    };
    solve(r, c);
    V3 f[3];
    P zero[3] = {P(0.0), P(0.0), P(0.0)};
    for (int i = 0; i < 3; ++i) {  // B = -B^T
      V3 sum{};
      for (int j = 0; j < 3; ++j) {
        const double weight = t.a[i][j] + (j < 2 ? t.ah[i][j] : 0.0);
        sum = j == 0 ? P(weight) * r[0] : fma(P(weight), r[j], sum);
      }
      f[i] = plus_turned(-e, sum, V3{});
    }
    solve(f, zero);
    P change(0.0);
    for (int i = 0; i < 3; ++i) {
      change = max(change, size(r[i]));
      lanes.add(x[i], f[i] - r[i]);
      if (i < 2) lanes.add(l[i], zero[i] - c[i]);
    }
    lanes.settle(change);
  }
  w[2] = s.plus_force(h, x[2], V3{});
  for (int i = 0; i < 3; ++i) state.p = fma(P(t.b[i]), w[i], state.p);
  state.q = q[2];
  const P impulse = put_on_sphere(q[2], state.p);
  state.lambda[0] = per_h * P(1.0 / t.b[2]) * impulse / s.scale;
  return lanes.report(residual);
}

}  // namespace by_hand
