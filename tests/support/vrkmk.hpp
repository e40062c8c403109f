#pragma once
// What the tests of the variational Munthe-Kaas and Crouch-Grossman methods share.

#include <functional>
#include <memory>

#include "named.hpp"
#include "rattleback/methods/lie/vcg.hpp"
#include "rattleback/systems/unconstrained/dipole_on_a_stick.hpp"
#include "rattleback/systems/unconstrained/heavy_top.hpp"
#include "testing.hpp"

namespace rattleback::variational {

template <class System>
using StepOf = std::function<StepReport<double>(StateOf<double, System>&, double)>;

/// Solved until the updates stop shrinking.
inline constexpr SolverOptions<double> tightly{1e-15, 100};

/// A step together with the numbers that it reads.
template <class Step, class System>
StepOf<System> stepping(const System& system, const typename Step::Numbers& numbers,
                        const SolverOptions<double>& options) {
  const auto kept = std::make_shared<const typename Step::Numbers>(numbers);
  const Step step(system, options, *kept);
  return [step, kept](StateOf<double, System>& state, double h) { return step(state, h); };
}

/// Of the numbers of stages given, that of the tableau.
template <int... stages, class System>
StepOf<System> vrkmk(const System& system, const RungeKuttaTableau& tableau, int cutoff, bool pade = false,
                     StageIteration iteration = StageIteration::newton,
                     const SolverOptions<double>& options = tightly) {
  if constexpr (sizeof...(stages) == 0) {
    return vrkmk<1, 2, 3>(system, tableau, cutoff, pade, iteration, options);
  } else {
    StepOf<System> step;
    const auto make = [&]<int S>(std::integral_constant<int, S>) {
      if (tableau.stages != S) return;
      step = stepping<VrkmkStep<double, System, S>>(system, VrkmkNumbers<S>::of(iteration, tableau, cutoff, pade),
                                                    options);
    };
    (make(std::integral_constant<int, stages>{}), ...);
    return step;
  }
}

template <int... stages, class System>
StepOf<System> vrkmk(const System& system, const char* tableau, int cutoff, bool pade = false,
                     StageIteration iteration = StageIteration::newton,
                     const SolverOptions<double>& options = tightly) {
  return vrkmk<stages...>(system, *named(runge_kutta_tableaus, tableau), cutoff, pade, iteration, options);
}

inline const CrouchGrossmanSet& crouch_grossman(const std::string& name) {
  return *std::find_if(std::begin(crouch_grossman_sets), std::end(crouch_grossman_sets),
                       [&](const CrouchGrossmanSet& set) { return name == set.name; });
}

template <class System>
StepOf<System> vcg(const System& system, const char* set, StageIteration iteration = StageIteration::newton,
                   const SolverOptions<double>& options = tightly) {
  return stepping<VcgStep<double, System>>(system, VcgNumbers::of(iteration, crouch_grossman(set)), options);
}

using Dipole = DipoleOnAStick<double>;
using Top = HeavyTop<double>;
inline Dipole dipole(double sigma) { return {1.0, 0.1, 1.0, 1.0, sigma}; }
inline Top lagrange_top() { return {1.0, 1.0, 0.5, 1.0, 0.0, 0.0, 1.0}; }
inline Top free_body() { return {1.3, 1.0, 0.4, 0.0, 0.0, 0.0, 1.0}; }

template <class G>
Element<G, double> exponential(const Algebra<G, double>& x) {
  return Chart<G, Exp, double>(x).tau();
}

/// The state at q with the velocity xi in space.
template <class System>
StateOf<double, System> in_space(const System& system, const Configuration<System>& q,
                                 const Vector<double, System::n>& xi) {
  using G = group_of<System>;
  return {q, G::Ad_inverse_star(q, momentum(system, q, G::Ad(G::inverse(q), xi))), {}};
}
/// The state that the default q and v of a system stand for.
template <class System>
StateOf<double, System> default_state(const System& system) {
  const auto q = to_vector(System::default_q);
  return {q, group_of<System>::Ad_inverse_star(q, momentum(system, q, to_vector(System::default_v))), {}};
}
/// The energy of a state that holds the momentum in space.
template <class System>
double energy_of(const System& system, const StateOf<double, System>& state) {
  return energy(system, state.q, velocity(system, state.q, group_of<System>::Ad_star(state.q, state.p)));
}

inline const Vector<double, 9> dipole_start{1, 0, 0, 0, 0, -1, 0, 1, 0};
/// Note the neighbours of the published start: xi = e2 + 0.01 j (e1 + e3).
inline StateOf<double, Dipole> dipole_state(const Dipole& system, int j = 0) {
  return in_space(system, dipole_start, {0.01 * j, 1.0, 0.01 * j});
}
/// A state without symmetry.
inline StateOf<double, Dipole> generic_dipole_state() {
  return {SO3::product(exponential<SO3>({0.1, -0.2, 0.3}), dipole_start), {0.02, 0.02, 0.03}, {}};
}

template <class System>
StateOf<double, System> run(const StepOf<System>& step, StateOf<double, System> state, double h, int steps) {
  return advance(step, state, h, steps);
}

/// The largest singular value.
inline double spectral_norm(const Vector<double, 9>& a) {
  Vector<double, 3> x{0.6, -0.48, 0.64};
  double size = 0.0;
  for (int k = 0; k < 500; ++k) {
    x = SO3::Ad_star(a, SO3::Ad(a, x));
    const double length = std::sqrt(dot(x, x));
    if (length == 0.0) return 0.0;
    x = (1.0 / length) * x;
    size = std::sqrt(length);
  }
  return size;
}

/// The state of the dipole at t = 1/2, from a computation to more than 20 digits.
inline double dipole_error(double sigma, const StateOf<double, Dipole>& state) {
  const bool up = sigma > 0.0;
  const Vector<double, 3> mu = up ? Vector<double, 3>{0.466804046741262021222461, 0.004703511943086367207481574, 0.0}
                                  : Vector<double, 3>{-0.5361870181330790304892717, 0.003780620329717814677515346, 0.0};
  const Vector<double, 9> g =
      up ? Vector<double, 9>{0.9198217951068584992291827,  0.3923363737457300850154816,  0.0001873030891862293088098043,
                             0.04534667353280090923778355, -0.1058397950121696900064715, -0.9933486885234668056663018,
                             -0.3897069981998090772162346, 0.9137122674167358999105795,  -0.1151448996971264367303101}
         : Vector<double, 9>{
               0.9237505661876837713804612,   0.3829945723223079840740044, -0.0002214488339615999170338165,
               -0.05090875733554176108307878, 0.1222145098874255444674344, -0.9911972114566945687019121,
               -0.3795960878282132491083306,  0.9156302589717253129247509, 0.1323935004480455992404085};
  const auto d = state.p - mu;
  return std::sqrt(dot(d, d)) + spectral_norm(state.q - g);
}

/// Errors at t = 1/2 in the numbers of steps of the published plot, against those of an independent computation.
inline constexpr int plot_steps[] = {5, 10, 20, 40, 80, 160, 320, 500};
inline void expect_errors(const StepOf<Dipole>& step, double sigma, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int steps = plot_steps[i];
    const double error = dipole_error(sigma, run<Dipole>(step, dipole_state(dipole(sigma)), 0.5 / steps, steps));
    // 2 % of what is above the round-off floor
    EXPECT_NEAR(error, expected[i], 0.02 * expected[i] + 2e-14) << steps << " steps";
  }
}

/// max |J^T W(mu') J - W(mu)| of the map's Jacobian J by central differences, in right trivialisation:
/// W((eta1, nu1), (eta2, nu2)) = <nu2, eta1> - <nu1, eta2> - <mu, [eta1, eta2]>.
template <class System>
double symplecticity_defect(const std::function<void(StateOf<double, System>&)>& map,
                            const StateOf<double, System>& state, double increment) {
  using G = group_of<System>;
  constexpr int n = System::n;
  using Tangent = Vector<double, 2 * n>;
  const auto form = [](const Vector<double, n>& mu, const Tangent& a, const Tangent& b) {
    const auto eta1 = segment<0, n>(a), eta2 = segment<0, n>(b);
    return dot(segment<n, n>(b), eta1) - dot(segment<n, n>(a), eta2) - dot(mu, G::ad(eta1, eta2));
  };
  auto image = state;
  map(image);
  Tangent unit[2 * n], moved[2 * n];
  for (int k = 0; k < 2 * n; ++k) {
    unit[k] = Tangent::zero();
    unit[k][k] = 1.0;
    moved[k] = Tangent::zero();
    for (const double side : {1.0, -1.0}) {
      const Tangent d = (side * increment) * unit[k];
      StateOf<double, System> near{
          G::product(exponential<G>(segment<0, n>(d)), state.q), state.p + segment<n, n>(d), {}};
      map(near);
      const auto x = Chart<G, Exp, double>::inverse(G::product(near.q, G::inverse(image.q)));
      moved[k] = moved[k] + (0.5 * side / increment) * join(x, near.p - image.p);
    }
  }
  double worst = 0.0;
  for (int i = 0; i < 2 * n; ++i)
    for (int j = 0; j < 2 * n; ++j)
      worst = std::max(worst, std::fabs(form(image.p, moved[i], moved[j]) - form(state.p, unit[i], unit[j])));
  return worst;
}

/// Mean squared error of the energy at time 2 of 128 dipoles about the published start.
inline double ensemble_energy_error(const StepOf<Dipole>& step, double h, double& drift_of_momentum) {
  const auto system = dipole(-1.0);
  const auto fraction = [](int j, double prime) {
    const double x = 0.5 + j * std::sqrt(prime);
    return 0.5 * (x - std::floor(x) - 0.5);
  };
  double sum = 0.0, mean = 0.0;
  drift_of_momentum = 0.0;
  for (int j = 0; j < 128; ++j) {
    const auto q = SO3::product(exponential<SO3>({fraction(j, 2), fraction(j, 3), fraction(j, 5)}), dipole_start);
    const auto start = in_space(system, q, {fraction(j, 7), 1.0 + fraction(j, 11), fraction(j, 13)});
    const auto end = run<Dipole>(step, start, h, static_cast<int>(std::lround(2.0 / h)));
    const double error = energy_of(system, end) - energy_of(system, start);
    sum += error * error / 128;
    mean += energy_of(system, start) / 128;
    drift_of_momentum = std::max(drift_of_momentum, std::fabs(end.p[2] - start.p[2]));
  }
  EXPECT_NEAR(mean, -0.00151035961509874, 1e-15);
  return sum;
}

/// Of 1000 steps of size 0.05: the momentum about the vertical and about the axis of eight Lagrange tops, their energy,
/// and all of the momentum of a free body.
struct MomentumErrors {
  double vertical = 0.0, axial = 0.0, energy = 0.0, free = 0.0;
};
inline MomentumErrors momentum_errors(const StepOf<Top>& top_step, const StepOf<Top>& free_step) {
  MomentumErrors worst;
  for (int j = 0; j < 8; ++j) {
    const auto system = lagrange_top();
    const auto start =
        in_space(system, exponential<SO3>({0.4 + 0.05 * j, 0.1 * j, 0.0}), {0.3, -0.2 + 0.1 * j, 1.0 + 0.1 * j});
    auto state = start;
    const auto axial = [](const auto& s) { return SO3::Ad_star(s.q, s.p)[2]; };
    for (int k = 0; k < 1000; ++k) {
      state = run<Top>(top_step, state, 0.05, 1);
      worst.vertical = std::max(worst.vertical, std::fabs(state.p[2] - start.p[2]));
      worst.axial = std::max(worst.axial, std::fabs(axial(state) - axial(start)));
      worst.energy = std::max(worst.energy, std::fabs(energy_of(system, state) - energy_of(system, start)));
    }
  }
  StateOf<double, Top> state{SO3::identity<double>(), {0.5, -0.3, 0.8}, {}};
  const auto start = state;
  for (int k = 0; k < 1000; ++k) {
    state = run<Top>(free_step, state, 0.05, 1);
    worst.free = std::max(worst.free, max_norm(state.p - start.p));
  }
  return worst;
}

}  // namespace rattleback::variational
