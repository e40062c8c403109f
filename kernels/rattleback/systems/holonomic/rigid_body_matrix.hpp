#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Free rigid body with the nine entries of the rotation matrix A (body to space), row by row, as coordinates:
///   L = tr(A' K A'^T)/2, K = diag((I2 + I3 - I1)/2, ...),   g = the upper triangle of A A^T - 1, row by row.
template <class T>
struct RigidBodyMatrix {
  using scalar = T;
  T inertia_1, inertia_2, inertia_3;

  static constexpr int n = 9, m = 6;

  static constexpr auto name = "rigid-body-matrix";
  static constexpr auto summary = "free rigid body as a constrained matrix";
  static constexpr auto configuration = "R^9: rotation matrix, row by row";
  static constexpr auto source = "J. E. Marsden, T. S. Ratiu, Introduction to Mechanics and Symmetry";
  static constexpr std::array<double, 9> default_q{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
      default_v{0.0, -0.2, 1.0, 0.2, 0.0, -0.3, -1.0, 0.3, 0.0};
  static constexpr std::array<ParameterInfo, 3> parameters() {
    return {{{"inertia_1", 2.0, "mass length^2", "principal moment of inertia I1"},
             {"inertia_2", 3.0, "mass length^2", "principal moment of inertia I2"},
             {"inertia_3", 4.0, "mass length^2", "principal moment of inertia I3"}}};
  }
  static constexpr std::array<ObservableInfo, 3> invariants() {
    return {{{"angular_momentum_x", true, "spatial angular momentum, first component"},
             {"angular_momentum_y", true, "second component"},
             {"angular_momentum_z", true, "third component"}}};
  }

  template <class S>
  RB_HD Vector<S, 3> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const Vector<T, n> mass = mass_diagonal();
    auto total = Vector<S, 3>::zero();
    RB_UNROLL
    for (int c = 0; c < 3; ++c)
      total =
          total + cross(Vector<S, 3>{q[c], q[3 + c], q[6 + c]}, S(mass[c]) * Vector<S, 3>{v[c], v[3 + c], v[6 + c]});
    return total;
  }

  RB_HD Vector<T, n> mass_diagonal() const {
    const T half(0.5);
    const T a = half * (inertia_2 + inertia_3 - inertia_1), b = half * (inertia_3 + inertia_1 - inertia_2),
            c = half * (inertia_1 + inertia_2 - inertia_3);
    return {a, b, c, a, b, c, a, b, c};
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>&) const {
    return Vector<S, n>::zero();
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    const Vector<S, 3> a = segment<0, 3>(q), b = segment<3, 3>(q), c = segment<6, 3>(q);
    return {dot(a, a) - S(1.0), dot(a, b), dot(a, c), dot(b, b) - S(1.0), dot(b, c), dot(c, c) - S(1.0)};
  }

  RB_HD static constexpr bool constraint_entry(int row, int column) {
    constexpr int pairs[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    return column / 3 == pairs[row][0] || column / 3 == pairs[row][1];
  }

  // Derivatives of g by hand (mechanics/dynamics.hpp).
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    const Vector<S, 3> a = segment<0, 3>(q), b = segment<3, 3>(q), c = segment<6, 3>(q), o = Vector<S, 3>::zero();
    return {{join(join(a + a, o), o), join(join(b, a), o), join(join(c, o), a), join(join(o, b + b), o),
             join(join(o, c), b), join(join(o, o), c + c)}};
  }
  template <class S>
  RB_HD Vector<S, m> position_curvature(const Vector<S, n>&, const Vector<S, n>& v) const {
    const Vector<S, 3> a = segment<0, 3>(v), b = segment<3, 3>(v), c = segment<6, 3>(v), a2 = a + a, b2 = b + b,
                       c2 = c + c;
    return {dot(a2, a), dot(a2, b), dot(a2, c), dot(b2, b), dot(b2, c), dot(c2, c)};
  }
};

RB_NAMESPACE_END
