#pragma once
// A system of one's own: a nonholonomic particle in a double well,
//   L = |v|^2/2 - barrier (x^2 - 1)^2 - y^2/2,  Phi = vz - y vx.
// What a system offers is described in rattleback/mechanics/system.hpp. Without the function `force`, the force would be derived
// from the potential by automatic differentiation. examples/double-well.toml is the same system as formulas. Both round in the
// same way, so their results have the same bits.

#include "rattleback/mechanics/system.hpp"

namespace example {

using rattleback::fma;
using rattleback::Matrix;
using rattleback::ObservableInfo;
using rattleback::ParameterInfo;
using rattleback::Vector;

template <class T>
struct DoubleWell {
  using scalar = T;
  T barrier;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "double-well";
  static constexpr auto summary = "nonholonomic particle in a double well";
  static constexpr auto configuration = "R^3: x, y, z";
  static constexpr auto source = "examples/cpp/double_well.hpp";
  static constexpr std::array<double, 3> default_q{-1.0, 0.5, 0.0}, default_v{0.8, 0.6, 0.4};
  static constexpr std::array<ParameterInfo, 1> parameters() {
    return {{{"barrier", 0.25, "1", "height of the barrier between the wells"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() { return {{{"energy_y", true, "(vy^2 + y^2)/2"}}}; }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    const S well = q[0] * q[0] - S(1.0);
    return fma(S(0.5), q[1] * q[1], S(barrier) * (well * well));
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    const S well = q[0] * q[0] - S(1.0);
    return {S(T(-4.0) * barrier) * (q[0] * well), -q[1], S(0.0)};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{-q[1], S(0.0), S(1.0)}}};
  }

  RB_HD Vector<T, 1> evaluate_invariants(const Vector<T, n>& q, const Vector<T, n>& v) const {
    return {T(0.5) * (v[1] * v[1] + q[1] * q[1])};
  }
};

}  // namespace example
