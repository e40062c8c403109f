#pragma once
// Steps of the spherical pendulum in a vertical magnetic field, written by hand: GGL VI-S, VI-A with theta = 1/2 (ggl.hpp), and
// the variational energy-momentum scheme (energy_momentum.hpp). M is a number, dp/dq is a constant rotation of x and y, and
// g = c (|q|^2 - length^2)/2, so that most matrices are numbers. For H and g at most quadratic, difference quotients are derivatives
// at the midpoint.

#include "lanes.hpp"

namespace by_hand {

struct Magnetic {
  P mass, weight, square;  ///< mass, mass times gravity, length^2
  P scale;                 ///< c
  P half;                  ///< half of the field

  [[nodiscard]] V3 momentum(const V3& q, const V3& v) const {
    return {fma(mass, v[0], -(half * q[1])), fma(mass, v[1], half * q[0]), mass * v[2]};
  }
  [[nodiscard]] V3 velocity(const P& inverse, const V3& q, const V3& p) const {
    return {inverse * fma(half, q[1], p[0]), inverse * fma(-half, q[0], p[1]), inverse * p[2]};
  }
  /// y + s L_q.
  [[nodiscard]] V3 plus_force(const P& s, const V3& v, const V3& y) const {
    const P t = s * half;
    return {fma(t, v[1], y[0]), fma(-t, v[0], y[1]), fma(-s, weight, y[2])};
  }
};

/// y + t (x_1, -x_0, 0).
inline V3 plus_turned(const P& t, const V3& x, const V3& y) { return {fma(t, x[1], y[0]), fma(-t, x[0], y[1]), y[2]}; }

inline P dot3(const V3& a, const V3& b) { return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0])); }

/// (d, -e; e, d) on x and y, d on z; inverted with one division.
struct Rotation {
  P a, b, c;
  Rotation(const P& d, const P& e) {
    const P square = fma(d, d, e * e), inverse = P(1.0) / (d * square);
    a = d * d * inverse;
    b = e * d * inverse;
    c = square * inverse;
  }
  V3 operator*(const V3& x) const { return {fma(b, x[1], a * x[0]), fma(-b, x[0], a * x[1]), c * x[2]}; }
};

/// Solves two equations by Cramer's rule.
inline void solve(const P (&m)[2][2], P& x, P& y) {
  const P inverse = P(1.0) / fma(m[0][0], m[1][1], -(m[0][1] * m[1][0]));
  const P first = inverse * fma(m[1][1], x, -(m[0][1] * y));
  y = inverse * fma(m[0][0], y, -(m[1][0] * x));
  x = first;
}

inline Report vi_s(const Magnetic& s, State& state, const P& h) {
  const V3 q = state.q, p = state.p, g_0 = s.scale * q;
  const P inverse = P(1.0) / s.mass, e = h * s.half, per_h = P(1.0) / h;
  const V3 v_0 = s.velocity(inverse, q, p);
  const Rotation first(s.mass, e);  // M - h B^T
  const V3 response_l = first * g_0;
  P l = -(h * state.lambda[0]);
  V3 v = inverse * s.plus_force(h, v_0, s.mass * v_0 - l * g_0);
  V3 z = plus_turned(inverse * e, v, v);
  const V3 y_0 = fma(h, v, q);
  const P square = dot3(y_0, y_0);
  P gamma = P(-0.5) * s.mass * per_h * (square - s.square) / (s.scale * square);
  Lanes lanes(size(v_0) + size(v - v_0) + P(0.01) * per_h * size(q));
  V3 q_1, p_1;
  P residual;
  for (int iteration = 0;; ++iteration) {
    const V3 y = fma(h, v, q), g_y = s.scale * y, response_w = inverse * g_y, w = gamma * response_w,
             p_v = s.momentum(q, v);
    const P bent = s.scale * gamma;
    q_1 = fma(h, w, y);
    p_1 = s.momentum(y, z);
    const V3 e_1 = s.plus_force(h, v, p - l * g_0) - p_v;
    const V3 e_2 = plus_turned(e, w, (p_v - p_1) - (h * bent) * z);
    const P hidden = dot3(g_y, z), position = P(0.5) * s.scale * per_h * (dot3(q_1, q_1) - s.square);
    residual = max(max(size(e_1), size(e_2)), max(abs(hidden), abs(position)));
    if (!lanes.more(iteration)) break;
    const V3 t = s.scale * z;
    const P turn = fma(h * bent, inverse, P(1.0)), third = P(1.0) / fma(h, bent, s.mass), k = e * turn;
    const V3 a = first * e_1, b = third * plus_turned(k, a, fma(s.mass, a, e_2));
    const V3 response_z = third * plus_turned(k, response_l, s.mass * response_l);
    const V3 gamma_z = (-(h * third)) * plus_turned(-s.half, response_w, t);
    const V3 g_1 = s.scale * q_1;
    const P matrix[2][2] = {{-fma(h, dot3(t, response_l), dot3(g_y, response_z)), dot3(g_y, gamma_z)},
                            {-(turn * dot3(g_1, response_l)), dot3(g_1, response_w)}};
    P dl = -(hidden + dot3(g_y, b) + h * dot3(t, a)), dgamma = -fma(turn, dot3(g_1, a), position);
    solve(matrix, dl, dgamma);
    const V3 dv = a - dl * response_l, dz = b - dl * response_z + dgamma * gamma_z;
    lanes.add(v, dv);
    lanes.add(z, dz);
    lanes.add(l, dl);
    lanes.add(gamma, dgamma);
    lanes.settle(max(max(size(dv), size(dz)), size(dgamma * response_w)));
  }
  state.q = q_1;
  state.p = p_1;
  state.lambda[0] = -(per_h * l);
  return lanes.report(residual);
}

/// What the schemes at the midpoint begin with: the guess of the velocity, and the scale of velocities.
struct Midpoint {
  P inverse, reach, e, per_h, scale;
  V3 v;
  Midpoint(const Magnetic& s, const State& state, const P& h, const P& l)
      : inverse(P(1.0) / s.mass), reach(P(0.5) * h), e(h * s.half), per_h(P(1.0) / h) {
    const V3 v_0 = s.velocity(inverse, state.q, state.p);
    const V3 pushed = s.plus_force(reach, v_0, s.mass * v_0 - (P(0.5) * s.scale * l) * state.q);
    v = plus_turned(P(0.5) * e * inverse, v_0, inverse * pushed);
    scale = size(v_0) + abs(h) * inverse * (abs(s.weight) + abs(s.half) * size(v_0)) + P(0.01) * per_h * size(state.q);
  }
};

inline Report vi_a(const Magnetic& s, State& state, const P& h) {
  const V3 q = state.q, p = state.p;
  P l = -(h * state.lambda[0]), gamma(0.0);
  const Midpoint start(s, state, h, l);
  const P inverse = start.inverse, reach = start.reach, e = start.e, per_h = start.per_h;
  V3 v = start.v, u = v;
  Lanes lanes(start.scale);
  V3 x, slope;
  P residual;
  for (int iteration = 0;; ++iteration) {
    x = fma(reach, u, q);
    const P bent = s.scale * gamma, pushed = s.scale * l;
    const V3 g = s.scale * x, response_w = inverse * g, w = gamma * response_w;
    slope = s.plus_force(P(1.0), v, plus_turned(s.half, w, -(bent * v)));
    const V3 e_v = fma(reach, slope, p) - (P(0.5) * pushed) * x - s.momentum(x, v), e_u = v + w - u;
    const P hidden = dot3(g, v), position = P(0.5) * s.scale * per_h * (dot3(x, x) - s.square);
    residual = max(max(size(e_v), size(e_u)), max(abs(hidden), abs(position)));
    if (!lanes.more(iteration)) break;
    const Rotation j(fma(reach, bent, fma(P(0.5) * reach, pushed, s.mass)), e);
    const P turn = fma(reach * bent, inverse, P(1.0));
    const V3 response_l = P(0.5) * (j * g),
             gamma_v = j * ((-reach) * plus_turned(P(-2.0) * s.half, response_w, s.scale * v)),
             gamma_u = gamma_v + response_w, hidden_u = (reach * turn * s.scale) * v, row = (P(0.5) * turn) * g;
    const P matrix[2][2] = {{-dot3(g + hidden_u, response_l), dot3(g, gamma_v) + dot3(hidden_u, gamma_u)},
                            {-dot3(row, response_l), dot3(row, gamma_u)}};
    const V3 a = j * e_v, a_u = a + e_u;
    P dl = -(hidden + dot3(g, a) + dot3(hidden_u, a_u)), dgamma = -(position + dot3(row, a_u));
    solve(matrix, dl, dgamma);
    const V3 dv = a - dl * response_l + dgamma * gamma_v, du = turn * (dv + e_u + dgamma * response_w);
    lanes.add(v, dv);
    lanes.add(u, du);
    lanes.add(l, dl);
    lanes.add(gamma, dgamma);
    lanes.settle(max(size(dv), size(du)));
  }
  state.q = fma(h, u, q);
  state.p = fma(h, slope, p) - (s.scale * l) * x;
  state.lambda[0] = -(per_h * l);
  return lanes.report(residual);
}

inline Report energy_momentum(const Magnetic& s, State& state, const P& h) {
  const V3 q = state.q, p = state.p;
  P l = -(h * state.lambda[0]), gamma(0.0);
  const Midpoint start(s, state, h, l);
  const P inverse = start.inverse, reach = start.reach, e = start.e, per_h = start.per_h;
  V3 u = start.v, p_1 = P(2.0) * s.momentum(fma(reach, u, q), u) - p;
  Lanes lanes(start.scale);
  // the matrices of the guess
  const V3 x_0 = fma(reach, u, q), g = s.scale * x_0, response_w0 = inverse * g, row = s.scale * fma(h, u, q),
           hidden_v = P(2.0) * row, hidden_u = (s.scale * h) * u;
  const Rotation j(fma(P(0.5) * s.scale * reach, l, s.mass), e);
  const V3 response_l = P(0.5) * (j * g),
           gamma_v = j * ((-reach) * plus_turned(P(-2.0) * s.half, response_w0, s.scale * u)),
           gamma_u = gamma_v + response_w0;
  const P matrix[2][2] = {{-dot3(hidden_v + hidden_u, response_l), dot3(hidden_v, gamma_v) + dot3(hidden_u, gamma_u)},
                          {-dot3(row, response_l), dot3(row, gamma_u)}};
  P residual;
  for (int iteration = 0;; ++iteration) {
    const P bent = s.scale * gamma;
    const V3 x = fma(reach, u, q), q_1 = fma(h, u, q), v = s.velocity(inverse, x, P(0.5) * (p + p_1)),
             v_1 = s.velocity(inverse, q_1, p_1), w = (bent * inverse) * x;
    const V3 slope = s.plus_force(P(1.0), v, plus_turned(s.half, w, -(bent * v)));
    const V3 kick = fma(h, slope, p) - (s.scale * l) * x - p_1, e_u = v + w - u;
    const P hidden = s.scale * dot3(q_1, v_1), position = P(0.5) * s.scale * per_h * (dot3(q_1, q_1) - s.square);
    residual = max(max(size(kick), size(e_u)), max(abs(hidden), abs(position)));
    if (!lanes.more(iteration)) break;
    const V3 a = P(0.5) * (j * kick), a_u = a + e_u;
    P dl = -(hidden + dot3(hidden_v, a) + dot3(hidden_u, a_u)), dgamma = -(position + dot3(row, a_u));
    P copy[2][2] = {{matrix[0][0], matrix[0][1]}, {matrix[1][0], matrix[1][1]}};
    solve(copy, dl, dgamma);
    const V3 dv = a - dl * response_l + dgamma * gamma_v, du = dv + e_u + dgamma * response_w0;
    lanes.add(u, du);
    lanes.add(p_1, plus_turned(-e, du, (P(2.0) * s.mass) * dv));
    lanes.add(l, dl);
    lanes.add(gamma, dgamma);
    lanes.settle(max(size(dv), size(du)));
  }
  state.q = fma(h, u, q);
  state.p = p_1;
  state.lambda[0] = -(per_h * l);
  return lanes.report(residual);
}

}  // namespace by_hand
