#pragma once
// Rotations with a known angular velocity, to round-off, for exact solutions; host only, in double.

#include "rattleback/lie/so3.hpp"
#include "rattleback/real/quadrature.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Coefficients a_ij of the collocation method at the Gauss nodes of [0, 1], from the nodes and weights on [-1, 1]:
/// l_j = b_j sum_k (2k + 1) P_k(x_j) P_k, and (2k + 1) times the integral of P_k is P_{k+1} - P_{k-1}.
inline Matrix<double, 8, 8> gauss_collocation(const Vector<double, 8>& node, const Vector<double, 8>& weight) {
  Matrix<double, 8, 10> legendre;  // P_{k-1}(x_i), with P_{-1} = -1
  for (int i = 0; i < 8; ++i) {
    auto& p = legendre[i];
    p[0] = -1.0, p[1] = 1.0, p[2] = node[i];
    for (int k = 1; k < 8; ++k) p[k + 2] = ((2 * k + 1) * node[i] * p[k + 1] - k * p[k]) / (k + 1);
  }
  auto a = Matrix<double, 8, 8>::zero();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 8; ++k)
        a[i][j] += 0.25 * weight[j] * legendre[j][k + 1] * (legendre[i][k + 2] - legendre[i][k]);
  return a;
}

}  // namespace detail

/// R(time) of R' = R hat(w(t)), R(0) = R, by the Gauss method of 8 stages on panels no wider than `width`. The panels
/// must resolve w and keep |w| width below 1/2.
template <class Velocity>
Vector<double, 9> turned(Vector<double, 9> rotation, double time, double width, Velocity&& w) {
  Vector<double, 8> node, weight;
  for (int i = 0; i < 4; ++i) {
    node[i] = -gauss_node[i], node[4 + i] = gauss_node[i];
    weight[i] = weight[4 + i] = gauss_weight[i];
  }
  const auto a = detail::gauss_collocation(node, weight);
  const double panels = std::fmax(1.0, std::ceil(std::fabs(time) / width)), h = time / panels;
  for (double panel = 0.0; panel < panels; panel += 1.0) {
    Vector<double, 3> velocity[8];
    Vector<double, 9> rate[8];
    for (int i = 0; i < 8; ++i) {
      velocity[i] = w(time * ((panel + 0.5 * (1.0 + node[i])) / panels));
      rate[i] = SO3::translate(rotation, velocity[i]);
    }
    // Each pass reduces the error by a factor of at least 4.
    for (int pass = 0; pass < 28; ++pass) {
      Vector<double, 9> stage[8];
      for (int i = 0; i < 8; ++i) {
        stage[i] = rotation;
        for (int j = 0; j < 8; ++j) stage[i] = fma(h * a[i][j], rate[j], stage[i]);
      }
      for (int i = 0; i < 8; ++i) rate[i] = SO3::translate(stage[i], velocity[i]);
    }
    auto sum = Vector<double, 9>::zero();
    for (int i = 0; i < 8; ++i) sum = fma(0.5 * weight[i], rate[i], sum);
    rotation = SO3::normalise(fma(h, sum, rotation));
  }
  return rotation;
}

RB_NAMESPACE_END
