#pragma once

#include "rattleback/lie/so3.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// This Hamiltonian shows the limits of the order of variational Munthe-Kaas methods. In space
///   H = <mu, B R c + w> + epsilon |mu|^2/2 with constant B, c, w.
/// From mu = 0 the momentum stays 0, and R moves as in the Munthe-Kaas method for dR/dt R^-1 = B R c + w. In the body,
/// with u = R^T (B R c + w),
///   H = <p, u> + epsilon |p|^2/2,      l = |w - u|^2/(2 epsilon).
/// H is degenerate for epsilon = 0: velocities do not determine momenta, and no Lagrangian exists.
template <class T>
struct OrderBarrier {
  using scalar = T;
  using Group = SO3;
  T epsilon;

  static constexpr int n = 3, m = 0;

  static constexpr auto name = "order-barrier";
  static constexpr auto summary = "Hamiltonian that limits the order of variational methods without corrections";
  static constexpr auto configuration = "SO(3): R (body to space); velocity w in the body";
  static constexpr std::array<const char*, 9> coordinates{"R11", "R12", "R13", "R21", "R22",
                                                          "R23", "R31", "R32", "R33"};
  static constexpr auto source =
      "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, proof of proposition 3.1";
  // R = exp(0.2, -0.1, 0.4), with the momentum (0.3, -0.2, 0.1) in space.
  static constexpr std::array<double, 9> default_q{
      0.9164771264559104046, -0.3959724875566146072, -0.05723168511710885413,
      0.376320046722711173,  0.901737795830482829,   -0.2127255744037348793,
      0.1358414484527225909, 0.1734206927359280109,  0.9754344489576207072};
  static constexpr std::array<double, 3> default_v{0.1925058883363361338, 0.004048193205739963187,
                                                   0.8603237328597182508};
  static constexpr std::array<ParameterInfo, 1> parameters() {
    return {{{"epsilon", 1.0, "1", "inverse inertia; not 0 where momenta are to follow from velocities"}}};
  }

  template <class S>
  RB_HD S hamiltonian(const Vector<S, 9>& q, const Vector<S, n>& p) const {
    return fma(S(T(0.5) * epsilon), dot(p, p), dot(p, drift(q)));
  }
  template <class S>
  RB_HD S lagrangian(const Vector<S, 9>& q, const Vector<S, n>& v) const {
    const Vector<S, 3> free = v - drift(q);
    return S(T(0.5) / epsilon) * dot(free, free);
  }
  template <class S>
  RB_HD Vector<S, n> velocity(const Vector<S, 9>& q, const Vector<S, n>& p) const {
    return fma(S(epsilon), p, drift(q));
  }

 private:
  template <class S>
  RB_HD static Vector<S, 3> drift(const Vector<S, 9>& q) {
    const Matrix<S, 3, 3> b{{{S(0.2), S(-0.5), S(0.3)}, {S(0.4), S(0.1), S(-0.2)}, {S(-0.3), S(0.6), S(0.2)}}};
    const Vector<S, 3> c{S(1.0), S(0.5), S(-0.7)}, w{S(0.3), S(-0.4), S(0.5)};
    return SO3::Ad_star(q, b * SO3::Ad(q, c) + w);
  }
};

RB_NAMESPACE_END
