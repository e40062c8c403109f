#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Pendulum on a circle (D = 2) or a sphere (D = 3); the last coordinate is the height:
///   L = mass |v|^2/2 - mass gravity z,   g = scale (|q|^2 - length^2)/2.
template <class T, int D>
struct Pendulum {
  using scalar = T;
  T mass, length, gravity, constraint_scale;

  static constexpr int n = D, m = 1;

  static constexpr auto name = D == 2 ? "planar-pendulum" : "spherical-pendulum";
  static constexpr auto summary = D == 2 ? "point mass on a circle" : "point mass on a sphere";
  static constexpr auto configuration = D == 2 ? "R^2: x, y (height)" : "R^3: x, y, z (height)";
  static constexpr std::array<const char*, D> coordinates = [] {
    std::array<const char*, D> names{"x", "y"};
    if constexpr (D == 3) names[2] = "z";
    return names;
  }();
  static constexpr auto source =
      "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
      "systems";
  // A planar swing of 90 degrees, or a spherical swing from an angle of 1 rad.
  static constexpr std::array<double, D> default_q = [] {
    std::array<double, D> q{0.0, -1.0};
    if constexpr (D == 3) q = {0.8414709848078965, 0.0, -0.5403023058681398};
    return q;
  }();
  static constexpr std::array<double, D> default_v = [] {
    std::array<double, D> v{1.0, 0.0};
    if constexpr (D == 3) v = {0.0, 0.8, 0.0};
    return v;
  }();
  static constexpr std::array<ParameterInfo, 4> parameters() {
    return {{{"mass", 1.0, "mass", "of the point"},
             {"length", 1.0, "length", "of the rod"},
             {"gravity", 1.0, "length/time^2", "acceleration downwards"},
             {"constraint_scale", 1.0, "1", "factor c of the constraint g = c (|q|^2 - length^2)/2"}}};
  }
  static constexpr auto invariants() {
    if constexpr (D == 2) {
      return std::array<ObservableInfo, 0>{};
    } else {
      return std::array<ObservableInfo, 3>{
          {{"angular_momentum", true, "x py - y px, about the vertical"},
           {"angular_momentum_1", false, "mass (y vz - z vy), about the first axis"},
           {"angular_momentum_2", false, "mass (z vx - x vz), about the second axis"}}};
    }
  }
  template <class S>
  RB_HD Vector<S, 3> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const
    requires(D == 3)
  {
    const Vector<S, 3> momentum = S(mass) * cross(q, v);
    return {momentum[2], momentum[0], momentum[1]};
  }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(mass) * S(gravity) * q[n - 1];
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>&) const {
    auto f = Vector<S, n>::zero();
    f[n - 1] = -S(mass) * S(gravity);
    return f;
  }
  RB_HD Vector<T, n> mass_diagonal() const {
    Vector<T, n> diagonal;
    RB_UNROLL
    for (int i = 0; i < n; ++i) diagonal[i] = mass;
    return diagonal;
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {S(0.5) * S(constraint_scale) * (dot(q, q) - S(length) * S(length))};
  }
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    return {{S(constraint_scale) * q}};
  }

  // The structure for condensed methods (system.hpp).
  static constexpr int block = n, terms = 0;
  template <class S>
  RB_HD Matrix<S, 1, 1> constraint_hessian(const Vector<S, m>& multiplier) const {
    return {{{S(constraint_scale) * multiplier[0]}}};
  }

  // By hand (mechanics/dynamics.hpp).
  template <class S>
  RB_HD Vector<S, m> position_curvature(const Vector<S, n>&, const Vector<S, n>& v) const {
    return {S(constraint_scale) * dot(v, v)};
  }
};

/// The pendulum in a magnetic field along the normal of the plane or along the vertical; L has the additional term
/// (field/2)(x vy - y vx).
template <class T, int D>
struct MagneticPendulum : Pendulum<T, D> {
  T magnetic_field;

  static constexpr int n = D;
  static constexpr auto variant = "magnetic";
  static constexpr auto summary = D == 2 ? "charge on a circle in a magnetic field along the normal of its plane"
                                         : "charge on a sphere in a vertical magnetic field";
  static constexpr std::array<ParameterInfo, 5> parameters() {
    const auto common = Pendulum<T, D>::parameters();
    return {{common[0], common[1], common[2], common[3], {"magnetic_field", 0.0, "mass/time", "charge times field"}}};
  }
  static constexpr auto invariants() {
    auto result = Pendulum<T, D>::invariants();
    if constexpr (D == 3) result[0].text = "x py - y px, about the vertical, with the share of the field";
    return result;
  }
  template <class S>
  RB_HD Vector<S, 3> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const
    requires(D == 3)
  {
    Vector<S, 3> momentum = Pendulum<T, D>::evaluate_invariants(q, v);
    momentum[0] = momentum[0] + S(0.5) * S(magnetic_field) * (q[0] * q[0] + q[1] * q[1]);
    return momentum;
  }

  /// L is separable where this parameter is 0.
  static constexpr std::array<const char*, 1> separable_without{"magnetic_field"};
  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S field = S(0.5) * S(magnetic_field) * (q[0] * v[1] - q[1] * v[0]);
    return S(0.5) * S(this->mass) * dot(v, v) - this->potential(q) + field;
  }
  // The parts of L (mechanics/system.hpp).
  static constexpr std::array<int, D> active = [] {
    std::array<int, D> all{};
    for (int i = 0; i < D; ++i) all[static_cast<std::size_t>(i)] = i;
    return all;
  }();
  static constexpr bool mass_varies(int, int, int) { return false; }
  template <class S>
  RB_HD S mass_matrix(const Vector<S, n>&) const {
    return S(this->mass);
  }
  template <class S>
  RB_HD Vector<S, n> vector_potential(const Vector<S, n>& q) const {
    auto a = Vector<S, n>::zero();
    const S half = S(0.5) * S(magnetic_field);
    a[0] = -(half * q[1]);
    a[1] = half * q[0];
    return a;
  }
  static constexpr bool vector_potential_varies(int i, int k) { return i + k == 1; }
  static constexpr bool potential_varies(int k) { return k == D - 1; }

  template <class S>
  RB_HD Vector<S, n> velocity(const Vector<S, n>& q, const Vector<S, n>& p) const {
    const S half = S(0.5) * S(magnetic_field), inverse = S(1.0) / S(this->mass);
    Vector<S, n> v = inverse * p;
    v[0] = inverse * (p[0] + half * q[1]);
    v[1] = inverse * (p[1] - half * q[0]);
    return v;
  }
  template <class S>
  RB_HD Vector<S, n> generalized_force(const Vector<S, n>& q, const Vector<S, n>& v) const {
    Vector<S, n> f = this->force(q);
    f[0] = f[0] + S(magnetic_field) * v[1];
    f[1] = f[1] - S(magnetic_field) * v[0];
    return f;
  }
};

RB_NAMESPACE_END
