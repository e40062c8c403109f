// Nanoseconds per trajectory-step of steps for L = v.M(q)v/2 + A(q).v - U(q): the generic ones, the same maps written by hand for one
// system (by_hand/), and the generic ones for any Lagrangian. All take turns on the same trajectories. One core, one pack of the
// widest instruction set of this processor. Prints a Markdown table with medians.
//
//   cmake --build --preset release --target bench_by_hand
//   build/release/bench/bench_by_hand [repetitions]

#include <cstdio>
#include <cstdlib>

#include "by_hand/holonomic.hpp"
#include "by_hand/sleigh.hpp"
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

/// The largest difference of q and p after ten steps.
template <class System>
double difference(const System& system, const auto& one, const auto& other) {
  auto first = default_state(system), second = first;
  for (int k = 0; k < 10; ++k) {
    one(first, P(0.1));
    other(second, P(0.1));
  }
  double largest = 0.0, lanes[P::width];
  max(max_norm(first.q - second.q), max_norm(first.p - second.p)).store(lanes);
  for (const double x : lanes) largest = std::max(largest, x);
  return largest;
}

template <class System, class Parts, class General>
void row(const char* name, const auto& by_hand, const auto&... numbers) {
  const auto system = default_system<System>();
  const SolverOptions<P> options{P(1e-16), 50};
  const fast_step_of<Parts> parts(system, options, numbers...);  // as in the time loop
  const General general(system, options, numbers...);
  std::vector<double> ours, hand, any;
  for (int k = 0; k < repetitions; ++k) {
    ours.push_back(nanoseconds(system, parts));
    hand.push_back(nanoseconds(system, by_hand));
    if (k % 8 == 0) any.push_back(nanoseconds(system, general));
  }
  const double a = bench::median(ours), b = bench::median(hand), c = bench::median(any);
  std::printf("| %s | %.1f | %.1f | %.2f | %.0f | %.1f | %.1e |\n", name, a, b, a / b, c, c / a,
              difference(system, parts, by_hand));
}

template <class System, int S>
void lobatto(const char* name, const auto& by_hand) {
  row<System, LobattoStep<P, System, Cay, S>, GeneralLobatto<P, System, Cay, S>>(name, by_hand);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) repetitions = std::max(1, std::atoi(arguments[1]));
  using Knife = ChaplyginSleigh<P>;
  using Charge = MagneticPendulum<P, 3>;
  using Variable = VariableMassPendulum<P>;
  const by_hand::Sleigh sleigh(P(1.0), P(0.5), P(0.4));
  const by_hand::Magnetic magnetic{P(1.0), P(1.0), P(1.0), P(1.0), P(0.5)};
  const by_hand::VariableMass variable{P(1.0), P(0.3), P(1.0), P(1.0)};
  const auto with = [](const auto& system, auto step) {
    return [&system, step](auto& state, P h) { return step(system, state, h); };
  };
  constexpr GglNumbers half{0.5, 0.5};
  std::printf("| step | rattleback, ns | by hand, ns | ratio | any Lagrangian, ns | faster | difference |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- |\n");
  lobatto<Knife, 2>("sleigh, nonholonomic-lobatto, s = 2", with(sleigh, by_hand::sleigh_2));
  lobatto<Knife, 3>("sleigh, nonholonomic-lobatto, s = 3", with(sleigh, by_hand::sleigh_3));
  lobatto<Charge, 2>("magnetic pendulum, holonomic-lobatto, s = 2", with(magnetic, by_hand::magnetic_2));
  lobatto<Charge, 3>("magnetic pendulum, holonomic-lobatto, s = 3", with(magnetic, by_hand::magnetic_3));
  lobatto<Variable, 2>("variable mass, holonomic-lobatto, s = 2", with(variable, by_hand::variable_mass_2));
  row<Charge, GglStep<P, Charge, GglScheme::vi_s>, GeneralGgl<P, Charge, GglScheme::vi_s>>(
      "magnetic pendulum, ggl-vi-s", with(magnetic, by_hand::vi_s));
  row<Charge, GglStep<P, Charge, GglScheme::theta_a>, GeneralGgl<P, Charge, GglScheme::theta_a>>(
      "magnetic pendulum, ggl-vi-a", with(magnetic, by_hand::vi_a), half);
  row<Charge, EnergyMomentumStep<P, Charge, GglScheme::energy_momentum>,
      GeneralEnergyMomentum<P, Charge, GglScheme::energy_momentum>>("magnetic pendulum, energy-momentum",
                                                                    with(magnetic, by_hand::energy_momentum));
}
