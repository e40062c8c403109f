#pragma once
// Whether numbers of an initial point differ by more than round-off: constraints from 0, and what a system states in two ways.
// Each is measured by its own terms, so that units do not matter. One source for single points, with a PrepareReport, and for packs of
// points, with a LaneReport.

#include <type_traits>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/mechanics/lagrangian_at.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/start/terms.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The share of its terms by which a constraint of given data may be off, and a few units in the last place.
inline constexpr double digits_of_data = 3e-13, few_units = 0x1p-50;

/// What a check finds of the points in the lanes of a pack: those that may be no good ones. The program looks at them one by one.
template <class T>
struct LaneReport {
  mask_t<T> doubtful = false;

  RB_HD void doubt(const mask_t<T>& mask) { doubtful = doubtful | mask; }
};
template <class Report>
inline constexpr bool of_one_point = std::is_same_v<Report, PrepareReport>;

/// Notes that two values of a component differ, where the mask says so; `field` is the one of a PrepareReport for the first such component.
RB_HD void differ(PrepareReport& report, int PrepareReport::* field, bool mask, int component, double by_lagrangian,
                  double other) {
  if (!mask || report.*field >= 0) return;
  report.*field = component;
  report.by_lagrangian = by_lagrangian;
  report.by_parts = other;
}
template <class T>
RB_HD void differ(LaneReport<T>& report, int PrepareReport::*, const mask_t<T>& mask, int, const T&, const T&) {
  report.doubt(mask);
}

template <class T, int N>
RB_HD Vector<T, N> absolute(Vector<T, N> x) {
  RB_UNROLL
  for (int i = 0; i < N; ++i) x[i] = abs(x[i]);
  return x;
}
template <class T, int N>
RB_HD Vector<Terms<T>, N> with_sizes(const Vector<T, N>& values, const Vector<T, N>& sizes) {
  Vector<Terms<T>, N> x;
  RB_UNROLL
  for (int i = 0; i < N; ++i) x[i] = Terms<T>(values[i], sizes[i]);
  return x;
}
template <class T, int N>
RB_HD Vector<Terms<T>, N> with_sizes(const Vector<T, N>& values) {
  return with_sizes(values, absolute(values));
}

/// The size of the terms of v = M^-1 (p - A), A = L_v(q, 0), for p = L_v(q, v).
template <class System, class T = typename System::scalar, int n = System::n>
RB_HD_LARGE Vector<T, n> velocity_sizes(const System& system, const Configuration<System>& q, const Vector<T, n>& v,
                                        const Vector<T, n>& p) {
  const Vector<T, n> at_rest = momentum(system, q, Vector<T, n>::zero());
  const Factors<T, n> mass(mass_matrix(system, q, v));
  Vector<T, n> sizes = absolute(v);
  for (int j = 0; j < n; ++j) {
    const Vector<T, n> response = mass.column(j);
    for (int i = 0; i < n; ++i) sizes[i] += abs(response[i]) * (abs(p[j]) + abs(at_rest[j]));
  }
  return sizes;
}

/// The values of m constraints, and bounds for values that count as round-off.
template <class T, int m>
struct Residuals {
  Vector<T, m> value, tolerance;

  /// Sets constraint k from its value with the size of its terms. Terms that do not cancel, as in z = 0, do not show how large z
  /// might be; then `by_state` does, the change of the constraint where all numbers of the state change by 1, relatively.
  RB_HD void set(int k, const Terms<T>& constraint, const T& by_state) {
    value[k] = constraint.value;
    const T by_terms = T(digits_of_data) * constraint.size;
    tolerance[k] =
        select(T(16.0) * abs(constraint.value) >= constraint.size, by_terms + T(few_units) * by_state, by_terms);
  }
  /// The residual of a constraint in units of its tolerance; infinity where it is not finite.
  [[nodiscard]] RB_HD T excess(int k) const {
    const T finite = select(value[k] == T(0.0), T(0.0), abs(value[k]) / tolerance[k]);
    return select(is_finite(value[k]), finite, T(__builtin_huge_val()));
  }
  [[nodiscard]] RB_HD T excess() const {
    T largest(0.0);
    for (int k = 0; k < m; ++k) largest = max(largest, excess(k));
    return largest;
  }
  /// Puts the constraint with the largest excess into the report, when it exceeds that of the report.
  void add_to(PrepareReport& report, bool) const {
    for (int k = 0; k < m; ++k) {
      const double before = report.residual == 0.0 ? 0.0 : report.residual / report.tolerance;
      if (!(excess(k) > before)) continue;
      report.residual = is_finite(value[k]) ? abs(value[k]) : excess(k);
      report.tolerance = tolerance[k];
    }
  }
  /// Doubts the points that are off a constraint.
  RB_HD void add_to(LaneReport<T>& report, bool projected) const {
    if (projected) return;
    for (int k = 0; k < m; ++k) report.doubt(!(abs(value[k]) <= tolerance[k]));
  }
};

/// The numbers of a point with the sizes that their round-off is measured by, and the step of the method.
template <class System>
struct MeasuredPoint {
  using T = typename System::scalar;
  static constexpr int n = System::n, m = System::m, N = element_size<System>;
  Vector<T, N> q;
  Vector<T, n> v, v_size;
  T step;

  [[nodiscard]] RB_HD T largest_q() const { return max(max_norm(q), step * max_norm(v_size)); }
  /// A velocity that moves q in a step by less than its round-off is round-off.
  [[nodiscard]] RB_HD T largest_v() const { return max(max_norm(v_size), max_norm(q) / step); }

  /// g(q).
  [[nodiscard]] RB_HD auto positions(const System& system) const {
    constexpr int h = position_count<System>;
    const auto g = system.position_constraint(sized_q());
    const auto at = position_constraint(system, q);
    Residuals<T, h> residuals;
    for (int k = 0; k < h; ++k) {
      T sum(0.0);
      for (int i = 0; i < n; ++i) sum += abs(at.jacobian[k][i]);
      residuals.set(k, g[k], sum * largest_q());
    }
    return residuals;
  }
  /// Phi(q, v). A velocity from a run has the round-off of positions, too.
  [[nodiscard]] RB_HD Residuals<T, m> velocities(const System& system) const {
    const auto phi = constraint(system, sized_q(), with_sizes(v, v_size));
    const Matrix<T, m, n> forms = constraint_forms(system, q, v);
    Residuals<T, m> residuals;
    for (int k = 0; k < m; ++k) {
      T sum(0.0), shift(0.0);
      for (int i = 0; i < n; ++i) {
        sum += abs(forms[k][i]);
        if constexpr (on_group<System>) {
          shift += abs(forms[k][i]) * max_norm(q) / step;
        } else {
          shift += abs(forms[k][i]) * abs(q[i]) / step;
        }
      }
      residuals.set(k, phi[k], sum * largest_v());
      residuals.tolerance[k] += T(few_units) * shift;
    }
    return residuals;
  }

 private:
  /// The entries of a rotation matrix are known to a share of 1.
  [[nodiscard]] RB_HD Vector<Terms<T>, N> sized_q() const {
    using G = group_of<System>;
    Vector<T, N> sizes = absolute(q);
    if constexpr (on_group<System>) {
      for (int i = 0; i < N; ++i) {
        auto other = q;
        other[i] += T(0.25);
        sizes[i] = select(G::defect(other) != G::defect(q), max(sizes[i], T(1.0)), sizes[i]);
      }
    }
    return with_sizes(q, sizes);
  }
};

/// Compares L_v and L_q of a system that states L and its parts, at q and a velocity off the constraint.
template <class System, class Report, class T = typename System::scalar>
RB_HD_LARGE void compare_parts(const System& system, const Configuration<System>& q, Vector<T, System::n> v,
                               Report& report) {
  constexpr int n = System::n;
  for (int i = 0; i < n; ++i) v[i] = v[i] + T(1.0 / (i + 2));
  LagrangianAt<System> parts(system, q);
  parts.move(v);
  const auto x = with_sizes(q);
  const auto y = with_sizes(v);
  const Vector<Terms<T>, n> by_lagrangian[] = {differentiated_momentum(system, x, y), lagrangian_force(system, x, y)};
  const Vector<T, n> by_parts[] = {parts.momentum(v), parts.plus_force(T(1.0), v, Vector<T, n>::zero())};
  for (int i = 0; i < 2 * n; ++i) {
    const Terms<T> one = by_lagrangian[i / n][i % n];
    const T other = by_parts[i / n][i % n];
    // false where the system is singular, which other checks tell
    differ(report, &PrepareReport::other_part, abs(one.value - other) > T(1e-9) * max(one.size, abs(other)), i,
           one.value, other);
  }
}

/// Looks whether a Lagrangian that is taken to be quadratic in v is so: L_v is linear along the velocity, or near 1 at rest.
template <class System, class Report, class T = typename System::scalar>
RB_HD_LARGE void check_quadratic(const System& system, const Configuration<System>& q, const Vector<T, System::n>& v,
                                 Report& report) {
  Vector<T, System::n> x = v;
  for (int i = 0; i < System::n; ++i) x[i] = select(max_norm(v) == T(0.0), T(1.0 / (i + 2)), v[i]);
  for (const double size : {1.0, 1e-2}) {
    const auto momentum_at = [&](double share) { return differentiated_momentum(system, q, T(share * size) * x); };
    const auto p = momentum_at(1.0), half = momentum_at(0.5), rest = momentum_at(0.0);
    for (int i = 0; i < System::n; ++i) {
      const T linear = T(2.0) * half[i] - rest[i];
      // false for NaN: L is not there
      differ(report, &PrepareReport::bent_momentum, abs(p[i] - linear) > T(1e-9) * (max_norm(p) + max_norm(rest)), i,
             p[i], linear);
    }
  }
}

/// Compares a velocity, off the constraint, with what `velocity` of the system gives for its momentum. At rest p may be as large as
/// a vector potential, so p measures the difference and not v.
template <class System, class Report, class T = typename System::scalar>
RB_HD_LARGE void compare_velocities(const System& system, const Configuration<System>& q, Vector<T, System::n> v,
                                    Report& report) {
  // smaller: L may have a largest velocity
  for (int i = 0; i < System::n; ++i) v[i] = v[i] * T(1.0 - 0.25 / (i + 2));
  const Vector<T, System::n> p = differentiated_momentum(system, q, v), found = system.velocity(q, p);
  const T size = max_norm(velocity_sizes(system, q, v, p));
  for (int i = 0; i < System::n; ++i)  // false for NaN, which other checks tell
    differ(report, &PrepareReport::other_velocity, abs(found[i] - v[i]) > T(1e-6) * size, i, v[i], found[i]);
}

}  // namespace detail

RB_NAMESPACE_END
