// Systems with explicit time and generalized forces against derivatives by hand, over double, packs and dual numbers.

#include <cmath>

#include "driven.hpp"
#include "lanes.hpp"
#include "named.hpp"
#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/methods/conversion/variational_conversion.hpp"
#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"
#include "rattleback/methods/lie/vcg.hpp"
#include "rattleback/methods/nonholonomic/dla.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"
#include "rattleback/tableaus/named_explicit.hpp"

namespace rattleback {
namespace {

/// L by its parts, a bead on a circle that moves and grows, and a force.
template <class T>
struct Bead {
  using scalar = T;
  static constexpr int n = 2, m = 1;
  T pull;

  template <class S>
  RB_HD Vector<S, 2> mass_matrix(const S& t, const Vector<S, 2>& q) const {
    return {S(1.0) + t * q[0], S(2.0) + t};
  }
  template <class S>
  RB_HD Vector<S, 2> vector_potential(const S& t, const Vector<S, 2>& q) const {
    return {t * q[1], sin(t) * q[0]};
  }
  template <class S>
  RB_HD S potential(const S& t, const Vector<S, 2>& q) const {
    return S(pull) * cos(t) * q[0] * q[1];
  }
  template <class S>
  RB_HD Vector<S, 2> force(const S& t, const Vector<S, 2>& q, const Vector<S, 2>& v) const {
    return {cos(t) - v[0], t * q[0] * v[1]};
  }
  template <class S>
  RB_HD Vector<S, 1> position_constraint(const S& t, const Vector<S, 2>& q) const {
    const S x = q[0] - t * t;
    return {x * x + q[1] * q[1] - S(1.0) - t};
  }
};

/// L = v.v/2 - U(q) without the time, where only the force knows it; one constraint of each kind.
template <class T>
struct Both {
  using scalar = T;
  static constexpr int n = 3, m = 2, positions = 1;

  template <class S>
  RB_HD S potential(const Vector<S, 3>& q) const {
    return q[0] * q[1];
  }
  template <class S>
  RB_HD Vector<S, 3> force(const S& t, const Vector<S, 3>&, const Vector<S, 3>& v) const {
    return {t, t * v[0], S(0.0)};
  }
  template <class S>
  RB_HD Vector<S, 1> position_constraint(const S& t, const Vector<S, 3>& q) const {
    return {q[0] * q[1] - t};
  }
  template <class S>
  RB_HD Vector<S, 1> constraint(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return {v[2] * v[2] - q[0] * v[1] - t * t};
  }
};

/// Neither time nor force.
template <class T>
struct Still {
  using scalar = T;
  static constexpr int n = 1, m = 0;
  template <class S>
  RB_HD S potential(const Vector<S, 1>& q) const {
    return q[0] * q[0];
  }
};

static_assert(driven<Bead<double>> && driven<Both<double>> && !driven<Still<double>>);
static_assert(timed<AtTime<Bead<double>>> && !timed<Bead<double>>);
static_assert(StatesParts<AtTime<Bead<double>>> && is_holonomic<AtTime<Bead<double>>>);
static_assert(Separable<AtTime<Both<double>>> && is_mixed<AtTime<Both<double>>> && !is_holonomic<AtTime<Both<double>>>);
static_assert(position_count<AtTime<Both<double>>> == 1 && velocity_count<AtTime<Both<double>>> == 1);

constexpr double t0 = 0.3, q0[] = {0.7, -0.4, 0.2}, v0[] = {1.1, 0.6, -0.9};

/// Numbers over S from those above.
template <class S, int n>
Vector<S, n> over(const double (&x)[3]) {
  Vector<S, n> r;
  for (int i = 0; i < n; ++i) r[i] = S(x[i]);
  return r;
}
double value(double x) { return x; }
double value(const Real& x) {
  for (int k = 1; k < width; ++k) EXPECT_EQ(lane(x, k), lane(x, 0));
  return lane(x, 0);
}
template <class T, int K>
double value(const Dual<T, K>& x) {
  return value(x.value);
}
template <class T, int N, int M>
void expect_near(const Vector<T, N>& x, const double (&by_hand)[M]) {
  static_assert(N == M);
  for (int i = 0; i < N; ++i) EXPECT_NEAR(value(x[i]), by_hand[i], 1e-14) << "entry " << i;
}

template <class T>
class Driven : public LaneTest {};
using Scalars = ::testing::Types<double, Real, Dual<double, 1>, Dual<Real, 1>>;
TYPED_TEST_SUITE(Driven, Scalars);

TYPED_TEST(Driven, HasTheDerivativesByHand) {
  using T = TypeParam;
  const double t = t0, x = q0[0], y = q0[1], u = v0[0], w = v0[1], pull = 1.5;
  const auto q = over<T, 2>(q0), v = over<T, 2>(v0);
  const Bead<T> bead{T(pull)};
  const auto system = at(bead, T(t));
  const double lag =
      0.5 * ((1 + t * x) * u * u + (2 + t) * w * w) + t * y * u + std::sin(t) * x * w - pull * std::cos(t) * x * y;
  EXPECT_NEAR(value(lagrangian(system, q, v)), lag, 1e-14);
  expect_near(momentum(system, q, v), {(1 + t * x) * u + t * y, (2 + t) * w + std::sin(t) * x});
  const double lx = 0.5 * t * u * u + std::sin(t) * w - pull * std::cos(t) * y, ly = t * u - pull * std::cos(t) * x,
               fx = std::cos(t) - u, fy = t * x * w;
  expect_near(system.applied_force(q, v), {fx, fy});
  expect_near(configuration_force(system, q, v), {lx + fx, ly + fy});
  // - L_vq v - L_vt
  expect_near(generalized_force(system, q, v),
              {lx + fx - (t * u * u + t * w) - (x * u + y), ly + fy - std::sin(t) * u - (w + std::cos(t) * x)});
  const double moved = x - t * t;
  expect_near(position_constraint(system, q).value, {moved * moved + y * y - 1 - t});
  expect_near(position_constraint(system, q).jacobian[0], {2 * moved, 2 * y});
  expect_near(constraint(system, q, v), {2 * moved * (u - 2 * t) + 2 * y * w - 1});
  expect_near(position_curvature(system, q, v), {2 * (u - 2 * t) * (u - 2 * t) - 4 * moved + 2 * w * w});
  expect_near(velocity(system, q, momentum(system, q, v)), {u, w});

  const auto of = [&](const auto& function) { return time_derivative(system, function, q, v); };
  const auto l_t = of([](const auto& s, const auto& a, const auto& b) { return lagrangian(s, a, b); });
  EXPECT_NEAR(value(l_t), 0.5 * (x * u * u + w * w) + y * u + std::cos(t) * x * w + pull * std::sin(t) * x * y, 1e-14);
  expect_near(of([](const auto& s, const auto& a, const auto& b) { return momentum(s, a, b); }),
              {x * u + y, w + std::cos(t) * x});
  expect_near(of([](const auto& s, const auto& a, const auto&) { return s.position_constraint(a); }),
              {-4 * t * moved - 1});
  EXPECT_NEAR(value(of([](const auto& s, const auto& a, const auto&) { return s.potential(a); })),
              -pull * std::sin(t) * x * y, 1e-14);
  EXPECT_NEAR(value(after(system, T(0.5)).time), 0.8, 1e-16);
}

TYPED_TEST(Driven, HasBothKindsOfConstraints) {
  using T = TypeParam;
  const double t = t0;
  const auto q = over<T, 3>(q0), v = over<T, 3>(v0);
  const auto system = at(Both<T>{}, T(t));
  expect_near(configuration_force(system, q, v), {-q0[1] + t, -q0[0] + t * v0[0], 0.0});
  expect_near(generalized_force(system, q, v), {-q0[1] + t, -q0[0] + t * v0[0], 0.0});
  expect_near(constraint(system, q, v), {v0[0] * q0[1] + q0[0] * v0[1] - 1, v0[2] * v0[2] - q0[0] * v0[1] - t * t});
  const auto forms = constraint_forms(system, q, v);
  expect_near(forms[0], {q0[1], q0[0], 0.0});
  expect_near(forms[1], {0.0, -q0[0], 2 * v0[2]});
  const auto phi = [](const auto& s, const auto& a, const auto& b) { return constraint(s, a, b); };
  expect_near(time_derivative(system, phi, q, v), {0.0, -2 * t});
  const double g = q0[0] * q0[1] - t, hidden = v0[0] * q0[1] + q0[0] * v0[1] - 1;
  const auto observed = evaluate_observables(system, q, v);
  EXPECT_NEAR(value(observed[1]), std::max(std::fabs(g), std::fabs(v0[2] * v0[2] - q0[0] * v0[1] - t * t)), 1e-14);
  EXPECT_NEAR(value(observed[2]), std::fabs(hidden), 1e-14);
}

/// Steps from times that differ between lanes, against the same steps lane by lane.
template <template <class> class SystemOf, class Method>
void expect_same_steps(const auto&... numbers) {
  using System = AtTime<SystemOf<double>>;
  using Systems = AtTime<SystemOf<Real>>;
  const auto time = [](int k) { return 0.0625 * k; };
  const auto from = [&](int k) {
    const auto system = at(SystemOf<double>{}, time(k));
    StateOf<double, System> state{SystemOf<double>::start_q(), {}, {}};
    const auto v = (1.0 + 0.0625 * k) * SystemOf<double>::start_v();
    state.p = momentum(system, state.q, v);
    if constexpr (System::m > 0) state.lambda = multipliers(system, state.q, v);
    return state;
  };
  StateOf<Real, Systems> pack;
  pack.q = vector_from_lanes<element_size<System>>([&](int k) { return from(k).q; });
  pack.p = vector_from_lanes<System::n>([&](int k) { return from(k).p; });
  if constexpr (System::m > 0) pack.lambda = vector_from_lanes<System::m>([&](int k) { return from(k).lambda; });
  const auto reports = typename Method::template of<Real, Systems>(
      at(SystemOf<Real>{}, from_lanes(time)), SolverOptions<Real>{Real(1e-14), 50, Real(1.0), true}, numbers...)(
      pack, Real(0.125));
  for (int k = 0; k < width; ++k) {
    auto one = from(k);
    const auto report = typename Method::template of<double, System>(
        at(SystemOf<double>{}, time(k)), SolverOptions<double>{1e-14, 50, 1.0, true}, numbers...)(one, 0.125);
    EXPECT_EQ(lane(reports.status, k), report.status);
    EXPECT_TRUE(same_bits(lane(pack.q, k), one.q)) << "lane " << k;
    EXPECT_TRUE(same_bits(lane(pack.p, k), one.p)) << "lane " << k;
    EXPECT_TRUE(same_bits(lane(pack.carried, k), one.carried)) << "lane " << k;
    EXPECT_NE(one.carried[0], 0.0) << "the work";
    if constexpr (System::m > 0) {
      EXPECT_TRUE(same_bits(lane(pack.lambda, k), one.lambda)) << "lane " << k;
    }
  }
}
template <class T>
using Top = DampedBody<T, ConstraintKind::none>;
template <int S>
struct Lobatto {
  template <class T, class System>
  using of = LobattoStep<T, System, Cay, S>;
};
template <GglScheme scheme>
struct Ggl {
  template <class T, class System>
  using of = GglStep<T, System, scheme>;
};
struct EnergyMomentum {
  template <class T, class System>
  using of = EnergyMomentumStep<T, System, GglScheme::energy_momentum>;
};
struct Hbvm2 {
  template <class T, class System>
  using of = Hbvm<T, System, 2>;
};
struct Base {
  template <class T, class System>
  using of = RungeKutta<T, System>;
};
struct Conversion {
  template <class T, class System>
  using of = VariationalConversion<T, System>;
};
struct MuntheKaas {
  template <class T, class System>
  using of = VrkmkStep<T, System, 2>;
};
struct CrouchGrossman {
  template <class T, class System>
  using of = VcgStep<T, System>;
};
struct Dla {
  template <class T, class System>
  using of = DlaStep<T, System, DlaLagrangian::midpoint, DlaConstraint::mid>;
};
struct Leapfrog {
  template <class T, class System>
  using of = LeapfrogStep<T, System>;
};
template <class T>
using Pivot = MovingPivot<T, true>;
template <class T>
using Rotor = DrivenTop<T>;
class DrivenSteps : public LaneTest {};
TEST_F(DrivenSteps, HaveTheBitsOfOneLane) {
  expect_same_steps<DampedWell, Lobatto<3>>();
  expect_same_steps<SphereAndDrive, Lobatto<2>>();
  expect_same_steps<DrivenSkate, Lobatto<3>>();
  expect_same_steps<Top, Lobatto<2>>();
  const GglNumbers theta{0.75, 0.25};
  expect_same_steps<Pivot, Ggl<GglScheme::vi_s>>();
  expect_same_steps<Pivot, Ggl<GglScheme::theta_b>>(theta);
  expect_same_steps<Pivot, EnergyMomentum>();
  const HbvmNumbers numbers = HbvmNumbers::of(2, {.k = 6});
  expect_same_steps<Pivot, Hbvm2>(numbers);
  expect_same_steps<DampedWell, Hbvm2>(numbers);
}
TEST_F(DrivenSteps, OfOtherFamiliesHaveTheBitsOfOneLane) {
  const ExplicitTableau& rk4 = *named(explicit_tableaus, "rk4");
  expect_same_steps<SphereAndDrive, Base>(RungeKuttaNumbers::of(rk4, true));
  expect_same_steps<MovingParts, Base>(RungeKuttaNumbers::of(rk4, true));
  expect_same_steps<Pivot, Conversion>(ConversionNumbers::of(rk4, -0.5, 0.5, ConversionState::segment));
  expect_same_steps<Rotor, MuntheKaas>(VrkmkNumbers<2>::of(StageIteration::sweeps, gauss_tableau(2), 2, false));
  expect_same_steps<Rotor, CrouchGrossman>(VcgNumbers::of(StageIteration::newton, crouch_grossman_sets[1]));
  expect_same_steps<DrivenSleigh, Dla>();
  expect_same_steps<DrivenSleigh, Leapfrog>();
  expect_same_steps<MotorOnSuslov, Dla>();
}

TEST(DrivenSystems, LeaveOtherSystemsAlone) {
  const Still<double> system;
  EXPECT_EQ(&at(system, 1.0), &system);
  EXPECT_EQ(&after(system, 1.0), &system);
  EXPECT_EQ(&running<double>(system), &system);
}

}  // namespace
}  // namespace rattleback
