#pragma once
// The reduction tree, which is part of the definition of a result. Within a chunk the sums of lane i are added to those of
// lane i + s for s = 128, 64, .., 1; chunks combine in a fixed binary tree over the chunk index. The tree is the same on
// every backend, for every thread count and every tile size.

#include <array>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/real/pairs.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

/// The exponent of the unit in which fourth powers of numbers up to `size` >= 0 in size neither overflow nor underflow: 0
/// from 2^-200 to 2^200, otherwise that of the size.
RB_HD double exponent_of_unit(double size) {
  if (size == 0.0) return Moments::no_unit;
  if (size >= 0x1p-200 && size <= 0x1p200) return 0.0;
  const double exponent = size > 1.0 ? exponent_of(size * 0x1p-100) + 100.0 : exponent_of(size * 0x1p200) - 200.0;
  return max(min(exponent, 1000.0), -1000.0);
}

/// Takes differences in units of 1.
struct PlainUnit {
  template <class T>
  RB_HD T operator()(T a, T b) const {
    return a - b;
  }
};
/// Takes differences in units of 2^exponent. Large numbers become small before the difference, and small ones large after
/// it, so that nothing overflows.
struct BinaryUnit {
  double before, after;
  RB_HD explicit BinaryUnit(double exponent)
      : before(exp2_integer(-max(exponent, 0.0))),
        after(exponent == Moments::no_unit ? 1.0 : exp2_integer(-min(exponent, 0.0))) {}
  template <class T>
  RB_HD T operator()(T a, T b) const {
    return (a * T(before) - b * T(before)) * T(after);
  }
};
/// The exponents of the units of two kinds of sums: of x and of x - r, or of x and y.
struct SumUnits {
  double first = 0.0, second = 0.0;
  /// Whether sums in units of 1 are right: units are 1, or sums are 0.
  RB_HD bool are_plain() const {
    return (first == 0.0 || first == Moments::no_unit) && (second == 0.0 || second == Moments::no_unit);
  }
};

/// The point from which the deviations of a chunk are taken: the first finite value x, and its reference. As (x - mean)^2 is
/// one of the terms of sum (x - mean)^2, the sums about this point exceed those about the mean by a factor of at most 257 for
/// squares and 8 * 257 for fourth powers, which bounds the cancellation.
struct Shift {
  double x = 0.0, reference = 0.0;
};
RB_HD Shift shift_of(const double* values, const double* references) {
  for (int i = 0; i < chunk_size; ++i)
    if (is_finite(values[i])) return {values[i], references[i]};
  return {};
}

/// Sums over lanes of a chunk, from one lane to all, of deviations d = x - shift.x and f = (x - r)^2 - e^2, where e is x - r
/// at the shift.
template <class T>
struct ChunkSums {
  T count, missing, minimum, maximum, error_maximum;
  T first, squares, cubes, fourths, error_first, error_squares;
};

/// The sums of one lane, in units of x and of x - r. An infinity counts as missing; a NaN (failed trajectory, padding) does
/// not count. Both enter the sums as the value at the shift.
template <class T, class OfX, class OfError>
RB_HD ChunkSums<T> sums_of(T value, T reference, const Shift& shift, const OfX& unit, const OfError& error_unit) {
  const mask_t<T> good = is_finite(value);
  const T x = select(good, value, T(shift.x)), r = select(good, reference, T(shift.reference));
  const T d = unit(x, T(shift.x)), square = d * d;
  const T error = error_unit(x, r), at_shift = T(error_unit(shift.x, shift.reference));
  const T f = (error - at_shift) * (error + at_shift);
  return {.count = select(good, T(1.0), T(0.0)),
          .missing = select(abs(value) == T(__builtin_huge_val()), T(1.0), T(0.0)),
          .minimum = x,
          .maximum = x,
          .error_maximum = abs(x - r),
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
          .first = a.first + b.first,
          .squares = a.squares + b.squares,
          .cubes = a.cubes + b.cubes,
          .fourths = a.fourths + b.fourths,
          .error_first = a.error_first + b.error_first,
          .error_squares = a.error_squares + b.error_squares};
}

/// The units that the values of a chunk need. Its sums are made once in units of 1, and again where these do not suffice.
RB_HD SumUnits units_of(const ChunkSums<double>& s) {
  if (s.count == 0.0) return {};
  return {exponent_of_unit(s.maximum - s.minimum), exponent_of_unit(s.error_maximum)};
}

namespace detail {

/// mean + 2 half without intermediate overflow, as a pair.
RB_HD Pair<double> moved_mean(const Pair<double>& mean, double half) {
  const Pair<double> sum = two_sum(mean.high, 2.0 * half);
  if (!is_finite(sum.low)) return {fma(half, 2.0, mean.high), 0.0};  // 2 half overflows
  return fast_two_sum(sum.high, sum.low + mean.low);
}

/// The product of a and 2^exponent for exponents from -2001 to 0.
RB_HD double lowered(double a, double exponent) {
  return a * exp2_integer(max(exponent, -1000.0)) * exp2_integer(min(exponent + 1000.0, 0.0));
}

}  // namespace detail

/// The moments of the lanes in the sums, which have these units.
RB_HD Moments moments_of(const ChunkSums<double>& s, const Shift& shift, const SumUnits& units) {
  if (s.count == 0.0) return {.missing = s.missing};
  const double d = s.first / s.count, f = s.error_first / s.count;
  const auto mean = detail::moved_mean({shift.x, 0.0}, 0.5 * d * exp2_integer(units.first));
  const double at_shift = BinaryUnit(units.second)(shift.x, shift.reference);
  const auto error_mean = detail::moved_mean(detail::two_product(at_shift, at_shift), 0.5 * f);
  return {.count = s.count,
          .mean = mean.high,
          .mean_low = mean.low,
          .exponent = units.first,
          .squares = max(s.squares - s.first * d, 0.0),
          .cubes = s.cubes + d * (2.0 * d * s.first - 3.0 * s.squares),
          .fourths = max(s.fourths + d * (d * (6.0 * s.squares - 3.0 * d * s.first) - 4.0 * s.cubes), 0.0),
          .error_exponent = units.second,
          .error_mean = error_mean.high,
          .error_mean_low = error_mean.low,
          .error_spread = max(s.error_squares - s.error_first * f, 0.0),
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

/// Half the difference of two means, which does not overflow.
RB_HD double half_difference(const Pair<double>& a, const Pair<double>& b) {
  return (0.5 * b.high - 0.5 * a.high) + 0.5 * (b.low - a.low);
}

/// The unit of the union of two sets, from their exponents and half the difference of their means.
RB_HD double joint_exponent(double a, double b, double half) {
  return max(max(a, b), exponent_of_unit(2.0 * abs(half)));
}

}  // namespace detail

/// Moments of the union: the pairwise updates of Chan, Golub & LeVeque (1983), and of Pebay (2008, equations 2.1 to 2.6)
/// for the third and fourth powers.
RB_HD Moments combine(const Moments& a, const Moments& b) {
  if (a.count == 0.0 || b.count == 0.0) {
    Moments r = a.count == 0.0 ? b : a;
    r.missing = a.missing + b.missing;
    return r;
  }
  const double share_b = detail::share_of(a.count, b.count), share_a = 1.0 - share_b, weight = a.count * share_b;
  const double half = detail::half_difference({a.mean, a.mean_low}, {b.mean, b.mean_low});
  const auto mean = detail::moved_mean({a.mean, a.mean_low}, half * share_b);
  const double exponent = detail::joint_exponent(a.exponent, b.exponent, half);
  const double of_a = detail::lowered(1.0, a.exponent - exponent), of_b = detail::lowered(1.0, b.exponent - exponent);
  const double a2 = a.squares * of_a * of_a, b2 = b.squares * of_b * of_b;
  const double a3 = a.cubes * of_a * of_a * of_a, b3 = b.cubes * of_b * of_b * of_b;
  const double a4 = a.fourths * of_a * of_a * of_a * of_a, b4 = b.fourths * of_b * of_b * of_b * of_b;
  const double delta = half * exp2_integer(1.0 - exponent), between = delta * delta * weight;
  const double skew = a.count == b.count ? 0.0 : between * (share_a - share_b);
  const double twice = share_a * share_a * b2 + share_b * share_b * a2, thrice = share_a * b3 - share_b * a3;
  const double inner = between * (1.0 - 3.0 * share_a * share_b) + 6.0 * twice;

  const double error_exponent = max(a.error_exponent, b.error_exponent);
  const double from_a = detail::lowered(1.0, a.error_exponent - error_exponent),
               from_b = detail::lowered(1.0, b.error_exponent - error_exponent);
  const double a_unit = from_a * from_a, b_unit = from_b * from_b;
  const detail::Pair<double> error_a{a.error_mean * a_unit, a.error_mean_low * a_unit};
  const detail::Pair<double> error_b{b.error_mean * b_unit, b.error_mean_low * b_unit};
  const double error_half = detail::half_difference(error_a, error_b), error_delta = 2.0 * error_half;
  const auto error_mean = detail::moved_mean(error_a, error_half * share_b);
  return {.count = a.count + b.count,
          .mean = mean.high,
          .mean_low = mean.low,
          .exponent = exponent,
          .squares = a2 + b2 + between,
          .cubes = a3 + b3 + delta * (3.0 * (share_a * b2 - share_b * a2) + skew),
          .fourths = a4 + b4 + delta * (4.0 * thrice + delta * inner),
          .error_exponent = error_exponent,
          .error_mean = error_mean.high,
          .error_mean_low = error_mean.low,
          .error_spread =
              a.error_spread * a_unit * a_unit + b.error_spread * b_unit * b_unit + error_delta * error_delta * weight,
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
  T count, first_x, first_y;
  T products[12];  ///< sum dx^i dy^j, at CoMoments::index
};

/// The sums of one lane, in units of x and y.
template <class T, class OfX, class OfY>
RB_HD CoChunkSums<T> co_sums_of(T value_x, T value_y, const CoShift& shift, const OfX& unit_x, const OfY& unit_y) {
  const mask_t<T> good = is_finite(value_x) & is_finite(value_y);
  const T x = select(good, value_x, T(shift.x)), y = select(good, value_y, T(shift.y));
  const T dx = unit_x(x, T(shift.x)), dy = unit_y(y, T(shift.y));
  const T xx = dx * dx, xy = dx * dy, yy = dy * dy;
  return {select(good, T(1.0), T(0.0)),
          dx,
          dy,
          {xx, xy, yy, xx * dx, xx * dy, xy * dy, yy * dy, xx * xx, xx * xy, xx * yy, xy * yy, yy * yy}};
}

template <class T>
RB_HD CoChunkSums<T> operator+(const CoChunkSums<T>& a, const CoChunkSums<T>& b) {
  CoChunkSums<T> r{a.count + b.count, a.first_x + b.first_x, a.first_y + b.first_y, {}};
  RB_UNROLL
  for (int i = 0; i < 12; ++i) r.products[i] = a.products[i] + b.products[i];
  return r;
}

/// The units that the values of a chunk need, as units_of: from the sums in units of 1, where these show the size of the
/// deviations, otherwise from the values.
RB_HD SumUnits co_units_of(const CoChunkSums<double>& s, const CoShift& shift, const double* x, const double* y) {
  const double of_x = s.products[CoMoments::index(4, 0)], of_y = s.products[CoMoments::index(0, 4)];
  const auto plain = [](double sum) { return sum >= 0x1p-800 && sum <= 0x1p800; };
  if (s.count == 0.0 || (plain(of_x) && plain(of_y))) return {};
  double size_x = 0.0, size_y = 0.0;
  for (int i = 0; i < chunk_size; ++i) {
    if (!(is_finite(x[i]) & is_finite(y[i]))) continue;
    size_x = max_abs(size_x, x[i] - shift.x);
    size_y = max_abs(size_y, y[i] - shift.y);
  }
  return {exponent_of_unit(size_x), exponent_of_unit(size_y)};
}

/// The joint moments of the lanes in the sums, which have these units.
RB_HD CoMoments co_moments_of(const CoChunkSums<double>& s, const CoShift& shift, const SumUnits& units) {
  if (s.count == 0.0) return {};
  const auto sum = [&s](int i, int j) {
    return i + j == 0 ? s.count : i + j > 1 ? s.products[CoMoments::index(i, j)] : i == 1 ? s.first_x : s.first_y;
  };
  const double mean_dx = s.first_x / s.count, mean_dy = s.first_y / s.count;
  const detail::Powers dx(-mean_dx), dy(-mean_dy);
  const auto mean_x = detail::moved_mean({shift.x, 0.0}, 0.5 * mean_dx * exp2_integer(units.first));
  const auto mean_y = detail::moved_mean({shift.y, 0.0}, 0.5 * mean_dy * exp2_integer(units.second));
  CoMoments r{.count = s.count,
              .mean_x = mean_x.high,
              .mean_x_low = mean_x.low,
              .mean_y = mean_y.high,
              .mean_y_low = mean_y.low,
              .exponent_x = units.first,
              .exponent_y = units.second};
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
  const double half_x = detail::half_difference({a.mean_x, a.mean_x_low}, {b.mean_x, b.mean_x_low}),
               half_y = detail::half_difference({a.mean_y, a.mean_y_low}, {b.mean_y, b.mean_y_low});
  const double exponent_x = detail::joint_exponent(a.exponent_x, b.exponent_x, half_x),
               exponent_y = detail::joint_exponent(a.exponent_y, b.exponent_y, half_y);
  const double dx = half_x * exp2_integer(1.0 - exponent_x), dy = half_y * exp2_integer(1.0 - exponent_y);
  const detail::Powers ax(-(share_b * dx)), ay(-(share_b * dy)), bx(share_a * dx), by(share_a * dy);
  const auto sum_of = [&](const CoMoments& m) {
    const detail::Powers unit_x(detail::lowered(1.0, m.exponent_x - exponent_x)),
        unit_y(detail::lowered(1.0, m.exponent_y - exponent_y));
    return
        [&m, unit_x, unit_y](int i, int j) { return i + j == 0 ? m.count : m.sum(i, j) * unit_x.x[i] * unit_y.x[j]; };
  };
  const auto mean_x = detail::moved_mean({a.mean_x, a.mean_x_low}, half_x * share_b);
  const auto mean_y = detail::moved_mean({a.mean_y, a.mean_y_low}, half_y * share_b);
  CoMoments r{.count = a.count + b.count,
              .mean_x = mean_x.high,
              .mean_x_low = mean_x.low,
              .mean_y = mean_y.high,
              .mean_y_low = mean_y.low,
              .exponent_x = exponent_x,
              .exponent_y = exponent_y};
  const auto of_a = sum_of(a);
  const auto of_b = sum_of(b);
  detail::for_each_product([&]<int i, int j>() {
    r.sums[CoMoments::index(i, j)] =
        detail::moved_sum<i, j, true>(of_a, ax, ay) + detail::moved_sum<i, j, true>(of_b, bx, by);
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
  const auto sums = [&](const auto& unit, const auto& error_unit) {
    return detail::sum_of_chunk<T, ChunkSums>([&](int i) {
      return sums_of(Lanes<T>::load(values + i * width), Lanes<T>::load(references + i * width), shift, unit,
                     error_unit);
    });
  };
  const ChunkSums<double> plain = sums(PlainUnit(), PlainUnit());
  const SumUnits units = units_of(plain);
  if (units.are_plain()) return moments_of(plain, shift, units);
  return moments_of(sums(BinaryUnit(units.first), BinaryUnit(units.second)), shift, units);
}

/// Joint moments of the chunk_size values of two observables in a chunk.
template <class T>
CoMoments co_reduce_chunk(const double* x, const double* y) {
  constexpr int width = Lanes<T>::width;
  const CoShift shift = co_shift_of(x, y);
  const auto sums = [&](const auto& unit_x, const auto& unit_y) {
    return detail::sum_of_chunk<T, CoChunkSums>([&](int i) {
      return co_sums_of(Lanes<T>::load(x + i * width), Lanes<T>::load(y + i * width), shift, unit_x, unit_y);
    });
  };
  const CoChunkSums<double> plain = sums(PlainUnit(), PlainUnit());
  const SumUnits units = co_units_of(plain, shift, x, y);
  if (units.are_plain()) return co_moments_of(plain, shift, units);
  return co_moments_of(sums(BinaryUnit(units.first), BinaryUnit(units.second)), shift, units);
}

/// The sums of a fit for the chunk_size trajectories of a chunk.
template <class T>
void add_chunk_to_fit(const double* values, const double* references, bool squared, double weight, double* sums) {
  for (int i = 0; i < chunk_size; i += Lanes<T>::width)
    add_to_fit(Lanes<T>::load(values + i), Lanes<T>::load(references + i), squared, weight, sums + i);
}

RB_NAMESPACE_END
