#pragma once

#include "rattleback/lie/product.hpp"
#include "rattleback/lie/so3.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// The rattleback: a rigid body whose lower surface is part of an ellipsoid rolls on a horizontal plane. The axes of
/// the body are the principal axes of inertia. The ellipsoid is turned by the angle delta about the third axis of the
/// body, and the centre of mass G is at depth h below the centre of the ellipsoid. With the angular velocity w in the
/// body and the velocity V = (vx, vy, vz) of G in space,
///   l = w.Iw/2 + m |V|^2/2 - m g z,   Phi = V + R (w x rho),   rho = -E gamma/(gamma.E gamma)^(1/2) + h e3,
/// where rho points from G to the point of contact, gamma = R^T e3 is the vertical in the body, and E is the matrix of
/// the squares of the semi-axes. The multiplier is the force of the plane on the body.
///
/// Phi_3 is the derivative of z + gamma.rho, so z = -gamma.rho + const could replace z, but then the mass matrix would
/// depend on R. With the third velocity constraint the Lagrangian is separable, with a constant diagonal mass matrix
/// and a constant force.
template <class T>
struct Rattleback {
  using scalar = T;
  using Group = Product<SO3, Rn<3>>;
  T mass, moment_1, moment_2, moment_3, semi_axis_1, semi_axis_2, semi_axis_3, depth, angle, gravity;

  static constexpr int n = 6, m = 3, elements = Group::element_size;
  static constexpr int z = 11;  // index in q

  static constexpr auto name = "rattleback";
  static constexpr auto summary =
      "rattleback (celt): ellipsoid with skew axes of inertia rolling on a plane; reverses its spin";
  static constexpr auto configuration =
      "SO(3) x R^3: R (body to space, third axis upwards), centre of mass x, y, z; velocity w (body), vx, vy, vz";
  static constexpr std::array<const char*, elements> coordinates{"R11", "R12", "R13", "R21", "R22", "R23",
                                                                 "R31", "R32", "R33", "x",   "y",   "z"};
  static constexpr auto source =
      "T. R. Kane, D. A. Levinson, Realistic mathematical modeling of the rattleback, Int. J. Non-Linear Mech. 17 "
      "(1982), 175-186";
  static constexpr double time_scale = 0.01;
  // Body and start of Kane and Levinson. Their product of inertia, -0.2 cm^2 about axes that point down, corresponds to
  // the turn by delta. Both tilts are 0.5 degrees. The body spins at 5/s about the third axis, in the sense that
  // reverses. R is the shortest rotation to this attitude.
  static constexpr std::array<double, elements> default_q{0.9999630126863329408,
                                                          -0.00003806063766517046436,
                                                          -0.00860068663890311354,
                                                          -0.00003806063766517046436,
                                                          0.9999608348918626787,
                                                          -0.008850267439846528986,
                                                          0.00860068663890311354,
                                                          0.008850267439846528986,
                                                          0.9999238475781956196,
                                                          0.0,
                                                          0.0,
                                                          0.01007695345561724346};
  static constexpr std::array<double, n> default_v{
      0.0, 0.0, 5.0, -0.003200497820572567212, 0.08689077905641961612, 0.0007415366236724415222};
  static constexpr std::array<ParameterInfo, 10> parameters() {
    return {
        {{"mass", 1.0, "kg", "mass m"},
         {"moment_1", 1.997143439995361436e-4, "kg m^2", "first principal moment of inertia"},
         {"moment_2", 1.600285656000463856e-3, "kg m^2", "second principal moment of inertia"},
         {"moment_3", 17e-4, "kg m^2", "third principal moment of inertia"},
         {"semi_axis_1", 0.2, "m", "first semi-axis of the ellipsoid"},
         {"semi_axis_2", 0.03, "m", "second semi-axis of the ellipsoid"},
         {"semi_axis_3", 0.02, "m", "third semi-axis of the ellipsoid"},
         {"depth", 0.01, "m", "depth h of the centre of mass below the centre of the ellipsoid"},
         {"angle", 0.01428182891937999724, "rad", "angle delta of the ellipsoid's first axis against that of inertia"},
         {"gravity", 9.81, "m/s^2", "acceleration g downwards"}}};
  }
  static constexpr std::array<ObservableInfo, 4> invariants() {
    return {{{"spin", false, "angular velocity about the vertical, gamma.w"},
             {"height", false, "height z of the centre of mass"},
             {"tilt", false, "angle between the third axis and the vertical"},
             {"plane_height", true, "height z + gamma.rho of the plane; constant since z follows the contact"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, elements>& q) const {
    return S(mass * gravity) * q[z];
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, elements>&) const {
    auto f = Vector<S, n>::zero();
    f[5] = S(-(mass * gravity));
    return f;
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {moment_1, moment_2, moment_3, mass, mass, mass}; }

  /// Row i of R, called a, gives a.(w x rho) = (rho x a).w.
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, elements>& q) const {
    const Vector<S, 3> rho = contact(q);
    const Vector<S, 3> row[] = {segment<0, 3>(q), segment<3, 3>(q), segment<6, 3>(q)};
    Matrix<S, m, n> mu;
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      mu[i] = join(cross(rho, row[i]), Vector<S, 3>::zero());
      mu[i][3 + i] = S(1.0);
    }
    return mu;
  }
  RB_HD static constexpr bool constraint_entry(int row, int column) { return column < 3 || column == 3 + row; }

  RB_HD Vector<T, 4> evaluate_invariants(const Vector<T, elements>& q, const Vector<T, n>& v) const {
    const Vector<T, 3> gamma = segment<6, 3>(q);
    const T sine = sqrt(fma(gamma[0], gamma[0], gamma[1] * gamma[1]));
    return {dot(gamma, Group::first(v)), q[z], T(2.0) * atan(sine / (T(1.0) + gamma[2])),
            q[z] + dot(gamma, contact(q))};
  }

 private:
  /// rho.
  template <class S>
  RB_HD Vector<S, 3> contact(const Vector<S, elements>& q) const {
    T s, c;
    sincos(angle, s, c);
    const T a2 = semi_axis_1 * semi_axis_1, b2 = semi_axis_2 * semi_axis_2, skew = (a2 - b2) * s * c;
    const Vector<S, 3> gamma = segment<6, 3>(q);
    const Vector<S, 3> e{fma(S(fma(a2, c * c, b2 * s * s)), gamma[0], S(skew) * gamma[1]),
                         fma(S(skew), gamma[0], S(fma(a2, s * s, b2 * c * c)) * gamma[1]),
                         S(semi_axis_3 * semi_axis_3) * gamma[2]};
    const S scale = S(-1.0) / sqrt(dot(gamma, e));
    return {scale * e[0], scale * e[1], fma(scale, e[2], S(depth))};
  }
};

RB_NAMESPACE_END
