#pragma once
// The catalogue entry of a system, the completion of initial points and the initial tangent vectors. This code runs on
// the host only, in double.

#include <array>
#include <limits>
#include <type_traits>

#include "rattleback/loop/derivative.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/quadratic.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/start/initial_tangents.hpp"
#include "rattleback/start/prepare.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

template <int N>
Vector<double, N> load(const double* x) {
  Vector<double, N> r{};
  for (int i = 0; i < N; ++i) r[i] = x[i];
  return r;
}
template <int N>
void store(const Vector<double, N>& x, double* out) {
  for (int i = 0; i < N; ++i) out[i] = x[i];
}

template <class System>
System system_from(const SystemAt& place) {
  using T = typename System::scalar;
  return make_system_at<System>(T(place.time), [&place](int i) { return T(place.parameters[i]); });
}

/// Whether the applied force depends on the velocity: it is then no number where velocities are none.
template <template <class> class SystemOf>
bool force_depends_on_velocity() {
  using System = SystemOf<double>;
  if constexpr (has_force_of_velocity<System>()) {
    constexpr int n = System::n;
    constexpr auto parameters = parameters_of<System>();
    std::array<double, parameters.size() + 1> values{};
    for (std::size_t i = 0; i < parameters.size(); ++i) values[i] = parameters[i].value;
    for (const double shift : {0.31, -0.73, 1.87}) {
      const System system = system_from<System>({values.data(), shift});
      Vector<double, n> v, none;
      for (int i = 0; i < n; ++i) {
        v[i] = shift / (i + 1);
        none[i] = __builtin_nan("");
      }
      auto q = load<element_size<System>>(System::default_q.data());
      if constexpr (!on_group<System>) q = q + v;
      const Vector<double, n> force = system.applied_force(q, v), other = system.applied_force(q, none);
      for (int i = 0; i < n; ++i)
        if (is_finite(force[i]) && !is_finite(other[i])) return true;
    }
  }
  return false;
}

}  // namespace detail

/// See PrepareReport and PrepareOptions.
template <template <class> class SystemOf>
PrepareReport prepare(SystemAt place, PointView view, PrepareOptions options) {
  using System = SystemOf<double>;
  StartPoint<System> point{detail::load<element_size<System>>(view.q), detail::load<System::n>(view.v),
                           detail::load<System::n>(view.p), detail::load<System::m>(view.lambda)};
  PrepareReport report{0.0, 0.0, true, true, 0.0};
  prepare_point(detail::system_from<System>(place), point, options, options.step, report);
  detail::store(point.q, view.q);
  detail::store(point.v, view.v);
  detail::store(point.p, view.p);
  if (!options.keep_multiplier) detail::store(point.lambda, view.lambda);
  return report;
}

/// See PointFunctions::turn.
template <template <class> class SystemOf>
void turn(const double* q, double* v, double* p, bool to_space) {
  using System = SystemOf<double>;
  using G = group_of<System>;
  constexpr int n = System::n;
  const auto g = detail::load<element_size<System>>(q);
  if (v) detail::store(G::Ad(to_space ? g : G::inverse(g), detail::load<n>(v)), v);
  if (p) detail::store(to_space ? G::Ad_inverse_star(g, detail::load<n>(p)) : G::Ad_star(g, detail::load<n>(p)), p);
}

template <template <class> class SystemOf>
void velocity_from_momentum(SystemAt place, const double* q, const double* p, double* v) {
  using System = SystemOf<double>;
  const System system = detail::system_from<System>(place);
  detail::store(velocity(system, detail::load<element_size<System>>(q), detail::load<System::n>(p)), v);
}

template <template <class> class SystemOf>
void forms(SystemAt place, const double* q, const double* v, double* rows) {
  using System = SystemOf<double>;
  constexpr int n = System::n, m = System::m;
  if constexpr (m > 0) {
    const auto phi =
        constraint_forms(detail::system_from<System>(place), detail::load<element_size<System>>(q), detail::load<n>(v));
    for (int k = 0; k < m; ++k) detail::store(phi[k], rows + k * n);
  }
}

/// See PointFunctions::multiplier.
template <template <class> class SystemOf>
bool multiplier(SystemAt place, const double* q, const double* v, double* lambda) {
  using System = SystemOf<double>;
  if constexpr (System::m > 0) {
    Vector<double, System::m> x;
    const bool determined = detail::continuous_multiplier(
        detail::system_from<System>(place), detail::load<element_size<System>>(q), detail::load<System::n>(v), x);
    detail::store(x, lambda);
    return determined;
  }
  return true;
}

/// See PointFunctions::expand.
template <template <class> class SystemOf>
void expand(const double* x, double* q) {
  using System = SystemOf<double>;
  detail::store(group_of<System>::expand(detail::load<System::n>(x)), q);
}

/// See SystemEntry::exact.
template <template <class> class SystemOf>
bool exact(const double* parameters, double time, PointView point) {
  using System = SystemOf<double>;
  constexpr int n = System::n, m = System::m;
  const System system = detail::system_from<System>({parameters, 0.0});
  auto q = detail::load<element_size<System>>(point.q);
  auto v = detail::load<n>(point.v);
  if (!system.exact(time, q, v)) return false;
  detail::store(q, point.q);
  detail::store(v, point.v);
  detail::store(momentum(system, q, v), point.p);
  if constexpr (m > 0) {
    Vector<double, m> lambda;
    if (!detail::continuous_multiplier(system, q, v, lambda)) return false;
    detail::store(lambda, point.lambda);
  }
  return true;
}

/// See PointFunctions::tangents.
template <template <class> class SystemOf>
void initial_tangents(SystemAt place, const double* q, const double* v, const double* p, bool in_space,
                      [[maybe_unused]] bool by_mass, int count, double* tangents) {
  using System = SystemOf<Dual<double, 1>>;
  constexpr int n = System::n;
  const auto compute = [&]<bool mass>(std::bool_constant<mass>) {
    using Tangents = InitialTangents<System, mass>;
    const Tangents of(detail::system_from<System>(place), detail::load<element_size<System>>(q), detail::load<n>(v),
                      p == nullptr ? Vector<double, n>::zero() : detail::load<n>(p), in_space);
    of(
        count, [&](int j) { return detail::load<Tangents::width>(tangents + j * Tangents::width); },
        [&](int j, const auto& tangent) { detail::store(tangent, tangents + j * Tangents::width); });
  };
  if constexpr (!HamiltonianAlone<System>)
    if (by_mass) return compute(std::true_type());
  compute(std::false_type());
}

/// See SystemEntry::default_p.
template <class System>
std::span<const double> default_momentum() {
  if constexpr (requires { System::default_p; }) {
    return System::default_p;
  } else {
    return {};
  }
}

/// The entry of a system; one object per system.
template <template <class> class SystemOf>
const SystemEntry& describe(SystemSource source = {}) {
  using System = SystemOf<double>;
  static constexpr auto parameters = parameters_of<System>();
  static constexpr auto structure = structure_of<System>();
  static constexpr auto listed = observables<System>();
  static constexpr auto coordinates = coordinate_names<System>();
  static constexpr auto without = separable_without<System>();
  bool (*exact_solution)(const double*, double, PointView) = nullptr;
  if constexpr (!timed<System> && requires(const System& s, Configuration<System>& q, Vector<double, System::n>& v) {
                  s.exact(0.0, q, v);
                })
    exact_solution = exact<SystemOf>;
  static constexpr PointFunctions at_points{prepare<SystemOf>,
                                            velocity_from_momentum<SystemOf>,
                                            forms<SystemOf>,
                                            on_group<System> ? expand<SystemOf> : nullptr,
                                            on_group<System> ? turn<SystemOf> : nullptr,
                                            initial_tangents<SystemOf>,
                                            multiplier<SystemOf>,
                                            start_derivative<SystemOf>,
                                            state_derivative<SystemOf>};
  static const PointFunctions* functions = &at_points;
  static const SystemEntry entry{form_of<System>(),
                                 System::name,
                                 alias_of<System>(),
                                 variant_of<System>(),
                                 System::summary,
                                 System::configuration,
                                 System::source,
                                 System::n,
                                 element_size<System>,
                                 System::m,
                                 position_count<System>,
                                 parameters,
                                 structure,
                                 listed,
                                 coordinates,
                                 System::default_q,
                                 System::default_v,
                                 without,
                                 time_scale<System>(),
                                 source,
                                 exact_solution,
                                 &functions,
                                 detail::force_depends_on_velocity<SystemOf>(),
                                 default_momentum<System>()};
  return entry;
}

RB_NAMESPACE_END
