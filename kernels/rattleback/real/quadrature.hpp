#pragma once
// Integrals of smooth functions to round-off, for exact solutions; host only, in double.

#include <cmath>

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// The positive half of the Gauss-Legendre rule of 8 nodes on [-1, 1].
inline constexpr double gauss_node[4] = {0.18343464249564980, 0.52553240991632899, 0.79666647741362674,
                                         0.96028985649753623};
inline constexpr double gauss_weight[4] = {0.36268378337836198, 0.31370664587788729, 0.22238103445337447,
                                           0.10122853629037626};

/// The integral of f over [a, b] by the rule of 8 nodes. f returns a double or a vector.
template <class F>
auto gauss(double a, double b, F&& f) {
  const double centre = 0.5 * (a + b), half = 0.5 * (b - a);
  auto total = (gauss_weight[0] * half) * (f(centre - gauss_node[0] * half) + f(centre + gauss_node[0] * half));
  for (int i = 1; i < 4; ++i)
    total = total + (gauss_weight[i] * half) * (f(centre - gauss_node[i] * half) + f(centre + gauss_node[i] * half));
  return total;
}

/// The integral over [0, end] of outer(t, phase(t)), where phase has the rate inner(t) and starts at the given value;
/// `phase` then holds phase(end). The interval is split into panels no wider than `width`; the rule of 8 nodes must
/// resolve both functions on a panel.
template <class Inner, class Outer>
auto integrate_with_phase(double end, double width, double& phase, Inner&& inner, Outer&& outer) {
  const double panels = std::fmax(1.0, std::ceil(std::fabs(end) / width));
  auto total = 0.0 * outer(0.0, phase);
  for (double i = 0.0; i < panels; i += 1.0) {
    const double a = end * (i / panels), b = end * ((i + 1.0) / panels);
    total = total + gauss(a, b, [&](double t) { return outer(t, phase + gauss(a, t, inner)); });
    phase += gauss(a, b, inner);
  }
  return total;
}

RB_NAMESPACE_END
