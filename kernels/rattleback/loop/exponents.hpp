#pragma once
// What tangent vectors tell of a trajectory (loop/tangent.hpp, loop/frame.hpp): Lyapunov exponents and the indicators of chaos
// that are made of them. Every vector starts with norm 1, and vectors are orthogonal to those before them. The norm is that of
// the first `size` numbers, which are (dq, dp), or that of the mass matrix (MassProduct), whose square has a row. After a transient
// all begins anew with vectors of norm 1. A run back in time has the exponents of its own direction.

#include "rattleback/loop/lanes.hpp"

RB_NAMESPACE_BEGIN

/// |w_j|^2 of a tangent vector as it is stored, which is without its power of two.
template <class T>
RB_HD T tangent_square(const ChunkLayout& rows, const double* chunk, int lane, int size, int j) {
  if (rows.tangent_square >= 0)
    return Lanes<T>::load(chunk + (rows.tangent_square + j * rows.tangent_rows) * row_size + lane);
  const double* row = chunk + (rows.tangent + j * rows.tangent_rows) * row_size + lane;
  T square = Lanes<T>::load(row) * Lanes<T>::load(row);
  RB_UNROLL
  for (int i = 1; i < size; ++i) {
    const T d = Lanes<T>::load(row + i * row_size);
    square = fma(d, d, square);
  }
  return square;
}

/// S_j = ln |w_j|, the growth of a tangent vector since the start.
template <class T>
RB_HD T tangent_growth(const ChunkLayout& rows, const double* chunk, int lane, int size, int j) {
  const T square = tangent_square<T>(rows, chunk, lane, size, j);
  const T exponent = Lanes<T>::load(chunk + (rows.tangent_exponent + j * rows.tangent_rows) * row_size + lane);
  return fma(exponent, T(0.6931471805599453), T(0.5) * log(square));
}

/// The steps in which the growth has counted.
template <class T>
RB_HD T tangent_steps(const ChunkLayout& rows, const double* chunk, int lane) {
  const T steps = Lanes<T>::load(chunk + rows.steps * row_size + lane);
  return rows.counted_from < 0 ? steps : steps - Lanes<T>::load(chunk + rows.counted_from * row_size + lane);
}

/// The time in which the vectors have grown, that of the last step.
template <class T>
RB_HD T tangent_time(const KernelArguments& a, const double* chunk, int lane) {
  if (a.layout.clock >= 0) return abs(load_clock<T>(a, chunk, lane, ClockRow::time) - T(a.start));
  return abs(load_or<T>(chunk, a.layout.step, lane, a.step)) * tangent_steps<T>(a.layout, chunk, lane);
}

/// S_j by the time; 0 at the start.
template <class T>
RB_HD T lyapunov_exponent(const KernelArguments& a, const double* chunk, int lane, int size, int j = 0) {
  const T growth = tangent_growth<T>(a.layout, chunk, lane, size, j);
  const T time = tangent_time<T>(a, chunk, lane);
  return select(time == T(0.0), T(0.0), growth / time);
}

/// The exponent of the time since the last sample, with steps of one size.
template <class T>
RB_HD T lyapunov_window(const KernelArguments& a, const double* chunk, int lane, int size, int j) {
  const ChunkLayout& rows = a.layout;
  const auto load = [&](int row) { return Lanes<T>::load(chunk + row * row_size + lane); };
  const T growth = tangent_growth<T>(rows, chunk, lane, size, j) - load(rows.window + j);
  const T time =
      abs(load_or<T>(chunk, rows.step, lane, a.step)) * (load(rows.steps) - load(rows.window + rows.tangents));
  return select(time == T(0.0), T(0.0), growth / time);
}

/// The row of C_ij, i <= j, of the triangular matrix C with (vectors that nobody has made orthogonal) = (orthogonal vectors) C
/// (Ch. Skokos, T. Bountis, Ch. Antonopoulos, Physica D 231 (2007) 30). A column is without its power of two.
RB_HD constexpr int column_row(const ChunkLayout& rows, int i, int j) { return rows.columns + j * (j + 1) / 2 + i; }
/// The row of the exponent of column j.
RB_HD constexpr int column_exponent_row(const ChunkLayout& rows, int j) {
  return rows.columns + rows.tangents * (rows.tangents + 1) / 2 + j;
}

/// ln GALI_k, the logarithm of the volume that the first k vectors span where each has the length 1 and none was made orthogonal:
/// the sum of S_j - ln |column j|, in which column j of C stands for the vector sum_i C_ij w_i.
template <class T>
RB_HD T ln_gali(const ChunkLayout& rows, const double* chunk, int lane, int size, int k) {
  const auto load = [&](int row) { return Lanes<T>::load(chunk + row * row_size + lane); };
  T sum(0.0);
  for (int j = 1; j < k; ++j) {
    T square(0.0);
    for (int i = 0; i <= j; ++i) {
      const T c = load(column_row(rows, i, j));
      square = fma(tangent_square<T>(rows, chunk, lane, size, i), c * c, square);
    }
    const T column = fma(load(column_exponent_row(rows, j)), T(0.6931471805599453), T(0.5) * log(square));
    sum = sum + (tangent_growth<T>(rows, chunk, lane, size, j) - column);
  }
  return sum;
}

/// SALI, the smaller of |u_1 + u_2| and |u_1 - u_2| (Ch. Skokos, J. Phys. A 34 (2001) 10029), from GALI_2, which is the sine of the
/// angle of the two.
template <class T>
RB_HD T sali_of(const T& gali) {
  const T cosine = sqrt(max(fma(-gali, gali, T(1.0)), T(0.0)));
  return T(1.4142135623730951) * gali / sqrt(T(1.0) + cosine);
}

/// Running sums over the steps, for MEGNO and the fast Lyapunov indicator, in three rows: the sums of L and of Y after each step, and
/// the largest L. The sums are those of steps of one size. L is S_0, and Y = 2 (L - mean of L) with the mean over the time by the trapezoidal rule (P. M. Cincotta,
/// C. M. Giordano, C. Simo, Physica D 182 (2003) 151).
template <class T>
struct GrowthSums {
  T growth, megno, largest;

  RB_HD GrowthSums(const ChunkLayout& rows, const double* chunk, int lane)
      : growth(Lanes<T>::load(chunk + rows.growth * row_size + lane)),
        megno(Lanes<T>::load(chunk + (rows.growth + 1) * row_size + lane)),
        largest(Lanes<T>::load(chunk + (rows.growth + 2) * row_size + lane)) {}
  RB_HD void store(const ChunkLayout& rows, double* chunk, int lane) const {
    Lanes<T>::store(chunk + rows.growth * row_size + lane, growth);
    Lanes<T>::store(chunk + (rows.growth + 1) * row_size + lane, megno);
    Lanes<T>::store(chunk + (rows.growth + 2) * row_size + lane, largest);
  }

  /// Y after so many steps, where L is `now`.
  RB_HD T megno_at(const T& now, const T& steps) const {
    return select(steps == T(0.0), T(0.0), T(2.0) * (now - fma(T(-0.5), now, growth) / steps));
  }
  /// The mean of Y over the time, by the trapezoidal rule.
  RB_HD T mean_megno_at(const T& now, const T& steps) const {
    return select(steps == T(0.0), T(0.0), fma(T(-0.5), megno_at(now, steps), megno) / steps);
  }
  /// Takes in the state after `steps` steps in the lanes of the mask.
  RB_HD void add(const T& now, const T& steps, const mask_t<T>& good) {
    growth = select(good, growth + now, growth);
    megno = select(good, megno + megno_at(now, steps), megno);
    largest = select(good, max(largest, now), largest);
  }
};

/// Whether the formulas of a kernel of observables come with observables of tangent vectors.
template <class Formulas>
inline constexpr bool has_tangents = requires { requires Formulas::tangents; };

/// An observable of tangent vectors. A separate function keeps its logarithms out of the other observables.
template <class T>
RB_NOINLINE T observe_tangents(const KernelArguments& a, const double* chunk, int lane, int size, ObservableCode code) {
  const ChunkLayout& rows = a.layout;
  switch (code.kind) {
    case ObservableCode::lyapunov:
      return lyapunov_exponent<T>(a, chunk, lane, size);
    case ObservableCode::exponent:
      return lyapunov_exponent<T>(a, chunk, lane, size, code.index);
    case ObservableCode::window:
      return lyapunov_window<T>(a, chunk, lane, size, code.index);
    case ObservableCode::ln_gali:
      return ln_gali<T>(rows, chunk, lane, size, code.index);
    case ObservableCode::gali:
      return exp(ln_gali<T>(rows, chunk, lane, size, code.index));
    case ObservableCode::sali:
      return sali_of(exp(ln_gali<T>(rows, chunk, lane, size, 2)));
    default:
      break;
  }
  const GrowthSums<T> sums(rows, chunk, lane);
  const T now = tangent_growth<T>(rows, chunk, lane, size, 0);
  const T steps = tangent_steps<T>(rows, chunk, lane);
  if (code.kind == ObservableCode::fli) return select(now == now, sums.largest, now);
  return code.kind == ObservableCode::megno ? sums.megno_at(now, steps) : sums.mean_megno_at(now, steps);
}

RB_NAMESPACE_END
