#pragma once

#include "rattleback/lie/so3.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Rigid body with a fixed point in gravity, with w in the body and the third axis of space upwards:
///   l = (I1 w1^2 + I2 w2^2 + I3 w3^2)/2 - g e3.(R c).
/// With I1 = I2 and c = (0, 0, 1) the system is Lagrange's top, with g = 0 the free rigid body.
template <class T>
struct HeavyTop {
  using scalar = T;
  using Group = SO3;
  T moment_1, moment_2, moment_3, weight, centre_1, centre_2, centre_3;

  static constexpr int n = 3, m = 0;

  static constexpr auto name = "heavy-top";
  static constexpr auto summary =
      "rigid body with a fixed point in gravity: heavy top, Lagrange's top, free rigid body";
  static constexpr auto configuration = "SO(3): R (body to space, third axis upwards); velocity w in the body";
  static constexpr std::array<const char*, 9> coordinates{"R11", "R12", "R13", "R21", "R22",
                                                          "R23", "R31", "R32", "R33"};
  static constexpr auto source = "L. D. Landau, E. M. Lifshitz, Mechanics, 3rd ed. (Pergamon 1976), sections 35, 36";
  // R = exp(0.3, -0.4, 0.2)
  static constexpr std::array<double, 9> default_q{0.902393426143777779, -0.249036480384168803, -0.351663099984004273,
                                                   0.131908591756702137, 0.936555726993455556,  -0.324751433648142093,
                                                   0.410227044297737606, 0.246666174563164316,  0.877991782679722224};
  static constexpr std::array<double, 3> default_v{0.5, 0.8, -0.6};
  static constexpr std::array<ParameterInfo, 7> parameters() {
    return {{{"moment_1", 1.0, "mass length^2", "first principal moment of inertia I1"},
             {"moment_2", 1.4, "mass length^2", "second principal moment of inertia I2"},
             {"moment_3", 0.7, "mass length^2", "third principal moment of inertia I3"},
             {"weight", 0.9, "mass length^2/time^2", "weight g times the distance of the centre of mass"},
             {"centre_1", 0.0, "1", "direction c of the centre of mass in the body"},
             {"centre_2", 0.0, "1", "its second component"},
             {"centre_3", 1.0, "1", "its third component"}}};
  }
  static constexpr std::array<ObservableInfo, 4> invariants() {
    return {{{"spatial_momentum_1", false, "(R I w)_1; constant where weight = 0"},
             {"spatial_momentum_2", false, "(R I w)_2; constant where weight = 0"},
             {"spatial_momentum_3", true, "(R I w)_3, angular momentum about the vertical"},
             {"axial_momentum", false, "I3 w3; constant where I1 = I2 and c = (0, 0, 1)"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, 9>& q) const {
    return S(weight) * dot(segment<6, 3>(q), centre<S>());
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, 9>& q) const {
    return S(weight) * cross(segment<6, 3>(q), centre<S>());
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {moment_1, moment_2, moment_3}; }

  RB_HD Vector<T, 4> evaluate_invariants(const Vector<T, 9>& q, const Vector<T, n>& v) const {
    const Vector<T, 3> momentum{moment_1 * v[0], moment_2 * v[1], moment_3 * v[2]};
    return join(SO3::Ad_inverse_star(q, momentum), Vector<T, 1>{momentum[2]});
  }

 private:
  template <class S>
  RB_HD Vector<S, 3> centre() const {
    return {S(centre_1), S(centre_2), S(centre_3)};
  }
};

/// The heavy top with the third axis of the body on a cone about the first axis of space: g = e1.(R e3) - kappa.
template <class T>
struct HeavyTopCone : HeavyTop<T> {
  T kappa;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "heavy-top-cone";
  static constexpr auto summary = "heavy top whose third axis is held on a cone about a horizontal line";
  // The start of the free top, with the velocity minus the component along the derivative of the constraint.
  static constexpr std::array<double, 3> default_v{0.259460530329116188, -0.071604175517872056, -0.6};
  static constexpr auto parameters() {
    std::array<ParameterInfo, 8> list{};
    for (int i = 0; i < 7; ++i) list[i] = HeavyTop<T>::parameters()[i];
    list[7] = {"kappa", -0.351663099984004273, "1",
               "cosine of the angle between the third axis of the body and the line"};
    return list;
  }
  static constexpr std::array<ObservableInfo, 4> invariants() {
    return {{{"spatial_momentum_1", false, "(R I w)_1, about the line; constant where weight = 0"},
             {"spatial_momentum_2", false, "(R I w)_2"},
             {"spatial_momentum_3", false, "(R I w)_3"},
             {"axial_momentum", false, "I3 w3; constant where I1 = I2 and c = (0, 0, 1)"}}};
  }

  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, 9>& q) const {
    return {q[2] - S(kappa)};
  }
};

RB_NAMESPACE_END
