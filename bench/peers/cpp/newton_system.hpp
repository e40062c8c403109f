#pragma once
// The equations of one nonholonomic Lobatto step of the chaotic system, for a Newton iteration that leaves the linear
// algebra to a library. Unknowns: the accelerations w_2..w_{s-1} and the multipliers Lambda_2..Lambda_s; equations
//
//   w_j = f(Q_j) + mu_j^T Lambda_j,  j = 2..s-1        mu_i (v/h + sum_j a_ij w_j) = 0,  i = 2..s
//   Q_i = q + c_i h v + h^2 sum_j (a ah)_ij w_j        w_s = f(Q_s) + mu_s^T Lambda_s

#include "problems.hpp"
#include "rattleback/tableaus/lobatto.hpp"

/// A number and its derivative in one direction.
struct Dual {
  double value, slope;
  HOST_DEVICE Dual(double a = 0, double b = 0) : value(a), slope(b) {}
  friend HOST_DEVICE Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend HOST_DEVICE Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend HOST_DEVICE Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend HOST_DEVICE Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
};

/// State of a trajectory and its step.
struct Node {
  double q[7], v[7], lambda;
};

template <int S>
struct NewtonSystem {
  static constexpr int n = 7, inner = S - 2, size = n * inner + S - 1;

  /// Acceleration at the node.
  HOST_DEVICE static void first(const Node& node, double (&w)[n]) {
    Chaotic::force(node.q, w);
    w[0] += node.lambda;
    for (int k = 4; k < n; ++k) w[k] += node.lambda * node.q[k];
  }

  /// Residual at x; Q_s and w_s come along.
  template <class T>
  HOST_DEVICE static void residual(const Node& node, double h, const T (&x)[size], T (&r)[size], T (&q_s)[n],
                                   T (&w_s)[n]) {
    constexpr auto t = rattleback::lobatto_pair<S>();
    double w_1[n];
    first(node, w_1);
    T q[S - 1][n], w[S - 1][n];  // stages 2..s: the accelerations that follow from Q and Lambda
    for (int i = 1; i < S; ++i) {
      for (int k = 0; k < n; ++k) {
        T sum = t.a_ah[i][0] * w_1[k];
        for (int j = 1; j <= inner; ++j) sum = sum + t.a_ah[i][j] * x[(j - 1) * n + k];
        q[i - 1][k] = node.q[k] + h * (t.c[i] * node.v[k] + h * sum);
      }
      Chaotic::force(q[i - 1], w[i - 1]);
      const T lambda = x[inner * n + i - 1];
      w[i - 1][0] = w[i - 1][0] + lambda;
      for (int k = 4; k < n; ++k) w[i - 1][k] = w[i - 1][k] + lambda * q[i - 1][k];
    }
    for (int j = 0; j < inner; ++j)
      for (int k = 0; k < n; ++k) r[j * n + k] = x[j * n + k] - w[j][k];
    for (int i = 1; i < S; ++i) {
      T phi = 0;
      for (int k = 0; k < n; k = k == 0 ? 4 : k + 1) {
        T rate = node.v[k] / h + t.a[i][0] * w_1[k];
        for (int j = 1; j < S; ++j) rate = rate + t.a[i][j] * (j <= inner ? x[(j - 1) * n + k] : w[j - 1][k]);
        phi = phi + (k == 0 ? T(1.0) : q[i - 1][k]) * rate;
      }
      r[inner * n + i - 1] = phi;
    }
    for (int k = 0; k < n; ++k) {
      q_s[k] = q[S - 2][k];
      w_s[k] = w[S - 2][k];
    }
  }

  /// The first guess: the acceleration and the multiplier of the node.
  HOST_DEVICE static void guess(const Node& node, double (&x)[size]) {
    double w_1[n];
    first(node, w_1);
    for (int j = 0; j < inner; ++j)
      for (int k = 0; k < n; ++k) x[j * n + k] = w_1[k];
    for (int i = 0; i < S - 1; ++i) x[inner * n + i] = node.lambda;
  }

  /// Column `column` of the Jacobian at x.
  HOST_DEVICE static void column(const Node& node, double h, const double* x, int column, double* to) {
    Dual unknown[size], r[size], q_s[n], w_s[n];
    for (int i = 0; i < size; ++i) unknown[i] = Dual(x[i], i == column);
    residual(node, h, unknown, r, q_s, w_s);
    for (int i = 0; i < size; ++i) to[i] = r[i].slope;
  }

  /// The next node, from converged unknowns.
  HOST_DEVICE static void finish(Node& node, double h, const double (&x)[size]) {
    constexpr auto t = rattleback::lobatto_pair<S>();
    double w_1[n], r[size], q_s[n], w_s[n];
    first(node, w_1);
    residual(node, h, x, r, q_s, w_s);
    for (int k = 0; k < n; ++k) {
      double sum = t.b[0] * w_1[k] + t.b[S - 1] * w_s[k];
      for (int j = 0; j < inner; ++j) sum += t.b[j + 1] * x[j * n + k];
      node.v[k] += h * sum;
      node.q[k] = q_s[k];
    }
    node.lambda = x[size - 1];
  }
};
