// nonholonomic-energy: gold states, orders, energy and constraint to round-off, symmetry, several constraints, failures.

#include "rattleback/methods/nonholonomic/transport.hpp"

#include "nonholonomic_lobatto.hpp"
#include "rattleback/tableaus/compositions.hpp"

namespace rattleback {
namespace {

constexpr SolverOptions<double> solver{1e-16, 50};

/// The Chaplygin sleigh about its centre of mass: the motion contracts.
template <class T>
struct CentredSleigh {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::velocity;
  template <class S>
  RB_HD S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {T(1.0), T(1.0), T(0.5)}; }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    S s, c;
    sincos(q[2], s, c);
    return {{{-s, c, S(-0.4)}}};
  }
};

/// The roller racer: two constraints and a full mass matrix; the motion contracts.
template <class T>
struct Racer {
  using scalar = T;
  static constexpr int n = 4, m = 2;
  static constexpr auto kind = ConstraintKind::velocity;
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.1) * (q[0] * q[0] + q[1] * q[1]);
  }
  RB_HD Matrix<T, n, n> mass_matrix() const {
    auto r = Matrix<T, n, n>::zero();
    r[0][0] = r[1][1] = T(1.0);
    r[2][2] = T(0.45);
    r[2][3] = r[3][2] = r[3][3] = T(0.05);
    return r;
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    S s, c, s_2, c_2, s_3, c_3;
    sincos(q[2], s, c);
    sincos(q[2] + q[3], s_2, c_2);
    sincos(q[3], s_3, c_3);
    return {{{-s, c, S(0.0), S(0.0)}, {-s_2, c_2, fma(S(0.6), c_3, S(0.3)), S(0.3)}}};
  }
};
const Vector<double, 4> racer_q{0, 0, 0, 0.5}, racer_v{1, 0, 0, std::sin(0.5) / 0.3};

/// Three constraints, which turn with q.
template <class T>
struct ThreeConstraints {
  using scalar = T;
  static constexpr int n = 5, m = 3;
  static constexpr auto kind = ConstraintKind::velocity;
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * dot(q, q);
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{S(1.0), q[3], S(0.0), q[4], S(0.2)},
             {S(0.0), S(1.0), q[4], S(0.1), q[3]},
             {q[4], S(0.0), S(1.0), q[3], q[0]}}};
  }
};

template <class System>
struct Largest {
  double energy = 0.0, constraint = 0.0;
  /// Makes `steps` good steps and keeps the largest errors.
  Largest(const System& system, StateOf<double, System> state, double h, int steps) {
    const TransportStep<double, System> step(system, solver);
    const double before = rattleback::energy(system, state.q, velocity(system, state.q, state.p));
    for (int k = 0; k < steps; ++k) {
      state = advance(step, state, h, 1);
      const auto v = velocity(system, state.q, state.p);
      energy = std::max(energy, std::fabs(rattleback::energy(system, state.q, v) - before));
      constraint = std::max(constraint, max_norm(rattleback::constraint(system, state.q, v)));
    }
  }
};

/// The sweeps and Newton's method lead to the same state.
template <class System>
void expect_state(const System& system, const Vector<double, System::n>& q, const Vector<double, System::n>& v,
                  const std::vector<double>& gold, double energy) {
  const auto check = [&](const auto& step) {
    const auto state = advance(step, start(system, q, v), 0.1, 10);
    for (std::size_t i = 0; i < gold.size(); ++i) EXPECT_NEAR(state.q[int(i)], gold[i], 1e-13);
    EXPECT_NEAR(rattleback::energy(system, state.q, velocity(system, state.q, state.p)), energy, 1e-14);
  };
  check(TransportStep<double, System>(system, solver));
  check(GeneralTransport<double, System>(system, solver));
}

TEST(NonholonomicEnergy, HasTheGoldStates) {
  expect_state(Particle{}, {1, 0.5, 0}, {0.4, 0.8, 0.2},
               {1.0232802805697707, 0.94331803994763204, -0.0071320006662682742}, 1.045);
  expect_state(cvt, {1, 0, 1}, cvt_low, {0.83597120215393561, 1.5654118772143367, 1.1203155737753241}, 1.8);
  const Member member(13, 31);
  expect_state(Contact{}, member.q, member.v, {1.2595031573251156, 0.56960091286419822, 0.085745104359491446}, 3.06);
}

TEST(NonholonomicEnergy, SweepsThatDoNotContractAreNoSolution) {
  int refused = 0;
  for (int k = 0; k < 31; ++k) {
    const Member member(k, 31);
    auto state = start(Contact{}, member.q, member.v);
    const auto report = TransportSweeps<double, Contact>(Contact{}, solver)(state, 1.1);
    if (report.status == 0.0) {
      EXPECT_LT(report.residual, 1e-11) << k;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

/// The end of a motion in `steps` steps of a composition, which keeps the energy.
template <class System>
StateOf<double, System> composed(const System& system, const Composition& c, StateOf<double, System> state, double end,
                                 int steps) {
  const double before = energy(system, state.q, velocity(system, state.q, state.p));
  if (c.kind == Composition::Kind::plain) {
    state = advance(TransportStep<double, System>(system, solver), state, end / steps, steps);
  } else {
    const auto numbers = composition_numbers(c, false);
    state = advance(ComposedTransportStep<double, System>(system, solver, numbers), state, end / steps, steps);
  }
  EXPECT_NEAR(energy(system, state.q, velocity(system, state.q, state.p)), before, 3e-14);
  return state;
}

TEST(NonholonomicEnergy, HasTheErrorsAndOrdersOfItsCompositions) {
  const Vector<double, 3> exact{-0.93682153194653513, -0.62530832699889767, -0.28618286593039145};
  const double expected[] = {1.1482e-3, 6.387e-8, 3.04e-11};  // particle, h = 1/16, t = 5
  const Member member(13, 31);
  const auto particle = start(Particle{}, {1, 0.5, 0}, {0.4, 0.8, 0.2});
  const auto contact = start(Contact{}, member.q, member.v);
  const auto reference = composed(Contact{}, compositions[3], contact, 4.0, 128);
  for (int k = 0; k < 4; ++k) {
    const Composition& c = compositions[k];
    SCOPED_TRACE(c.name);
    if (k < 3) {
      EXPECT_NEAR(distance(composed(Particle{}, c, particle, 5.0, 80).q, exact), expected[k], 0.01 * expected[k]);
    }
    const int steps = k < 2 ? 64 : k == 2 ? 16 : 8;
    const auto error = [&](int n) { return distance(composed(Contact{}, c, contact, 4.0, n).q, reference.q); };
    EXPECT_NEAR(std::log2(error(steps) / error(2 * steps)), c.order, c.order < 6 ? 0.03 : 0.2);
  }
}

TEST(NonholonomicEnergy, KeepsEnergyAndConstraint) {
  const auto expect = [](const auto& system, const auto& q, const auto& v, double h, int steps, double bound) {
    const Largest largest(system, start(system, q, v), h, steps);
    EXPECT_LT(largest.energy, bound);
    EXPECT_LT(largest.constraint, 5e-15);
  };
  const Member member(13, 31);
  expect(Contact{}, member.q, member.v, 0.1, 3000, 2e-14);
  expect(Printed{}, member.q, member.v, 0.1, 1000, 2e-14);
  expect(CentredSleigh<double>{}, Vector<double, 3>{0, 0, 0}, Vector<double, 3>{0.5, 0.4, 1}, 0.05, 2000, 4e-15);
  expect(Racer<double>{}, racer_q, racer_v, 0.05, 2000, 2e-14);
  Vector<double, 5> v{0.3, -0.2, 0.5, 0.4, -0.6};
  const Vector<double, 5> q{0.2, -0.1, 0.3, 0.5, -0.4};
  const ThreeConstraints<double> three;
  EXPECT_TRUE(detail::project_velocity(three, q, v, 1e-14));
  expect(three, q, v, 0.1, 1000, 2e-14);
}

// The rounding of an angle that has turned often is that of its size: errors of single steps must not add up.
TEST(NonholonomicEnergy, KeepsTheEnergiesOfACvtThatHasTurnedOften) {
  const double turned = 2e5;
  const TransportStep<double, Cvt> step(cvt, solver);
  auto state = start(cvt, {1, turned, 1}, Vector<double, 3>{0, std::sqrt(8.0), 0});
  EXPECT_TRUE(detail::project_velocity(cvt, state.q, state.p, 1e-14));
  const auto driver = [](const auto& s) {
    return 0.5 * s.p[1] * s.p[1] - std::cos(s.q[1]) + 0.25 * std::sin(2 * s.q[1]);
  };
  const auto passenger = [](const auto& s) {
    return 0.5 * (s.p[0] * s.p[0] + s.p[2] * s.p[2] + s.q[0] * s.q[0] + s.q[2] * s.q[2]);
  };
  const double driver_before = driver(state), passenger_before = passenger(state);
  double lost = 0.0, gained = 0.0;
  for (int k = 0; k < 2000; ++k) {
    state = advance(step, state, 0.1, 1);
    lost = std::max(lost, std::fabs(driver(state) - driver_before));
    gained = std::max(gained, std::fabs(passenger(state) - passenger_before));
  }
  EXPECT_LT(lost, 1e-10);  // the rounding of one position is 1.5e-11; 2000 of them would add up to 1e-9
  EXPECT_LT(gained, 2e-14);
}

TEST(NonholonomicEnergy, IsSymmetric) {
  const auto expect = [](const auto& system, const auto& q, const auto& v) {
    using System = std::remove_cvref_t<decltype(system)>;
    const TransportStep<double, System> step(system, solver);
    const auto first = start(system, q, v);
    auto there = advance(step, first, 0.1, 20);
    EXPECT_GT(distance(there.q, first.q), 0.1);
    auto turned = there;
    turned.p = -there.p;
    const auto back = advance(step, turned, 0.1, 20);
    EXPECT_LE(distance(back.q, first.q), 1e-13);
    EXPECT_LE(distance(-back.p, first.p), 1e-13);
    there = advance(step, there, -0.1, 20);
    EXPECT_LE(distance(there.q, first.q), 1e-13);
    EXPECT_LE(distance(there.p, first.p), 1e-13);
  };
  const Member member(13, 31);
  expect(Contact{}, member.q, member.v);
  expect(Racer<double>{}, racer_q, racer_v);
}

struct Mixed : Racer<double> {
  template <class S>
  RB_HD Matrix<S, 2, 4> constraint_matrix(const Vector<S, 4>& q) const {
    const auto rows = Racer<double>::constraint_matrix(q);
    const S a = S(1.0) + q[0] * q[0];
    return {{a * rows[0] + S(0.5) * rows[1], rows[1] - q[3] * rows[0]}};
  }
};

// The step depends on the constraint, not on the rows that state it.
TEST(NonholonomicEnergy, TakesAnyRowsOfAConstraint) {
  const auto one =
      advance(TransportStep<double, Racer<double>>({}, solver), start(Racer<double>{}, racer_q, racer_v), 0.1, 20);
  const auto other = advance(TransportStep<double, Mixed>({}, solver), start(Mixed{}, racer_q, racer_v), 0.1, 20);
  EXPECT_LE(distance(one.q, other.q), 1e-13);
  EXPECT_LE(distance(one.p, other.p), 1e-13);
}

struct Turning : Particle {
  template <class S>
  RB_HD S potential(const Vector<S, 3>&) const {
    return S(0.0);
  }
  template <class S>
  RB_HD Matrix<S, 1, 3> constraint_matrix(const Vector<S, 3>& q) const {
    S s, c;
    sincos(S(2.0 * M_PI) * q[0], s, c);
    return {{{S(0.0), s, c}}};
  }
};

// A constraint that turns by 180 degrees in half a step leaves no plane to turn in.
TEST(NonholonomicEnergy, FailsWhereTheConstraintTurnsTooFar) {
  auto state = start(Turning{}, {0, 0, 0}, {1, 0.3, 0});
  EXPECT_EQ((TransportStep<double, Turning>({}, solver)(state, 1.0).status), double(status_singular));
}

struct Driven : Particle {
  template <class S>
  RB_HD Vector<S, 1> constraint_offset(const Vector<S, 3>&) const {
    return {S(0.1)};
  }
};
TEST(NonholonomicEnergy, TakesConstantMassAndLinearConstraints) {
  static_assert(TakesTransport<Particle> && TakesTransport<Contact> && TakesTransport<Racer<double>>);
  static_assert(!TakesTransport<Sleigh>);      // M(q)
  static_assert(!TakesTransport<Isokinetic>);  // not linear in v
  static_assert(!TakesTransport<Galactic>);    // no constraint
  static_assert(!TakesTransport<Driven>);
}

}  // namespace
}  // namespace rattleback
