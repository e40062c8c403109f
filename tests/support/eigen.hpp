#pragma once
// Vectors and matrices of the kernels as those of Eigen.

#include <Eigen/Dense>

#include "rattleback/linalg/vector.hpp"

namespace rattleback {

template <int N>
Eigen::Matrix<double, N, 1> to_eigen(const Vector<double, N>& x) {
  return Eigen::Map<const Eigen::Matrix<double, N, 1>>(x.entry);
}
template <int R, int C>
Eigen::Matrix<double, R, C> to_eigen(const Matrix<double, R, C>& a) {
  Eigen::Matrix<double, R, C> e;
  for (int i = 0; i < R; ++i) e.row(i) = to_eigen(a[i]).transpose();
  return e;
}
template <int N>
Vector<double, N> from_eigen(const Eigen::VectorXd& x) {
  Vector<double, N> r;
  for (int i = 0; i < N; ++i) r[i] = x[i];
  return r;
}

}  // namespace rattleback
