#pragma once
// What the tests of the nonholonomic Lobatto IIIA-IIIB integrator on R^n share (D. Martin de Diego, R. T. Sato Martin de
// Almagro, High-order geometric methods for nonholonomic mechanical systems): systems, starts, the continuous equations.

#include <cmath>
#include <functional>

#include "eigen.hpp"
#include "testing.hpp"

namespace rattleback {

using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;

using Particle = NonholonomicParticle<double>;
using Cvt = PendulumCvt<double>;
using Sleigh = ChaplyginSleigh<double>;
using Isokinetic = IsokineticParticle<double>;
using Galactic = HenonHeiles<double>;
template <ChaoticVariant Variant>
using Chaotic3 = Chaotic<double, 3, Variant>;
using Contact = Chaotic3<ChaoticVariant::contact>;
using Printed = Chaotic3<ChaoticVariant::printed>;

inline constexpr Cvt cvt{0.5};
inline const Vector<double, 3> cvt_low{0.0, 3.0 * std::sqrt(10.0) / 5.0, 0.0}, cvt_high{0.0, std::sqrt(8.0), 0.0};

/// Member j of the ensemble of section 7.3 with J + 1 members.
struct Member {
  Vector<double, 7> q, v;
  Member(int j, int J) : q{std::cos(j * M_PI / (2 * J)), 0.6, 0.4, 0.2, 1, 1, 1}, v{0, std::sin(j * M_PI / (2 * J))} {}
};

/// Rounding errors of the multiplier over some 50 steps of size 0.1: they grow with s, as the condition of
/// (a_ij)_{i,j>=2} does, and never decay.
template <int S>
inline constexpr double round_off = S < 5 ? 1e-13 : 5e-13;

// The continuous equations of a particle of unit mass with one constraint, q'' = force + lambda mu: fill in force and mu
// and return lambda.

using Long = long double;

struct ParticleEquations {
  static constexpr int n = 3;
  static Long evaluate(const Long* q, const Long* v, Long* force, Long* mu) {
    force[0] = -q[0], force[1] = -q[1], force[2] = 0;
    mu[0] = -q[1], mu[1] = 0, mu[2] = 1;
    return (v[0] * v[1] - q[0] * q[1]) / (1 + q[1] * q[1]);
  }
};

struct CvtEquations {
  static constexpr int n = 3;
  static Long evaluate(const Long* q, const Long* v, Long* force, Long* mu) {
    const Long s = std::sin(q[1]), c = std::cos(q[1]);
    force[0] = -q[0], force[1] = -s - 0.5L * std::cos(2 * q[1]), force[2] = -q[2];
    mu[0] = s, mu[1] = 0, mu[2] = 1;
    return (-c * v[1] * v[0] + s * q[0] + q[2]) / (1 + s * s);
  }
};

struct ContactEquations {
  static constexpr int n = 7;
  static Long evaluate(const Long* q, const Long* v, Long* force, Long* mu) {
    const Long *y = q + 1, *z = q + 4;
    force[0] = -q[0];
    mu[0] = 1;
    Long numerator = -q[0], denominator = 1;
    for (int i = 0; i < 3; ++i) {
      force[1 + i] = -y[i] - y[i] * z[i] * z[i];
      force[4 + i] = -z[i] - y[i] * y[i] * z[i] - (i < 2 ? z[i] * z[1 - i] * z[1 - i] : 0);
      mu[1 + i] = 0;
      mu[4 + i] = y[i];
      numerator += v[1 + i] * v[4 + i] + y[i] * force[4 + i];
      denominator += y[i] * y[i];
    }
    return -numerator / denominator;
  }
};

/// Newton with a Jacobian by central differences, from x to round-off.
inline Vec solve_numerically(const std::function<Vec(const Vec&)>& f, Vec x) {
  Mat jacobian(x.size(), x.size());
  for (int iteration = 0; iteration < 8; ++iteration) {
    for (int j = 0; j < x.size() && iteration < 2; ++j) {
      constexpr double step = 1e-5;
      Vec up = x, down = x;
      up[j] += step;
      down[j] -= step;
      jacobian.col(j) = (f(up) - f(down)) / (2 * step);
    }
    x -= jacobian.partialPivLu().solve(f(x));
  }
  return x;
}

}  // namespace rattleback
