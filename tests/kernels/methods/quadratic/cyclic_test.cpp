// Systems with cyclic coordinates: the Lobatto and GGL steps of the Routhian are those of the whole system.

#include "rattleback/methods/ggl/ggl.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/cylindrical_pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "rattleback/systems/unconstrained/magnetic_polar.hpp"
#include "sweeps.hpp"

namespace rattleback {
namespace {

/// Coordinates a, x, y, b: L depends on x and y alone. M couples x with y by a constant, and a with b by functions of x and y.
template <class T>
struct TwoOfFour {
  using scalar = T;
  static constexpr int n = 4, m = 0;
  static constexpr auto kind = ConstraintKind::none;
  static constexpr std::array<int, 2> active{1, 2};
  static constexpr bool is_shape(int i) { return i == 1 || i == 2; }
  static constexpr bool mass_entry(int i, int j) { return is_shape(i) == is_shape(j); }
  static constexpr bool mass_varies(int i, int j, int) { return !is_shape(i) && !is_shape(j); }
  static constexpr bool vector_potential_varies(int i, int) { return !is_shape(i); }

  template <class S>
  RB_HD Matrix<S, n, n> mass_matrix(const Vector<S, n>& q) const {
    const S x = q[1], y = q[2], zero(0.0);
    auto mass = Matrix<S, n, n>{};
    for (int i = 0; i < n; ++i) mass[i] = {zero, zero, zero, zero};
    mass[1][1] = S(1.5);
    mass[2][2] = S(0.8);
    mass[1][2] = mass[2][1] = S(0.3);
    mass[0][0] = S(2.0) + x * x + y * y;
    mass[3][3] = S(1.0) + S(0.5) * x * x;
    mass[0][3] = mass[3][0] = S(0.4) * x * y;
    return mass;
  }
  template <class S>
  RB_HD Vector<S, n> vector_potential(const Vector<S, n>& q) const {
    return {S(0.5) * q[1] * q[1] - q[2], S(0.25), S(-0.5), q[1] * q[2]};
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * q[1] * q[1] + S(0.25) * q[2] * q[2] * q[2] * q[2] + S(0.1) * q[1] * q[2];
  }
};

/// The same with one constant entry of M between a shape coordinate and a cyclic one.
template <class T>
struct Mixed : TwoOfFour<T> {
  static constexpr bool mass_entry(int i, int j) {
    return TwoOfFour<T>::mass_entry(i, j) || (i == 0 && j == 1) || (i == 1 && j == 0);
  }
};

/// The same with M and A that vary for shape coordinates, too: the Routhian is not separable.
template <class T>
struct Bent : TwoOfFour<T> {
  static constexpr int n = 4;
  static constexpr bool mass_varies(int i, int j, int) { return TwoOfFour<T>::mass_entry(i, j); }
  static constexpr bool vector_potential_varies(int, int) { return true; }

  template <class S>
  RB_HD Matrix<S, n, n> mass_matrix(const Vector<S, n>& q) const {
    auto mass = TwoOfFour<T>::mass_matrix(q);
    mass[1][1] = S(1.5) + q[1] * q[2];
    mass[1][2] = mass[2][1] = S(0.3) * q[2];
    return mass;
  }
  template <class S>
  RB_HD Vector<S, n> vector_potential(const Vector<S, n>& q) const {
    auto a = TwoOfFour<T>::vector_potential(q);
    a[1] = S(0.5) * q[2] * q[2];
    a[2] = -q[1] * q[2];
    return a;
  }
};

/// The same on an ellipse of the shape coordinates.
template <class T>
struct OnEllipse : Bent<T> {
  static constexpr int n = 4, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;
  static constexpr bool constraint_entry(int, int column) { return TwoOfFour<T>::is_shape(column); }

  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {S(0.5) * (q[1] * q[1] + S(2.0) * q[2] * q[2] - S(0.81))};
  }
};

/// A constraint that may depend on all coordinates: none is cyclic.
template <class T>
struct OnSurface : OnEllipse<T> {
  static constexpr bool constraint_entry(int, int) { return true; }
};

static_assert(SeparableRouthian<TwoOfFour<double>> && SeparableRouthian<MagneticPolar<double>>);
static_assert(HasRouthian<Bent<double>> && !SeparableRouthian<Bent<double>> && HasRouthian<OnEllipse<double>>);
static_assert(HasRouthian<CylindricalPendulum<double>>);
static_assert(!HasRouthian<Mixed<double>> && !HasRouthian<ChaplyginSleigh<double>> && !HasRouthian<OnSurface<double>>);

/// A state that is on the ellipse with its velocity.
template <class System>
StateOf<double, System> start() {
  const Vector<double, 4> q{0.3, 0.7, -0.4, 0.1};
  StateOf<double, System> state{q, momentum(System{}, q, {0.5, 0.48, 0.42, 0.4}), {}};
  for (int k = 0; k < System::m; ++k) state.lambda[k] = 0.0;
  return state;
}

template <class System>
class CyclicTest : public testing::Test {};
using CyclicSystems = testing::Types<TwoOfFour<double>, Bent<double>, OnEllipse<double>>;
TYPED_TEST_SUITE(CyclicTest, CyclicSystems);

TYPED_TEST(CyclicTest, StepsOfTheRouthianAreTheGeneralForm) {
  using System = TypeParam;
  for_stages<2, 3, 4, 5>([&](auto s) {
    SCOPED_TRACE(s());
    expect_the_same_map(start<System>(), LobattoStep<double, System, Cay, s()>(System{}, to_round_off),
                        GeneralLobatto<double, System, Cay, s()>(System{}, to_round_off), 0.1, s());
  });
}

TYPED_TEST(CyclicTest, MomentaStayToTheBit) {
  using System = TypeParam;
  for_stages<2, 4>([&](auto s) {
    const LobattoStep<double, System, Cay, s()> step(System{}, {1e-15, 50});
    auto state = start<System>();
    const auto p = state.p;
    for (int i = 0; i < 200; ++i) ASSERT_EQ(step(state, 0.1).status, double(status_good));
    EXPECT_EQ(state.p[0], p[0]);
    EXPECT_EQ(state.p[3], p[3]);
    EXPECT_NE(state.p[1], p[1]);
  });
}

/// What a step keeps besides the state.
struct Kept {
  Vector<double, 1>& gamma;
  Vector<double, 4>&v, &q, &p;
  bool wanted() const { return true; }
  void put(bool, const Vector<double, 1>& of_gamma, const Vector<double, 4>& of_v, const Vector<double, 4>& of_q,
           const Vector<double, 4>& of_p) const {
    gamma = of_gamma;
    v = of_v;
    q = of_q;
    p = of_p;
  }
};

template <GglScheme scheme>
void expect_ggl_of_the_whole(const auto... numbers) {
  using System = OnEllipse<double>;
  static_assert(detail::ReducesGgl<System, scheme>);
  const GglStep<double, System, scheme> step(System{}, to_round_off, numbers...);
  const GeneralGgl<double, System, scheme> general(System{}, to_round_off, numbers...);
  expect_the_same_map(start<System>(), step, general, 0.1);
  auto a = start<System>(), b = a;
  const auto p = a.p;
  Vector<double, 1> gamma[2];
  Vector<double, 4> kept[2][3];
  for (int k = 0; k < 20; ++k) {
    ASSERT_EQ(step(a, 0.1, Kept{gamma[0], kept[0][0], kept[0][1], kept[0][2]}).status, double(status_good));
    ASSERT_EQ(general(b, 0.1, Kept{gamma[1], kept[1][0], kept[1][1], kept[1][2]}).status, double(status_good));
  }
  EXPECT_LE(distance(gamma[0], gamma[1]), 1e-13);
  for (int i = 0; i < 3; ++i) EXPECT_LE(distance(kept[0][i], kept[1][i]), 1e-13) << i;
  for (const int c : {0, 3}) EXPECT_NEAR(a.p[c], p[c], 1e-15);  // Newton's method may take a step
}

TEST(Cyclic, GglStepsOfTheRouthianAreTheGeneralForm) {
  expect_ggl_of_the_whole<GglScheme::vi_s>();
  expect_ggl_of_the_whole<GglScheme::theta_a>(ggl_vi_a_numbers);
  expect_ggl_of_the_whole<GglScheme::theta_b>(ggl_vi_bs_numbers);
  expect_ggl_of_the_whole<GglScheme::theta_b>(ggl_vi_b_numbers);
}

/// Where the functional iteration does not contract, Newton's method takes the step.
TEST(Cyclic, LargeStepsAreHandedOver) {
  const auto system = make_default<MagneticPolar<double>>();
  using System = MagneticPolar<double>;
  const LobattoStep<double, System, Cay, 3> step(system, {1e-15, 50});
  const GeneralLobatto<double, System, Cay, 3> general(system, {1e-15, 50});
  int handed_over = 0;
  for (const double h : {0.5, 1.0, 2.0, 3.0, 5.0}) {
    auto a = default_start(system), b = a;
    const auto report = step(a, h), other = general(b, h);
    EXPECT_EQ(report.status, other.status) << h;
    if (other.status == double(status_good)) EXPECT_LE(distance(a.q, b.q), 1e-11) << h;
    if (report.iterations > 50.0) ++handed_over;
  }
  EXPECT_GE(handed_over, 1);
}

TEST(Cyclic, ASingularMassHasAStatus) {
  const auto system = make_default<MagneticPolar<double>>();
  for_stages<2, 3>([&](auto s) {
    const LobattoStep<double, MagneticPolar<double>, Cay, s()> step(system, {1e-15, 50});
    StateOf<double, MagneticPolar<double>> at_zero{{0.0, 0.2}, {0.5, 0.1}, {}};
    EXPECT_EQ(step(at_zero, 0.01).status, double(status_singular));
  });
}

}  // namespace
}  // namespace rattleback
