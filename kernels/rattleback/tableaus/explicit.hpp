#pragma once
// Explicit Runge-Kutta tableaus as numbers at run time, and the block of numbers that steps read.

#include <cstddef>

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// Largest number of stages of a step.
inline constexpr int max_explicit_stages = 17;

struct ExplicitTableau {
  const char* name;
  int stages;
  int order;  ///< order of the method; 0 if unknown
  double a[max_explicit_stages][max_explicit_stages];
  double b[max_explicit_stages];
};

/// The fault of a tableau as a base method, or null.
constexpr const char* explicit_tableau_fault(const ExplicitTableau& tableau) {
  if (tableau.stages < 1 || tableau.stages > max_explicit_stages) return "the number of stages is not 1 to 17";
  double sum = -1.0;
  for (int i = 0; i < tableau.stages; ++i) {
    sum += tableau.b[i];
    for (int j = i; j < tableau.stages; ++j)
      if (tableau.a[i][j] != 0.0) return "the base method is not explicit: a_ij must be 0 for j >= i";
  }
  if (!(sum <= 1e-12 && sum >= -1e-12)) return "the weights b_i do not sum to 1: the base method is not consistent";
  return nullptr;
}

/// The numbers of an explicit method as a step reads them. For q' = v, v' = A(q, v) the stage positions follow
/// from the accelerations A_j (the form of Nystrom),
///   V_i = v + t sum_{j<i} a_ij A_j,      Q_i = q + t (c_i v + t sum_{j<i} (a a)_ij A_j),
///   v'  = v + t sum_j b_j A_j,           q'  = q + t (v + t sum_j (b a)_j A_j).
struct ExplicitNumbers {
  static constexpr int triangle = max_explicit_stages * (max_explicit_stages - 1) / 2;
  double stages = 0.0;
  double c[max_explicit_stages]{}, b[max_explicit_stages]{}, ba[max_explicit_stages]{};
  double lower_a[triangle]{}, lower_aa[triangle]{};  ///< below the diagonal, row by row

  /// Host only.
  static constexpr ExplicitNumbers of(const ExplicitTableau& tableau) {
    ExplicitNumbers numbers;
    numbers.stages = tableau.stages;
    for (int i = 0; i < tableau.stages; ++i) {
      numbers.b[i] = tableau.b[i];
      for (int j = 0; j < i; ++j) {
        numbers.c[i] += tableau.a[i][j];
        numbers.lower_a[row(i) + j] = tableau.a[i][j];
        numbers.ba[j] += tableau.b[i] * tableau.a[i][j];
        for (int k = j + 1; k < i; ++k) numbers.lower_aa[row(i) + j] += tableau.a[i][k] * tableau.a[k][j];
      }
    }
    return numbers;
  }

  RB_HD double a(int i, int j) const { return lower_a[row(i) + j]; }
  RB_HD double aa(int i, int j) const { return lower_aa[row(i) + j]; }

 private:
  static RB_CONSTEXPR int row(int i) { return i * (i - 1) / 2; }
};

RB_NAMESPACE_END
