#pragma once
// Derivatives of a trajectory by parameters of the ensemble: of its initial state, of the parameters of the system, of the step size.
// A derivative of the state is mapped by the step over dual numbers, in which parameters and step size have their derivatives, too. So it
// is the derivative of what the program computes, by a number of steps that does not change.

#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/tangent.hpp"

RB_NAMESPACE_BEGIN

/// A number with a derivative.
template <class T>
RB_HD Dual<T, 1> with_derivative(const T& value, const T& derivative) {
  Dual<T, 1> x(value);
  x.partial[0] = derivative;
  return x;
}
template <class T, int N>
RB_HD Vector<Dual<T, 1>, N> with_derivative(const Vector<T, N>& value, const Vector<T, N>& derivative) {
  Vector<Dual<T, 1>, N> x;
  RB_UNROLL
  for (int i = 0; i < N; ++i) x[i] = with_derivative(value[i], derivative[i]);
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
  [[nodiscard]] RB_HD Dual<T, 1> parameter(int i) const {
    return with_derivative(load_parameter<T>(a, chunk, lane, i), a.layout.seeds < 0 ? T(0.0) : load(seeds() + i));
  }
};

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

  RB_HD Variations(const KernelArguments& a, double* chunk, int lane) : a_(a), chunk_(chunk), lane_(lane) {}

  /// Maps the derivatives at `state` through one step from `time` on, in the lanes of the mask; these have taken `steps` steps before.
  RB_HD_LARGE void step(const State& state, const T& h, const T& time, const T& steps, mask_t<T> good) {
    for (int j = 0; j < a_.layout.variations; ++j) {
      const VariationRows<T, System> rows(a_, chunk_, lane_, j);
      const State before = load_tangent<T, State>(chunk_, rows.row, lane_);
      const T by_step = rows.of_step();
      const Map map(a_, chunk_, lane_, rows.seeds(), relative_size(rows, state, before, h));
      T status;
      State d = Map::tangent_of(
          map(state, before, with_derivative(h, by_step), with_derivative(time, steps * by_step), status));
      const mask_t<T> failed = !(status == T(0.0));
      d = select(failed, scaled(T(__builtin_nan("")), d), d);
      d = select(good, d, before);
      Crew::sync();
      if (Crew::leads()) store_tangent(chunk_, rows.row, lane_, d);
      Crew::sync();
    }
  }
  RB_HD void store(double*, int) const {}

 private:
  /// The size of the derivatives relative to their values: of the state, or of a parameter.
  RB_HD static T relative_size(const VariationRows<T, System>& rows, const State& state, const State& d, const T& h) {
    const auto ratio = [](const T& derivative, const T& value) {
      return select(value == T(0.0), abs(derivative), abs(derivative / value));
    };
    T size = ratio(max(max_norm(d.q), max_norm(d.p)), max(max_norm(state.q), max_norm(state.p)));
    if (rows.seeds() < 0) return size;
    for (int i = 0; i < int(parameters_of<System<T>>().size()); ++i) {
      const Dual<T, 1> x = rows.parameter(i);
      size = max(size, ratio(x.partial[0], x.value));
    }
    return max(size, ratio(rows.of_step(), h));
  }

  const KernelArguments& a_;
  double* chunk_;
  int lane_;
};

RB_NAMESPACE_END
