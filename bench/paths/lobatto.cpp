// The Lobatto pairs for holonomic constraints.

#include "rattleback/methods/lobatto/lobatto.hpp"
#include "paths.hpp"
#include "rattleback/methods/lobatto/group.hpp"
#include "rattleback/methods/lobatto/stage_sweeps.hpp"
#include "rattleback/methods/lobatto/two_stages.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/torus_particle.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"

RB_NAMESPACE_BEGIN
namespace {

using P = Pack<RATTLEBACK_PACK>;

template <class System, int S>
void add(std::vector<Paths>& rows, const char* name) {
  const auto system = default_system<System>();
  Paths row{name, "holonomic-lobatto, s = " + std::to_string(S), {}};
  row.paths.push_back(Path::of<fast_step_of<LobattoStep<P, System, Cay, S>>>("by the rule", true, system));
  if constexpr (S == 2 && (Quadratic<System> || Mechanical<System>))
    row.paths.push_back(Path::of<TwoStageSweeps<P, System>>("two stages", false, system));
  row.paths.push_back(Path::of<StageSweeps<P, System, S>>("stages", false, system));
  if constexpr (Mechanical<System>)
    row.paths.push_back(Path::of<fast_step_of<GroupLobatto<P, System, Cay, S>>>("group", false, system));
  if constexpr (S * System::n + (S - 1) * System::m <= 12)
    row.paths.push_back(Path::of<GeneralLobatto<P, System, Cay, S>>("general", false, system));
  rows.push_back(std::move(row));
}
template <class System>
void add_stages(std::vector<Paths>& rows, const char* name) {
  add<System, 2>(rows, name);
  add<System, 3>(rows, name);
  add<System, 4>(rows, name);
}

}  // namespace

void add_lobatto(std::vector<Paths>& rows) {
  add_stages<Pendulum<P, 2>>(rows, "planar pendulum");
  add_stages<Pendulum<P, 3>>(rows, "spherical pendulum");
  add_stages<TorusParticle<P>>(rows, "torus particle");
  add_stages<MagneticPendulum<P, 3>>(rows, "magnetic pendulum");
  add_stages<VariableMassPendulum<P>>(rows, "variable-mass pendulum");
  add_stages<DoubleSphericalPendulum<P>>(rows, "double spherical pendulum");
  add<FourParticle<P>, 2>(rows, "four particles");
  add<FourParticle<P>, 3>(rows, "four particles");
}

RB_NAMESPACE_END
