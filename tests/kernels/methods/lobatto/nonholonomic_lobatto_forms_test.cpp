// Nonholonomic Lobatto IIIA-IIIB: other forms of the same map written independently; steps that fail say so.

#include <limits>

#include "nonholonomic_lobatto.hpp"

namespace rattleback {
namespace {

/// H = |p|^2/2 + (x^2 + y^2)/2, Psi = pz - y px.
struct ParticleHamiltonian {
  using System = Particle;
  static Vec dp(const Vec&, const Vec& p) { return p; }
  static Vec dq(const Vec& q, const Vec&) { return Vec{{q[0], q[1], 0.0}}; }
  static Mat mass(const Vec&) { return Mat::Identity(3, 3); }
  static double psi(const Vec& q, const Vec& p) { return p[2] - q[1] * p[0]; }
  static Vec psi_p(const Vec& q, const Vec&) { return Vec{{-q[1], 0.0, 1.0}}; }
};

/// With the momenta along and across the blade, pu and pn, and the angular velocity w = (p_theta - a pn)/I,
/// H = (pu^2 + pn^2)/2M + I w^2/2 and Psi = pn/M - a w.
struct SleighHamiltonian {
  using System = Sleigh;
  static constexpr double M = 1.0, I = 0.5, a = 0.4;
  struct Body {
    double s, c, u, across, w;
    Body(const Vec& q, const Vec& p) : s(std::sin(q[2])), c(std::cos(q[2])) {
      const double pn = p[1] * c - p[0] * s;
      u = (p[0] * c + p[1] * s) / M;
      w = (p[2] - a * pn) / I;
      across = pn / M - a * w;
    }
  };
  static Vec dp(const Vec& q, const Vec& p) {
    const Body b(q, p);
    return Vec{{b.u * b.c - b.across * b.s, b.u * b.s + b.across * b.c, b.w}};
  }
  static Vec dq(const Vec& q, const Vec& p) {
    const Body b(q, p);
    return Vec{{0.0, 0.0, a * M * b.u * b.w}};
  }
  static Mat mass(const Vec& q) {
    const double s = std::sin(q[2]), c = std::cos(q[2]);
    return Mat{{M, 0.0, -M * a * s}, {0.0, M, M * a * c}, {-M * a * s, M * a * c, I + M * a * a}};
  }
  static double psi(const Vec& q, const Vec& p) { return Body(q, p).across; }
  static Vec psi_p(const Vec& q, const Vec&) {
    const double per_pn = 1 / M + a * a / I;
    return Vec{{-std::sin(q[2]) * per_pn, std::cos(q[2]) * per_pn, -a / I}};
  }
};

/// Eq. (15): unknowns P_1..P_s, Q_2..Q_s, Lambda_2..Lambda_s.
template <class Hamiltonian, int S>
class HamiltonianForm {
  static constexpr int n = 3;

 public:
  StepReport<double> operator()(PhaseState<double, n, 1>& state, double h) const {
    constexpr auto t = lobatto_pair<S>();
    const Vec q0 = to_eigen(state.q), p0 = to_eigen(state.p);
    struct Stages {
      Vec P[S], Q[S], Pbar[S];
      double lambda[S];
      Vec residual;
    };
    const auto stages = [&](const Vec& x) {
      Stages y;
      Vec V[S], W[S];
      for (int i = 0; i < S; ++i) {
        y.P[i] = x.segment(n * i, n);
        y.Q[i] = i == 0 ? q0 : Vec(x.segment(n * (S + i - 1), n));
        y.lambda[i] = i == 0 ? state.lambda[0] : x[n * (2 * S - 1) + i - 1];
        V[i] = Hamiltonian::dp(y.Q[i], y.P[i]);
        W[i] = Hamiltonian::dq(y.Q[i], y.P[i]) -
               Hamiltonian::mass(y.Q[i]) * Hamiltonian::psi_p(y.Q[i], y.P[i]) * y.lambda[i];
      }
      y.residual.resize(x.size());
      for (int i = 0; i < S; ++i) {
        Vec p = p0, q = q0;
        y.Pbar[i] = p0;
        for (int j = 0; j < S; ++j) {
          p -= h * t.ah[i][j] * W[j];
          q += h * t.a[i][j] * V[j];
          y.Pbar[i] -= h * t.a[i][j] * W[j];
        }
        y.residual.segment(n * i, n) = y.P[i] - p;
        if (i == 0) continue;
        y.residual.segment(n * (S + i - 1), n) = y.Q[i] - q;
        y.residual[n * (2 * S - 1) + i - 1] = Hamiltonian::psi(y.Q[i], y.Pbar[i]);
      }
      return y;
    };
    Vec guess(n * (2 * S - 1) + S - 1);
    for (int i = 0; i < S; ++i) guess.segment(n * i, n) = p0;
    for (int i = 0; i < S - 1; ++i) guess.segment(n * (S + i), n) = q0;
    guess.tail(S - 1).setConstant(state.lambda[0]);
    const Stages end = stages(solve_numerically([&](const Vec& x) { return stages(x).residual; }, guess));
    state = {from_eigen<n>(end.Q[S - 1]), from_eigen<n>(end.Pbar[S - 1]), {end.lambda[S - 1]}};
    return {0.0, 0.0, 0.0};
  }
};

/// Expects two integrators to take the same steps, 50 of size 0.1 along a trajectory.
template <class A, class B, class State>
void expect_same_map(const A& a, const B& b, State state, double tolerance) {
  for (int k = 0; k < 50; ++k) {
    const State other = advance(b, state, 0.1, 1);
    state = advance(a, state, 0.1, 1);
    ASSERT_LE(distance(state, other), tolerance) << "step " << k;
  }
}

template <class Hamiltonian>
class HamiltonianFormTest : public ::testing::Test {};
using Hamiltonians = ::testing::Types<ParticleHamiltonian, SleighHamiltonian>;
TYPED_TEST_SUITE(HamiltonianFormTest, Hamiltonians);

TYPED_TEST(HamiltonianFormTest, IsTheSameMap) {
  using System = typename TypeParam::System;
  const auto system = make_default<System>();
  for_stages<2, 3, 4, 5>([&](auto s) {
    expect_same_map(LobattoStep<double, System, Cay, s()>(system, to_round_off), HamiltonianForm<TypeParam, s()>{},
                    default_start(system), 1e-12);
  });
}

/// The method with s = 2 for unit mass: a velocity Verlet step whose second half kick carries the multiplier that puts
/// the new momentum on the constraint.
struct ExplicitContact {
  static Vec force(const Vec& q) {
    Vec f = -q;
    for (int i = 0; i < 3; ++i) {
      f[1 + i] -= q[1 + i] * q[4 + i] * q[4 + i];
      f[4 + i] -= q[1 + i] * q[1 + i] * q[4 + i];
    }
    f[4] -= q[4] * q[5] * q[5];
    f[5] -= q[5] * q[4] * q[4];
    return f;
  }
  static Vec mu(const Vec& q) { return Vec{{1.0, 0.0, 0.0, 0.0, q[1], q[2], q[3]}}; }

  StepReport<double> operator()(PhaseState<double, 7, 1>& state, double h) const {
    Vec q = to_eigen(state.q), p = to_eigen(state.p);
    p += h / 2 * (force(q) + mu(q) * state.lambda[0]);
    q += h * p;
    p += h / 2 * force(q);
    const double lambda = -mu(q).dot(p) / (h / 2 * mu(q).squaredNorm());
    p += h / 2 * lambda * mu(q);
    state = {from_eigen<7>(q), from_eigen<7>(p), {lambda}};
    return {0.0, 0.0, 0.0};
  }
};

TEST(Forms, TwoStagesAreExplicit) {
  const Member member(13, 31);
  const auto state = start(Contact{}, member.q, member.v);
  const CondensedLobatto<double, Contact, 2> condensed(Contact{}, to_round_off);
  const GeneralLobatto<double, Contact, Cay, 2> general(Contact{}, to_round_off);
  expect_same_map(ExplicitContact{}, condensed, state, round_off<2>);
  expect_same_map(ExplicitContact{}, general, state, round_off<2>);
  auto next = state;
  EXPECT_EQ(condensed(next, 0.1).iterations, 1.0);
}

TEST(Forms, FunctionalIterationAndNewtonFindTheSameStep) {
  const auto expect = [](const auto& system, const auto& state) {
    using System = std::remove_cvref_t<decltype(system)>;
    for_stages<2, 3, 4, 5>([&](auto s) {
      expect_same_map(CondensedLobatto<double, System, s()>(system, to_round_off),
                      GeneralLobatto<double, System, Cay, s()>(system, to_round_off), state, round_off<s()>);
    });
  };
  expect(Particle{}, default_start(Particle{}));
  expect(cvt, default_start(cvt));
  expect(Galactic{}, default_start(Galactic{}));
  const Member member(13, 31);
  expect(Contact{}, start(Contact{}, member.q, member.v));
  expect(Printed{}, start(Printed{}, member.q, member.v));
}

// --- steps that fail say so ---

/// A constraint matrix that vanishes at q = 0.
template <class T>
struct Degenerate {
  using scalar = T;
  static constexpr int n = 2, m = 1;
  template <class S>
  RB_HD S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{q[0], q[1]}}};
  }
};

TEST(Failure, HasAStatus) {
  const auto status = [](const auto& step, auto state, double h) { return step(state, h).status; };
  const auto sleigh = make_default<Sleigh>();
  for_stages<2, 3, 4, 5>([&](auto s) {
    const CondensedLobatto<double, Contact, s()> condensed(Contact{}, to_round_off);
    const GeneralLobatto<double, Sleigh, Cay, s()> general(sleigh, to_round_off);
    auto state = start(Contact{}, Member(13, 31).q, Member(13, 31).v);
    auto sliding = default_start(sleigh);
    EXPECT_EQ(status(condensed, state, 0.1), status_good);
    EXPECT_EQ(status(general, sliding, 0.1), status_good);
    EXPECT_NE(status(condensed, state, 1e200), status_good);
    EXPECT_NE(status(general, sliding, 1e200), status_good);
    const SolverOptions<double> once{1e-14, 1};
    const double expected = s() == 2 ? status_good : status_not_converged;
    EXPECT_EQ(status(CondensedLobatto<double, Contact, s()>(Contact{}, once), state, 0.1), expected);
    EXPECT_EQ(status(GeneralLobatto<double, Sleigh, Cay, s()>(sleigh, once), sliding, 0.1), status_not_converged);

    const PhaseState<double, 2, 1> at_rest{{0.0, 0.0}, {0.0, 0.0}, {0.0}};
    using Flat = Degenerate<double>;
    EXPECT_EQ(status(CondensedLobatto<double, Flat, s()>({}, to_round_off), at_rest, 0.1), status_singular);
    EXPECT_EQ(status(GeneralLobatto<double, Flat, Cay, s()>({}, to_round_off), at_rest, 0.1), status_singular);

    state.p[0] = sliding.p[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(status(condensed, state, 0.1), status_good);
    EXPECT_NE(status(general, sliding, 0.1), status_good);
  });
}

}  // namespace
}  // namespace rattleback
