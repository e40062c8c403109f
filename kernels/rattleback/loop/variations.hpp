#pragma once
// Derivatives of a trajectory by parameters of the ensemble: of its initial state, of the parameters of the system, of the step size.
// A derivative of the state is mapped by the step over dual numbers, in which parameters and step size have their derivatives, too. So it
// is the derivative of what the program computes, by a number of steps that does not change.
//
// Where steps follow a density (loop/clock.hpp), rho and the time of the orbit have derivatives, and so has the step eps/rho. The step to
// a given time from an orbit at t has the derivative -dt of its size, so that what is shown is the derivative at that time.

#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/flow.hpp"
#include "rattleback/loop/tangent.hpp"

RB_NAMESPACE_BEGIN

/// A number with a derivative.
template <class T>
RB_HD Dual<T, 1> with_derivative(const T& value, const T& derivative) {
  Dual<T, 1> x(value);
  x.partial[0] = derivative;
  return x;
}
/// The rows of a derivative of a trajectory.
template <class T, template <class> class SystemOf>
struct VariationRows {
  const KernelArguments& a;
  const double* chunk;
  int lane, row;  ///< `row` is the first of the derivative

  RB_HD VariationRows(const KernelArguments& arguments, const double* rows, int of, int j)
      : a(arguments), chunk(rows), lane(of), row(a.layout.variation + j * a.layout.variation_rows) {}

  [[nodiscard]] RB_HD int seeds() const { return a.layout.seeds < 0 ? -1 : row + a.layout.seeds; }
  [[nodiscard]] RB_HD T load(int at) const { return Lanes<T>::load(chunk + at * row_size + lane); }
  /// The derivative of the step size, whose row comes after those of the parameters.
  [[nodiscard]] RB_HD T of_step() const {
    constexpr int parameters = int(parameters_of<SystemOf<T>>().size());
    return a.layout.seeds < 0 ? T(0.0) : load(seeds() + parameters);
  }
  /// The derivative of the time from which steps are counted, or of the time of an orbit that follows a density.
  [[nodiscard]] RB_HD T of_start() const {
    return a.layout.variation_clock < 0 ? T(0.0) : load(row + a.layout.variation_clock);
  }
  /// The derivative of the time of the state in the rows. Where steps follow a density it is shown at a given time.
  [[nodiscard]] RB_HD T of_time() const {
    if (a.layout.clock >= 0) return T(0.0);
    const T by_steps = load(a.layout.steps) * of_step();
    return a.layout.variation_clock < 0 ? by_steps : by_steps + of_start();
  }
  [[nodiscard]] RB_HD Dual<T, 1> parameter(int i) const {
    return with_derivative(load_parameter<T>(a, chunk, lane, i), a.layout.seeds < 0 ? T(0.0) : load(seeds() + i));
  }
};

/// The density at a state with derivatives.
template <class T, template <class> class SystemOf, template <class> class Density, int N, int n>
RB_HD_LARGE DensityAt<Dual<T, 1>> varied_density(const VariationRows<T, SystemOf>& rows, const Dual<T, 1>& time,
                                                 const Vector<Dual<T, 1>, N>& q, const Vector<Dual<T, 1>, n>& p) {
  using D = Dual<T, 1>;
  using System = SystemOf<D>;
  using DD = Dual<D, 1>;
  struct Point {
    const VariationRows<T, SystemOf>& rows;
    const Vector<DD, N>& q;
    RB_HD DD parameter(int i) const { return DD(rows.parameter(i)); }
  };
  const auto system = make_system_at<System>(time, [&](int i) { return rows.parameter(i); });
  const Vector<D, n> v = velocity(system, q, momentum_in_body<System>(q, p, rows.a.in_space));
  const Vector<DD, N> moved = moving<group_of<System>>(q, v);
  return DensityAt<D>(Density<DD>::evaluate(Point{rows, moved})[0]);
}

/// Carries the derivatives of a trajectory along. Where a dual step fails, the derivative is NaN from this step on.
template <class T, template <class> class System, template <class, class> class Method>
class Variations {
  using Map = TangentMap<T, System, Method>;
  using State = typename Map::State;
  using D = typename Map::D;
  using Crew = TeamOfLoop<Method<T, System<T>>, typename Map::Step>;

 public:
  using Team = team_of<typename Map::Step>;
  using Workspace = workspace_of<typename Map::Step>;
  /// The loop calls this companion after it has noted crossings, for which the rows have the derivatives before the step.
  static constexpr bool varies = true;

  RB_HD Variations(const KernelArguments& a, double* chunk, int lane) : a_(a), chunk_(chunk), lane_(lane) {}

  /// Maps the derivatives at `state` through one step from `time` on, in the lanes of the mask; these have taken `steps` steps before.
  RB_HD_LARGE void step(const State& state, const T& h, const T& time, const T& steps, mask_t<T> good) {
    for (int j = 0; j < a_.layout.variations; ++j) {
      const VariationRows<T, System> rows(a_, chunk_, lane_, j);
      const T by_step = rows.of_step();
      const State before = load_tangent<T, State>(chunk_, rows.row, lane_);
      State d = Map::tangent_of(mapped(rows, state, before, with_derivative(h, by_step),
                                       with_derivative(time, steps * by_step + rows.of_start()), h));
      d = select(good, d, before);
      Crew::sync();
      if (Crew::leads()) store_tangent(chunk_, rows.row, lane_, d);
      Crew::sync();
    }
  }

  /// The derivatives of rho before the first step.
  template <class Clock>
  RB_HD_LARGE void begin(const Clock& clock, const Record<T>& record) {
    const mask_t<T> starts =
        (record.status == T(0.0)) & (load_clock<T>(a_, chunk_, lane_, ClockRow::density) == T(0.0));
    if (!any(starts)) return;
    const ChunkLayout at = layout_of_orbit<true>(a_.layout);
    const auto state = load_state<T, State>(at, chunk_, lane_);
    for (int j = 0; j < a_.layout.variations; ++j) {
      const VariationRows<T, System> rows(a_, chunk_, lane_, j);
      const State d = load_tangent<T, State>(chunk_, rows.row + a_.layout.variation_orbit, lane_);
      const D eps = with_derivative(eps_of(), rows.of_step()),
              time = with_derivative(clock.start(true), rows.of_start());
      const auto now = density<Clock>(rows, time, detail::along(state.q, d.q), detail::along(state.p, d.p));
      const D rho = fma(D(0.5) * eps, now.growth, now.value);
      Crew::sync();
      if (Crew::leads()) put(rows.row + a_.layout.variation_clock + 1, rho.partial[0], starts);
      Crew::sync();
    }
  }
  /// The same as `step` where steps follow a density, before the clock takes the step. Lanes that step to the state that is shown keep
  /// the derivatives of the orbit.
  template <class Clock>
  RB_HD_LARGE void follow(const Clock& clock, const State& state, const T& h, const T& time, mask_t<T> good) {
    const ChunkLayout& at = a_.layout;
    const mask_t<T> shown = good & clock.shows(), moved = good & !clock.shows(), at_once = good & clock.shows_at_once();
    State flow{};
    if (any(at_once)) flow = flow_of<T, System>(a_, chunk_, lane_, time, state);
    for (int j = 0; j < at.variations; ++j) {
      const VariationRows<T, System> rows(a_, chunk_, lane_, j);
      const int row_of_time = rows.row + at.variation_clock, row_of_density = row_of_time + 1;
      const State before = load_tangent<T, State>(chunk_, rows.row + at.variation_orbit, lane_);
      const T by_time = rows.of_start(), zero(0.0);
      const D eps = with_derivative(eps_of(), rows.of_step()),
              rho = with_derivative(clock.density(), rows.load(row_of_density)), size = eps / rho;
      const T by_size = select(clock.shows(), -by_time, size.partial[0]);
      const DualState next = mapped(rows, state, before, with_derivative(h, by_size), with_derivative(time, by_time),
                                    clock.step_of_orbit());
      const State d = Map::tangent_of(next);
      const auto then = density<Clock>(rows, with_derivative(time + h, by_time + by_size), next.q, next.p);
      const D more = eps * then.growth;
      Crew::sync();
      if (Crew::leads()) {
        const State seen = select(at_once, plus(before, -by_time, flow), d);
        store_tangent(chunk_, rows.row, lane_, select(shown, seen, load_tangent<T, State>(chunk_, rows.row, lane_)));
        store_tangent(chunk_, rows.row + at.variation_orbit, lane_, select(moved, d, before));
        put(row_of_time, by_time + by_size, moved);
        put(row_of_density, rho.partial[0] + more.partial[0], moved);
      }
      Crew::sync();
    }
  }
  RB_HD void store(double*, int) const {}

 private:
  using DualState = typename Map::DualState;

  [[nodiscard]] RB_HD T eps_of() const { return load_or<T>(chunk_, a_.layout.step, lane_, a_.step); }
  /// Writes a number into the lanes of the mask. The first lane of a team calls this.
  RB_HD void put(int row, const T& x, const mask_t<T>& lanes) const {
    double* place = chunk_ + row * row_size + lane_;
    Lanes<T>::store(place, select(lanes, x, Lanes<T>::load(place)));
  }
  template <class Clock>
  RB_HD static auto density(const VariationRows<T, System>& rows, const D& time, const Vector<D, State::elements>& q,
                            const Vector<D, State::dimension>& p) {
    return varied_density<T, System, Clock::template DensityOf>(rows, time, q, p);
  }
  /// d + factor x.
  RB_HD static State plus(const State& d, const T& factor, const State& x) {
    State r;
    r.q = fma(factor, x.q, d.q);
    r.p = fma(factor, x.p, d.p);
    if constexpr (State::multipliers > 0) r.lambda = fma(factor, x.lambda, d.lambda);
    if constexpr (State::carries > 0) r.carried = fma(factor, x.carried, d.carried);
    return r;
  }

  /// The step from `state` with the derivative `d`, which is NaN where the dual step fails. `usual` is the size of steps with which the
  /// derivative of the size is compared.
  RB_HD DualState mapped(const VariationRows<T, System>& rows, const State& state, const State& d, const D& h,
                         const D& time, const T& usual) const {
    const Map map(a_, chunk_, lane_, rows.seeds(), relative_size(rows, state, d, h.partial[0], usual));
    T status;
    DualState next = map(state, d, h, time, status);
    const mask_t<T> failed = !(status == T(0.0));
    const T factor = select(failed, T(__builtin_nan("")), T(1.0));
    spoil(next.q, factor);
    spoil(next.p, factor);
    spoil(next.lambda, factor);
    spoil(next.carried, factor);
    return next;
  }
  template <int N>
  RB_HD static void spoil(Vector<D, N>& x, const T& factor) {
    RB_UNROLL
    for (int i = 0; i < N; ++i) x[i].partial[0] = factor * x[i].partial[0];
  }

  /// The size of the derivatives relative to their values: of the state, of a parameter or of the step.
  RB_HD static T relative_size(const VariationRows<T, System>& rows, const State& state, const State& d,
                               const T& by_size, const T& h) {
    const auto ratio = [](const T& derivative, const T& value) {
      return select(value == T(0.0), abs(derivative), abs(derivative / value));
    };
    T size = ratio(max(max_norm(d.q), max_norm(d.p)), max(max_norm(state.q), max_norm(state.p)));
    for (int i = 0; rows.seeds() >= 0 && i < int(parameters_of<System<T>>().size()); ++i) {
      const Dual<T, 1> x = rows.parameter(i);
      size = max(size, ratio(x.partial[0], x.value));
    }
    return max(size, ratio(by_size, h));
  }

  const KernelArguments& a_;
  double* chunk_;
  int lane_;
};

/// What a compiled unit with derivatives carries along with the state.
template <class T, template <class> class System, class Method>
using CarryVariations = Variations<T, System, Method::template of>;

RB_NAMESPACE_END
