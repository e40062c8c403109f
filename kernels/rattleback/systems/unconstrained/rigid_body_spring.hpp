#pragma once

#include "rattleback/lie/se3.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Free rigid body in gravity; a spring joins the point a of the body to the point c of space:
///   l = (I1 w1^2 + I2 w2^2 + I3 w3^2 + mass |v|^2)/2 - (stiffness/2) |R a + p - c|^2 - mass gravity p_3,
/// (w, v) are in the body, and p is the centre of mass.
template <class T>
struct RigidBodySpring {
  using scalar = T;
  using Group = SE3;
  T moment_1, moment_2, moment_3, mass, stiffness, gravity, point_1, point_2, point_3, centre_1, centre_2, centre_3;

  static constexpr int n = 6, m = 0;

  static constexpr auto name = "rigid-body-spring";
  static constexpr auto summary = "rigid body that hangs on a spring";
  static constexpr auto configuration =
      "SE(3): R (body to space, third axis upwards), p (centre of mass); velocity (w, v) in the body";
  static constexpr std::array<const char*, 12> coordinates{"R11", "R12", "R13", "R21", "R22", "R23",
                                                           "R31", "R32", "R33", "x",   "y",   "z"};
  static constexpr auto source = "none: a test problem on SE(3)";
  // q = exp(0.2, -0.3, 0.1, 0.4, 0.1, -0.2), with the momentum (0.5, -0.4, 0.9, 0.3, 0.2, -0.1) in space.
  static constexpr std::array<double, 12> default_q{
      0.9505806179060914663, -0.1273345749176302579, -0.2831649605650737063, 0.06803131640494001745,
      0.9752903089530457332, -0.2101917059507428355, 0.3029327134026371198,  0.1805400766943977152,
      0.9357548032779189062, 0.4164344969801154728,  0.1357289164043809817,  -0.1256822447470880005};
  static constexpr std::array<double, 6> default_v{0.6965618631216878637, -0.2009010814673757022,
                                                   0.3744711984412106252, 0.2237393144271264428,
                                                   0.1156697347049002481, -0.1838027580728854747};
  static constexpr std::array<ParameterInfo, 12> parameters() {
    return {{{"moment_1", 1.0, "mass length^2", "first principal moment of inertia I1"},
             {"moment_2", 1.5, "mass length^2", "second principal moment of inertia I2"},
             {"moment_3", 2.0, "mass length^2", "third principal moment of inertia I3"},
             {"mass", 1.2, "mass", "of the body"},
             {"stiffness", 3.0, "mass/time^2", "of the spring, whose length at rest is 0"},
             {"gravity", 1.0, "length/time^2", "acceleration downwards"},
             {"point_1", 0.3, "length", "point a of the body that the spring is fixed to"},
             {"point_2", -0.2, "length", "its second component"},
             {"point_3", 0.5, "length", "its third component"},
             {"centre_1", 0.1, "length", "point c of space that the spring is fixed to"},
             {"centre_2", 0.2, "length", "its second component"},
             {"centre_3", 0.0, "length", "its third component"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"vertical_momentum", true, "angular momentum about the vertical through c"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, 12>& q) const {
    const Vector<S, 3> stretch = spring(q);
    return fma(S(T(0.5) * stiffness), dot(stretch, stretch), S(mass * gravity) * q[11]);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, 12>& q) const {
    const Vector<S, 9> rotation = SE3::rotation(q);
    const Vector<S, 3> pull = S(-stiffness) * SO3::Ad_star(rotation, spring(q));
    return join(cross(point<S>(), pull), fma(S(-mass * gravity), segment<6, 3>(rotation), pull));
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {moment_1, moment_2, moment_3, mass, mass, mass}; }

  RB_HD Vector<T, 1> evaluate_invariants(const Vector<T, 12>& q, const Vector<T, n>& v) const {
    const Vector<T, 3> spin{moment_1 * v[0], moment_2 * v[1], moment_3 * v[2]};
    const Vector<T, 9> rotation = SE3::rotation(q);
    const Vector<T, 3> velocity = SO3::Ad(rotation, SE3::linear(v));
    const T x = q[9] - centre_1, y = q[10] - centre_2;
    return {fma(mass, x * velocity[1] - y * velocity[0], dot(segment<6, 3>(rotation), spin))};
  }

 private:
  template <class S>
  RB_HD Vector<S, 3> point() const {
    return {S(point_1), S(point_2), S(point_3)};
  }
  /// R a + p - c.
  template <class S>
  RB_HD Vector<S, 3> spring(const Vector<S, 12>& q) const {
    return SO3::Ad(SE3::rotation(q), point<S>()) + SE3::position(q) -
           Vector<S, 3>{S(centre_1), S(centre_2), S(centre_3)};
  }
};

RB_NAMESPACE_END
