// Systems with many multipliers: the sweeps beside the general form.

#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/heavy_top_directors.hpp"
#include "rattleback/systems/holonomic/tethered_satellites.hpp"
#include "sweeps.hpp"

namespace rattleback {
namespace {

/// Two charges on rods in a magnetic field along the vertical, of the strength 0.7.
template <class T>
struct ChargesOnRods : DoubleSphericalPendulum<T> {
  static constexpr int n = 6;
  static constexpr std::array<int, n> active{0, 1, 2, 3, 4, 5};
  static constexpr bool mass_varies(int, int, int) { return false; }
  static constexpr bool vector_potential_varies(int i, int k) {
    return i / 3 == k / 3 && i % 3 < 2 && k % 3 == 1 - i % 3;
  }
  static constexpr bool potential_varies(int k) { return k % 3 == 2; }
  static constexpr bool constraint_hessian_entry(int i, int j) { return i % 3 == j % 3; }

  template <class S>
  RB_HD Vector<S, n> mass_matrix(const Vector<S, n>&) const {
    return lift<S>(this->mass_diagonal());
  }
  template <class S>
  RB_HD Vector<S, n> vector_potential(const Vector<S, n>& q) const {
    const S half(0.35);
    return {-(half * q[1]), half * q[0], S(0.0), -(half * q[4]), half * q[3], S(0.0)};
  }
  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return S(0.5) * dot(v, detail::apply(lift<S>(this->mass_diagonal()), v)) + dot(vector_potential(q), v) -
           this->potential(q);
  }
};

template <class System, int S>
void expect_sweeps_are_the_general_form(double h) {
  SCOPED_TRACE(std::string(System::name) + ", s = " + std::to_string(S));
  const auto system = make_default<System>();
  using Step = LobattoStep<double, System, Cay, S>;
  static_assert(std::is_same_v<Step, LagrangianLobatto<double, System, S>>);
  expect_the_same_map(default_start(system), Step(system, to_round_off),
                      GeneralLobatto<double, System, Cay, S>(system, to_round_off), h, S);
}

TEST(LargeSystems, SweepsAreTheGeneralForm) {
  expect_sweeps_are_the_general_form<DoubleSphericalPendulum<double>, 6>(0.05);
  expect_sweeps_are_the_general_form<ChargesOnRods<double>, 3>(0.05);
  expect_sweeps_are_the_general_form<ChargesOnRods<double>, 5>(0.05);
  expect_sweeps_are_the_general_form<TetheredSatellites<double>, 4>(0.05);
  expect_sweeps_are_the_general_form<FourParticle<double>, 3>(0.01);
  expect_sweeps_are_the_general_form<HeavyTopDirectors<double>, 3>(0.001);
}

}  // namespace
}  // namespace rattleback
