#pragma once
// Vectors and matrices of the kernels as those of Eigen, whose sizes are dynamic: Eigen compiles a fixed size anew.

#include <Eigen/Dense>

#include "rattleback/linalg/vector.hpp"

namespace rattleback {

template <int N>
Eigen::VectorXd to_eigen(const Vector<double, N>& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.entry, N);
}
template <int R, int C>
Eigen::MatrixXd to_eigen(const Matrix<double, R, C>& a) {
  Eigen::MatrixXd e(R, C);
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
