// Systems with many multipliers: the sweeps beside the general form.

#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/heavy_top_directors.hpp"
#include "rattleback/systems/holonomic/tethered_satellites.hpp"
#include "sweeps.hpp"

namespace rattleback {
namespace {

template <class System, int S>
void expect_sweeps_are_the_general_form(double h) {
  SCOPED_TRACE(std::string(System::name) + ", s = " + std::to_string(S));
  const auto system = make_default<System>();
  using Step = LobattoStep<double, System, Cay, S>;
  static_assert(std::is_same_v<Step, GroupLobatto<double, System, Cay, S>> ||
                std::is_same_v<Step, LagrangianLobatto<double, System, S>>);
  expect_the_same_map(default_start(system), Step(system, to_round_off),
                      GeneralLobatto<double, System, Cay, S>(system, to_round_off), h);
}

TEST(LargeSystems, SweepsAreTheGeneralForm) {
  expect_sweeps_are_the_general_form<DoubleSphericalPendulum<double>, 6>(0.05);
  expect_sweeps_are_the_general_form<TetheredSatellites<double>, 4>(0.05);
  expect_sweeps_are_the_general_form<FourParticle<double>, 3>(0.01);
  expect_sweeps_are_the_general_form<HeavyTopDirectors<double>, 3>(0.001);
}

}  // namespace
}  // namespace rattleback
