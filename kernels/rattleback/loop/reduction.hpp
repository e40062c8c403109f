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
  return {select(good, T(1.0), zero),
          select(good, x, zero),
          zero,
          select(good, error * error, zero),
          select(good, x, infinity),
          select(good, x, -infinity),
          select(good, abs(error), zero),
          select(abs(x) == infinity, T(1.0), zero)};
}

/// mean + share (other - mean), computed without overflow of the difference.
template <class T>
RB_HD T moved_mean(T mean, T other, T share) {
  return fma(T(0.5) * other - T(0.5) * mean, share + share, mean);
}

/// Moments of the union (means and squares by the pairwise update of Chan, Golub and LeVeque).
template <class T>
RB_HD MomentsOf<T> combine(const MomentsOf<T>& a, const MomentsOf<T>& b) {
  const T count = a.count + b.count;
  const T delta = b.mean - a.mean;
  const mask_t<T> none = count == T(0.0), only_b = a.count == T(0.0), only_a = b.count == T(0.0);
  const T share = b.count / select(none, T(1.0), count);
  const T between = delta * delta * (a.count * share);
  return {count,
          select(only_a, a.mean, select(only_b, b.mean, moved_mean(a.mean, b.mean, share))),
          select(only_a | only_b, a.squares + b.squares, a.squares + b.squares + between),
          a.error_squares + b.error_squares,
          min(a.minimum, b.minimum),
          max(a.maximum, b.maximum),
          max(a.error_maximum, b.error_maximum),
          a.missing + b.missing};
}

/// Joint moments of one trajectory per lane.
template <class T>
RB_HD CoMomentsOf<T> co_moments_of(T x, T y) {
  const T zero(0.0);
  const mask_t<T> good = is_finite(x) & is_finite(y);
  return {select(good, T(1.0), zero), select(good, x, zero), select(good, y, zero), zero, zero, zero};
}

template <class T>
RB_HD CoMomentsOf<T> combine(const CoMomentsOf<T>& a, const CoMomentsOf<T>& b) {
  const T count = a.count + b.count;
  const T dx = b.mean_x - a.mean_x, dy = b.mean_y - a.mean_y;
  const mask_t<T> none = count == T(0.0), only_b = a.count == T(0.0), only_a = b.count == T(0.0);
  const T share = b.count / select(none, T(1.0), count), weight = a.count * share;
  const auto between = [&](const T& product) { return select(only_a | only_b, T(0.0), product * weight); };
  return {count,
          select(only_a, a.mean_x, select(only_b, b.mean_x, moved_mean(a.mean_x, b.mean_x, share))),
          select(only_a, a.mean_y, select(only_b, b.mean_y, moved_mean(a.mean_y, b.mean_y, share))),
          a.xx + b.xx + between(dx * dx),
          a.xy + b.xy + between(dx * dy),
          a.yy + b.yy + between(dy * dy)};
}

namespace detail {

/// Calls f(member of a, member of b) for all members.
template <class A, class B, class F>
void for_each_member(const MomentsOf<A>& a, MomentsOf<B>& b, F f) {
  f(a.count, b.count), f(a.mean, b.mean), f(a.squares, b.squares), f(a.error_squares, b.error_squares);
  f(a.minimum, b.minimum), f(a.maximum, b.maximum), f(a.error_maximum, b.error_maximum), f(a.missing, b.missing);
}
template <class A, class B, class F>
void for_each_member(const CoMomentsOf<A>& a, CoMomentsOf<B>& b, F f) {
  f(a.count, b.count), f(a.mean_x, b.mean_x), f(a.mean_y, b.mean_y), f(a.xx, b.xx), f(a.xy, b.xy), f(a.yy, b.yy);
}

/// The tree over one chunk; node[i] holds the lanes of pack i.
template <class T, template <class> class Node>
Node<double> reduce_packs(Node<T>* node) {
  constexpr int width = Lanes<T>::width;
  for (int s = chunk_size / 2 / width; s > 0; s /= 2)
    for (int i = 0; i < s; ++i) node[i] = combine(node[i], node[i + s]);
  // This part reduces the lanes of the last pack.
  Node<double> lane[width];
  for (int i = 0; i < width; ++i)
    for_each_member(node[0], lane[i], [i](const T& from, double& to) {
      double x[width];
      Lanes<T>::store(x, from);
      to = x[i];
    });
  for (int s = width / 2; s > 0; s /= 2)
    for (int i = 0; i < s; ++i) lane[i] = combine(lane[i], lane[i + s]);
  return lane[0];
}

}  // namespace detail

/// Moments of the chunk_size values of a chunk.
template <class T>
Moments reduce_chunk(const double* values, const double* references) {
  constexpr int width = Lanes<T>::width;
  MomentsOf<T> node[chunk_size / width];
  for (int i = 0; i < chunk_size / width; ++i)
    node[i] = moments_of(Lanes<T>::load(values + i * width), Lanes<T>::load(references + i * width));
  return detail::reduce_packs<T>(node);
}

/// Joint moments of the chunk_size values of two observables in a chunk.
template <class T>
CoMoments co_reduce_chunk(const double* x, const double* y) {
  constexpr int width = Lanes<T>::width;
  CoMomentsOf<T> node[chunk_size / width];
  for (int i = 0; i < chunk_size / width; ++i)
    node[i] = co_moments_of(Lanes<T>::load(x + i * width), Lanes<T>::load(y + i * width));
  return detail::reduce_packs<T>(node);
}

RB_NAMESPACE_END
