// Nanoseconds per trajectory-step with packs of one register and of two registers, which take turns. One core. Prints a Markdown
// table with medians.
//
//   cmake --build --preset release --target bench_two_packs
//   build/release/bench/bench_two_packs [repetitions]

#include <cstdio>
#include <cstdlib>

#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaotic.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "rattleback/systems/unconstrained/heavy_top.hpp"
#include "rattleback/systems/unconstrained/henon_heiles.hpp"
#include "rattleback/tableaus/compositions.hpp"
#include "steps.hpp"

using namespace rattleback;

namespace {

int repetitions = 31;

template <template <class> class SystemOf, class Method>
void row(const char* name, const auto&... numbers) {
  std::vector<double> one, two;
  const auto time = [&]<class P>(P, std::vector<double>& times) {
    const auto system = default_system<SystemOf<P>>();
    const typename Method::template of<P, SystemOf<P>> step(system, SolverOptions<P>{P(1e-16), 50}, numbers...);
    times.push_back(nanoseconds(system, step));
  };
  for (int k = 0; k < repetitions; ++k) {
    time(Pack<RATTLEBACK_PACK>{}, one);
    time(Pack<2 * RATTLEBACK_PACK>{}, two);
  }
  const double a = bench::median(one), b = bench::median(two);
  std::printf("| %s | %.2f | %.2f | %.2f |\n", name, a, b, a / b);
}

template <int S>
struct Lobatto {
  template <class P, class System>
  using of = LobattoStep<P, System, Cay, S>;
};
struct ComposedLobatto {
  template <class P, class System>
  using of = ComposedLobattoStep<P, System, Cay, 2>;
};
template <GglScheme scheme>
struct Ggl {
  template <class P, class System>
  using of = GglStep<P, System, scheme>;
};
struct EnergyMomentum {
  template <class P, class System>
  using of = EnergyMomentumStep<P, System, GglScheme::energy_momentum>;
};

template <class P>
using Magnetic = MagneticPendulum<P, 3>;
template <class P>
using Spherical = Pendulum<P, 3>;
template <class P>
using Chaotic3 = Chaotic<P, 3, ChaoticVariant::contact>;

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) repetitions = std::max(1, std::atoi(arguments[1]));
  constexpr GglNumbers half{0.5, 0.5};
  std::printf("| step | one register, ns | two, ns | ratio |\n| --- | --- | --- | --- |\n");
  row<HenonHeiles, Lobatto<2>>("Henon-Heiles, s = 2");
  row<HenonHeiles, Lobatto<3>>("Henon-Heiles, s = 3");
  row<HenonHeiles, Lobatto<4>>("Henon-Heiles, s = 4");
  for (const Composition& c : compositions) {
    if (c.kind == Composition::Kind::plain) continue;
    static CompositionNumbers numbers;
    numbers = composition_numbers(c, true);
    row<HenonHeiles, ComposedLobatto>((std::string("Henon-Heiles, ") + c.name).c_str(), numbers);
  }
  row<Chaotic3, Lobatto<2>>("chaotic, m = 3, s = 2");
  row<Chaotic3, Lobatto<3>>("chaotic, m = 3, s = 3");
  row<Chaotic3, Lobatto<4>>("chaotic, m = 3, s = 4");
  row<ChaplyginSleigh, Lobatto<2>>("sleigh, s = 2");
  row<ChaplyginSleigh, Lobatto<3>>("sleigh, s = 3");
  row<ChaplyginSleigh, Lobatto<4>>("sleigh, s = 4");
  row<Magnetic, Lobatto<2>>("magnetic pendulum, s = 2");
  row<Magnetic, Lobatto<3>>("magnetic pendulum, s = 3");
  row<Magnetic, Lobatto<4>>("magnetic pendulum, s = 4");
  row<VariableMassPendulum, Lobatto<2>>("variable mass, s = 2");
  row<VariableMassPendulum, Lobatto<3>>("variable mass, s = 3");
  row<Spherical, Lobatto<2>>("spherical pendulum, s = 2");
  row<Spherical, Lobatto<3>>("spherical pendulum, s = 3");
  row<HeavyTop, Lobatto<2>>("heavy top, s = 2");
  row<Magnetic, Ggl<GglScheme::vi_s>>("magnetic pendulum, ggl-vi-s");
  row<Magnetic, Ggl<GglScheme::theta_a>>("magnetic pendulum, ggl-vi-a", half);
  row<Magnetic, Ggl<GglScheme::theta_b>>("magnetic pendulum, ggl-vi-bs", half);
  row<Magnetic, EnergyMomentum>("magnetic pendulum, energy-momentum");
}
