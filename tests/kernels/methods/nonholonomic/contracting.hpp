#pragma once
// Systems whose flow contracts, with constant mass: Chaplygin's sleigh about its centre of mass, and the roller racer. Largest energy
// errors up to t = 100.

#include <algorithm>
#include <cmath>

#include "testing.hpp"

namespace rattleback {

template <class T>
struct SleighAtItsCentre {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::velocity;

  Vector<T, n> mass_diagonal() const { return {T(1.0), T(1.0), T(0.5)}; }
  template <class S>
  S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  template <class S>
  Vector<S, n> force(const Vector<S, n>&) const {
    return Vector<S, n>::zero();
  }
  template <class S>
  Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{-sin(q[2]), cos(q[2]), S(-0.4)}}};
  }
};

template <class T>
struct RacerOfConstantMass {
  using scalar = T;
  static constexpr int n = 4, m = 2;
  static constexpr auto kind = ConstraintKind::velocity;

  Matrix<T, n, n> mass_matrix() const {
    const T zero(0.0), one(1.0), both(0.45), second(0.05);
    return {
        {{one, zero, zero, zero}, {zero, one, zero, zero}, {zero, zero, both, second}, {zero, zero, second, second}}};
  }
  template <class S>
  S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  template <class S>
  Vector<S, n> force(const Vector<S, n>&) const {
    return Vector<S, n>::zero();
  }
  template <class S>
  Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    const S turned = q[2] + q[3], zero(0.0);
    return {{{-sin(q[2]), cos(q[2]), zero, zero}, {-sin(turned), cos(turned), fma(S(0.6), cos(q[3]), S(0.3)), S(0.3)}}};
  }
};

/// The largest |E - E0| up to t = 100, of steps of size h from (q, v).
template <class Step, class System, int n = System::n>
double largest_energy_error(const Step& step, const System& system, const Vector<double, n>& q,
                            const std::type_identity_t<Vector<double, n>>& v, double h) {
  auto state = start(system, q, v);
  const double first = energy(system, q, v);
  double largest = 0.0;
  for (int k = 0; k < static_cast<int>(std::lround(100.0 / h)); ++k) {
    const double status = step(state, h).status;
    if (status != 0.0) return std::nan("");
    largest = std::max(largest, std::abs(energy(system, state.q, velocity(system, state.q, state.p)) - first));
  }
  return largest;
}
template <template <class> class StepOf>
void expect_energy_errors(double sleigh_05, double sleigh_02, double racer_05, double racer_02) {
  const auto expect = [](double error, double listed) {
    if (listed < 1e-13) {
      EXPECT_LE(error, 1e-13);
    } else {
      EXPECT_LE(error, 1.1 * listed);
      EXPECT_GE(error, listed / 1.1);
    }
  };
  using Sleigh = SleighAtItsCentre<double>;
  using Racer = RacerOfConstantMass<double>;
  const StepOf<Sleigh> of_sleigh(Sleigh{}, to_round_off);
  const StepOf<Racer> of_racer(Racer{}, to_round_off);
  const Vector<double, 3> v{0.5, 0.4, 1.0};
  const Vector<double, 4> q{0.0, 0.0, 0.0, 0.5}, rates{1.0, 0.0, 0.0, std::sin(0.5) / 0.3};
  expect(largest_energy_error(of_sleigh, Sleigh{}, Vector<double, 3>::zero(), v, 0.05), sleigh_05);
  expect(largest_energy_error(of_sleigh, Sleigh{}, Vector<double, 3>::zero(), v, 0.02), sleigh_02);
  expect(largest_energy_error(of_racer, Racer{}, q, rates, 0.05), racer_05);
  expect(largest_energy_error(of_racer, Racer{}, q, rates, 0.02), racer_02);
}

}  // namespace rattleback
