#pragma once
// The completion and the check of initial points: of one point, with a report, or of a pack of points, whose doubtful ones the program
// prepares one by one.

#include "rattleback/start/consistent.hpp"
#include "rattleback/start/measure.hpp"

RB_NAMESPACE_BEGIN

/// A point with all parts of the state.
template <class System, class T = typename System::scalar>
struct StartPoint {
  Vector<T, element_size<System>> q;
  Vector<T, System::n> v, p;
  Vector<T, System::m> lambda;
};

namespace detail {

/// Makes the given q an element of the group, where it is nearly one, or where it is to be projected. In a pack that takes place for no
/// point: those that need it are doubtful.
template <class G, class T, int N>
void settle_on_group(Vector<T, N>& q, const PrepareOptions& options, PrepareReport& report) {
  report.defect = G::defect(q);
  if (options.project || report.defect <= group_tolerance)
    for (int pass = 0; pass < 40 && G::defect(q) > group_drift; ++pass) q = G::normalise(q);
  if (options.project) report.defect = G::defect(q);
}
template <class G, class T, int N>
RB_HD void settle_on_group(Vector<T, N>& q, const PrepareOptions&, LaneReport<T>& report) {
  report.doubt(!(G::defect(q) <= T(group_drift)));
}

/// Moves q onto the constraint on positions. In a pack the points off it are doubtful.
template <class System, class Bounds>
void settle_position(const System& system, Configuration<System>& q, const Vector<double, System::n>& v,
                     const Bounds& residuals, PrepareReport& report) {
  report.projected_ok = project_position(system, q, v, residuals.tolerance);
}
template <class System, class T, class Bounds>
RB_HD void settle_position(const System&, Configuration<System>&, const Vector<T, System::n>&, const Bounds& residuals,
                           LaneReport<T>& report) {
  for (int k = 0; k < position_count<System>; ++k) report.doubt(!(residuals.value[k] == T(0.0)));
}

/// Moves v onto the constraint. In a pack the points off a constraint that is not affine in v are doubtful.
template <class System, class Bounds>
void settle_velocity(const System& system, const Configuration<System>& q, Vector<double, System::n>& v,
                     const Bounds& residuals, PrepareReport& report) {
  report.projected_ok = project_velocity(system, q, v, residuals.tolerance) && report.projected_ok;
}
template <class System, class T, class Bounds>
RB_HD_LARGE void settle_velocity(const System& system, const Configuration<System>& q, Vector<T, System::n>& v,
                                 const Bounds& residuals, LaneReport<T>& report) {
  if constexpr (affine_in_velocity<System>) {
    report.doubt(!project_velocity(system, q, v, {residuals.tolerance}));
  } else {
    for (int k = 0; k < System::m; ++k) report.doubt(!(residuals.value[k] == T(0.0)));
  }
}

template <class T>
RB_HD void note_multiplier(PrepareReport& report, const mask_t<T>& determined) {
  report.multiplier_ok = determined;
}
template <class T>
RB_HD void note_multiplier(LaneReport<T>& report, const mask_t<T>& determined) {
  report.doubt(!determined);
}

template <class T, int N>
RB_HD mask_t<T> are_equal(const Vector<T, N>& a, const Vector<T, N>& b) {
  mask_t<T> equal(true);
  for (int i = 0; i < N; ++i) equal = equal & (a[i] == b[i]);
  return equal;
}
template <class T, int N>
RB_HD mask_t<T> are_finite(const Vector<T, N>& a) {
  mask_t<T> finite(true);
  for (int i = 0; i < N; ++i) finite = finite & is_finite(a[i]);
  return finite;
}

}  // namespace detail

/// Completes a point and checks it: see PrepareReport and PrepareOptions. `step` is that of the method. In a pack all points are doubtful
/// that may not be good, or that only the report of a single point completes.
template <class System, class Report, class T = typename System::scalar>
RB_HD_LARGE void prepare_point(const System& system, StartPoint<System>& point, const PrepareOptions& options,
                               const T& step, Report& report) {
  using G = group_of<System>;
  constexpr int n = System::n, m = System::m;
  auto& [q, v, p, lambda] = point;
  if constexpr (on_group<System>) detail::settle_on_group<G>(q, options, report);
  [[maybe_unused]] const auto given_v = v, given_p = p;
  if constexpr (on_group<System>) {
    if (options.given_in_space) {
      v = G::Ad(G::inverse(q), v);
      p = G::Ad_star(q, p);
    }
  }
  const bool derive_v = options.from_momentum;
  mask_t<T> keep_momentum(derive_v);
  if (derive_v) v = velocity(system, q, p);
  if constexpr (m > 0) {
    const Vector<T, n> sizes = derive_v ? detail::velocity_sizes(system, q, v, p) : detail::absolute(v);
    const detail::MeasuredPoint<System> measured{q, v, sizes, step};
    const auto velocities = measured.velocities(system);
    velocities.add_to(report, options.project);
    if constexpr (position_count<System> > 0) measured.positions(system).add_to(report, options.project);
    if (options.project) {
      const Vector<T, n> given = v;
      if constexpr (position_count<System> > 0) {
        const auto from = q;
        detail::settle_position<System>(system, q, v, measured.positions(system), report);
        keep_momentum = keep_momentum & detail::are_equal(q, from);
      }
      detail::settle_velocity<System>(system, q, v, velocities, report);
      keep_momentum = keep_momentum & detail::are_equal(v, given);
    }
  }
  if (!all(keep_momentum)) p = select(keep_momentum, p, momentum(system, q, v));
  if constexpr (Quadratic<System> && detail::gives_lagrangian<System>) detail::compare_parts(system, q, v, report);
  if constexpr (detail::gives_lagrangian<System>) {
    if constexpr (requires { system.velocity(point.q, point.p); }) {
      detail::compare_velocities(system, q, v, report);
    } else if constexpr (!NotQuadratic<System>) {
      detail::check_quadratic(system, q, v, report);
    }
  }
  if constexpr (m > 0)
    if (!options.keep_multiplier)
      detail::note_multiplier<T>(report, detail::continuous_multiplier(system, q, v, lambda));
  if constexpr (!detail::of_one_point<Report>)
    report.doubt(!(detail::are_finite(q) & detail::are_finite(v) & detail::are_finite(p) & detail::are_finite(lambda) &
                   detail::are_finite(velocity(system, q, p))));
  if constexpr (on_group<System>) {
    if (options.in_space) {  // values given in space stay unchanged without projection
      const bool stays = options.given_in_space;
      if (!stays || derive_v || options.project)
        v = G::Ad(q, v);
      else
        v = given_v;
      const mask_t<T> given = keep_momentum & mask_t<T>(stays);
      p = select(given, given_p, G::Ad_inverse_star(q, p));
    }
  }
}

RB_NAMESPACE_END
