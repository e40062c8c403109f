#pragma once
// The problems on which the conversion of one-step methods and its base are tested, with their exact states at time 2, and what
// the tests share.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "named.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/methods/conversion/entry.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/rigid_body_matrix.hpp"
#include "rattleback/systems/holonomic/torus_particle.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"
#include "rattleback/systems/unconstrained/angle_pendulum.hpp"
#include "rattleback/systems/unconstrained/kepler.hpp"
#include "rattleback/systems/unconstrained/magnetic_polar.hpp"

namespace rattleback::problems {

template <template <class> class SystemTemplate>
struct Problem {
  template <class T>
  using of = SystemTemplate<T>;
  using System = SystemTemplate<double>;
  static constexpr int n = System::n, m = System::m;
  static System system() {
    return make_system<System>([](int i) { return parameters_of<System>()[static_cast<std::size_t>(i)].value; });
  }
  static Vector<double, n> q() { return vector(System::default_q); }
  static Vector<double, n> v() { return vector(System::default_v); }
  static Vector<double, n> vector(const std::array<double, static_cast<std::size_t>(n)>& a) {
    Vector<double, n> r;
    std::copy(a.begin(), a.end(), r.entry);
    return r;
  }
};

struct Angle : Problem<AnglePendulum> {
  static constexpr double exact[] = {0.14696623515570, -1.67652421620050};
};
struct KeplerOrbit : Problem<Kepler> {
  static Vector<double, 2> q() { return {0.4, 0.0}; }
  static Vector<double, 2> v() { return {0.0, 2.0}; }
  static constexpr double exact[] = {-1.33985904713897, 0.53820952967653, -0.46592888954410, -0.40991821689644};
};
struct Polar : Problem<MagneticPolar> {
  static constexpr double exact[] = {0.75237360606366, 1.14105055521377, 0.10718678140986, 1.08992048890495};
};
template <class T>
using Planar = Pendulum<T, 2>;
struct PlanarSwing : Problem<Planar> {
  static Vector<double, 2> q() { return {0.8, -0.6}; }
  static Vector<double, 2> v() { return {0.72, 0.96}; }
  static constexpr double exact[] = {0.98642144258185, -0.16423378950370, -0.12382700372317, -0.74373009362023};
};
template <class T>
using Spherical = Pendulum<T, 3>;
struct SphericalSwing : Problem<Spherical> {
  static Vector<double, 3> q() { return {0.8, 0.0, -0.6}; }
  static Vector<double, 3> v() { return {0.36, 1.0, 0.48}; }
  static constexpr double exact[] = {-0.27316654197991, 0.78846932988463,  -0.55108634185036,
                                     -0.80022976239277, -0.61882899079516, -0.48872864785377};
};
template <class T>
using SphericalInField = MagneticPendulum<T, 3>;
struct InField : Problem<SphericalInField> {
  static System system() { return {1.0, 1.0, 1.0, 1.0, 1.0}; }
  static Vector<double, 3> q() { return SphericalSwing::q(); }
  static Vector<double, 3> v() { return SphericalSwing::v(); }
  static constexpr double exact[] = {0.07979570580729,  0.93031935928794,  -0.35796443268681,
                                     -0.74775240736150, -0.14511148026109, -0.54381785641438};
};
struct VariableMass : Problem<VariableMassPendulum> {
  static constexpr double exact[] = {-0.35655868653802, 0.75742430251496,  -0.54696830713855,
                                     -0.74296679974903, -0.70298313252499, -0.48914212959120};
};
struct OnTorus : Problem<TorusParticle> {
  static constexpr double exact[] = {2.64349020997452,  1.37354891516837, -0.20366984159335,
                                     -0.52385713812835, 0.52220983872450, -1.07713057070998};
};
struct Double : Problem<DoubleSphericalPendulum> {
  static constexpr double exact[] = {-0.41333978362340, 0.60911999083070,  -0.67684788545475, 0.12273491472497,
                                     1.12998943025202,  -1.34116629169352, -0.61105644638563, -0.34419936756520,
                                     0.06340453244770,  -0.72402540055599, -0.65685497215744, -0.27289888083633};
};
struct Body : Problem<RigidBodyMatrix> {
  static constexpr double exact[] = {-0.46636265197692, 0.14183464284036, 0.87314879083201,
                                     0.40837805685366,  0.91010305099502, 0.07028370543717,
                                     -0.78468671425065, 0.38935250180255, -0.48236022827201};  // positions only
};

/// Calls f with one problem after the other.
template <class... P>
struct Problems {
  template <class F>
  static void each(F&& f) {
    const auto call = [&](auto p) {
      SCOPED_TRACE(decltype(p)::System::name);
      f(p);
    };
    (call(P{}), ...);
  }
};
using Small = Problems<Angle, KeplerOrbit, Polar, PlanarSwing, SphericalSwing, InField, VariableMass, OnTorus, Double>;
using All =
    Problems<Angle, KeplerOrbit, Polar, PlanarSwing, SphericalSwing, InField, VariableMass, OnTorus, Double, Body>;

struct Bias {
  double minus, plus;
};
inline constexpr Bias forward{0.0, 1.0}, backward{-1.0, 0.0}, symmetric{-0.5, 0.5};

/// The numbers of a step of either method.
struct Numbers {
  ConversionNumbers conversion{};
  RungeKuttaNumbers plain{};
  Numbers(const char* base, Bias bias, ConversionState state = ConversionState::segment)
      : conversion(ConversionNumbers::of(*named(explicit_tableaus, base), bias.minus, bias.plus, state)) {}
  Numbers(const char* base, bool projection)
      : plain(RungeKuttaNumbers::of(*named(explicit_tableaus, base), projection)) {}
  operator const ConversionNumbers&() const { return conversion; }
  operator const RungeKuttaNumbers&() const { return plain; }
};

inline constexpr SolverOptions<double> options{1e-16, 50};

template <class P>
using StateOfProblem = StateOf<double, typename P::System>;
template <class P>
using Conversion = VariationalConversion<double, typename P::System>;
template <class P>
using Base = RungeKutta<double, typename P::System>;

template <class P>
StateOfProblem<P> start() {
  return {P::q(), momentum(P::system(), P::q(), P::v()), {}};
}

template <class Step, class State>
void advance(const Step& step, State& state, double h, int steps) {
  for (int k = 0; k < steps; ++k) {
    const double status = step(state, h).status;
    if (status != 0.0) {
      ADD_FAILURE() << "step " << k << " failed with status " << status;
      return;
    }
  }
}

template <class P>
Vector<double, P::n> velocity_of(const StateOfProblem<P>& state) {
  return velocity(P::system(), state.q, state.p);
}

/// Max norm of the difference to numbers for q and, where there are enough, v.
template <class P, std::size_t count>
double distance(const StateOfProblem<P>& state, const double (&expected)[count]) {
  const auto all = join(state.q, velocity_of<P>(state));
  double r = 0.0;
  for (std::size_t i = 0; i < count; ++i) r = std::max(r, std::fabs(all[static_cast<int>(i)] - expected[i]));
  return r;
}
template <int n, int m>
double distance(const PhaseState<double, n, m>& a, const PhaseState<double, n, m>& b) {
  return std::max(max_norm(a.q - b.q), max_norm(a.p - b.p));
}

template <class P>
double energy_of(const StateOfProblem<P>& state) {
  return energy(P::system(), state.q, velocity_of<P>(state));
}

/// The largest |E - E_0| in each quarter of a run.
template <class P, class Step>
std::array<double, 4> energy_errors(const Step& step, double h, int steps) {
  auto state = start<P>();
  const double e = energy_of<P>(state);
  std::array<double, 4> worst{};
  for (int k = 1; k <= steps; ++k) {
    EXPECT_EQ(step(state, h).status, 0.0);
    double& quarter = worst[static_cast<std::size_t>((k - 1) * 4 / steps)];
    quarter = std::max(quarter, std::fabs(energy_of<P>(state) - e));
  }
  return worst;
}

}  // namespace rattleback::problems
