#pragma once
// Observables of one trajectory (or pack) at a sample time, and the guard of its multiplier.

#include "rattleback/loop/clock.hpp"
#include "rattleback/loop/exponents.hpp"
#include "rattleback/loop/last_step.hpp"
#include "rattleback/loop/observe_variations.hpp"

RB_NAMESPACE_BEGIN

/// Computes components of constraints and observables of the last step. This separate function loads all data again,
/// because on a GPU inlined code would take registers from all other observables.
template <class T, template <class> class System>
RB_NOINLINE T observe_detail(const KernelArguments& a, const double* chunk, int lane, ObservableCode code) {
  using Sys = System<T>;
  const ChunkLayout& rows = a.layout;
  const Sys system = load_system<Sys>(a, chunk, lane);
  if (code.kind == ObservableCode::constraint || code.kind == ObservableCode::hidden_constraint) {
    const auto q = load_rows<T, element_size<Sys>>(chunk, rows.q, lane);
    constexpr int positions = position_count<Sys>;  // g comes before Phi, whose place is that in `constraint`
    if constexpr (positions > 0)
      if (code.kind == ObservableCode::constraint && code.index < positions)
        return component(system.position_constraint(q), code.index);
    const auto p = load_rows<T, Sys::n>(chunk, rows.p, lane);
    return component(constraint(system, q, velocity_in_body(system, q, p, a.in_space)), code.index);
  }
  if constexpr (ConstrainedOnRn<Sys>) return observe_last_step<T>(system, a, chunk, lane, code);
  return T(0.0);
}

/// Writes values[i * chunk_size + lane] for the `count` observables in `codes`. Failed trajectories and padding give
/// NaN; a value of a good trajectory that is not finite becomes an infinity. `Formulas` are the observables that the
/// study writes as formulas.
template <class T, template <class> class System, template <class> class Formulas = NoFormulas>
RB_HD void observe_lanes(const KernelArguments& a, const double* chunk, int lane, const ObservableCode* codes,
                         int count, double* values) {
  using Sys = System<T>;
  constexpr int n = Sys::n, m = Sys::m, k = observable_count<Sys>;
  const ChunkLayout& rows = a.layout;
  const Sys system = load_system<Sys>(a, chunk, lane);
  const auto q = load_rows<T, element_size<Sys>>(chunk, rows.q, lane);
  const auto p = load_rows<T, n>(chunk, rows.p, lane);
  const auto v = velocity_of_state(system, q, p, a.in_space);
  const mask_t<T> good = Lanes<T>::load(chunk + rows.status * row_size + lane) == T(0.0);
  const Vector<T, k> of_system =
      evaluate_observables(system, q, in_body(system, q, p, v, a.in_space), momentum_in_body<Sys>(q, p, a.in_space));
  Vector<T, n> p_projected = p;
  const auto wanted = [&](ObservableCode::Kind kind) {
    bool found = false;
    for (int i = 0; i < count; ++i) found = found || codes[i].kind == kind;
    return found;
  };
  if constexpr (is_holonomic<Sys>) {
    if (wanted(ObservableCode::p_projected)) {
      mask_t<T> singular(false);
      put_on_constraint(system, q, p_projected, singular);
    }
  }
  Vector<T, m> lambda{};
  if constexpr (m > 0) lambda = load_rows<T, m>(chunk, rows.lambda, lane);
  Vector<T, Formulas<T>::count> of_study{};
  if constexpr (Formulas<T>::count > 0) {
    of_study = Formulas<T>::evaluate(
        ObservedPoint<T, Sys>{{a, chunk, lane, time_of_state<T>(a, chunk, lane)}, q, p, lambda, v, of_system});
  }
  if constexpr (m > 0)
    if (wanted(ObservableCode::lambda))
      lambda = multiplier_of_state<Sys>(a, chunk, lane, time_of_state<T>(a, chunk, lane), q, p, lambda);
  for (int i = 0; i < count; ++i) {
    const ObservableCode code = codes[i];
    T x(0.0);
    switch (code.kind) {
      case ObservableCode::system:
        x = component(of_system, code.index);
        break;
      case ObservableCode::v:
        x = component(v, code.index);
        break;
      case ObservableCode::q:
        x = Lanes<T>::load(chunk + (rows.q + code.index) * row_size + lane);
        break;
      case ObservableCode::p:
        x = Lanes<T>::load(chunk + (rows.p + code.index) * row_size + lane);
        break;
      case ObservableCode::p_projected:
        x = component(p_projected, code.index);
        break;
      case ObservableCode::lambda:
        if constexpr (m > 0) x = component(lambda, code.index);
        break;
      case ObservableCode::iterations:
        x = Lanes<T>::load(chunk + rows.iterations * row_size + lane);
        break;
      case ObservableCode::residual:
        x = Lanes<T>::load(chunk + rows.residual * row_size + lane);
        break;
      case ObservableCode::lyapunov:
      case ObservableCode::exponent:
      case ObservableCode::window:
      case ObservableCode::ln_gali:
      case ObservableCode::gali:
      case ObservableCode::sali:
      case ObservableCode::megno:
      case ObservableCode::megno_mean:
      case ObservableCode::fli:
        if constexpr (has_tangents<Formulas<T>>) x = observe_tangents<T>(a, chunk, lane, element_size<Sys> + n, code);
        break;
      case ObservableCode::power:
        if constexpr (timed<Sys>) x = power_of_state<T, Sys>(a, chunk, lane, time_of_state<T>(a, chunk, lane), q, p);
        break;
      case ObservableCode::work:
      case ObservableCode::energy_balance:
        x = work_of_rows<T>(a, chunk, lane);
        if (code.kind == ObservableCode::energy_balance) x = of_system[0] - x;
        break;
      case ObservableCode::step_size:
        x = load_or<T>(chunk, rows.step, lane, a.step);
        if (rows.clock >= 0) x = x / load_clock<T>(a, chunk, lane, ClockRow::density);
        break;
      case ObservableCode::density_error:
        if (rows.clock >= 0) x = load_clock<T>(a, chunk, lane, ClockRow::error);
        break;
      case ObservableCode::formula:
        if constexpr (Formulas<T>::count > 0) x = component(of_study, code.index);
        break;
      case ObservableCode::constraint:
      case ObservableCode::hidden_constraint:
      case ObservableCode::gamma:
      case ObservableCode::step_v:
      case ObservableCode::step_hidden_constraint:
      case ObservableCode::step_energy:
      case ObservableCode::step_kinetic:
      case ObservableCode::step_potential:
        if constexpr (m > 0) x = observe_detail<T, System>(a, chunk, lane, code);
        break;
      case ObservableCode::derivative:        // below
      case ObservableCode::error_derivative:  // in the reduction, which has the references
      case ObservableCode::kinds:
        break;
    }
    x = select(is_finite(x), x, T(__builtin_huge_val()));
    Lanes<T>::store(values + i * chunk_size + lane, select(good, x, T(__builtin_nan(""))));
  }
  if constexpr (has_derivatives<Formulas<T>>)
    observe_variations<T, System, Formulas>(a, chunk, lane, codes, count, values);
}

// The guard of a carried multiplier: where a flow contracts, the multiplier that a method carries from step to step has a part that
// alternates or stays, and grows until it destroys the motion (docs/theory/lobatto.md).

/// With delta the carried multiplier minus that of the continuous equations at the present state, all in the norm of M^-1, let
/// d = h |Phi_v^T delta| be the spurious impulse of a step, p the momentum, P the largest momentum that the guard has seen so far, and
/// f = h S, where S are the largest forces, free and of constraint, that it has seen. A trajectory is parasitic where
///   d > parasitic_impulse (p^2 + f^2)^(1/2)   and   d P > limit f^2.
/// The first says that delta disturbs the motion: at equality the kinetic energy is off by about parasitic_impulse^2 / 4. The second says
/// that this is no error of the method's order, which is small beside (h S / P)^2 P: what the forces change in a step, squared.
inline constexpr double parasitic_impulse = 0.02;

/// The limit for a method of this order; 0 is an unknown one.
[[nodiscard]] constexpr double parasitic_limit(int order) { return order > 4 ? 16.0 / order : 4.0; }

/// Marks the good lanes whose carried multiplier is parasitic, and notes the momentum and the forces at the present state. Where steps
/// follow a density, the state is that of the orbit.
template <class T, template <class> class System>
RB_NOINLINE void guard_multiplier(const KernelArguments& a, double* chunk, int lane) {
  using Sys = System<T>;
  if constexpr (velocity_count<Sys> > 0) {
    constexpr int n = Sys::n, m = Sys::m;
    const bool by_density = a.layout.clock >= 0;
    const ChunkLayout rows = by_density ? layout_of_orbit<true>(a.layout) : a.layout;
    const T now = by_density ? load_clock<T>(a, chunk, lane, ClockRow::time) : time_of_state<T>(a, chunk, lane);
    const Sys system = load_system_at<Sys>(now, a, chunk, lane);
    const auto q = load_rows<T, element_size<Sys>>(chunk, rows.q, lane);
    const auto p = load_rows<T, n>(chunk, rows.p, lane);
    const Vector<T, n> v = velocity_in_body(system, q, p, a.in_space);
    const detail::ContinuousMultiplier<Sys> exact(system, q, v);
    Vector<T, m> delta = load_rows<T, m>(chunk, rows.lambda, lane) - exact.lambda;
    RB_UNROLL
    for (int k = 0; k < position_count<Sys>; ++k) delta[k] = T(0.0);  // multipliers of positions are new in every step
    const Vector<T, n>& free = exact.free_acceleration;
    const Matrix<T, n, n> mass = mass_matrix(system, q, v);
    double* row = chunk + rows.guard * row_size + lane;
    const T momentum = dot(v, mass * v);
    const T largest = max(Lanes<T>::load(row), momentum);
    const T forces = max(Lanes<T>::load(row + row_size), dot(free, mass * free) + exact.square(exact.lambda));
    T h = load_or<T>(chunk, rows.step, lane, a.step);
    if (by_density) h = h / load_clock<T>(a, chunk, lane, ClockRow::density);
    const T square = h * h, disturbance = square * exact.square(delta);
    const T kick = square * forces;
    const mask_t<T> parasitic = (disturbance > T(parasitic_impulse * parasitic_impulse) * (momentum + kick)) &
                                (disturbance * largest > T(a.parasitic_limit * a.parasitic_limit) * (kick * kick));
    Lanes<T>::store(row, largest);
    Lanes<T>::store(row + row_size, forces);
    if (by_density) {
      const T steps = Lanes<T>::load(chunk + rows.steps * row_size + lane), next = Lanes<T>::load(row + 2 * row_size);
      Lanes<T>::store(row + 2 * row_size, select(steps >= next, next + T(double(steps_per_guard)), next));
    }
    double* status = chunk + rows.status * row_size + lane;
    const T before = Lanes<T>::load(status);
    Lanes<T>::store(status, select((before == T(0.0)) & parasitic, T(double(status_parasitic)), before));
  }
}

RB_NAMESPACE_END
