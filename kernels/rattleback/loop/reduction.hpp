#pragma once
// The reduction tree, which is part of the definition of a result. Within a chunk the sums of lane i are added to those of
// lane i + s for s = 128, 64, .., 1; chunks combine in a fixed binary tree over the chunk index. The tree is the same on
// every backend, for every thread count and every tile size.

#include <array>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

/// The point from which the deviations of a chunk are taken: the first finite value x, its reference, and (x - reference)^2
/// where that is finite. As (x - mean)^2 is one of the terms of sum (x - mean)^2, the sums about this point exceed those about
/// the mean by a factor of at most 257 for squares and 8 * 257 for fourth powers, which bounds the cancellation.
struct Shift {
  double x = 0.0, reference = 0.0, square = 0.0;
};
RB_HD Shift shift_of(const double* values, const double* references) {
  for (int i = 0; i < chunk_size; ++i) {
    if (!is_finite(values[i])) continue;
    const double error = values[i] - references[i], square = error * error;
    return {values[i], references[i], is_finite(square) ? square : 0.0};
  }
  return {};
}

/// Sums over lanes of a chunk, from one lane to all, of deviations d = x - shift.x and f = (x - r)^2 - shift.square.
template <class T>
struct ChunkSums {
  T count, missing, minimum, maximum, error_maximum;
  T mean;  ///< sum d / chunk_size, which does not overflow
  T first, squares, cubes, fourths, error_first, error_squares;
};

/// The sums of one lane. An infinity counts as missing; a NaN (failed trajectory, padding) does not count. Both enter the
/// sums as the value at the shift.
template <class T>
RB_HD ChunkSums<T> sums_of(T value, T reference, const Shift& shift) {
  constexpr double part = 1.0 / chunk_size;
  const mask_t<T> good = is_finite(value);
  const T x = select(good, value, T(shift.x)), error = x - select(good, reference, T(shift.reference));
  const T d = x - T(shift.x), square = d * d, f = error * error - T(shift.square);
  return {.count = select(good, T(1.0), T(0.0)),
          .missing = select(abs(value) == T(__builtin_huge_val()), T(1.0), T(0.0)),
          .minimum = x,
          .maximum = x,
          .error_maximum = abs(error),
          .mean = fma(x, T(part), T(-part * shift.x)),
          .first = d,
          .squares = square,
          .cubes = square * d,
          .fourths = square * square,
          .error_first = f,
          .error_squares = f * f};
}

template <class T>
RB_HD ChunkSums<T> operator+(const ChunkSums<T>& a, const ChunkSums<T>& b) {
  return {.count = a.count + b.count,
          .missing = a.missing + b.missing,
          .minimum = min(a.minimum, b.minimum),
          .maximum = max(a.maximum, b.maximum),
          .error_maximum = max(a.error_maximum, b.error_maximum),
          .mean = a.mean + b.mean,
          .first = a.first + b.first,
          .squares = a.squares + b.squares,
          .cubes = a.cubes + b.cubes,
          .fourths = a.fourths + b.fourths,
          .error_first = a.error_first + b.error_first,
          .error_squares = a.error_squares + b.error_squares};
}

namespace detail {

/// The mean of `count` values from sum (x - shift) / chunk_size. No intermediate result overflows.
RB_HD double mean_of(double sum, double count, double shift) {
  return fma(sum / (count * (2.0 / chunk_size)), 2.0, shift);
}

/// A sum of even powers about the mean, from the sum about another point and the difference. The difference vanishes where
/// the sum exceeds the largest number.
RB_HD double even_sum(double sum, double difference) { return is_finite(sum) ? max(sum + difference, 0.0) : sum; }

}  // namespace detail

/// The moments of the lanes in the sums.
RB_HD Moments moments_of(const ChunkSums<double>& s, const Shift& shift) {
  if (s.count == 0.0) return {.missing = s.missing};
  const double d = s.first / s.count, f = s.error_first / s.count;
  return {.count = s.count,
          .mean = detail::mean_of(s.mean, s.count, shift.x),
          .squares = detail::even_sum(s.squares, -(s.first * d)),
          .cubes = s.cubes + d * (2.0 * d * s.first - 3.0 * s.squares),
          .fourths = detail::even_sum(s.fourths, d * (d * (6.0 * s.squares - 3.0 * d * s.first) - 4.0 * s.cubes)),
          .error_mean = shift.square + f,
          .error_spread = detail::even_sum(s.error_squares, -(s.error_first * f)),
          .minimum = s.minimum,
          .maximum = s.maximum,
          .error_maximum = s.error_maximum,
          .missing = s.missing};
}

namespace detail {

/// The share of b in the union of a and b: count_b / (count_a + count_b). Most sets have the same count.
RB_HD double share_of(double count_a, double count_b) {
  return count_a == count_b ? 0.5 : count_b / (count_a + count_b);
}

/// mean + share (other - mean), computed without overflow of the difference.
RB_HD double moved_mean(double mean, double other, double share) {
  return fma(0.5 * other - 0.5 * mean, share + share, mean);
}

}  // namespace detail

/// Moments of the union: the pairwise updates of Chan, Golub & LeVeque (1983), and of Pebay (2008, equations 2.1 to 2.6)
/// for the third and fourth powers.
RB_HD Moments combine(const Moments& a, const Moments& b) {
  const bool only_a = b.count == 0.0, only_b = a.count == 0.0;
  const double share_b = detail::share_of(a.count, b.count), share_a = 1.0 - share_b;
  const double delta = only_a || only_b ? 0.0 : b.mean - a.mean;
  const double weight = a.count * share_b, between = delta * delta * weight;
  const double skew = a.count == b.count ? 0.0 : between * (share_a - share_b);
  const double twice = share_a * share_a * b.squares + share_b * share_b * a.squares;
  const double thrice = share_a * b.cubes - share_b * a.cubes;
  const double error_delta = b.error_mean - a.error_mean;
  const double inner = between * (1.0 - 3.0 * share_a * share_b) + 6.0 * twice;
  return {.count = a.count + b.count,
          .mean = only_a   ? a.mean
                  : only_b ? b.mean
                           : detail::moved_mean(a.mean, b.mean, share_b),
          .squares = a.squares + b.squares + between,
          .cubes = a.cubes + b.cubes + delta * (3.0 * (share_a * b.squares - share_b * a.squares) + skew),
          .fourths = a.fourths + b.fourths + delta * (4.0 * thrice + delta * inner),
          .error_mean = share_a * a.error_mean + share_b * b.error_mean,
          .error_spread = a.error_spread + b.error_spread + error_delta * error_delta * weight,
          .minimum = min(a.minimum, b.minimum),
          .maximum = max(a.maximum, b.maximum),
          .error_maximum = max(a.error_maximum, b.error_maximum),
          .missing = a.missing + b.missing};
}

namespace detail {

/// Binomial coefficients for n <= 4.
RB_HD constexpr double binomial(int n, int k) { return k == 0 || k == n ? 1.0 : k == 1 || k == n - 1 ? n : 6.0; }

/// Powers 0 to 4.
struct Powers {
  double x[5];
  RB_HD explicit Powers(double base) : x{1.0, base, base * base, base * base * base, base * base * base * base} {}
};

/// The sum of products I, J of deviations from a point, from the sums about another point, which lies (dx, dy) above the
/// point. sum(i, j) gives those of lower degree; `central` tells that the other point is the mean, whose sums of degree 1 vanish.
template <int I, int J, bool central, class Sum>
RB_HD double moved_sum(const Sum& sum, const Powers& dx, const Powers& dy) {
  double r = sum(I, J);
  RB_UNROLL
  for (int i = 0; i <= I; ++i) {
    RB_UNROLL
    for (int j = 0; j <= J; ++j) {
      const int left = I - i + J - j;
      if (left == I + J || (central && left == 1)) continue;
      r += binomial(I, i) * binomial(J, j) * sum(I - i, J - j) * (dx.x[i] * dy.x[j]);
    }
  }
  return r;
}

/// Calls f<i, j>() for all sums of joint moments.
template <class F>
RB_HD void for_each_product(const F& f) {
  const auto degree = [&]<int... J>(std::integer_sequence<int, J...>) {
    constexpr int d = sizeof...(J) - 1;
    (f.template operator()<d - J, J>(), ...);
  };
  degree(std::make_integer_sequence<int, 3>());
  degree(std::make_integer_sequence<int, 4>());
  degree(std::make_integer_sequence<int, 5>());
}

}  // namespace detail

/// The point from which the deviations of two observables in a chunk are taken: the first pair of finite values (Shift).
struct CoShift {
  double x = 0.0, y = 0.0;
};
RB_HD CoShift co_shift_of(const double* x, const double* y) {
  for (int i = 0; i < chunk_size; ++i)
    if (is_finite(x[i]) & is_finite(y[i])) return {x[i], y[i]};
  return {};
}

/// Sums over lanes of a chunk, of the products of the deviations dx and dy from a CoShift.
template <class T>
struct CoChunkSums {
  T count, mean_x, mean_y;  ///< the means as in ChunkSums
  T first_x, first_y;
  T products[12];  ///< sum dx^i dy^j, at CoMoments::index
};

/// The sums of one lane.
template <class T>
RB_HD CoChunkSums<T> co_sums_of(T value_x, T value_y, const CoShift& shift) {
  constexpr double part = 1.0 / chunk_size;
  const mask_t<T> good = is_finite(value_x) & is_finite(value_y);
  const T x = select(good, value_x, T(shift.x)), y = select(good, value_y, T(shift.y));
  const T dx = x - T(shift.x), dy = y - T(shift.y), xx = dx * dx, xy = dx * dy, yy = dy * dy;
  return {select(good, T(1.0), T(0.0)),
          fma(x, T(part), T(-part * shift.x)),
          fma(y, T(part), T(-part * shift.y)),
          dx,
          dy,
          {xx, xy, yy, xx * dx, xx * dy, xy * dy, yy * dy, xx * xx, xx * xy, xx * yy, xy * yy, yy * yy}};
}

template <class T>
RB_HD CoChunkSums<T> operator+(const CoChunkSums<T>& a, const CoChunkSums<T>& b) {
  CoChunkSums<T> r{a.count + b.count,     a.mean_x + b.mean_x,   a.mean_y + b.mean_y,
                   a.first_x + b.first_x, a.first_y + b.first_y, {}};
  RB_UNROLL
  for (int i = 0; i < 12; ++i) r.products[i] = a.products[i] + b.products[i];
  return r;
}

/// The joint moments of the lanes in the sums.
RB_HD CoMoments co_moments_of(const CoChunkSums<double>& s, const CoShift& shift) {
  if (s.count == 0.0) return {};
  const auto sum = [&s](int i, int j) {
    return i + j == 0 ? s.count : i + j > 1 ? s.products[CoMoments::index(i, j)] : i == 1 ? s.first_x : s.first_y;
  };
  const detail::Powers dx(-(s.first_x / s.count)), dy(-(s.first_y / s.count));
  CoMoments r{.count = s.count,
              .mean_x = detail::mean_of(s.mean_x, s.count, shift.x),
              .mean_y = detail::mean_of(s.mean_y, s.count, shift.y)};
  detail::for_each_product([&]<int i, int j>() {
    const double moved = detail::moved_sum<i, j, false>(sum, dx, dy);
    r.sums[CoMoments::index(i, j)] = i % 2 == 0 && j % 2 == 0 ? max(moved, 0.0) : moved;
  });
  return r;
}

/// Joint moments of the union: each sum of products moves to the new means by the binomial theorem (Pebay 2008, section 3).
RB_HD CoMoments combine(const CoMoments& a, const CoMoments& b) {
  if (a.count == 0.0) return b;
  if (b.count == 0.0) return a;
  const double share_b = detail::share_of(a.count, b.count), share_a = 1.0 - share_b;
  const double dx = b.mean_x - a.mean_x, dy = b.mean_y - a.mean_y;
  const detail::Powers ax(-(share_b * dx)), ay(-(share_b * dy)), bx(share_a * dx), by(share_a * dy);
  const auto sum_of = [](const CoMoments& m) {
    return [&m](int i, int j) { return i + j == 0 ? m.count : m.sum(i, j); };
  };
  CoMoments r{.count = a.count + b.count,
              .mean_x = detail::moved_mean(a.mean_x, b.mean_x, share_b),
              .mean_y = detail::moved_mean(a.mean_y, b.mean_y, share_b)};
  detail::for_each_product([&]<int i, int j>() {
    r.sums[CoMoments::index(i, j)] =
        detail::moved_sum<i, j, true>(sum_of(a), ax, ay) + detail::moved_sum<i, j, true>(sum_of(b), bx, by);
  });
  return r;
}

/// Adds a sample to the running sums of a fit of a line: sums[0] += y, sums[row_size] += weight y, where y is x or
/// (x - r)^2. A value that is not finite makes the sums NaN or infinite, so that the trajectory does not count.
template <class T>
RB_HD void add_to_fit(T x, T reference, bool squared, double weight, double* sums) {
  const T error = x - reference, y = squared ? error * error : x;
  Lanes<T>::store(sums, Lanes<T>::load(sums) + y);
  Lanes<T>::store(sums + row_size, fma(T(weight), y, Lanes<T>::load(sums + row_size)));
}

namespace detail {

/// The number whose bits below `end`, a power of two, are those of `i` in the opposite order.
constexpr int reversed_bits(int i, int end) {
  int r = 0;
  for (int bit = 1; bit < end; bit *= 2) r = 2 * r + (i / bit) % 2;
  return r;
}

/// The tree over `packs` packs of lanes, `stride` apart from `first` on; leaf(i) has the sums of pack i. Pack i is added to
/// pack i + s for s = .., 2 stride, stride.
template <int packs, int stride, class Leaf>
RB_HD auto sum_of_packs(const Leaf& leaf, int first) {
  if constexpr (packs == 1) {
    return leaf(first);
  } else {
    return sum_of_packs<packs / 2, 2 * stride>(leaf, first) + sum_of_packs<packs / 2, 2 * stride>(leaf, first + stride);
  }
}

/// The tree over one chunk; leaf(i) has the sums of pack i. Groups of packs come in the order of the leaves of this tree, so that
/// only one node per level waits.
template <class T, template <class> class Sums, class Leaf>
RB_HD Sums<double> sum_of_chunk(const Leaf& leaf) {
  constexpr int width = Lanes<T>::width, group = 4, groups = chunk_size / width / group;
  constexpr auto order = [] {
    std::array<int, groups> r{};
    for (int i = 0; i < groups; ++i) r[static_cast<std::size_t>(i)] = reversed_bits(i, groups);
    return r;
  }();
  Sums<T> waiting[10];
  int top = 0;
  for (int k = 0; k < groups; ++k) {
    Sums<T> node = sum_of_packs<group, groups>(leaf, order[static_cast<std::size_t>(k)]);
    for (int bits = k; bits & 1; bits >>= 1) node = waiting[--top] + node;
    waiting[top++] = node;
  }
  // The lanes of the last pack.
  constexpr int members = sizeof(Sums<T>) / sizeof(T);
  Sums<double> lane[width];
  for (int i = 0; i < members; ++i) {
    double x[width];
    Lanes<T>::store(x, reinterpret_cast<const T*>(&waiting[0])[i]);
    for (int k = 0; k < width; ++k) reinterpret_cast<double*>(&lane[k])[i] = x[k];
  }
  for (int s = width / 2; s > 0; s /= 2)
    for (int i = 0; i < s; ++i) lane[i] = lane[i] + lane[i + s];
  return lane[0];
}

}  // namespace detail

/// Moments of the chunk_size values of a chunk.
template <class T>
Moments reduce_chunk(const double* values, const double* references) {
  constexpr int width = Lanes<T>::width;
  const Shift shift = shift_of(values, references);
  return moments_of(detail::sum_of_chunk<T, ChunkSums>([&](int i) {
                      return sums_of(Lanes<T>::load(values + i * width), Lanes<T>::load(references + i * width), shift);
                    }),
                    shift);
}

/// Joint moments of the chunk_size values of two observables in a chunk.
template <class T>
CoMoments co_reduce_chunk(const double* x, const double* y) {
  constexpr int width = Lanes<T>::width;
  const CoShift shift = co_shift_of(x, y);
  return co_moments_of(detail::sum_of_chunk<T, CoChunkSums>([&](int i) {
                         return co_sums_of(Lanes<T>::load(x + i * width), Lanes<T>::load(y + i * width), shift);
                       }),
                       shift);
}

/// The sums of a fit for the chunk_size trajectories of a chunk.
template <class T>
void add_chunk_to_fit(const double* values, const double* references, bool squared, double weight, double* sums) {
  for (int i = 0; i < chunk_size; i += Lanes<T>::width)
    add_to_fit(Lanes<T>::load(values + i), Lanes<T>::load(references + i), squared, weight, sums + i);
}

RB_NAMESPACE_END
