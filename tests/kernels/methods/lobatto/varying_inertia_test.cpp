// Inertia that depends on the configuration, on a group: the sweeps beside the general form.

#include "rattleback/lie/product.hpp"
#include "rattleback/lie/so3.hpp"
#include "sweeps.hpp"

namespace rattleback {
namespace {

enum class Held { nothing, wheel, slope };

/// A rigid body with a mass that slides along the body's first axis on a spring, in gravity, and a field A(g). Held by nothing,
/// by a wheel (a velocity constraint that depends on R), or with the mass at the height of a multiple of its position.
template <class T, Held held>
struct SlidingMass {
  using scalar = T;
  using Group = Product<SO3, Rn<1>>;
  T moment_1{1.0}, moment_2{1.4}, moment_3{1.9}, mass{0.5}, gravity{0.7}, field{0.3};

  static constexpr int n = 4, m = held == Held::nothing ? 0 : 1, elements = Group::element_size;
  static constexpr auto kind = held == Held::nothing ? ConstraintKind::none
                               : held == Held::slope ? ConstraintKind::holonomic
                                                     : ConstraintKind::velocity;
  static constexpr int x = 9;
  static constexpr std::array<double, elements> default_q{0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6, 0.8};
  static constexpr std::array<double, n> default_v{0.5, -0.3, 0.8, 0.2};

  template <class S>
  RB_HD Matrix<S, n, n> mass_matrix(const Vector<S, elements>& q) const {
    auto r = Matrix<S, n, n>::zero();
    const S around = S(mass) * q[x] * q[x];
    r[0][0] = S(moment_1);
    r[1][1] = S(moment_2) + around;
    r[2][2] = S(moment_3) + around;
    r[3][3] = S(mass);
    r[0][3] = r[3][0] = S(0.1) * q[6];
    return r;
  }
  template <class S>
  RB_HD Vector<S, n> vector_potential(const Vector<S, elements>& q) const {
    return {S(field) * q[7], S(0.0), S(field) * q[x], S(0.0)};
  }
  template <class S>
  RB_HD S potential(const Vector<S, elements>& q) const {
    return S(gravity) * (S(mass) * q[x] * q[6] + q[8]) + S(0.5) * (q[x] - S(1.0)) * (q[x] - S(1.0));
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, elements>& q) const
    requires(held != Held::slope)
  {
    if constexpr (held == Held::nothing) {
      return {};
    } else {
      return {{{S(0.2) * q[6], S(1.0), S(0.1) * q[x], S(0.3)}}};
    }
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, elements>& q) const
    requires(held == Held::slope)
  {
    return {q[8] - S(0.5) * q[x] - S(0.2)};  // R33 = x/2 + 1/5
  }
};

template <class System>
StateOf<double, System> start(const System& system) {
  auto q = to_vector(System::default_q);
  auto v = to_vector(System::default_v);
  for (int pass = 0; pass < 40; ++pass) q = System::Group::normalise(q);
  if constexpr (System::m > 0) {
    EXPECT_TRUE(detail::project_velocity(system, q, v, 1e-14));
  }
  return rattleback::start(system, q, v);
}

template <class System>
class VaryingInertia : public ::testing::Test {};
using Systems = ::testing::Types<SlidingMass<double, Held::nothing>, SlidingMass<double, Held::wheel>,
                                 SlidingMass<double, Held::slope>>;
TYPED_TEST_SUITE(VaryingInertia, Systems);

TYPED_TEST(VaryingInertia, TheSweepsAreTheGeneralForm) {
  const TypeParam system{};
  static_assert(MechanicalOnGroup<TypeParam>);
  for_stages<2, 3, 4>([&](auto s) {
    const auto check = [&]<class Tau>(Tau) {
      expect_the_same_map(start(system), GroupLobatto<double, TypeParam, Tau, s()>(system, to_round_off),
                          GeneralLobatto<double, TypeParam, Tau, s()>(system, to_round_off), 0.05, s());
    };
    check(Cay{});
    check(Exp{});
  });
}

TYPED_TEST(VaryingInertia, SweepsFallWithTheStep) {
  const TypeParam system{};
  for_stages<2, 3, 4>([&](auto s) {
    expect_fewer_sweeps(start(system), GroupLobatto<double, TypeParam, Cay, s()>(system, {1e-15, 50}), 0.1, 8.5, 3.5);
  });
}

}  // namespace
}  // namespace rattleback
