#pragma once
// Systems of a user, for the tests: one on a group and one on R^n.

#include "rattleback/lie/so3.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// A heavy rigid body with a fixed point: L = v.Iv/2 - weight R_33.
template <class T>
struct TestTop {
  using scalar = T;
  using Group = SO3;
  T weight;

  static constexpr int n = 3, m = 0;
  static constexpr auto name = "test-top";
  static constexpr auto summary = "rigid body with a fixed point";
  static constexpr auto configuration = "SO(3)";
  static constexpr auto source = "tests/user/systems.hpp";
  static constexpr std::array<double, 9> default_q{1.0, 0.0, 0.0, 0.0, 0.8, -0.6, 0.0, 0.6, 0.8};
  static constexpr std::array<double, 3> default_v{0.3, 0.1, 1.0};
  static constexpr std::array<ParameterInfo, 1> parameters() { return {{{"weight", 0.5, "", ""}}}; }

  RB_HD Vector<T, n> mass_diagonal() const { return {T(1.0), T(1.5), T(2.0)}; }
  template <class S>
  RB_HD S potential(const Vector<S, 9>& q) const {
    return S(weight) * q[8];
  }
};

/// L = (v^2 - x^2)/2.
template <class T>
struct TestOscillator {
  using scalar = T;

  static constexpr int n = 1, m = 0;
  static constexpr auto name = "test-oscillator";
  static constexpr auto summary = "harmonic oscillator";
  static constexpr auto configuration = "R";
  static constexpr auto source = "tests/user/systems.hpp";
  static constexpr std::array<double, 1> default_q{1.0}, default_v{0.0};

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * q[0] * q[0];
  }
};

RB_NAMESPACE_END
