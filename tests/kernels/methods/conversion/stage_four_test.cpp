// The conversion against its equations as they are published (G. Patrick, C. Cuell, R. Spiteri, W. Zhang, figure 2: Stage 4),
// with every multiplier a variable, solved by the fixed point iteration of the paper. The base step here is Runge-Kutta on
// (q, v, S) over dual numbers, with the mass and constraint matrices of each stage solved over dual numbers too.

#include "conversion_problems.hpp"
#include "eigen.hpp"
#include "named.hpp"

using namespace rattleback;
using namespace rattleback::problems;

namespace {

using VectorX = Eigen::VectorXd;
using MatrixX = Eigen::MatrixXd;

template <class P>
class StageFour {
  static constexpr int n = P::n, m = P::m, K = 2 * n;
  using D = Dual<double, K>;
  using V = Vector<double, n>;

 public:
  /// Without the second derivative of theta . g in the derivative of the projection: the control.
  bool drop_curvature = false;
  int sweeps = 0;

  StageFour(const char* base, Bias bias) : tableau_(*named(explicit_tableaus, base)), bias_(bias) {}

  /// w1 = (q, v) becomes w2; returns the momentum at the node between them, with the node.
  VectorX step(V& q1, V& v1, double h, VectorX& node) {
    const Layer one = layer(q1, v1, h);
    VectorX th1m, thbar;
    const VectorX q1m = project(one.minus, th1m), qbar = project(one.plus, thbar);
    const MatrixX g0 = jacobian(q1), h1 = hessian_along(q1, v1);
    const MatrixX mass = mass_of(q1);
    VectorX lamm = VectorX::Zero(n), lamp = lamm, mu = lamm, nu1m = VectorX::Zero(m), nu2m = nu1m, nu1p = nu1m,
            nu2p = nu1m, thp = nu1m;
    V q2 = q1, v2 = v1;
    plain_step(q2, v2, h);
    for (sweeps = 1; sweeps < 100; ++sweeps) {
      const Layer two = layer(q2, v2, h);
      VectorX th2p;
      const VectorX q2p = project(two.plus, th2p);
      const VectorX hlamm = hat(lamm, q1m, th1m), hmu1 = hat(mu, qbar, thbar), hmu2 = hat(mu, qbar, thp),
                    hlamp = hat(lamp, q2p, th2p);
      const MatrixX g2 = jacobian(q2), h2 = hessian_along(q2, v2);
      const VectorX f3a = one.minus_q.transpose() * hlamm + g0.transpose() * nu1m + one.plus_q.transpose() * hmu1 +
                          h1.transpose() * nu2m - one.action_q;
      const VectorX f3b = jacobian(q1m) * lamm, f4b = jacobian(qbar) * mu, f5b = jacobian(q2p) * lamp;
      const VectorX f4a =
          one.plus_v.transpose() * hmu1 + g0.transpose() * nu2m + one.minus_v.transpose() * hlamm - one.action_v;
      const VectorX f5a = two.plus_q.transpose() * hlamp + g2.transpose() * nu1p - two.minus_q.transpose() * hmu2 +
                          h2.transpose() * nu2p - two.action_q;
      const VectorX f6a =
          two.action_v - g2.transpose() * nu2p - two.plus_v.transpose() * hlamp + two.minus_v.transpose() * hmu2;
      const VectorX f6b = g2 * to_eigen(v2), f7b = constraint_at(q2);
      const VectorX f7a = two.minus - qbar - jacobian(qbar).transpose() * thp;
      // the sweep: saddle solves with G at w1
      const MatrixX unit = MatrixX::Identity(n, n);
      VectorX dnu2m, dnu1m, dnu1p, dnu2p, dthp;
      const VectorX y = saddle(unit, g0, -f4a, -h * (bias_.minus * f3b + bias_.plus * f4b), dnu2m);
      const VectorX x = saddle(unit, g0, -f3a - h1.transpose() * dnu2m, -(f3b + f4b), dnu1m);
      const VectorX dmu = y / h - bias_.minus * x, dlamm = bias_.plus * x - y / h;
      const VectorX z = saddle(unit, g0, -f5a - h1.transpose() * dnu2m, -(f5b - f4b), dnu1p);
      const VectorX dlamp = z + dmu;
      const VectorX dv2 = saddle(h * mass, g0, -f6a + h * (bias_.plus * dlamp - bias_.minus * dmu), -f6b, dnu2p);
      const VectorX dq2 = saddle(unit, g0, -f7a - h * bias_.minus * dv2, -f7b, dthp);
      lamm += dlamm;
      mu += dmu;
      lamp += dlamp;
      nu1m += dnu1m;
      nu2m += dnu2m;
      nu1p += dnu1p;
      nu2p -= dnu2p;
      thp -= dthp;
      for (int i = 0; i < n; ++i) {
        q2[i] += dq2[i];
        v2[i] += dv2[i];
      }
      const double change = std::max({dq2.cwiseAbs().maxCoeff(), dv2.cwiseAbs().maxCoeff(), dmu.cwiseAbs().maxCoeff(),
                                      dlamp.cwiseAbs().maxCoeff()});
      if (change < 2e-15) break;
    }
    EXPECT_LT(sweeps, 100);
    q1 = q2;
    v1 = v2;
    node = qbar;
    return mu;
  }

 private:
  struct Layer {
    VectorX minus, plus;                       // dh^-, dh^+
    MatrixX minus_q, minus_v, plus_q, plus_v;  // their derivatives
    VectorX action_q, action_v;                // of L_h
  };

  /// [a b^T; b 0] (x; y) = (f; s).
  static VectorX saddle(const MatrixX& a, const MatrixX& b, const VectorX& f, const VectorX& s, VectorX& y) {
    MatrixX k = MatrixX::Zero(n + m, n + m);
    k.topLeftCorner(n, n) = a;
    k.topRightCorner(n, m) = b.transpose();
    k.bottomLeftCorner(m, n) = b;
    VectorX right(n + m);
    right << f, s;
    const VectorX all = k.partialPivLu().solve(right);
    y = all.tail(m);
    return all.head(n);
  }

  VectorX constraint_at(const V& q) const {
    VectorX r(m);
    if constexpr (m > 0) {
      const auto g = system_.position_constraint(q);
      for (int k = 0; k < m; ++k) r[k] = g[k];
    }
    return r;
  }
  MatrixX jacobian(const V& q) const {
    MatrixX r(m, n);
    if constexpr (m > 0) {
      const auto g = position_constraint(system_, q);
      for (int k = 0; k < m; ++k)
        for (int i = 0; i < n; ++i) r(k, i) = g.jacobian[k][i];
    }
    return r;
  }
  MatrixX jacobian(const VectorX& q) const { return jacobian(from_eigen<n>(q)); }
  /// Second derivative of constraint k.
  MatrixX second(const V& q, int k) const {
    MatrixX r(n, n);
    if constexpr (m > 0) {
      using Outer = Dual<Dual<double, n>, n>;
      Vector<Outer, n> x;
      for (int i = 0; i < n; ++i) {
        x[i] = Outer(Dual<double, n>(q[i], i));
        x[i].partial[i] = Dual<double, n>(1.0);
      }
      const auto g = system_.position_constraint(x);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) r(i, j) = g[k].partial[i].partial[j];
    }
    return r;
  }
  MatrixX hessian_along(const V& q, const V& v) const {
    MatrixX r(m, n);
    for (int k = 0; k < m; ++k) r.row(k) = to_eigen(v).transpose() * second(q, k);
    return r;
  }
  MatrixX curvature(const VectorX& q, const VectorX& theta) const {
    MatrixX r = MatrixX::Zero(n, n);
    for (int k = 0; k < m && !drop_curvature; ++k) r += theta[k] * second(from_eigen<n>(q), k);
    return r;
  }
  MatrixX mass_of(const V& q) const {
    const auto mass = mass_matrix(system_, q, V::zero());
    MatrixX r(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) r(i, j) = mass[i][j];
    return r;
  }

  VectorX project(const VectorX& at, VectorX& theta) const {
    VectorX q = at, dtheta;
    theta = VectorX::Zero(m);
    for (int i = 0; i < 8 && m > 0; ++i) {
      const MatrixX g = jacobian(q);
      MatrixX a = MatrixX::Identity(n, n);
      for (int k = 0; k < m; ++k) a += theta[k] * second(from_eigen<n>(q), k);
      q += saddle(a, g, at - q - g.transpose() * theta, -constraint_at(from_eigen<n>(q)), dtheta);
      theta += dtheta;
    }
    return q;
  }
  /// p DP where the projection leads to q by theta.
  VectorX hat(const VectorX& p, const VectorX& q, const VectorX& theta) const {
    if (drop_curvature) return p;
    VectorX unused;
    return saddle(MatrixX::Identity(n, n) + curvature(q, theta), jacobian(q), p, VectorX::Zero(m), unused);
  }

  /// Accelerations from [M -G^T; -G 0] over any scalar.
  template <class S>
  Vector<S, n> acceleration(const Vector<S, n>& q, const Vector<S, n>& v) const {
    using System = typename P::System;
    const auto force = configuration_force<System, S>(system_, q, v);
    const auto turning =
        detail::derivative(momentum(system_, detail::along(q, v), detail::along(v, Vector<S, n>::zero())));
    const auto mass = mass_matrix<System, S>(system_, q, v);
    auto k = Matrix<S, n + m, n + m>::zero();
    Vector<S, n + m> right;
    for (int i = 0; i < n; ++i) {
      right[i] = force[i] - turning[i];
      for (int j = 0; j < n; ++j) k[i][j] = mass[i][j];
    }
    if constexpr (m > 0) {
      const auto g = position_constraint<System, S>(system_, q);
      const auto bend = detail::differentiated_curvature(system_, q, v);
      for (int c = 0; c < m; ++c) {
        right[n + c] = bend[c];
        for (int i = 0; i < n; ++i) k[i][n + c] = k[n + c][i] = -g.jacobian[c][i];
      }
    }
    return segment<0, n>(Factors<S, n + m>(k).solve(right));
  }
  template <class S>
  void runge_kutta(Vector<S, n>& q, Vector<S, n>& v, S& action, double t) const {
    Vector<S, n> dq[max_explicit_stages], dv[max_explicit_stages];
    S dl[max_explicit_stages];
    for (int i = 0; i < tableau_.stages; ++i) {
      dq[i] = v;
      auto x = q;
      for (int j = 0; j < i; ++j) {
        x = x + S(t * tableau_.a[i][j]) * dq[j];
        dq[i] = dq[i] + S(t * tableau_.a[i][j]) * dv[j];
      }
      dv[i] = acceleration(x, dq[i]);
      dl[i] = lagrangian(system_, x, dq[i]);
    }
    for (int i = 0; i < tableau_.stages; ++i) {
      q = q + S(t * tableau_.b[i]) * dq[i];
      v = v + S(t * tableau_.b[i]) * dv[i];
      action = action + S(t * tableau_.b[i]) * dl[i];
    }
  }
  void plain_step(V& q, V& v, double t) const {
    double action = 0.0;
    runge_kutta(q, v, action, t);
  }

  Layer layer(const V& q, const V& v, double h) const {
    Layer r;
    r.action_q = r.action_v = VectorX::Zero(n);
    for (const double bias : {bias_.minus, bias_.plus}) {
      auto x = seeded_configuration<Rn<n>, D>(q);
      auto y = seeded_velocity<D, n>(v);
      D action(0.0);
      runge_kutta(x, y, action, h * bias);
      VectorX end(n);
      MatrixX by_q(n, n), by_v(n, n);
      for (int i = 0; i < n; ++i) {
        end[i] = x[i].value;
        for (int j = 0; j < n; ++j) {
          by_q(i, j) = x[i].partial[j];
          by_v(i, j) = x[i].partial[n + j];
        }
      }
      const bool plus = bias == bias_.plus;
      (plus ? r.plus : r.minus) = end;
      (plus ? r.plus_q : r.minus_q) = by_q;
      (plus ? r.plus_v : r.minus_v) = by_v;
      for (int i = 0; i < n; ++i) {
        r.action_q[i] += (plus ? 1.0 : -1.0) * action.partial[i];
        r.action_v[i] += (plus ? 1.0 : -1.0) * action.partial[n + i];
      }
    }
    return r;
  }

  const ExplicitTableau& tableau_;
  Bias bias_;
  typename P::System system_ = P::system();
};

template <class P>
void compare(const char* base, Bias bias) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base << " " << bias.minus);
  StageFour<P> oracle(base, bias);
  const Numbers numbers(base, bias);
  const Conversion<P> step(P::system(), options, numbers);
  auto state = start<P>();
  auto q = P::q(), v = P::v();
  for (int k = 0; k < 40; ++k) {
    Vector<double, P::n> node_q, node_p;
    step.node(state, 0.05, node_q, node_p);
    VectorX node;
    const VectorX mu = oracle.step(q, v, 0.05, node);
    for (int i = 0; i < P::n; ++i) {
      EXPECT_NEAR(node[i], node_q[i], 1e-13);
      EXPECT_NEAR(mu[i], node_p[i], 1e-12);
    }
    advance(step, state, 0.05, 1);
    EXPECT_LT(max_norm(q - state.q), 1e-13) << k;
    EXPECT_LT(max_norm(v - velocity_of<P>(state)), 1e-12) << k;
  }
}

TEST(StageFour, HasTheSolutionOfTheConversion) {
  compare<KeplerOrbit>("rk4", symmetric);
  compare<SphericalSwing>("euler", forward);
  compare<SphericalSwing>("rk4", symmetric);
  compare<InField>("heun2", backward);
  compare<InField>("rk4", {-1.0 / 3, 2.0 / 3});
  compare<VariableMass>("heun2", forward);
  compare<VariableMass>("rk4", symmetric);
  compare<OnTorus>("rk3", forward);
  compare<Double>("heun2", symmetric);
}

// The control: without the curvature of the constraints in the derivative of the projection, momentum is lost.
TEST(StageFour, LosesMomentumWithoutTheCurvatureOfTheProjection) {
  const auto drift = [](bool drop) {
    StageFour<SphericalSwing> oracle("heun2", forward);
    oracle.drop_curvature = drop;
    auto q = SphericalSwing::q(), v = SphericalSwing::v();
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int k = 0; k < 300; ++k) {
      VectorX node;
      const VectorX mu = oracle.step(q, v, 0.1, node);
      const double spin = node[0] * mu[1] - node[1] * mu[0];
      least = std::min(least, spin);
      most = std::max(most, spin);
    }
    return most - least;
  };
  EXPECT_LT(drift(false), 1e-12);
  EXPECT_GT(drift(true), 1e-3);
}

/// The conversion of Euler's method for the pendulum L = v^2/2 + cos q with bias (-1/2, 1/2), where the first end comes from
/// Euler's method too or, as a control, from its adjoint, the implicit Euler method, as the paper words it.
class EulerPendulum {
  using D = Dual<double, 2>;
  using Pair = Eigen::Vector2d;

 public:
  explicit EulerPendulum(bool adjoint) : adjoint_(adjoint) {}

  Pair step(const Pair& w, double h) const {
    const Pair node = end(w, h, true);
    Pair next = w;
    for (int k = 0; k < 30; ++k) {
      Eigen::Matrix2d jacobian;
      for (int j = 0; j < 2; ++j) {
        const Pair e = 1e-6 * Pair::Unit(j);
        jacobian.col(j) = (end(next + e, h, false) - end(next - e, h, false)) / 2e-6;
      }
      next -= jacobian.partialPivLu().solve(end(next, h, false) - node);
    }
    return next;
  }

 private:
  static D lagrangian_at(const D& q, const D& v) { return D(0.5) * v * v + cos(q); }

  /// An end of the segment of w and the momentum there.
  Pair end(const Pair& w, double h, bool second) const {
    const D q(w[0], 0), v(w[1], 1), t(0.5 * h);
    const D plus = q + t * v;
    D x = q, y = v;
    for (int k = 0; adjoint_ && k < 60; ++k) {  // implicit Euler, of length -h/2
      x = q - t * y;
      y = v + t * sin(x);
    }
    const D minus = q - t * y, action = t * (lagrangian_at(q, v) + lagrangian_at(x, y));
    Eigen::Matrix2d matrix;
    matrix << -minus.partial[0], plus.partial[0], -minus.partial[1], plus.partial[1];
    const Pair momenta = matrix.partialPivLu().solve(Pair(action.partial[0], action.partial[1]));
    return second ? Pair(plus.value, momenta[1]) : Pair(minus.value, momenta[0]);
  }

  bool adjoint_;
};

TEST(AdjointOfTheBase, AtOneEndIsNotWhatMakesTheConversionSymmetric) {
  const Numbers numbers("rk6", symmetric);
  StateOfProblem<Angle> exact{{1.0}, {0.5}, {}};
  advance(Conversion<Angle>(Angle::system(), options, numbers), exact, 0.02, 50);
  for (const bool adjoint : {false, true}) {
    const EulerPendulum pendulum(adjoint);
    const auto error = [&](int steps) {
      Eigen::Vector2d w(1.0, 0.5);
      for (int k = 0; k < steps; ++k) w = pendulum.step(w, 1.0 / steps);
      return std::max(std::fabs(w[0] - exact.q[0]), std::fabs(w[1] - exact.p[0]));
    };
    EXPECT_NEAR(std::log2(error(40) / error(80)), adjoint ? 1.0 : 2.0, 0.05);
    const Eigen::Vector2d w(1.0, 0.5);
    const double defect = (pendulum.step(pendulum.step(w, 0.05), -0.05) - w).cwiseAbs().maxCoeff();
    if (adjoint) {
      EXPECT_NEAR(defect, 1.1e-3, 1e-4);
    } else {
      EXPECT_LT(defect, 1e-13);
    }
  }
  // the one with the same method at both ends is the product's
  const Numbers euler("euler", symmetric);
  StateOfProblem<Angle> state{{1.0}, {0.5}, {}};
  advance(Conversion<Angle>(Angle::system(), options, euler), state, 0.05, 1);
  const Eigen::Vector2d w = EulerPendulum(false).step({1.0, 0.5}, 0.05);
  EXPECT_NEAR(w[0], state.q[0], 1e-13);
  EXPECT_NEAR(w[1], state.p[0], 1e-13);
}

}  // namespace
