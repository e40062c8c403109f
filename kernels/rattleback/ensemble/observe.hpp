#pragma once
// Observables of one trajectory (or pack) at a sample time.

#include "rattleback/ensemble/lanes.hpp"
#include "rattleback/ensemble/tangent.hpp"
#include "rattleback/systems/system.hpp"

RB_NAMESPACE_BEGIN

/// Writes values[i * chunk_size + lane] for the `count` observables asked for; NaN for failed trajectories and padding.
template <class T, template <class> class System>
RB_HD void observe_lanes(const KernelArguments& a, const double* chunk, int lane, const ObservableCode* codes,
                         int count, double* values) {
  using Sys = System<T>;
  constexpr int n = Sys::n, m = Sys::m, k = observable_count<Sys>;
  const ChunkLayout& rows = a.layout;
  const Sys system = load_system<Sys>(a, chunk, lane);
  const auto q = load_rows<T, element_size<Sys>>(chunk, rows.q, lane);
  const auto p = load_rows<T, n>(chunk, rows.p, lane);
  const auto v = velocity_of_state(system, q, p, a.in_space);
  const mask_t<T> good = Lanes<T>::load(chunk + rows.status * chunk_size + lane) == T(0.0);
  const Vector<T, k> of_system = evaluate_observables(system, q, [&] {
    if constexpr (on_group<Sys>)
      if (a.in_space) return velocity(system, q, group_of<Sys>::Ad_star(q, p));
    return v;
  }());
  Vector<T, n> p_projected = p;
  if constexpr (is_holonomic<Sys>) {
    bool wanted = false;
    for (int i = 0; i < count; ++i) wanted = wanted || codes[i].kind == ObservableCode::p_projected;
    if (wanted) {
      mask_t<T> singular(false);
      impulse_to_constraint(system, q, p_projected, singular);
    }
  }
  for (int i = 0; i < count; ++i) {
    const ObservableCode code = codes[i];
    T x(0.0);
    switch (code.kind) {
      case ObservableCode::system:
        RB_UNROLL
        for (int j = 0; j < k; ++j)
          if (j == code.index) x = of_system[j];
        break;
      case ObservableCode::v:
        RB_UNROLL
        for (int j = 0; j < n; ++j)
          if (j == code.index) x = v[j];
        break;
      case ObservableCode::q:
        x = Lanes<T>::load(chunk + (rows.q + code.index) * chunk_size + lane);
        break;
      case ObservableCode::p:
        x = Lanes<T>::load(chunk + (rows.p + code.index) * chunk_size + lane);
        break;
      case ObservableCode::p_projected:
        RB_UNROLL
        for (int j = 0; j < n; ++j)
          if (j == code.index) x = p_projected[j];
        break;
      case ObservableCode::lambda:
        if constexpr (m > 0) x = Lanes<T>::load(chunk + (rows.lambda + code.index) * chunk_size + lane);
        break;
      case ObservableCode::iterations:
        x = Lanes<T>::load(chunk + rows.iterations * chunk_size + lane);
        break;
      case ObservableCode::residual:
        x = Lanes<T>::load(chunk + rows.residual * chunk_size + lane);
        break;
      case ObservableCode::lyapunov: {
        const T time =
            load_or<T>(chunk, rows.step, lane, a.step) * Lanes<T>::load(chunk + rows.steps * chunk_size + lane);
        x = select(time == T(0.0), T(0.0), log_norm_of_tangent<T, element_size<Sys> + n>(rows, chunk, lane) / time);
        break;
      }
    }
    Lanes<T>::store(values + i * chunk_size + lane, select(good, x, T(__builtin_nan(""))));
  }
}

RB_NAMESPACE_END
