#pragma once
// The reduction tree, which is part of the definition of a result. Within a chunk lane i combines with lane i + s for s
// = 128, 64, .., 1; chunks combine in a fixed binary tree over the chunk index. The tree is the same on every backend,
// for every thread count and every tile size.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

/// Moments of one trajectory per lane. An infinity counts as missing; a NaN (failed trajectory, padding) does not
/// count.
template <class T>
RB_HD MomentsOf<T> moments_of(T x, T reference) {
  const T infinity(__builtin_huge_val()), zero(0.0);
  const mask_t<T> good = is_finite(x);
  const T error = x - reference;
  return {.count = select(good, T(1.0), zero),
          .mean = select(good, x, zero),
          .squares = zero,
          .cubes = zero,
          .fourths = zero,
          .error_mean = select(good, error * error, zero),
          .error_spread = zero,
          .minimum = select(good, x, infinity),
          .maximum = select(good, x, -infinity),
          .error_maximum = select(good, abs(error), zero),
          .missing = select(abs(x) == infinity, T(1.0), zero)};
}

/// The share of b in the union of a and b: count_b / (count_a + count_b), and 1/2 where both have the same count. Most
/// sets have the same count, and then no lane divides.
template <class T>
RB_HD T share_of(T count_a, T count_b) {
  const mask_t<T> equal = count_a == count_b;
  if (all(equal)) return T(0.5);
  return select(equal, T(0.5), count_b / select(equal, T(1.0), count_a + count_b));
}

/// mean + share (other - mean), computed without overflow of the difference.
template <class T>
RB_HD T moved_mean(T mean, T other, T share) {
  return fma(T(0.5) * other - T(0.5) * mean, share + share, mean);
}

/// Moments of the union: the pairwise updates of Chan, Golub & LeVeque (1983), and of Pebay (2008, equations 2.1 to 2.6)
/// for the third and fourth powers.
template <class T>
RB_HD MomentsOf<T> combine(const MomentsOf<T>& a, const MomentsOf<T>& b) {
  const T zero(0.0), share_b = share_of(a.count, b.count), share_a = T(1.0) - share_b;
  const mask_t<T> only_a = b.count == zero, only_b = a.count == zero;
  const T delta = select(only_a | only_b, zero, b.mean - a.mean);
  const T weight = a.count * share_b, between = delta * delta * weight;
  const T skew = select(a.count == b.count, zero, between * (share_a - share_b));
  const T twice = share_a * share_a * b.squares + share_b * share_b * a.squares;
  const T thrice = share_a * b.cubes - share_b * a.cubes;
  const T error_delta = b.error_mean - a.error_mean;
  const T inner = fma(between, fma(T(-3.0), share_a * share_b, T(1.0)), T(6.0) * twice);
  return {.count = a.count + b.count,
          .mean = select(only_a, a.mean, select(only_b, b.mean, moved_mean(a.mean, b.mean, share_b))),
          .squares = a.squares + b.squares + between,
          .cubes = fma(delta, fma(T(3.0), share_a * b.squares - share_b * a.squares, skew), a.cubes + b.cubes),
          .fourths = fma(delta, fma(delta, inner, T(4.0) * thrice), a.fourths + b.fourths),
          .error_mean = fma(share_b, b.error_mean, share_a * a.error_mean),
          .error_spread = fma(error_delta * error_delta, weight, a.error_spread + b.error_spread),
          .minimum = min(a.minimum, b.minimum),
          .maximum = max(a.maximum, b.maximum),
          .error_maximum = max(a.error_maximum, b.error_maximum),
          .missing = a.missing + b.missing};
}

/// Joint moments of one trajectory per lane.
template <class T>
RB_HD CoMomentsOf<T> co_moments_of(T x, T y) {
  const T zero(0.0);
  const mask_t<T> good = is_finite(x) & is_finite(y);
  CoMomentsOf<T> r{select(good, T(1.0), zero), select(good, x, zero), select(good, y, zero), {}};
  for (T& sum : r.sums) sum = zero;
  return r;
}

namespace detail {

/// Binomial coefficients for n <= 4.
RB_HD constexpr double binomial(int n, int k) { return k == 0 || k == n ? 1.0 : k == 1 || k == n - 1 ? n : 6.0; }

/// Powers 0 to 4.
template <class T>
struct Powers {
  T x[5];
  RB_HD explicit Powers(T base) {
    x[0] = T(1.0);
    for (int i = 1; i < 5; ++i) x[i] = x[i - 1] * base;
  }
};

/// The sum of products I, J of a set about a point from which the means of the set are (dx, dy) away.
template <int I, int J, class T>
RB_HD T shifted_sum(const CoMomentsOf<T>& a, const Powers<T>& dx, const Powers<T>& dy) {
  T sum = a.sum(I, J);
  RB_UNROLL
  for (int i = 0; i <= I; ++i) {
    RB_UNROLL
    for (int j = 0; j <= J; ++j) {
      const int left = I - i + J - j;
      if (left == I + J || left == 1) continue;  // the sum itself; a sum of deviations is 0
      const T moment = left == 0 ? a.count : a.sum(I - i, J - j);
      sum = fma(T(binomial(I, i) * binomial(J, j)) * moment, dx.x[i] * dy.x[j], sum);
    }
  }
  return sum;
}

}  // namespace detail

/// Joint moments of the union: each sum of products moves to the new means by the binomial theorem (Pebay 2008, section 3).
template <class T>
RB_HD CoMomentsOf<T> combine(const CoMomentsOf<T>& a, const CoMomentsOf<T>& b) {
  const T zero(0.0), share_b = share_of(a.count, b.count), share_a = T(1.0) - share_b;
  const mask_t<T> only_a = b.count == zero, only_b = a.count == zero, one = only_a | only_b;
  const T dx = select(one, zero, b.mean_x - a.mean_x), dy = select(one, zero, b.mean_y - a.mean_y);
  const detail::Powers<T> ax(-(share_b * dx)), ay(-(share_b * dy)), bx(share_a * dx), by(share_a * dy);
  CoMomentsOf<T> r{a.count + b.count,
                   select(only_a, a.mean_x, select(only_b, b.mean_x, moved_mean(a.mean_x, b.mean_x, share_b))),
                   select(only_a, a.mean_y, select(only_b, b.mean_y, moved_mean(a.mean_y, b.mean_y, share_b))),
                   {}};
  const auto degree = [&]<int... J>(std::integer_sequence<int, J...>) {
    constexpr int d = sizeof...(J) - 1;
    ((r.sums[CoMomentsOf<T>::index(d - J, J)] =
          detail::shifted_sum<d - J, J>(a, ax, ay) + detail::shifted_sum<d - J, J>(b, bx, by)),
     ...);
  };
  degree(std::make_integer_sequence<int, 3>());
  degree(std::make_integer_sequence<int, 4>());
  degree(std::make_integer_sequence<int, 5>());
  return r;
}

/// Adds a sample to the running sums of a fit of a line: sums[0] += y, sums[chunk_size] += weight y, where y is x or
/// (x - r)^2. A value that is not finite makes the sums NaN or infinite, so that the trajectory does not count.
template <class T>
RB_HD void add_to_fit(T x, T reference, bool squared, double weight, double* sums) {
  const T error = x - reference, y = squared ? error * error : x;
  Lanes<T>::store(sums, Lanes<T>::load(sums) + y);
  Lanes<T>::store(sums + chunk_size, fma(T(weight), y, Lanes<T>::load(sums + chunk_size)));
}

namespace detail {

/// Returns the node of packs whose lane i is lane i + s of `node`; the upper lanes are of no use.
template <class T, template <class> class Node>
Node<T> lowered(const Node<T>& node, int s) {
  constexpr int width = Lanes<T>::width, members = sizeof(Node<T>) / sizeof(T);
  Node<T> r;
  for (int i = 0; i < members; ++i) {
    double x[2 * width] = {};
    Lanes<T>::store(x, reinterpret_cast<const T*>(&node)[i]);
    reinterpret_cast<T*>(&r)[i] = Lanes<T>::load(x + s);
  }
  return r;
}

/// Returns the first lane of a node of packs.
template <class T, template <class> class Node>
Node<double> first_lane(const Node<T>& node) {
  constexpr int width = Lanes<T>::width, members = sizeof(Node<T>) / sizeof(T);
  Node<double> r;
  for (int i = 0; i < members; ++i) {
    double x[width];
    Lanes<T>::store(x, reinterpret_cast<const T*>(&node)[i]);
    reinterpret_cast<double*>(&r)[i] = x[0];
  }
  return r;
}

/// The number whose bits below `end`, a power of two, are those of `i` in the opposite order.
constexpr int reversed_bits(int i, int end) {
  int r = 0;
  for (int bit = 1; bit < end; bit *= 2) r = 2 * r + (i / bit) % 2;
  return r;
}

/// The tree over one chunk; leaf(i) is the node of pack i. Pack i combines with pack i + s for s = .., 2, 1. The packs come
/// in the order of the leaves of this tree, so that only one node per level waits.
template <class T, template <class> class Node, class Leaf>
Node<double> reduce_packs(Leaf leaf) {
  constexpr int width = Lanes<T>::width, packs = chunk_size / width;
  Node<T> waiting[10];
  int top = 0;
  for (int k = 0; k < packs; ++k) {
    Node<T> node = leaf(reversed_bits(k, packs));
    for (int bits = k; bits & 1; bits >>= 1) node = combine(waiting[--top], node);
    waiting[top++] = node;
  }
  Node<T> node = waiting[0];
  for (int s = width / 2; s > 0; s /= 2) node = combine(node, lowered<T, Node>(node, s));
  return first_lane<T, Node>(node);
}

}  // namespace detail

/// Moments of the chunk_size values of a chunk.
template <class T>
Moments reduce_chunk(const double* values, const double* references) {
  constexpr int width = Lanes<T>::width;
  return detail::reduce_packs<T, MomentsOf>(
      [&](int i) { return moments_of(Lanes<T>::load(values + i * width), Lanes<T>::load(references + i * width)); });
}

/// Joint moments of the chunk_size values of two observables in a chunk.
template <class T>
CoMoments co_reduce_chunk(const double* x, const double* y) {
  constexpr int width = Lanes<T>::width;
  return detail::reduce_packs<T, CoMomentsOf>(
      [&](int i) { return co_moments_of(Lanes<T>::load(x + i * width), Lanes<T>::load(y + i * width)); });
}

/// The sums of a fit for the chunk_size trajectories of a chunk.
template <class T>
void add_chunk_to_fit(const double* values, const double* references, bool squared, double weight, double* sums) {
  for (int i = 0; i < chunk_size; i += Lanes<T>::width)
    add_to_fit(Lanes<T>::load(values + i), Lanes<T>::load(references + i), squared, weight, sums + i);
}

RB_NAMESPACE_END
