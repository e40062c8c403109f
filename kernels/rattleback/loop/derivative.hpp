#pragma once
// Derivatives of initial points and of states, by dual numbers. This code runs on the host only.

#include "rattleback/loop/formula.hpp"
#include "rattleback/start/prepare.hpp"
#include "rattleback/start/tangent.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Numbers with their derivatives, both 0 where they are null.
template <int N>
Vector<Dual<double, 1>, N> load_varied(const double* x, const double* dx) {
  Vector<Dual<double, 1>, N> r;
  for (int i = 0; i < N; ++i) {
    r[i] = Dual<double, 1>(x != nullptr ? x[i] : 0.0);
    if (dx != nullptr) r[i].partial[0] = dx[i];
  }
  return r;
}
template <class System>
System varied_system(const SystemAt& place, const double* dparameters, double dtime) {
  using D = Dual<double, 1>;
  D time(place.time);
  time.partial[0] = dtime;
  return make_system_at<System>(time, [&](int i) {
    D x(place.parameters[i]);
    if (dparameters != nullptr) x.partial[0] = dparameters[i];
    return x;
  });
}
template <int N>
void set_values(Vector<Dual<double, 1>, N>& x, const double* values) {
  for (int i = 0; i < N; ++i) x[i].value = values[i];
}

}  // namespace detail

/// See PointFunctions::start_derivative. Newton's step to the constraints is over dual numbers: it removes what a direction has across
/// them, and moves a given velocity onto an affine constraint exactly as the preparation does.
template <template <class> class SystemOf>
void start_derivative(SystemAt place, const StartVariation& given, PrepareOptions options, const double* q,
                      const double* v, double* tangent) {
  using D = Dual<double, 1>;
  using System = SystemOf<D>;
  using G = group_of<System>;
  constexpr int n = System::n, m = System::m, N = element_size<System>;
  const auto system = detail::varied_system<System>(place, given.dparameters, 0.0);
  Vector<D, N> x;
  if constexpr (on_group<System>) {
    if (given.expand) {
      x = G::expand(detail::load_varied<n>(given.q, given.dq));
    } else {
      x = detail::load_varied<N>(q, given.dq);
      put_onto_group<G>(x);
    }
  } else {
    x = detail::load_varied<N>(given.q, given.dq);
  }
  if (given.shift != nullptr) {
    Vector<double, n> shift;
    for (int i = 0; i < n; ++i) shift[i] = given.shift[i];
    const Vector<D, N> moved = moving<G>(detail::values(x), shift);
    for (int i = 0; i < N; ++i) x[i].partial[0] += moved[i].partial[0];
  }
  // Velocities and momenta of the study, with their derivatives, in the body.
  const auto velocity_of = [&](const double* of_v, const double* dv) {
    Vector<D, n> y = detail::load_varied<n>(of_v, dv);
    if constexpr (on_group<System>)
      if (options.given_in_space) y = G::Ad(G::inverse(x), y);
    return y;
  };
  const auto momentum_of = [&](const double* of_p, const double* dp) {
    Vector<D, n> momenta = detail::load_varied<n>(of_p, dp);
    if constexpr (on_group<System>)
      if (options.given_in_space) momenta = G::Ad_star(x, momenta);
    return momenta;
  };
  Vector<D, n> y, momenta{};
  if (options.from_momentum) {
    momenta = momentum_of(given.p, given.dp);
    y = velocity(system, x, momenta);
    if (given.dv != nullptr) {
      y = y + velocity_of(nullptr, given.dv);
      momenta = momentum(system, x, y);
    }
  } else {
    y = velocity_of(given.v, given.dv);
    if (given.dp != nullptr) y = velocity(system, x, momentum(system, x, y) + momentum_of(nullptr, given.dp));
  }
  Vector<D, m> lambda{};
  if constexpr (m > 0) {
    detail::newton_to_constraints(system, x, y);
    detail::set_values(x, q);
    Vector<double, n> of_body;
    for (int i = 0; i < n; ++i) of_body[i] = v[i];
    if constexpr (on_group<System>)
      if (options.in_space) {
        Vector<double, N> g;
        for (int i = 0; i < N; ++i) g[i] = q[i];
        of_body = G::Ad(G::inverse(g), of_body);
      }
    detail::set_values(y, of_body.entry);
    if (options.keep_multiplier) {
      lambda = detail::load_varied<m>(given.lambda, given.dlambda);
    } else {
      detail::continuous_multiplier(system, x, y, lambda);
    }
  }
  if (!options.from_momentum || (m > 0 && !HamiltonianAlone<System>)) momenta = momentum(system, x, y);
  if constexpr (on_group<System>)
    if (options.in_space) momenta = G::Ad_inverse_star(x, momenta);
  for (int i = 0; i < N; ++i) tangent[i] = x[i].partial[0];
  for (int i = 0; i < n; ++i) tangent[N + i] = momenta[i].partial[0];
  for (int i = 0; i < m; ++i) tangent[N + n + i] = lambda[i].partial[0];
}

/// See PointFunctions::state_derivative.
template <template <class> class SystemOf>
void state_derivative(SystemAt place, const StateVariation& state, bool in_space, double* dv,
                      [[maybe_unused]] double* dlambda) {
  using System = SystemOf<Dual<double, 1>>;
  constexpr int n = System::n;
  const auto system = detail::varied_system<System>(place, state.dparameters, state.dtime);
  const auto q = detail::load_varied<element_size<System>>(state.q, state.dq);
  const auto p = detail::load_varied<n>(state.p, state.dp);
  const auto v = velocity_of_state(system, q, p, in_space);
  for (int i = 0; i < n; ++i) dv[i] = v[i].partial[0];
  if constexpr (System::m > 0) {
    if (dlambda == nullptr) return;
    const auto lambda = detail::ContinuousMultiplier<System>(system, q, in_body(system, q, p, v, in_space)).lambda;
    for (int i = 0; i < System::m; ++i) dlambda[i] = lambda[i].partial[0];
  }
}

RB_NAMESPACE_END
