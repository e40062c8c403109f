#pragma once
// The reduction tree, which is part of the definition of a result: lane i meets lane i + s for s = 128, 64, .., 1 within a
// chunk, chunks meet in a fixed binary tree over their index. The same on every backend, thread count and tile size.

#include "rattleback/ensemble/entry.hpp"
#include "rattleback/ensemble/lanes.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

/// Moments of one trajectory per lane; a NaN (failed trajectory, padding) counts for nothing.
template <class T>
RB_HD MomentsOf<T> moments_of(T x, T reference) {
  const T infinity(__builtin_huge_val()), zero(0.0);
  const mask_t<T> good = x == x;
  const T error = x - reference;
  return {select(good, T(1.0), zero),        select(good, x, zero),     zero,
          select(good, error * error, zero), select(good, x, infinity), select(good, x, -infinity),
          select(good, abs(error), zero)};
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
          select(only_a, a.mean, select(only_b, b.mean, fma(delta, share, a.mean))),
          select(only_a | only_b, a.squares + b.squares, a.squares + b.squares + between),
          a.error_squares + b.error_squares,
          min(a.minimum, b.minimum),
          max(a.maximum, b.maximum),
          max(a.error_maximum, b.error_maximum)};
}

/// Moments of the chunk_size values of a chunk.
template <class T>
Moments reduce_chunk(const double* values, const double* references) {
  constexpr int width = Lanes<T>::width;
  MomentsOf<T> node[chunk_size / width];
  for (int i = 0; i < chunk_size / width; ++i)
    node[i] = moments_of(Lanes<T>::load(values + i * width), Lanes<T>::load(references + i * width));
  for (int s = chunk_size / 2 / width; s > 0; s /= 2)
    for (int i = 0; i < s; ++i) node[i] = combine(node[i], node[i + s]);
  // the lanes of the last pack
  Moments lane[width];
  const auto unpack = [&](T MomentsOf<T>::*from, double Moments::*to) {
    double x[width];
    Lanes<T>::store(x, node[0].*from);
    for (int i = 0; i < width; ++i) lane[i].*to = x[i];
  };
  unpack(&MomentsOf<T>::count, &Moments::count);
  unpack(&MomentsOf<T>::mean, &Moments::mean);
  unpack(&MomentsOf<T>::squares, &Moments::squares);
  unpack(&MomentsOf<T>::error_squares, &Moments::error_squares);
  unpack(&MomentsOf<T>::minimum, &Moments::minimum);
  unpack(&MomentsOf<T>::maximum, &Moments::maximum);
  unpack(&MomentsOf<T>::error_maximum, &Moments::error_maximum);
  for (int s = width / 2; s > 0; s /= 2)
    for (int i = 0; i < s; ++i) lane[i] = combine(lane[i], lane[i + s]);
  return lane[0];
}

RB_NAMESPACE_END
