// Methods for velocity constraints on R^n.

#include "paths.hpp"
#include "rattleback/methods/generalized_alpha/generalized_alpha.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"
#include "rattleback/methods/nonholonomic/spark.hpp"
#include "rattleback/methods/nonholonomic/transport.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "rattleback/systems/nonholonomic/nonholonomic_particle.hpp"
#include "rattleback/systems/nonholonomic/pendulum_cvt.hpp"

RB_NAMESPACE_BEGIN
namespace {

using P = Pack<RATTLEBACK_PACK>;

/// Adds the path of a step, which is the chosen one where its type is that of `Chosen`.
template <class Chosen, class Step>
void add(Paths& row, const char* name, const auto& system, const auto&... numbers) {
  row.paths.push_back(Path::of<fast_step_of<Step>>(name, std::same_as<Chosen, Step>, system, numbers...));
}

template <class System, int S>
void add_stages(std::vector<Paths>& rows, const char* name) {
  const auto system = default_system<System>();
  const std::string stages = ", s = " + std::to_string(S);
  {
    using Chosen = LobattoStep<P, System, Cay, S>;
    using General = GeneralLobatto<P, System, Cay, S>;
    Paths row{name, "nonholonomic-lobatto" + stages, {}};
    if constexpr (Condensable<System>) {
      add<Chosen, CondensedLobatto<P, System, S>>(row, "condensed", system);
      row.paths.push_back(Path::of<StageSweeps<P, System, S>>("stages", false, system));
    } else {
      add<Chosen, Chosen>(row, "by the rule", system);
      if constexpr (S == 2) row.paths.push_back(Path::of<TwoStageSweeps<P, System>>("two stages", false, system));
      row.paths.push_back(Path::of<StageSweeps<P, System, S>>("stages", false, system));
    }
    if constexpr (S <= 3) add<Chosen, General>(row, "general", system);
    rows.push_back(std::move(row));
  }
  {
    using Chosen = SparkStep<P, System, S>;
    using Sweeps = detail::SparkSweeps<P, System, S>;
    Paths row{name, "nonholonomic-spark" + stages, {}};
    if constexpr (Condensable<System>) {
      if constexpr (S == 2)
        add<Chosen, CondensedDla<P, System, DlaLagrangian::verlet, DlaConstraint::trap>>(row, "DLA", system);
      if constexpr (S > 2) add<Chosen, CondensedSpark<P, System, S>>(row, "condensed", system);
      row.paths.push_back(Path::of<Sweeps>("stages", false, system));
    } else {
      row.paths.push_back(Path::of<Sweeps>("by the rule", true, system));
      if constexpr (S == 2) row.paths.push_back(Path::of<StageSweeps<P, System, S, true>>("stages", false, system));
    }
    if constexpr (S <= 3) add<Chosen, GeneralLobatto<P, System, Cay, S, true, true>>(row, "general", system);
    rows.push_back(std::move(row));
  }
}
template <class System>
void add_alpha(std::vector<Paths>& rows, const char* name) {
  using Chosen = GeneralizedAlpha<P, System, Stabilised>;
  const auto system = default_system<System>();
  const auto numbers = GeneralizedAlphaNumbers::of(0.8);
  Paths row{name, "generalized-alpha", {}};
  if constexpr (Condensable<System>) add<Chosen, Chosen>(row, "condensed", system, numbers);
  add<Chosen, GeneralGeneralizedAlpha<P, System, Stabilised>>(row, "general", system, numbers);
  rows.push_back(std::move(row));
}

template <class System>
void add_system(std::vector<Paths>& rows, const char* name) {
  add_stages<System, 2>(rows, name);
  add_stages<System, 3>(rows, name);
  add_stages<System, 4>(rows, name);
  const auto system = default_system<System>();
  const auto add_dla = [&]<DlaLagrangian lagrangian>(const char* method,
                                                     std::integral_constant<DlaLagrangian, lagrangian>) {
    using Chosen = DlaStep<P, System, lagrangian, DlaConstraint::mid>;
    Paths row{name, method, {}};
    if constexpr (Condensable<System>)
      add<Chosen, CondensedDla<P, System, lagrangian, DlaConstraint::mid>>(row, "condensed", system);
    add<Chosen, GeneralDla<P, System, lagrangian, DlaConstraint::mid>>(row, "general", system);
    rows.push_back(std::move(row));
  };
  add_dla("nonholonomic-dla, verlet", std::integral_constant<DlaLagrangian, DlaLagrangian::verlet>{});
  add_dla("nonholonomic-dla, midpoint", std::integral_constant<DlaLagrangian, DlaLagrangian::midpoint>{});
  Paths row{name, "nonholonomic-leapfrog", {}};
  if constexpr (Condensable<System>)
    add<LeapfrogStep<P, System>, CondensedLeapfrog<P, System>>(row, "condensed", system);
  add<LeapfrogStep<P, System>, GeneralLeapfrog<P, System>>(row, "general", system);
  rows.push_back(std::move(row));
  add_alpha<System>(rows, name);
  if constexpr (TakesTransport<System>) {
    Paths of_energy{name, "nonholonomic-energy", {}};
    add<TransportStep<P, System>, TransportStep<P, System>>(of_energy, "sweeps", system);
    add<TransportStep<P, System>, GeneralTransport<P, System>>(of_energy, "general", system);
    rows.push_back(std::move(of_energy));
  }
}

}  // namespace

void add_nonholonomic(std::vector<Paths>& rows) {
  add_system<NonholonomicParticle<P>>(rows, "particle");
  add_system<PendulumCvt<P>>(rows, "CVT");
  add_stages<ChaplyginSleigh<P>, 2>(rows, "sleigh");
  add_stages<ChaplyginSleigh<P>, 3>(rows, "sleigh");
}

RB_NAMESPACE_END
