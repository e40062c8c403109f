// What the systems state by hand against what follows from their Lagrangian and constraint; and systems of a user.

#include "rattleback/mechanics/system.hpp"

#include "hessian.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

/// The scalar of a quantity and its time derivative.
using Rate = Dual<double, 1>;

/// Acceleration of the continuous equations, d/dt L_v = L_q + ad*_v L_v + Phi_v^T lambda with Phi = 0, from the
/// Lagrangian alone.
template <class System, int n = System::n, int m = System::m>
Vector<double, n> acceleration(const System& system, const Configuration<System>& q, const Vector<double, n>& v) {
  using G = group_of<System>;
  Vector<Rate, n> constant;
  for (int i = 0; i < n; ++i) constant[i] = Rate(v[i]);
  const auto l = gradient<1, G>(lagrangian_of(system), moving<G>(q, v), constant);
  Vector<double, n> p, forces;
  for (int i = 0; i < n; ++i) {
    p[i] = l.dv[0][i].value;
    forces[i] = l.dq[0][i].value - l.dv[0][i].partial[0];
  }
  forces = forces + G::ad_star(v, p);
  if constexpr (m > 0) {
    const auto phi = gradient<m, G>(constraint_of(system), q, v);
    forces = forces + transpose_times(phi.dv, start(system, q, v).lambda);
  }
  return Factors<double, n>(mass_matrix(system, q, v)).solve(forces);
}

template <class Entry>
class SystemTest : public ::testing::Test {
 protected:
  template <class T>
  using SystemOf = typename Entry::template of<T>;
  using System = SystemOf<double>;
  static constexpr int n = System::n, m = System::m;

  /// Calls f(system, q, v) for systems with parameters about the default ones, and states on the constraint. Holonomic ones are
  /// not so far that there is no way back.
  template <class F>
  void at_random_points(F f) {
    constexpr double range = is_holonomic<System> ? 0.1 : 0.3, distance = is_holonomic<System> ? 0.1 : 0.5;
    for (int trial = 0; trial < 20; ++trial) {
      for (std::size_t i = 0; i < parameters.size(); ++i)
        parameters[i] = parameters_of<System>()[i].value * random.uniform(1.0 - range, 1.0 + range);
      const System system = make<double>();
      const auto state = random_start(system, random, distance);
      f(system, state.q, velocity(system, state.q, state.p));
    }
  }
  /// The system with the current parameters over another scalar.
  template <class T>
  SystemOf<T> make() const {
    return make_system<SystemOf<T>>([&](int i) { return T(parameters[i]); });
  }

  Random random{1};
  std::array<double, parameters_of<System>().size()> parameters;
};

TYPED_TEST_SUITE(SystemTest, CatalogueSystems, Names);

TYPED_TEST(SystemTest, DefaultStateSatisfiesTheConstraint) {
  using System = typename TestFixture::System;
  const auto phi = constraint(make_default<System>(), to_vector(System::default_q), to_vector(System::default_v));
  EXPECT_LE(max_norm(phi), 2e-16 * std::max(1.0, max_norm(to_vector(System::default_v))));
}

TYPED_TEST(SystemTest, ForceIsMinusTheGradientOfThePotential) {
  if constexpr (Separable<typename TestFixture::System>) {
    this->at_random_points([](const auto& system, const auto& q, const auto& v) {
      // the kinetic energy does not depend on q
      const auto l = gradient<1, group_of<typename TestFixture::System>>(lagrangian_of(system), q, v);
      EXPECT_LE(distance(force(system, q), l.dq[0]), 4e-15 * std::max(1.0, max_norm(l.dq[0])));
    });
  } else {
    GTEST_SKIP() << "the Lagrangian is not separable";
  }
}

TYPED_TEST(SystemTest, ConstraintIsItsMatrixTimesVelocityPlusOffset) {
  using System = typename TestFixture::System;
  constexpr int n = System::n, m = System::m;
  if constexpr (m > 0 && AffineConstraint<System>) {
    this->at_random_points([](const auto& system, const auto& q, const auto& v) {
      const auto phi = gradient<m, group_of<System>>(constraint_of(system), q, v);
      const Matrix<double, m, n> mu = system.constraint_matrix(q);
      EXPECT_LE(distance(phi.value, mu * v + constraint_offset(system, q)), 1e-15);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          EXPECT_EQ(phi.dv[i][j], mu[i][j]) << i << ", " << j;
          if (!ConstraintForms<System>::entry(i, j)) {
            EXPECT_EQ(mu[i][j], 0.0) << i << ", " << j;
          }
        }
    });
  } else {
    GTEST_SKIP() << "no constraint affine in the velocity";
  }
}

TYPED_TEST(SystemTest, EnergyFollowsFromTheLagrangian) {
  this->at_random_points([](const auto& system, const auto& q, const auto& v) {
    const auto l = gradient<1, group_of<typename TestFixture::System>>(lagrangian_of(system), q, v);
    EXPECT_LE(distance(momentum(system, q, v), l.dv[0]), 1e-15);
    const double expected = dot(v, l.dv[0]) - l.value[0];
    EXPECT_NEAR(energy(system, q, v), expected, 1e-14 * std::max(1.0, std::fabs(expected)));
  });
}

TYPED_TEST(SystemTest, VelocityInvertsMomentum) {
  this->at_random_points([](const auto& system, const auto& q, const auto& v) {
    EXPECT_LE(distance(velocity(system, q, momentum(system, q, v)), v), 4e-15 * std::max(1.0, max_norm(v)));
  });
}

// The observables over a scalar that carries time derivatives, along q' = q v, v' = acceleration.
TYPED_TEST(SystemTest, InvariantsAreConstantAlongTheContinuousFlow) {
  using System = typename TestFixture::System;
  constexpr int n = System::n;
  constexpr auto listed = observables<System>();
  this->at_random_points([&](const auto& system, const auto& q, const auto& v) {
    const Vector<double, n> a = acceleration(system, q, v);
    const auto moving_q = moving<group_of<System>>(q, v);
    Vector<Rate, n> moving_v;
    for (int i = 0; i < n; ++i) {
      moving_v[i].value = v[i];
      moving_v[i].partial[0] = a[i];
    }
    const auto system_over_rates = this->template make<Rate>();
    const auto rates = evaluate_observables(system_over_rates, moving_q, moving_v);
    for (int i = 0; i < int(listed.size()); ++i) {
      if (listed[i].conserved) {
        EXPECT_LE(std::fabs(rates[i].partial[0]), 2e-14 * std::max(1.0, max_norm(a))) << listed[i].name;
      } else if (std::string(listed[i].name) == "energy") {
        EXPECT_GE(std::fabs(rates[i].partial[0]), 1e-3) << "the energy is conserved, contrary to the description";
      }
    }
    if constexpr (System::m > 0) {
      const auto phi = constraint(system_over_rates, moving_q, moving_v);
      for (int k = 0; k < System::m; ++k) EXPECT_LE(std::fabs(phi[k].partial[0]), 1e-14 * std::max(1.0, max_norm(a)));
    }
  });
}

// --- systems as a user would write them, with no more than the methods need ---

/// Diagonal mass matrix; the force comes from the potential.
template <class T>
struct Oscillators {
  using scalar = T;
  T stiffness;
  static constexpr int n = 3, m = 1;
  static constexpr std::array<double, n> default_q{0.4, -0.3, 0.6}, default_v{0.5, 0.2, -0.1};

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(stiffness) * (square(q[0] * q[1]) + square(q[2])) - cos(q[1] - q[0]);
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {T(2.0), T(1.0), T(0.25)}; }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{S(1.0), sin(q[2]), q[0] * q[1]}}};
  }
};

/// Dense mass matrix, a rolling constraint on a moving support: Phi = mu(q) v + d(q).
template <class T>
struct Turntable {
  using scalar = T;
  T spin;
  static constexpr int n = 3, m = 1;
  static constexpr std::array<double, n> default_q{0.5, 0.1, -0.2}, default_v{0.3, 0.2, 0.1};

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * dot(q, q) + exp(S(-0.5) * q[0] * q[1]);
  }
  RB_HD Matrix<T, n, n> mass_matrix() const {
    return {{{T(2.0), T(0.5), T(0.1)}, {T(0.5), T(1.5), T(-0.3)}, {T(0.1), T(-0.3), T(1.0)}}};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{cos(q[2]), sin(q[2]), S(0.3)}}};
  }
  template <class S>
  RB_HD Vector<S, m> constraint_offset(const Vector<S, n>& q) const {
    return {S(spin) * (q[1] - q[0] * q[0])};
  }
};

/// Two constraints with zeros in their matrix, dense mass matrix, force by hand.
template <class T>
struct TwoConstraints {
  using scalar = T;
  T coupling;
  static constexpr int n = 4, m = 2;
  static constexpr std::array<double, n> default_q{0.2, 0.7, -0.4, 0.3}, default_v{0.3, 0.1, 0.4, -0.2};

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * dot(q, q) + S(coupling) * square(q[0] * q[3]);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    const S pull = S(2.0) * S(coupling) * q[0] * q[3];
    return {-q[0] - pull * q[3], -q[1], -q[2], -q[3] - pull * q[0]};
  }
  RB_HD Matrix<T, n, n> mass_matrix() const {
    return {{{T(1.0), T(0.2), T(0.0), T(0.1)},
             {T(0.2), T(2.0), T(0.3), T(0.0)},
             {T(0.0), T(0.3), T(1.5), T(-0.2)},
             {T(0.1), T(0.0), T(-0.2), T(0.8)}}};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{S(1.0), -q[1], S(0.0), S(0.0)}, {S(0.0), q[3], S(1.0), q[0]}}};
  }
  RB_HD static constexpr bool constraint_entry(int row, int column) { return row == 0 ? column < 2 : column > 0; }
};

template <class System>
class UserSystemTest : public ::testing::Test {
 protected:
  static constexpr int n = System::n, m = System::m;
  System system{0.7};
  Random random{2};
  PhaseState<double, n, m> state = random_start(system, random, 0.1);
};

using UserSystems = ::testing::Types<Oscillators<double>, Turntable<double>, TwoConstraints<double>>;
TYPED_TEST_SUITE(UserSystemTest, UserSystems);

TYPED_TEST(UserSystemTest, MassAndItsInverse) {
  const Mass<TypeParam> mass(this->system);
  constexpr int n = TypeParam::n;
  const auto kinetic = hessian<1>(lagrangian_of(this->system), this->state.q, this->state.p);
  for (int trial = 0; trial < 20; ++trial) {
    const auto v = this->random.template vector<n>(-1.0, 1.0);
    EXPECT_LE(distance(mass.times(v), kinetic.vv[0] * v), 1e-15);
    EXPECT_LE(distance(mass.inverse_times(mass.times(v)), v), 2e-15);
  }
}

TYPED_TEST(UserSystemTest, CondensedAndGeneralFormAreTheSameMethod) {
  static_assert(Condensable<TypeParam>);
  constexpr int n = TypeParam::n, m = TypeParam::m;
  for_stages<2, 4>([&]<class S>(S) {
    const CondensedLobatto<double, TypeParam, S::value> condensed(this->system, to_round_off);
    const GeneralLobatto<double, TypeParam, Cay, S::value> general(this->system, to_round_off);
    PhaseState<double, n, m> a = this->state, b = this->state;
    for (int k = 0; k < 50; ++k) {
      a = advance(condensed, a, 0.05, 1);
      b = advance(general, b, 0.05, 1);
      EXPECT_LE(distance(a, b), 1e-12) << "step " << k;
      EXPECT_LE(max_norm(constraint(this->system, a.q, velocity(this->system, a.q, a.p))), 1e-14);
      if (this->HasFailure()) return;
    }
    // the method moved
    EXPECT_GE(distance(a.q, this->state.q), 0.1);
  });
}

}  // namespace
}  // namespace rattleback
