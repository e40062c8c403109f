#pragma once
// The catalogue entry of a system, the completion of its initial points and a tangent vector there; host only, in double.

#include <limits>

#include "rattleback/ensemble/lanes.hpp"
#include "rattleback/systems/system.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

template <class System>
System system_from(const double* parameters) {
  return make_system<System>([parameters](int i) { return parameters[i]; });
}

/// The motion without constraint forces: M^-1 applied to covectors, and the acceleration M^-1 (L_q - L_vq v).
template <class System>
class FreeMotion {
  using T = typename System::scalar;
  static constexpr int n = System::n;

 public:
  FreeMotion(const System& system, const Vector<T, n>& q, const Vector<T, n>&) requires Separable<System>
      : mass_(system), acceleration_(mass_.inverse_times(force(system, q))) {}

  FreeMotion(const System& system, const Vector<T, n>& q, const Vector<T, n>& v) requires(!Separable<System>) {
    const auto l = hessian<1>(
        [&](const auto& x, const auto& y) {
          return Vector<std::remove_cvref_t<decltype(x[0])>, 1>{lagrangian(system, x, y)};
        },
        q, v);
    mass_ = Lu<T, n>(l.vv[0]);
    acceleration_ = mass_.solve(l.first.dq[0] - l.vq[0] * v);
  }

  [[nodiscard]] const Vector<T, n>& acceleration() const { return acceleration_; }
  /// M^-1 p
  [[nodiscard]] Vector<T, n> response(const Vector<T, n>& p) const {
    if constexpr (Separable<System>) {
      return mass_.inverse_times(p);
    } else {
      return mass_.solve(p);
    }
  }

 private:
  std::conditional_t<Separable<System>, Mass<System>, Lu<T, n>> mass_;
  Vector<T, n> acceleration_;
};

/// Multiplier of the continuous equations d/dt L_v - L_q = Phi_v^T lambda, Phi = 0:
///   (Phi_v M^-1 Phi_v^T) lambda = -Phi_q v - Phi_v M^-1 (L_q - L_vq v).
/// False when the constraint forces are dependent or the mass matrix is singular.
template <class System, class T = typename System::scalar, int n = System::n, int m = System::m>
bool continuous_multiplier(const System& system, const Vector<T, n>& q, const Vector<T, n>& v, Vector<T, m>& lambda) {
  const FreeMotion<System> motion(system, q, v);
  const auto phi = gradient<m>([&](const auto& x, const auto& y) { return constraint(system, x, y); }, q, v);
  Matrix<T, m, m> matrix;
  for (int k = 0; k < m; ++k) {
    const Vector<T, n> response = motion.response(phi.dv[k]);
    for (int i = 0; i < m; ++i) matrix[i][k] = dot(phi.dv[i], response);
    lambda[k] = -(dot(phi.dq[k], v) + dot(phi.dv[k], motion.acceleration()));
  }
  const Lu<T, m> lu(matrix);
  lambda = lu.solve(lambda);
  bool finite = !lu.singular();
  for (int k = 0; k < m; ++k) finite = finite && is_finite(lambda[k]);
  return finite;
}

/// Moves x to the nearest point, in the metric of the mass matrix, where a function vanishes (Newton). f(x) gives its value
/// and derivative.
template <class System, class F, int n = System::n, int m = System::m>
bool project(const FreeMotion<System>& motion, F f, Vector<double, n>& x, double tolerance) {
  const Matrix<double, m, n> direction = f(x).jacobian;
  Matrix<double, m, n> response;
  for (int k = 0; k < m; ++k) response[k] = motion.response(direction[k]);
  double previous = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 50; ++iteration) {
    const auto at = f(x);
    const double residual = max_norm(at.value);
    if (!is_finite(sum(at.value))) return false;
    if (residual == 0.0 || (residual <= tolerance && residual >= previous)) return true;
    previous = residual;
    Matrix<double, m, m> matrix;
    for (int k = 0; k < m; ++k)
      for (int i = 0; i < m; ++i) matrix[i][k] = dot(at.jacobian[i], response[k]);
    const Lu<double, m> lu(matrix);
    if (lu.singular()) return false;
    x = x - transpose_times(response, lu.solve(at.value));
  }
  return previous <= tolerance;
}

/// Moves v to the nearest velocity that satisfies the constraint.
template <class System, int n = System::n, int m = System::m>
bool project_velocity(const System& system, const Vector<double, n>& q, Vector<double, n>& v, double tolerance) {
  const auto phi = [&](const Vector<double, n>& y) {
    const auto d = gradient<m>([&](const auto& a, const auto& b) { return constraint(system, a, b); }, q, y);
    return PositionConstraint<double, n, m>{d.value, d.dv};
  };
  return project(FreeMotion<System>(system, q, v), phi, v, tolerance);
}

/// Moves q to the nearest position that satisfies a holonomic constraint.
template <class System, int n = System::n, int m = System::m>
bool project_position(const System& system, Vector<double, n>& q, const Vector<double, n>& v, double tolerance) {
  const auto g = [&](const Vector<double, n>& x) { return position_constraint(system, x); };
  return project(FreeMotion<System>(system, q, v), g, q, tolerance);
}

/// Size of what rounding a point and a velocity typed with 12 digits does to the constraints, and their residual.
template <class System, int n = System::n, int m = System::m>
void measure_constraint(const System& system, const Vector<double, n>& q, const Vector<double, n>& v, double& size,
                        double& residual) {
  size = residual = 0.0;
  const auto phi = gradient<m>([&](const auto& x, const auto& y) { return constraint(system, x, y); }, q, v);
  for (int k = 0; k < m; ++k)
    for (int i = 0; i < n; ++i)
      size = max(size, max(abs(phi.dq[k][i]) * abs(q[i]), abs(phi.dv[k][i]) * max(abs(v[i]), 1.0)));
  residual = max_norm(phi.value);
  double check = sum(phi.value);
  if constexpr (is_holonomic<System>) {
    const auto g = position_constraint(system, q);
    for (int k = 0; k < m; ++k)
      for (int i = 0; i < n; ++i) size = max(size, abs(g.jacobian[k][i]) * max(abs(q[i]), 1.0));
    residual = max(residual, max_norm(g.value));
    check = check + sum(g.value);
  }
  if (!is_finite(check)) residual = std::numeric_limits<double>::infinity();
}

}  // namespace detail

/// See PrepareReport, PrepareOptions.
template <template <class> class SystemOf>
PrepareReport prepare(const double* parameters, PointView point, PrepareOptions options) {
  using System = SystemOf<double>;
  constexpr int n = System::n, m = System::m;
  const System system = detail::system_from<System>(parameters);
  Vector<double, n> q, v, p;
  for (int i = 0; i < n; ++i) {
    q[i] = point.q[i];
    v[i] = point.v[i];
    p[i] = point.p[i];
  }
  if (options.from_momentum) v = velocity(system, q, p);
  PrepareReport report{0.0, 0.0, true, true};
  if constexpr (m > 0) {
    double size = 0.0;
    detail::measure_constraint(system, q, v, size, report.residual);
    report.tolerance = 1e-12 * size;
    if (options.project) {
      const Vector<double, n> given = v;
      if constexpr (is_holonomic<System>) {
        const Vector<double, n> from = q;
        report.projected_ok = detail::project_position(system, q, v, report.tolerance);
        for (int i = 0; i < n; ++i)
          if (q[i] != from[i]) options.from_momentum = false;
      }
      report.projected_ok = detail::project_velocity(system, q, v, report.tolerance) && report.projected_ok;
      for (int i = 0; i < n; ++i)
        if (v[i] != given[i]) options.from_momentum = false;
    }
  }
  if (!options.from_momentum) p = momentum(system, q, v);
  if constexpr (m > 0) {
    if (!options.keep_multiplier) {
      Vector<double, m> lambda;
      report.multiplier_ok = detail::continuous_multiplier(system, q, v, lambda);
      for (int k = 0; k < m; ++k) point.lambda[k] = lambda[k];
    }
  }
  for (int i = 0; i < n; ++i) {
    point.q[i] = q[i];
    point.v[i] = v[i];
    point.p[i] = p[i];
  }
  return report;
}

template <template <class> class SystemOf>
void velocity_from_momentum(const double* parameters, const double* q, const double* p, double* v) {
  using System = SystemOf<double>;
  const System system = detail::system_from<System>(parameters);
  Vector<double, System::n> x, y;
  for (int i = 0; i < System::n; ++i) {
    x[i] = q[i];
    y[i] = p[i];
  }
  const auto r = velocity(system, x, y);
  for (int i = 0; i < System::n; ++i) v[i] = r[i];
}

/// See SystemEntry::exact.
template <template <class> class SystemOf>
bool exact(const double* parameters, double time, PointView point) {
  using System = SystemOf<double>;
  constexpr int n = System::n, m = System::m;
  const System system = detail::system_from<System>(parameters);
  Vector<double, n> q, v;
  for (int i = 0; i < n; ++i) {
    q[i] = point.q[i];
    v[i] = point.v[i];
  }
  if (!system.exact(time, q, v)) return false;
  const Vector<double, n> p = momentum(system, q, v);
  for (int i = 0; i < n; ++i) {
    point.q[i] = q[i];
    point.v[i] = v[i];
    point.p[i] = p[i];
  }
  if constexpr (m > 0) {
    Vector<double, m> lambda;
    if (!detail::continuous_multiplier(system, q, v, lambda)) return false;
    for (int k = 0; k < m; ++k) point.lambda[k] = lambda[k];
  }
  return true;
}

/// The tangent vector that Lyapunov exponents start from, the same for all methods: the direction whose component i in
/// (dq, dv) is frac((i + 1) / golden ratio) - 1/2, moved to the nearest dv, in the metric of the mass matrix, that satisfies
/// the linearised constraint; with dp and dlambda of the derivatives of dL/dv and of the continuous multiplier, and the
/// Euclidean norm of (dq, dp) scaled to 1. Writes (dq, dp, dlambda).
template <template <class> class SystemOf>
void initial_tangent(const double* parameters, const double* q, const double* v, double* tangent) {
  using D = Dual<double, 1>;
  using System = SystemOf<D>;
  constexpr int n = System::n, m = System::m;
  const auto system = make_system<System>([parameters](int i) { return D(parameters[i]); });
  const auto direction = [](int i) {
    const double multiple = (i + 1) * 0.6180339887498949;
    return multiple - static_cast<int>(multiple) - 0.5;
  };
  Vector<D, n> x, y;
  for (int i = 0; i < n; ++i) {
    x[i].value = q[i];
    y[i].value = v[i];
    x[i].partial[0] = direction(i);
    y[i].partial[0] = direction(n + i);
  }
  Vector<D, m> lambda;
  if constexpr (is_holonomic<System>) {
    const detail::FreeMotion<System> motion(system, x, y);
    const auto g = position_constraint(system, x);
    Matrix<D, m, m> matrix;
    Matrix<D, m, n> response;
    for (int k = 0; k < m; ++k) {
      response[k] = motion.response(g.jacobian[k]);
      for (int i = 0; i < m; ++i) matrix[i][k] = dot(g.jacobian[i], response[k]);
    }
    x = x - transpose_times(response, Lu<D, m>(matrix).solve(g.value));
  }
  if constexpr (m > 0) {
    // a Newton step back to the constraint: of the value, it takes round-off; of the derivative, what violates Phi
    const detail::FreeMotion<System> motion(system, x, y);
    const auto phi = gradient<m>([&](const auto& a, const auto& b) { return constraint(system, a, b); }, x, y);
    Matrix<D, m, m> matrix;
    Matrix<D, m, n> response;
    for (int k = 0; k < m; ++k) {
      response[k] = motion.response(phi.dv[k]);
      for (int i = 0; i < m; ++i) matrix[i][k] = dot(phi.dv[i], response[k]);
    }
    y = y - transpose_times(response, Lu<D, m>(matrix).solve(phi.value));
    detail::continuous_multiplier(system, x, y, lambda);
  }
  const Vector<D, n> p = momentum(system, x, y);
  for (int i = 0; i < n; ++i) {
    tangent[i] = x[i].partial[0];
    tangent[n + i] = p[i].partial[0];
  }
  for (int i = 0; i < m; ++i) tangent[2 * n + i] = lambda[i].partial[0];
  double square = 0.0;
  for (int i = 0; i < 2 * n; ++i) square += tangent[i] * tangent[i];
  for (int i = 0; i < 2 * n + m; ++i) tangent[i] /= sqrt(square);
}

/// The entry of a system; one object per system.
template <template <class> class SystemOf>
const SystemEntry& describe() {
  using System = SystemOf<double>;
  static constexpr auto parameters = System::parameters();
  static constexpr auto structure = System::structure();
  static constexpr auto listed = observables<System>();
  static constexpr auto coordinates = coordinate_names<System>();
  static_assert(parameters.size() <= max_parameters);
  bool (*exact_solution)(const double*, double, PointView) = nullptr;
  if constexpr (requires(const System& s, Vector<double, System::n>& q) { s.exact(0.0, q, q); })
    exact_solution = exact<SystemOf>;
  static const SystemEntry entry{System::name,
                                 System::variant,
                                 System::summary,
                                 System::configuration,
                                 System::source,
                                 System::n,
                                 System::m,
                                 System::kind,
                                 parameters,
                                 structure,
                                 listed,
                                 coordinates,
                                 System::default_q,
                                 System::default_v,
                                 prepare<SystemOf>,
                                 velocity_from_momentum<SystemOf>,
                                 exact_solution,
                                 initial_tangent<SystemOf>};
  return entry;
}

RB_NAMESPACE_END
