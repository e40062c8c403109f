#pragma once
// The tangent vector of a trajectory, for the largest Lyapunov exponent (G. Benettin, L. Galgani, A. Giorgilli, J.-M.
// Strelcyn, Meccanica 15 (1980) 9). The tangent map of a step is the step over dual numbers.

#include "rattleback/linalg/team.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// The tangent map of a step: the step over dual numbers, whose derivatives are the numbers of a tangent vector. The dual step may take
/// twice the iterations.
template <class T, template <class> class System, template <class, class> class Method>
class TangentMap {
 public:
  using D = Dual<T, 1>;
  using Sys = System<D>;
  using Step = Method<D, Sys>;
  using State = typename Method<T, System<T>>::State;  ///< of the trajectory, and the form of a tangent vector
  using DualState = typename Step::State;

  /// The derivatives of the parameters are in the rows from `seeds` on; they are 0 where it is negative. `size` is that of the derivatives
  /// relative to their values (Convergence).
  RB_HD TangentMap(const KernelArguments& a, const double* chunk, int lane, int seeds = -1, const T& size = T(0.0))
      : system_(make_system_at<Sys>(D(0.0),
                                    [&](int i) {
                                      D x(load_parameter<T>(a, chunk, lane, i));
                                      if (seeds >= 0)
                                        x.partial[0] = Lanes<T>::load(chunk + (seeds + i) * row_size + lane);
                                      return x;
                                    })),
        options_{D(max(a.tolerance, tolerance)), 2 * a.max_iterations, D(a.guess),
                 a.layout.variations > 0 && a.layout.work >= 0},
        numbers_(a.method),
        step_(make_step<Step>(system_, options_with(size), numbers_)) {}

  /// Returns the step from `state` at `time` with the derivative along `d`, and the status of the step.
  RB_HD DualState operator()(const State& state, const State& d, const D& h, [[maybe_unused]] const D& time,
                             T& status) const {
    auto next = state_of<DualState>(detail::along(numbers_of(state), numbers_of(d)));
    StepReport<D> report;
    if constexpr (timed<Sys>) {
      report = make_step<Step>(at(system_, time), options_, numbers_)(next, h);
    } else {
      report = step_(next, h);
    }
    status = report.status.value;
    return next;
  }

  /// The system, where it is driven at a time.
  RB_HD const Sys& system() const { return system_; }

  /// The derivatives of a state.
  RB_HD static State tangent_of(const DualState& x) { return state_of<State>(detail::derivative(numbers_of(x))); }

 private:
  /// A relative error of this size in each step changes the Lyapunov exponent by this size over the step size. A
  /// tolerance at round-off would need a few more iterations.
  static constexpr double tolerance = 1e-14;

  RB_HD const SolverOptions<D>& options_with(const T& size) {
    options_.tolerance.partial[0] = size;
    return options_;
  }

  Sys system_;
  SolverOptions<D> options_;
  const double* numbers_;
  Step step_;
};

/// Loads and stores a tangent vector, which has the form of a state, from `row` on.
template <class T, class State>
RB_HD State load_tangent(const double* chunk, int row, int lane) {
  return state_of<State>(load_rows<T, decltype(numbers_of(State()))::size>(chunk, row, lane));
}
template <class State>
RB_HD void store_tangent(double* chunk, int row, int lane, const State& d) {
  store_rows(chunk, row, lane, numbers_of(d));
}
/// factor d.
template <class T, class State>
RB_HD State scaled(const T& factor, const State& d) {
  return state_of<State>(factor * numbers_of(d));
}

/// 2^-shift for numbers of this size: 1 within [2^-128, 2^128], and otherwise what brings the numbers nearer.
template <class T>
struct Rescaling {
  T shift, factor;

  RB_HD explicit Rescaling(const T& size) {
    const mask_t<T> large = size > T(0x1p128), small = size < T(0x1p-128);
    shift = select(large, T(128.0), select(small, T(-128.0), T(0.0)));
    factor = select(large, T(0x1p-128), select(small, T(0x1p128), T(1.0)));
  }
};

/// The rows hold 2^-exponent times the tangent vector. The vector is rescaled by a power of two when the norm leaves
/// [2^-128, 2^128]. The map is linear and this scaling is exact, so the results do not depend on the time of rescaling.
///
/// The trajectory comes from the plain step and has the same bits as without a tangent vector; only the derivative of
/// the dual step is used. If the dual step fails, the exponent is NaN from this step on.
template <class T, template <class> class System, template <class, class> class Method>
class Tangent {
  using Map = TangentMap<T, System, Method>;
  using State = typename Map::State;

 public:
  using Team = team_of<typename Map::Step>;
  using Workspace = workspace_of<typename Map::Step>;

  RB_HD Tangent(const KernelArguments& a, const double* chunk, int lane)
      : map_(a, chunk, lane), rows_(a.layout), d_(load_tangent<T, State>(chunk, rows_.tangent, lane)) {
    exponent_ = Lanes<T>::load(chunk + rows_.tangent_exponent * row_size + lane);
  }

  /// Maps the tangent vector at `state` through one step from `time` on, in the lanes of the mask.
  RB_HD_LARGE void step(const State& state, const T& h, const T& time, const T&, mask_t<T> good) {
    T status;
    const State d = Map::tangent_of(map_(state, d_, h, time, status));
    const Rescaling<T> by(max(max_norm(d.q), max_norm(d.p)));
    d_ = select(good, scaled(by.factor, d), d_);
    const mask_t<T> failed = !(status == T(0.0));
    exponent_ = exponent_ + select(good, select(failed, T(__builtin_nan("")), by.shift), T(0.0));
  }

  RB_HD void store(double* chunk, int lane) const {
    store_tangent(chunk, rows_.tangent, lane, d_);
    Lanes<T>::store(chunk + rows_.tangent_exponent * row_size + lane, exponent_);
  }

 private:
  Map map_;
  ChunkLayout rows_;
  State d_;
  T exponent_;
};

/// What a compiled unit with a tangent vector carries along with the state.
template <class T, template <class> class System, class Method>
using CarryTangent = Tangent<T, System, Method::template of>;

RB_NAMESPACE_END
