#pragma once
// Whether numbers of an initial point differ by more than round-off: constraints from 0, and what a system states in two ways.
// Each is measured by its own terms, so that units do not matter. Host only, in double.

#include <limits>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/mechanics/lagrangian_at.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/start/terms.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The share of its terms by which a constraint of given data may be off, and a few units in the last place.
inline constexpr double digits_of_data = 3e-13, few_units = 0x1p-50;

template <int N>
Vector<double, N> absolute(Vector<double, N> x) {
  for (int i = 0; i < N; ++i) x[i] = abs(x[i]);
  return x;
}
template <class Values, class Sizes>
auto with_sizes(const Values& values, const Sizes& sizes) {
  Vector<Terms, Values::size> x;
  for (int i = 0; i < Values::size; ++i) x[i] = Terms(values[i], sizes[i]);
  return x;
}
template <class Values>
auto with_sizes(const Values& values) {
  return with_sizes(values, absolute(values));
}

/// The size of the terms of v = M^-1 (p - A), A = L_v(q, 0), for p = L_v(q, v).
template <class System, int n = System::n>
Vector<double, n> velocity_sizes(const System& system, const Configuration<System>& q, const Vector<double, n>& v,
                                 const Vector<double, n>& p) {
  const Vector<double, n> at_rest = momentum(system, q, Vector<double, n>::zero());
  const Factors<double, n> mass(mass_matrix(system, q, v));
  Vector<double, n> sizes = absolute(v);
  for (int j = 0; j < n; ++j) {
    auto unit = Vector<double, n>::zero();
    unit[j] = 1.0;
    const Vector<double, n> response = mass.solve(unit);
    for (int i = 0; i < n; ++i) sizes[i] += abs(response[i]) * (abs(p[j]) + abs(at_rest[j]));
  }
  return sizes;
}

/// The values of m constraints, and bounds for values that count as round-off.
template <int m>
struct Residuals {
  Vector<double, m> value, tolerance;

  /// Sets constraint k from its value with the size of its terms. Terms that do not cancel, as in z = 0, do not show how large z
  /// might be; then `by_state` does, the change of the constraint where all numbers of the state change by 1, relatively.
  void set(int k, Terms constraint, double by_state) {
    value[k] = constraint.value;
    tolerance[k] = digits_of_data * constraint.size;
    if (16.0 * abs(constraint.value) >= constraint.size) tolerance[k] += few_units * by_state;
  }
  /// The residual of a constraint in units of its tolerance; infinity where it is not finite.
  [[nodiscard]] double excess(int k) const {
    if (!is_finite(value[k])) return std::numeric_limits<double>::infinity();
    return value[k] == 0.0 ? 0.0 : abs(value[k]) / tolerance[k];
  }
  [[nodiscard]] double excess() const {
    double largest = 0.0;
    for (int k = 0; k < m; ++k) largest = max(largest, excess(k));
    return largest;
  }
  /// Puts the constraint with the largest excess into the report, when it exceeds that of the report.
  void add_to(PrepareReport& report) const {
    for (int k = 0; k < m; ++k) {
      const double before = report.residual == 0.0 ? 0.0 : report.residual / report.tolerance;
      if (!(excess(k) > before)) continue;
      report.residual = is_finite(value[k]) ? abs(value[k]) : excess(k);
      report.tolerance = tolerance[k];
    }
  }
};

/// The numbers of a point with the sizes that their round-off is measured by, and the step of the method.
template <class System>
struct MeasuredPoint {
  static constexpr int n = System::n, m = System::m, N = element_size<System>;
  Vector<double, N> q;
  Vector<double, n> v, v_size;
  double step;

  [[nodiscard]] double largest_q() const { return max(max_norm(q), step * max_norm(v_size)); }
  /// A velocity that moves q in a step by less than its round-off is round-off.
  [[nodiscard]] double largest_v() const { return max(max_norm(v_size), max_norm(q) / step); }

  /// g(q).
  [[nodiscard]] auto positions(const System& system) const {
    constexpr int h = position_count<System>;
    const auto g = system.position_constraint(sized_q());
    const auto at = position_constraint(system, q);
    Residuals<h> residuals;
    for (int k = 0; k < h; ++k) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += abs(at.jacobian[k][i]);
      residuals.set(k, g[k], sum * largest_q());
    }
    return residuals;
  }
  /// Phi(q, v). A velocity from a run has the round-off of positions, too.
  [[nodiscard]] Residuals<m> velocities(const System& system) const {
    const auto phi = constraint(system, sized_q(), with_sizes(v, v_size));
    const Matrix<double, m, n> forms = constraint_forms(system, q, v);
    Residuals<m> residuals;
    for (int k = 0; k < m; ++k) {
      double sum = 0.0, shift = 0.0;
      for (int i = 0; i < n; ++i) {
        sum += abs(forms[k][i]);
        shift += abs(forms[k][i]) * (on_group<System> ? max_norm(q) : abs(q[i])) / step;
      }
      residuals.set(k, phi[k], sum * largest_v());
      residuals.tolerance[k] += few_units * shift;
    }
    return residuals;
  }

 private:
  /// The entries of a rotation matrix are known to a share of 1.
  [[nodiscard]] Vector<Terms, N> sized_q() const {
    using G = group_of<System>;
    Vector<double, N> sizes = absolute(q);
    for (int i = 0; i < N; ++i) {
      auto other = q;
      other[i] += 0.25;
      if (G::defect(other) != G::defect(q)) sizes[i] = max(sizes[i], 1.0);
    }
    return with_sizes(q, sizes);
  }
};

inline void differ(PrepareReport& report, int& component, int i, double by_lagrangian, double other) {
  component = i;
  report.by_lagrangian = by_lagrangian;
  report.by_parts = other;
}

/// Compares L_v and L_q of a system that states L and its parts, at q and a velocity off the constraint.
template <class System>
void compare_parts(const System& system, const Configuration<System>& q, Vector<double, System::n> v,
                   PrepareReport& report) {
  constexpr int n = System::n;
  for (int i = 0; i < n; ++i) v[i] = v[i] + 1.0 / (i + 2);
  LagrangianAt<System> parts(system, q);
  parts.move(v);
  const auto x = with_sizes(q);
  const auto y = with_sizes(v);
  const Vector<Terms, n> by_lagrangian[] = {differentiated_momentum(system, x, y), lagrangian_force(system, x, y)};
  const Vector<double, n> by_parts[] = {parts.momentum(v), parts.plus_force(1.0, v, Vector<double, n>::zero())};
  for (int i = 0; i < 2 * n && report.other_part < 0; ++i) {
    const Terms one = by_lagrangian[i / n][i % n];
    const double other = by_parts[i / n][i % n];
    // false where the system is singular, which other checks tell
    if (abs(one.value - other) > 1e-9 * max(one.size, abs(other)))
      differ(report, report.other_part, i, one.value, other);
  }
}

/// Looks whether a Lagrangian that is taken to be quadratic in v is so: L_v is linear along the velocity, or near 1 at rest.
template <class System>
void check_quadratic(const System& system, const Configuration<System>& q, const Vector<double, System::n>& v,
                     PrepareReport& report) {
  Vector<double, System::n> x = v;
  for (int i = 0; i < System::n && max_norm(v) == 0.0; ++i) x[i] = 1.0 / (i + 2);
  for (const double size : {1.0, 1e-2}) {
    const auto momentum_at = [&](double share) { return differentiated_momentum(system, q, share * size * x); };
    const auto p = momentum_at(1.0), half = momentum_at(0.5), rest = momentum_at(0.0);
    for (int i = 0; i < System::n && report.bent_momentum < 0; ++i) {
      const double linear = 2.0 * half[i] - rest[i];
      if (abs(p[i] - linear) > 1e-9 * (max_norm(p) + max_norm(rest)))  // false for NaN: L is not there
        differ(report, report.bent_momentum, i, p[i], linear);
    }
  }
}

/// Compares a velocity, off the constraint, with what `velocity` of the system gives for its momentum. At rest p may be as large as
/// a vector potential, so p measures the difference and not v.
template <class System>
void compare_velocities(const System& system, const Configuration<System>& q, Vector<double, System::n> v,
                        PrepareReport& report) {
  for (int i = 0; i < System::n; ++i) v[i] = v[i] * (1.0 - 0.25 / (i + 2));  // smaller: L may have a largest velocity
  const Vector<double, System::n> p = differentiated_momentum(system, q, v), found = system.velocity(q, p);
  const double size = max_norm(velocity_sizes(system, q, v, p));
  for (int i = 0; i < System::n && report.other_velocity < 0; ++i)
    if (abs(found[i] - v[i]) > 1e-6 * size)  // false for NaN, which other checks tell
      differ(report, report.other_velocity, i, v[i], found[i]);
}

}  // namespace detail

RB_NAMESPACE_END
