#pragma once
// The tangent vector of a trajectory, for the largest Lyapunov exponent (G. Benettin, L. Galgani, A. Giorgilli, J.-M.
// Strelcyn, Meccanica 15 (1980) 9). The tangent map of a step is the step over dual numbers.

#include "rattleback/linalg/team.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// The rows hold 2^-exponent times the tangent vector. The vector is rescaled by a power of two when the norm leaves
/// [2^-128, 2^128]. The map is linear and this scaling is exact, so the results do not depend on the time of rescaling.
///
/// The trajectory comes from the plain step and has the same bits as without a tangent vector; only the derivative of
/// the dual step is used. The dual step may take twice the iterations. If the dual step still fails, the exponent is
/// NaN from this step on.
template <class T, template <class> class System, template <class, class> class Method>
class Tangent {
  using D = Dual<T, 1>;
  using Sys = System<D>;
  using Step = Method<D, Sys>;
  using State = typename Step::State;
  static constexpr int n = Sys::n, m = Sys::m, N = element_size<Sys>, carries = State::carries;
  /// A relative error of this size in each step changes the Lyapunov exponent by this size over the step size. A
  /// tolerance at round-off would need a few more iterations.
  static constexpr double tolerance = 1e-14;

 public:
  using Team = team_of<Step>;
  using Workspace = workspace_of<Step>;

  RB_HD Tangent(const KernelArguments& a, const double* chunk, int lane)
      : system_(make_system_at<Sys>(D(0.0), [&](int i) { return D(load_parameter<T>(a, chunk, lane, i)); })),
        options_{D(max(a.tolerance, tolerance)), 2 * a.max_iterations, D(a.guess)},
        numbers_(a.method),
        step_(make_step<Step>(system_, options_, numbers_)),
        rows_(a.layout) {
    dq_ = load_rows<T, N>(chunk, rows_.tangent, lane);
    dp_ = load_rows<T, n>(chunk, rows_.tangent + N, lane);
    if constexpr (m > 0) dlambda_ = load_rows<T, m>(chunk, rows_.tangent + N + n, lane);
    if constexpr (carries > 0) dcarried_ = load_rows<T, carries>(chunk, rows_.tangent + N + n + m, lane);
    exponent_ = Lanes<T>::load(chunk + rows_.tangent_exponent * row_size + lane);
  }

  /// Maps the tangent vector at `state` through one step from `time` on, in the lanes of the mask.
  RB_HD_LARGE void step(const typename Method<T, System<T>>::State& state, T h, [[maybe_unused]] T time,
                        mask_t<T> good) {
    State next;
    join(state.q, dq_, next.q);
    join(state.p, dp_, next.p);
    if constexpr (m > 0) join(state.lambda, dlambda_, next.lambda);
    if constexpr (carries > 0) join(state.carried, dcarried_, next.carried);
    StepReport<D> report;
    if constexpr (timed<Sys>) {
      report = make_step<Step>(at(system_, D(time)), options_, numbers_)(next, D(h));
    } else {
      report = step_(next, D(h));
    }
    const Vector<T, N> dq = tangent_of(next.q);
    const Vector<T, n> dp = tangent_of(next.p);
    const T size = max(max_norm(dq), max_norm(dp));
    const mask_t<T> large = size > T(0x1p128), small = size < T(0x1p-128);
    const T shift = select(large, T(128.0), select(small, T(-128.0), T(0.0)));
    const T factor = select(large, T(0x1p-128), select(small, T(0x1p128), T(1.0)));
    dq_ = select(good, factor * dq, dq_);
    dp_ = select(good, factor * dp, dp_);
    if constexpr (m > 0) dlambda_ = select(good, factor * tangent_of(next.lambda), dlambda_);
    if constexpr (carries > 0) dcarried_ = select(good, factor * tangent_of(next.carried), dcarried_);
    const mask_t<T> failed = !(report.status.value == T(0.0));
    exponent_ = exponent_ + select(good, select(failed, T(__builtin_nan("")), shift), T(0.0));
  }

  RB_HD void store(double* chunk, int lane) const {
    store_rows(chunk, rows_.tangent, lane, dq_);
    store_rows(chunk, rows_.tangent + N, lane, dp_);
    if constexpr (m > 0) store_rows(chunk, rows_.tangent + N + n, lane, dlambda_);
    if constexpr (carries > 0) store_rows(chunk, rows_.tangent + N + n + m, lane, dcarried_);
    Lanes<T>::store(chunk + rows_.tangent_exponent * row_size + lane, exponent_);
  }

 private:
  template <int size>
  RB_HD static void join(const Vector<T, size>& value, const Vector<T, size>& partial, Vector<D, size>& x) {
    RB_UNROLL
    for (int i = 0; i < size; ++i) {
      x[i].value = value[i];
      x[i].partial[0] = partial[i];
    }
  }
  template <int size>
  RB_HD static Vector<T, size> tangent_of(const Vector<D, size>& x) {
    Vector<T, size> r;
    RB_UNROLL
    for (int i = 0; i < size; ++i) r[i] = x[i].partial[0];
    return r;
  }

  Sys system_;
  SolverOptions<D> options_;
  const double* numbers_;
  Step step_;
  ChunkLayout rows_;
  Vector<T, N> dq_;
  Vector<T, n> dp_;
  Vector<T, m> dlambda_;
  Vector<T, carries> dcarried_;
  T exponent_;
};

RB_NAMESPACE_END
