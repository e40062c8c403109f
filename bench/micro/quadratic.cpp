// Nanoseconds per trajectory-step of the steps for L = v.M(q)v/2 + A(q).v - U(q) beside those for any Lagrangian, which take
// turns on the same eight trajectories. One core, one pack. Prints a Markdown table with medians.
//
//   cmake --build --preset release --target bench_quadratic
//   build/release/bench/bench_quadratic [repetitions]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "steps.hpp"

using namespace rattleback;

namespace {

using P = Pack<RATTLEBACK_PACK>;
int repetitions = 31;

template <class System, class Parts, class General, class... Numbers>
void row(const char* name, const Numbers... numbers) {
  const auto system = default_system<System>();
  const SolverOptions<P> options{P(1e-16), 50};
  const Parts parts(system, options, numbers...);
  const General general(system, options, numbers...);
  std::vector<double> by_parts, in_general;
  for (int k = 0; k < repetitions; ++k) {
    by_parts.push_back(nanoseconds(system, parts));
    in_general.push_back(nanoseconds(system, general));
  }
  const double fast = median(by_parts), slow = median(in_general);
  std::printf("| %s | %.1f | %.0f | %.1f |\n", name, fast, slow, slow / fast);
}

template <class System, int S>
void lobatto(const char* name) {
  row<System, LobattoStep<P, System, Cay, S>, GeneralLobatto<P, System, Cay, S>>(name);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) repetitions = std::max(1, std::atoi(arguments[1]));
  using Sleigh = ChaplyginSleigh<P>;
  using Magnetic = MagneticPendulum<P, 3>;
  using Variable = VariableMassPendulum<P>;
  static const double half[2] = {0.5, 0.5};
  std::printf("| step | by parts, ns | general, ns | ratio |\n| --- | --- | --- | --- |\n");
  lobatto<Sleigh, 2>("sleigh, nonholonomic-lobatto, s = 2");
  lobatto<Sleigh, 4>("sleigh, nonholonomic-lobatto, s = 4");
  lobatto<Magnetic, 2>("magnetic pendulum, holonomic-lobatto, s = 2");
  lobatto<Magnetic, 3>("magnetic pendulum, holonomic-lobatto, s = 3");
  lobatto<Variable, 2>("variable mass, holonomic-lobatto, s = 2");
  lobatto<Variable, 3>("variable mass, holonomic-lobatto, s = 3");
  row<Magnetic, GglStep<P, Magnetic, GglScheme::vi_s>, GeneralGgl<P, Magnetic, GglScheme::vi_s>>("magnetic, ggl-vi-s");
  row<Magnetic, GglStep<P, Magnetic, GglScheme::theta_a>, GeneralGgl<P, Magnetic, GglScheme::theta_a>>(
      "magnetic, ggl-vi-a", &half[0]);
  row<Magnetic, GglStep<P, Magnetic, GglScheme::theta_b>, GeneralGgl<P, Magnetic, GglScheme::theta_b>>(
      "magnetic, ggl-vi-bs", &half[0]);
  using Conserving = EnergyMomentumStep<P, Magnetic, GglScheme::energy_momentum>;
  row<Magnetic, Conserving, GeneralEnergyMomentum<P, Magnetic, GglScheme::energy_momentum>>(
      "magnetic, energy-momentum");
}
