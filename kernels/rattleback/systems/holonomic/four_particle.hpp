#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Four particles in space; rods join 1-2 and 3-4, and springs join 1-3 and 2-4 (O. Gonzalez, Comput. Methods Appl.
/// Mech. Engrg. 174 (1999) 165):
///   U = k13 (|q3 - q1|^2 - l13^2)^2/2 + k24 (|q4 - q2|^2 - l24^2)^2/2,
///   g = (|q2 - q1|^2/l12^2 - 1, |q4 - q3|^2/l34^2 - 1)/2.
template <class T>
struct FourParticle {
  using scalar = T;
  T mass_1, mass_2, mass_3, mass_4, k13, k24, l13, l24, l12, l34;

  static constexpr int n = 12, m = 2;

  static constexpr auto name = "four-particle";
  static constexpr auto summary = "four particles, joined by two rods and two springs";
  static constexpr auto configuration = "R^12: the positions of the particles";
  static constexpr auto source =
      "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
      "constrained mechanical systems, sec. 6.3; O. Gonzalez, Comput. Methods Appl. Mech. Engrg. 174 (1999) 165";
  static constexpr double time_scale = 0.1;
  static constexpr std::array<double, n> default_q{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0},
      default_v{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2.0 / 1.7};
  static constexpr std::array<ParameterInfo, 10> parameters() {
    return {{{"mass_1", 1.0, "mass", "of particle 1"},
             {"mass_2", 3.0, "mass", "of particle 2"},
             {"mass_3", 2.3, "mass", "of particle 3"},
             {"mass_4", 1.7, "mass", "of particle 4"},
             {"k13", 50.0, "energy/length^4", "stiffness of spring 1-3"},
             {"k24", 500.0, "energy/length^4", "stiffness of spring 2-4"},
             {"l13", 1.0, "length", "rest length of spring 1-3"},
             {"l24", 1.0, "length", "rest length of spring 2-4"},
             {"l12", 1.0, "length", "of rod 1-2"},
             {"l34", 1.0, "length", "of rod 3-4"}}};
  }
  static constexpr std::array<ObservableInfo, 6> invariants() {
    return {{{"linear_momentum_1", true, "total momentum, component 1"},
             {"linear_momentum_2", true, "total momentum, component 2"},
             {"linear_momentum_3", true, "total momentum, component 3"},
             {"angular_momentum_1", true, "total angular momentum about the origin, component 1"},
             {"angular_momentum_2", true, "total angular momentum about the origin, component 2"},
             {"angular_momentum_3", true, "total angular momentum about the origin, component 3"}}};
  }
  template <class S>
  RB_HD Vector<S, 6> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const Vector<T, n> mass = mass_diagonal();
    auto linear = Vector<S, 3>::zero(), angular = Vector<S, 3>::zero();
    RB_UNROLL
    for (int b = 0; b < 4; ++b) {
      const Vector<S, 3> p = S(mass[3 * b]) * segment<3>(v, 3 * b);
      linear = linear + p;
      angular = angular + cross(segment<3>(q, 3 * b), p);
    }
    return join(linear, angular);
  }

  RB_HD Vector<T, n> mass_diagonal() const {
    const T mass[4] = {mass_1, mass_2, mass_3, mass_4};
    Vector<T, n> r;
    RB_UNROLL
    for (int i = 0; i < n; ++i) r[i] = mass[i / 3];
    return r;
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    const Vector<S, terms> pi = potential_invariants(q);
    return potential_term<0>(pi[0]) + potential_term<1>(pi[1]);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    const Vector<S, 3> d13 = segment<6, 3>(q) - segment<0, 3>(q), d24 = segment<9, 3>(q) - segment<3, 3>(q);
    const S c13 = S(2.0) * S(k13) * (dot(d13, d13) - S(l13) * S(l13));
    const S c24 = S(2.0) * S(k24) * (dot(d24, d24) - S(l24) * S(l24));
    const Vector<S, 3> f13 = c13 * d13, f24 = c24 * d24;
    return join(join(f13, f24), join(-f13, -f24));
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    const Vector<S, 3> a = segment<3, 3>(q) - segment<0, 3>(q), b = segment<9, 3>(q) - segment<6, 3>(q);
    return {S(0.5) * (dot(a, a) * rod(l12) - S(1.0)), S(0.5) * (dot(b, b) * rod(l34) - S(1.0))};
  }

  // The structure for condensed methods (system.hpp).
  static constexpr int block = 3, terms = 2;
  template <int a, class S>
  RB_HD S potential_term(const S& pi) const {
    const S l = S(a == 0 ? l13 : l24), stretch = pi - l * l;
    return S(0.5) * S(a == 0 ? k13 : k24) * (stretch * stretch);
  }
  template <class S>
  RB_HD Vector<S, terms> potential_invariants(const Vector<S, n>& q) const {
    const Vector<S, 3> d13 = segment<6, 3>(q) - segment<0, 3>(q), d24 = segment<9, 3>(q) - segment<3, 3>(q);
    return {dot(d13, d13), dot(d24, d24)};
  }
  template <class S>
  RB_HD Matrix<S, terms, n> potential_invariants_jacobian(const Vector<S, n>& q) const {
    const Vector<S, 3> d13 = S(2.0) * (segment<6, 3>(q) - segment<0, 3>(q)),
                       d24 = S(2.0) * (segment<9, 3>(q) - segment<3, 3>(q));
    const auto none = Vector<S, 3>::zero();
    return {{join(join(-d13, none), join(d13, none)), join(join(none, -d24), join(none, d24))}};
  }
  template <class S>
  RB_HD Matrix<S, 4, 4> potential_invariants_hessian(const Vector<S, terms>& c) const {
    const S a = S(2.0) * c[0], b = S(2.0) * c[1], o(0.0);
    return {{{a, o, -a, o}, {o, b, o, -b}, {-a, o, a, o}, {o, -b, o, b}}};
  }
  static constexpr bool constraint_entry(int row, int column) { return (column / 6) == row; }
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    const Vector<S, 3> a = rod(l12) * (segment<3, 3>(q) - segment<0, 3>(q)),
                       b = rod(l34) * (segment<9, 3>(q) - segment<6, 3>(q));
    const auto none = Vector<S, 6>::zero();
    return {{join(join(-a, a), none), join(none, join(-b, b))}};
  }
  template <class S>
  RB_HD Matrix<S, 4, 4> constraint_hessian(const Vector<S, m>& multiplier) const {
    const S a = multiplier[0] * rod(l12), b = multiplier[1] * rod(l34), o(0.0);
    return {{{a, -a, o, o}, {-a, a, o, o}, {o, o, b, -b}, {o, o, -b, b}}};
  }

 private:
  RB_HD static T rod(const T& length) { return T(1.0) / (length * length); }
};

RB_NAMESPACE_END
