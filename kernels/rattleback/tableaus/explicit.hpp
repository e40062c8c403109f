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

/// The block of numbers that passes an explicit method to a step. For q' = v, v' = A(q, v) the stage positions follow
/// from the accelerations A_j (the form of Nystrom),
///   V_i = v + t sum_{j<i} a_ij A_j,      Q_i = q + t (c_i v + t sum_{j<i} (a a)_ij A_j),
///   v'  = v + t sum_j b_j A_j,           q'  = q + t (v + t sum_j (b a)_j A_j).
class ExplicitNumbers {
 public:
  static constexpr int triangle = max_explicit_stages * (max_explicit_stages - 1) / 2;
  static constexpr int size = 1 + 3 * max_explicit_stages + 2 * triangle;

  /// Fills a block; host only.
  static constexpr void fill(const ExplicitTableau& tableau, double* numbers) {
    for (int i = 0; i < size; ++i) numbers[i] = 0.0;
    numbers[0] = tableau.stages;
    for (int i = 0; i < tableau.stages; ++i) {
      numbers[at_b + i] = tableau.b[i];
      for (int j = 0; j < i; ++j) {
        numbers[at_c + i] += tableau.a[i][j];
        numbers[at_a + row(i) + j] = tableau.a[i][j];
        numbers[at_ba + j] += tableau.b[i] * tableau.a[i][j];
        for (int k = j + 1; k < i; ++k) numbers[at_aa + row(i) + j] += tableau.a[i][k] * tableau.a[k][j];
      }
    }
  }

  RB_HD explicit ExplicitNumbers(const double* numbers) : numbers_(numbers) {}
  RB_HD int stages() const { return static_cast<int>(numbers_[0]); }
  RB_HD double c(int i) const { return numbers_[at_c + i]; }
  RB_HD double b(int i) const { return numbers_[at_b + i]; }
  RB_HD double ba(int i) const { return numbers_[at_ba + i]; }
  RB_HD double a(int i, int j) const { return numbers_[at_a + row(i) + j]; }
  RB_HD double aa(int i, int j) const { return numbers_[at_aa + row(i) + j]; }

 private:
  static constexpr int at_c = 1, at_b = at_c + max_explicit_stages, at_ba = at_b + max_explicit_stages,
                       at_a = at_ba + max_explicit_stages, at_aa = at_a + triangle;
  static RB_CONSTEXPR int row(int i) { return i * (i - 1) / 2; }

  const double* numbers_;
};

RB_NAMESPACE_END
