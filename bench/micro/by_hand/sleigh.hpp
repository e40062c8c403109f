#pragma once
// Steps of the Chaplygin sleigh by the nonholonomic Lobatto pairs with two and three stages, written by hand: TwoStageSweeps and
// StageSweeps without all that is 0 or constant here. M depends on the heading alone, its inverse needs no division.

#include "lanes.hpp"
#include "rattleback/tableaus/lobatto.hpp"

namespace by_hand {

struct Sleigh {
  P mass, moment, inertia;             ///< M, M a, I + M a^2
  P inverse_mass, inverse_rest, gram;  ///< 1/M, 1/(I + M a^2 - moment^2/M), C M^-1 C^T
  Sleigh(const P& m, const P& i, const P& a)
      : mass(m), moment(m * a), inertia(i + m * a * a), inverse_mass(P(1.0) / m), inverse_rest(P(1.0) / i) {
    gram = inverse_mass * fma(moment * moment * inverse_mass, inverse_rest, P(1.0));
  }
};

/// What depends on the heading: M = (M, 0, x; 0, M, y; x, y, inertia), C = (-s, c, 0).
struct Heading {
  P s, c, x, y;
  Heading() = default;
  Heading(const Sleigh& sleigh, const P& angle) {
    sincos(angle, s, c);
    x = -(sleigh.moment * s);
    y = sleigh.moment * c;
  }
  [[nodiscard]] V3 momentum(const Sleigh& k, const V3& v) const {
    return {fma(x, v[2], k.mass * v[0]), fma(y, v[2], k.mass * v[1]), fma(x, v[0], fma(y, v[1], k.inertia * v[2]))};
  }
  [[nodiscard]] V3 velocity(const Sleigh& k, const V3& p) const {
    const P w = k.inverse_rest * fma(-k.inverse_mass, fma(x, p[0], y * p[1]), p[2]);
    return {k.inverse_mass * fma(-x, w, p[0]), k.inverse_mass * fma(-y, w, p[1]), w};
  }
  /// The column of B = dp/dq: (-y w, x w, x v_y - y v_x). The force along the heading is w times its last entry.
  [[nodiscard]] V3 column(const V3& v) const { return {-(y * v[2]), x * v[2], fma(x, v[1], -(y * v[0]))}; }
  [[nodiscard]] P along(const V3& x_) const { return fma(c, x_[1], -(s * x_[0])); }  // C x
  [[nodiscard]] V3 plus_forms(const P& l, const V3& p) const { return {fma(-l, s, p[0]), fma(l, c, p[1]), p[2]}; }
};

/// Solves (M, 0, a; 0, M, b; d, e, f) v = r.
struct Arrow {
  P a, b, d, e, inverse;
  Arrow() = default;
  Arrow(const Sleigh& k, const P& a_, const P& b_, const P& d_, const P& e_, const P& f) : a(a_), b(b_), d(d_), e(e_) {
    inverse = P(1.0) / fma(-k.inverse_mass, fma(a, d, b * e), f);
  }
  [[nodiscard]] V3 solve(const Sleigh& k, const V3& r) const {
    const P w = inverse * fma(-k.inverse_mass, fma(d, r[0], e * r[1]), r[2]);
    return {k.inverse_mass * fma(-a, w, r[0]), k.inverse_mass * fma(-b, w, r[1]), w};
  }
};

/// Puts p on the constraint; returns the impulse.
inline P put_on_constraint(const Sleigh& k, const Heading& at, V3& p) {
  const P impulse = -(at.along(at.velocity(k, p)) / k.gram);
  p = at.plus_forms(impulse, p);
  return impulse;
}

inline Report sleigh_2(const Sleigh& k, State& state, const P& h) {
  const P half = P(0.5) * h;
  const Heading at(k, state.q[2]);
  const V3 v = at.velocity(k, state.p), b = at.column(v), pushed = at.plus_forms(half * state.lambda[0], state.p);
  const Arrow inverse_1(k, at.x, at.y, fma(-half, b[0], at.x), fma(-half, b[1], at.y), fma(-half, b[2], k.inertia));
  V3 force{P(0.0), P(0.0), half * (v[2] * b[2])};
  V3 first = at.velocity(k, pushed + force), second = first - inverse_1.solve(k, (h * first[2]) * b);
  Lanes lanes(size(v) + size(first - v));
  Heading end;
  Arrow inverse_2;
  V3 b_1, q, p;
  P residual;
  for (int iteration = 0;; ++iteration) {
    q = fma(half, first + second, state.q);
    end = Heading(k, q[2]);
    p = {pushed[0], pushed[1], fma(half * first[2], at.column(first)[2], pushed[2])};
    const V3 p_first = at.momentum(k, first), e_1 = p - p_first, e_2 = p_first - end.momentum(k, second);
    residual = max(size(e_1), size(e_2));
    if (!lanes.more(iteration)) break;
    if (iteration == 0) {
      b_1 = end.column(second);
      inverse_2 =
          Arrow(k, fma(half, b_1[0], end.x), fma(half, b_1[1], end.y), end.x, end.y, fma(half, b_1[2], k.inertia));
    }
    const V3 c_1 = inverse_1.solve(k, e_1),
             c_2 = inverse_2.solve(k, fma(-(half * c_1[2]), b_1, e_2 + at.momentum(k, c_1)));
    lanes.add(first, c_1);
    lanes.add(second, c_2);
    lanes.settle(max(size(c_1), size(c_2)));
  }
  state.q = q;
  state.p = {p[0], p[1], fma(half * second[2], end.column(second)[2], p[2])};
  state.lambda[0] = P(2.0) / h * put_on_constraint(k, end, state.p);
  return lanes.report(residual);
}

/// Three stages. The multipliers of the stages 2 and 3 solve two equations; all matrices are those of the guess.
inline Report sleigh_3(const Sleigh& k, State& state, const P& h) {
  constexpr auto t = rattleback::lobatto_pair<3>();
  const Heading node(k, state.q[2]);
  const V3 v = node.velocity(k, state.p), column = node.column(v), p_0 = state.p;
  const P l_0 = h * state.lambda[0];
  const V3 by_force = node.velocity(k, node.plus_forms(l_0, V3{P(0.0), P(0.0), h * (v[2] * column[2])}));
  const V3 by_motion = node.velocity(k, (-(h * v[2])) * column);
  Lanes lanes(size(v) + size(by_force) + size(by_motion));
  V3 x[3];
  P l[3] = {l_0, l_0, l_0};
  for (int i = 0; i < 3; ++i) {
    double c_hat = 0.0;
    for (int j = 0; j < 3; ++j) c_hat += t.ah[i][j];
    x[i] = fma(P(c_hat), by_force, fma(P(t.c[i]), by_motion, v));
  }
  Heading at[3] = {node}, made[3];  // at the iterate, and of the matrices
  V3 b[3], response[3], w[3];
  P factors[2][2], rate[3], residual;
  for (int iteration = 0;; ++iteration) {
    V3 r[3];
    P c[3];
    for (int j = 0; j < 3; ++j) {
      if (j > 0) {
        const P turned = fma(P(t.a[j][2]), x[2][2], fma(P(t.a[j][1]), x[1][2], P(t.a[j][0]) * x[0][2]));
        at[j] = Heading(k, fma(h, turned, state.q[2]));
      }
      r[j] = at[j].momentum(k, x[j]) - p_0;
      w[j] = at[j].plus_forms(l[j], V3{P(0.0), P(0.0), h * (x[j][2] * at[j].column(x[j])[2])});
    }
    residual = P(0.0);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 2; ++j) r[i] = fma(P(-t.ah[i][j]), w[j], r[i]);
      residual = max(residual, size(r[i]));
    }
    for (int i = 1; i < 3; ++i) {
      V3 p = p_0;
      for (int j = 0; j < 3; ++j) p = fma(P(t.a[i][j]), w[j], p);
      c[i] = at[i].along(at[i].velocity(k, p));
      residual = max(residual, abs(c[i]));
    }
    if (!lanes.more(iteration)) break;
    if (iteration == 0) {
      for (int i = 0; i < 3; ++i) {
        made[i] = at[i];
        b[i] = at[i].column(x[i]);
        response[i] = at[i].velocity(k, V3{-at[i].s, at[i].c, P(0.0)});
        rate[i] = -fma(at[i].c, x[i][0], at[i].s * x[i][1]);
      }
      factors[0][0] = P(t.a[1][1]) * k.gram;
      factors[1][1] = P(t.a[2][2]) * k.gram;
      factors[0][1] = P(t.a[1][2]) * fma(response[1][1], at[2].c, -(response[1][0] * at[2].s));
      factors[1][0] = P(t.a[2][1]) * fma(response[2][1], at[1].c, -(response[2][0] * at[1].s));
      const P inverse = P(1.0) / fma(factors[0][0], factors[1][1], -(factors[0][1] * factors[1][0]));
      const P corner = factors[0][0];
      factors[0][0] = inverse * factors[1][1];
      factors[1][1] = inverse * corner;
      factors[0][1] = -(inverse * factors[0][1]);
      factors[1][0] = -(inverse * factors[1][0]);
    }
    const auto solve = [&](V3(&y)[3], P(&m)[3]) {
      const P first = fma(factors[0][0], m[1], factors[0][1] * m[2]);
      m[2] = fma(factors[1][0], m[1], factors[1][1] * m[2]);
      m[1] = first;
      for (int i = 0; i < 3; ++i) y[i] = made[i].velocity(k, made[1].plus_forms(P(t.ah[i][1]) * m[1], y[i]));
    };
    solve(r, c);
    V3 e[3];
    P ec[3], back[3];
    for (int j = 0; j < 3; ++j) back[j] = h * fma(b[j][0], r[j][0], fma(b[j][1], r[j][1], b[j][2] * r[j][2]));
    for (int i = 0; i < 3; ++i) {
      P y(0.0);
      if (i > 0) y = h * fma(P(t.a[i][2]), r[2][2], fma(P(t.a[i][1]), r[1][2], P(t.a[i][0]) * r[0][2]));
      e[i] = y * b[i];
      V3 pushed = -e[i];
      for (int j = 0; j < 2; ++j) e[i][2] = fma(P(-t.ah[i][j]), back[j], e[i][2]);
      for (int j = 0; j < 3; ++j) pushed[2] = fma(P(t.a[i][j]), back[j], pushed[2]);
      ec[i] =
          fma(rate[i], y, fma(response[i][0], pushed[0], fma(response[i][1], pushed[1], response[i][2] * pushed[2])));
    }
    solve(e, ec);
    P change(0.0);
    for (int i = 0; i < 3; ++i) {
      change = max(change, size(r[i]));
      lanes.add(x[i], e[i] - r[i]);
      if (i > 0) lanes.add(l[i], ec[i] - c[i]);
    }
    lanes.settle(change);
  }
  V3 mean{};
  for (int i = 0; i < 3; ++i) {
    mean = i == 0 ? P(t.a[2][0]) * x[0] : fma(P(t.a[2][i]), x[i], mean);
    state.p = fma(P(t.b[i]), w[i], state.p);
  }
  state.q = fma(h, mean, state.q);
  const P impulse = put_on_constraint(k, at[2], state.p);
  state.lambda[0] = P(1.0) / h * fma(P(1.0 / t.b[2]), impulse, l[2]);
  return lanes.report(residual);
}

}  // namespace by_hand
