#pragma once
// The point of f = 0 that is nearest to a given one. A metric M has response(p) = M^-1 p and times(x) = M x. The search on a curved f
// runs on the host only, in double.

#include <limits>

#include "rattleback/linalg/factors.hpp"
#include "rattleback/linalg/vector.hpp"
#include "rattleback/real/dual.hpp"
#include "rattleback/start/measure.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Bounds for values that count as round-off: one for each component, or one for all.
template <class T, int m>
struct Bounds {
  Vector<T, m> each;

  RB_HD Bounds(const Vector<T, m>& bounds) : each(bounds) {}
  RB_HD Bounds(double bound) {
    for (int k = 0; k < m; ++k) each[k] = T(bound);
  }
};

/// f and f' at a point.
template <class T, int n, int m>
struct Derivatives {
  Vector<T, m> value;
  Matrix<T, m, n> jacobian;
};

/// Moves x to a point where a function f vanishes (Newton), along M^-1 f'(x)^T of the given x: to the nearest point where f is affine.
/// f(x) gives Derivatives. At such a point each component is within its tolerance, and none falls any more. Returns where it succeeds.
template <int n, int m, class T, class Metric, class F>
RB_HD_LARGE mask_t<T> project(const Metric& metric, const F& f, Vector<T, n>& x, const Bounds<T, m>& tolerance) {
  const Matrix<T, m, n> direction = f(x).jacobian;
  Matrix<T, m, n> response;
  for (int k = 0; k < m; ++k) response[k] = metric.response(direction[k]);
  T previous(__builtin_huge_val());
  mask_t<T> active(true), found(false);
  for (int iteration = 0; iteration < 50 && any(active); ++iteration) {
    const Derivatives<T, n, m> at = f(x);
    const T residual = Residuals<T, m>{at.value, tolerance.each}.excess();
    active = active & is_finite(sum(at.value));
    const auto there = (residual == T(0.0)) | ((residual <= T(1.0)) & (residual >= previous));
    found = found | (active & there);
    active = active & !there;
    if (!any(active)) break;
    previous = select(active, residual, previous);
    Matrix<T, m, m> matrix;
    for (int k = 0; k < m; ++k)
      for (int i = 0; i < m; ++i) matrix[i][k] = dot(at.jacobian[i], response[k]);
    const Factors<T, m> lu(matrix);
    active = active & !lu.singular();
    x = select(active, x - transpose_times(response, lu.solve(at.value)), x);
  }
  return found | (active & (previous <= T(1.0)));
}

/// The same for a curved f, a function of a displacement over any scalar: moves d from 0 to the smallest displacement, in the metric, with
/// f(d) = 0. There M d is across f = 0. Newton's method for this condition goes from point to point of f = 0, by steps that do not enlarge
/// d; where it does not lead downwards the gradient does.
template <int n, int m, class Metric, class F>
class NearestRoot {
  using Point = Vector<double, n>;

 public:
  NearestRoot(const Metric& metric, const F& f, const Bounds<double, m>& tolerance)
      : metric_(metric), f_(f), tolerance_(tolerance) {}

  bool find(Point& d) const {
    constexpr double round_off = 1e-15, settled = 1e-8, near = 1e-3;
    d = Point::zero();
    if (!to_root(d)) return false;
    double previous = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < 200; ++iteration) {
      const Derivatives<double, n, m> at = derivatives(d);
      Matrix<double, m, n> response;
      Matrix<double, m, m> gram;
      for (int k = 0; k < m; ++k) {
        response[k] = metric_.response(at.jacobian[k]);
        for (int i = 0; i < m; ++i) gram[i][k] = dot(at.jacobian[i], response[k]);
      }
      const Factors<double, m> lu(gram);
      if (lu.singular()) return false;
      const Vector<double, m> multiplier = -lu.solve(at.jacobian * d);
      const Point along = d + transpose_times(response, multiplier);  // the part of d that is tangent to f = 0
      const double rest = length(along), size = length(d);
      if (rest <= round_off * size || (rest >= 0.5 * previous && rest <= settled * size)) return true;
      Point step = newton_step(d, at, response, multiplier, along);
      if (rest <= near * size && rest < 0.5 * previous) {  // here sizes of d may differ by their round-off only
        previous = rest;
        d = d + step;
        if (!to_root(d)) return false;
      } else {
        if (!(dot(metric_.times(along), step) < 0.0)) step = -along;
        if (!descend(step, size, d)) return false;
      }
    }
    return false;
  }

 private:
  using S = Dual<Dual<double, 1>, n>;

  [[nodiscard]] double length(const Point& x) const { return sqrt(dot(x, metric_.times(x))); }
  /// f with all first derivatives, and with the second ones of which one is by component j.
  [[nodiscard]] Vector<S, m> evaluate(const Point& d, int j) const {
    Vector<S, n> x;
    for (int i = 0; i < n; ++i) {
      x[i] = S(Dual<double, 1>(d[i]));
      x[i].partial[i].value = 1.0;
    }
    x[j].value.partial[0] = 1.0;
    return f_(x);
  }
  [[nodiscard]] Derivatives<double, n, m> derivatives(const Point& d) const {
    const Vector<S, m> y = evaluate(d, 0);
    Derivatives<double, n, m> r;
    for (int k = 0; k < m; ++k) {
      r.value[k] = y[k].value.value;
      for (int i = 0; i < n; ++i) r.jacobian[k][i] = y[k].partial[i].value;
    }
    return r;
  }
  bool to_root(Point& d) const {
    return project<n, m>(metric_, [this](const Point& x) { return derivatives(x); }, d, tolerance_);
  }
  /// The tangent step s with M (d + s) + f'(d + s)^T (multiplier + ..) = 0 to first order.
  [[nodiscard]] Point newton_step(const Point& d, const Derivatives<double, n, m>& at,
                                  const Matrix<double, m, n>& response, const Vector<double, m>& multiplier,
                                  const Point& along) const {
    auto matrix = Matrix<double, n + m, n + m>::zero();
    auto right = Vector<double, n + m>::zero();
    for (int j = 0; j < n; ++j) {
      const Vector<S, m> y = evaluate(d, j);
      auto bent = Point::zero();
      for (int k = 0; k < m; ++k)
        for (int i = 0; i < n; ++i) bent[i] = bent[i] + multiplier[k] * y[k].partial[i].partial[0];
      const Point column = metric_.response(bent);
      for (int i = 0; i < n; ++i) matrix[i][j] = column[i];
      matrix[j][j] = matrix[j][j] + 1.0;
      for (int k = 0; k < m; ++k) {
        matrix[j][n + k] = response[k][j];
        matrix[n + k][j] = at.jacobian[k][j];
      }
      right[j] = -along[j];
    }
    return segment<0, n>(Factors<double, n + m>(matrix).solve(right));
  }
  /// Goes from d to a point of f = 0 by part of a step that does not enlarge d, whose size is given.
  bool descend(Point step, double size, Point& d) const {
    for (int halving = 0; halving < 40; ++halving, step = 0.5 * step) {
      Point next = d + step;
      if (to_root(next) && length(next) < size) {
        d = next;
        return true;
      }
    }
    return false;
  }

  const Metric& metric_;
  const F& f_;
  const Bounds<double, m>& tolerance_;
};

template <int n, int m, class Metric, class F>
bool find_nearest_root(const Metric& metric, const F& f, const Bounds<double, m>& tolerance, Vector<double, n>& d) {
  return NearestRoot<n, m, Metric, F>(metric, f, tolerance).find(d);
}

}  // namespace detail

RB_NAMESPACE_END
