#pragma once
// The GGL integrators for any regular Lagrangian (ggl.hpp).

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/methods/ggl/scheme.hpp"
#include "rattleback/methods/solve/dual_problem.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Derivatives in q and v of gamma . G(q) v - L_v(q, v) . w. Where the derivative in v is zero, L_vv w = G^T gamma, and
/// the derivative in q is D_1 g^v(q, p)^T gamma at p = L_v(q, v).
template <class System, class D, int n = System::n, int m = System::m>
RB_HD_LARGE Gradient<D, n, 1> hidden_gradient(const System& system, const Vector<D, n>& q, const Vector<D, n>& v,
                                              const Vector<D, n>& w, const Vector<D, m>& gamma) {
  const auto f = [&](const auto& x, const auto& y) {
    using S = std::remove_cvref_t<decltype(x[0])>;
    using E = Dual<S, 1>;
    Vector<E, n> moved, fixed, pushed;
    for (int i = 0; i < n; ++i) {
      moved[i].value = fixed[i].value = x[i];
      moved[i].partial[0] = pushed[i].value = y[i];
      fixed[i].partial[0] = S(0.0);
      pushed[i].partial[0] = S(w[i]);
    }
    const auto g = system.position_constraint(moved);
    S sum = -lagrangian(system, fixed, pushed).partial[0];
    for (int k = 0; k < m; ++k) sum = sum + S(gamma[k]) * g[k].partial[0];
    return Vector<S, 1>{sum};
  };
  return gradient<1>(f, q, v);
}

}  // namespace detail

/// The step for any regular Lagrangian, with the symbols of ggl.hpp. The unknowns of VI-S are v, z, w, h lambda and
/// gamma. The unknowns of the theta family are u = (q' - q)/h, v, h lambda and gamma, with w = u - v.
template <class T, class System, GglScheme scheme>
class GeneralGgl {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;
  static constexpr bool vi_s = scheme == GglScheme::vi_s;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD GeneralGgl(const System& system, const SolverOptions<T>& options)
    requires vi_s
      : system_(system), options_(options), theta_(0.0), vartheta_(0.0) {}
  RB_HD GeneralGgl(const System& system, const SolverOptions<T>& options, const double* numbers)
    requires(!vi_s)
      : system_(system), options_(options), theta_(numbers[0]), vartheta_(numbers[1]) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return (*this)(state, h, NothingKept{}); }
  template <class Keep>
  RB_HD_LARGE StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const Equations equations(*this, state, h);
    Vector<T, Equations::size> x;
    typename Team::template Shared<Workspace> workspace;
    const SolveState<T> report =
        newton(detail::DualProblem<T, Equations>{equations}, options_, equations.scale(), x, *workspace);
    equations.finish(x, state);
    const T check = sum(state.q) + sum(state.p) + sum(state.lambda);
    const T status = step_status<T>(report.converged(), report.singular, is_finite(check));
    const State& of_v = vi_s ? equations.start() : state;
    keep.put(status == T(0.0), segment<Equations::first_gamma, m>(x), segment<vi_s ? 0 : n, n>(x), of_v.q, of_v.p);
    return {status, report.iterations, max_norm((*workspace).residual)};
  }

 private:
  struct Equations {
    static constexpr int blocks = vi_s ? 3 : 2, size = blocks * n + 2 * m, first_lambda = blocks * n,
                         first_gamma = first_lambda + m;

    RB_HD Equations(const GeneralGgl& step, const State& state, const T& h)
        : step_(step),
          state_(state),
          h_(h),
          v_0_(velocity(step.system_, state.q, state.p)),
          g_0_(position_constraint(step.system_, state.q).jacobian) {}

    RB_HD Vector<T, size> guess(const T& fraction) const {
      auto x = Vector<T, size>::zero();
      for (int i = 0; i < n; ++i) x[i] = x[n + i] = fraction * v_0_[i];
      for (int k = 0; k < m; ++k) x[first_lambda + k] = -(h_ * state_.lambda[k]);
      return x;
    }
    RB_HD const State& start() const { return state_; }
    RB_HD T scale() const { return detail::velocity_scale(step_.system_, h_, state_.q, v_0_); }
    /// The size of the velocities among the unknowns.
    RB_HD T size_of(const Vector<T, size>& update) const { return magnitude(segment<0, blocks * n>(update)); }

    template <class D>
    RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
      const System& system = step_.system_;
      const D h(h_), inverse_h(T(1.0) / h_);
      const Vector<D, m> lambda = segment<first_lambda, m>(x), gamma = segment<first_gamma, m>(x);
      const Vector<D, n> q_0 = lift<D>(state_.q), p_0 = lift<D>(state_.p);
      Vector<D, n> force_0;  // force of h lambda at the beginning of the step
      for (int i = 0; i < n; ++i) {
        force_0[i] = D(0.0);
        for (int k = 0; k < m; ++k) force_0[i] = force_0[i] + lambda[k] * D(g_0_[k][i]);
      }
      if constexpr (vi_s) {
        const Vector<D, n> v = segment<0, n>(x), z = segment<n, n>(x), w = segment<2 * n, n>(x);
        const Vector<D, n> y = fma(h, v, q_0), q_1 = fma(h, v + w, q_0);
        const auto hidden = detail::hidden_gradient(system, y, z, w, gamma);
        const auto l_0 = detail::lagrangian_gradient(system, q_0, v), l_y = detail::lagrangian_gradient(system, y, z);
        const Vector<D, n> kick = l_0.dv[0] - p_0 - h * l_0.dq[0] + force_0;
        const Vector<D, n> drift = l_0.dv[0] - l_y.dv[0] - h * hidden.dq[0];
        return join(join(join(hidden.dv[0], kick), drift),
                    join(inverse_h * system.position_constraint(q_1), constraint(system, y, z)));
      } else {
        const Vector<D, n> u = segment<0, n>(x), v = segment<n, n>(x);
        const D theta(step_.theta_), rest = D(1.0) - theta;
        const Vector<D, n> middle = fma(h * theta, u, q_0), q_1 = fma(h, u, q_0);
        const auto hidden = detail::hidden_gradient(system, middle, v, u - v, gamma);
        const auto l = detail::lagrangian_gradient(system, middle, v);
        Vector<D, n> kick = l.dv[0] - p_0 - (rest * h) * (l.dq[0] - hidden.dq[0]);
        if constexpr (Traits::forces_at_ends) {
          kick = fma(D(1.0) - D(step_.vartheta_), force_0, kick);
        } else {
          kick = fma(rest, transpose_times(position_constraint(system, middle).jacobian, lambda), kick);
        }
        const Vector<D, m> g = system.position_constraint(Traits::position_at_end ? q_1 : middle);
        return join(join(hidden.dv[0], kick), join(inverse_h * g, constraint(system, middle, v)));
      }
    }

    /// Computes the state at the end of the step.
    RB_HD_LARGE void finish(const Vector<T, size>& x, State& state) const {
      const System& system = step_.system_;
      const Vector<T, m> lambda = segment<first_lambda, m>(x), gamma = segment<first_gamma, m>(x);
      if constexpr (vi_s) {
        const Vector<T, n> v = segment<0, n>(x), z = segment<n, n>(x), w = segment<2 * n, n>(x);
        state.p = momentum(system, fma(h_, v, state.q), z);
        state.q = fma(h_, v + w, state.q);
      } else {
        const Vector<T, n> u = segment<0, n>(x), v = segment<n, n>(x);
        const Vector<T, n> middle = fma(h_ * step_.theta_, u, state.q), q_1 = fma(h_, u, state.q);
        const auto hidden = detail::hidden_gradient(system, middle, v, u - v, gamma);
        const auto l = detail::lagrangian_gradient(system, middle, v);
        state.p = fma(h_, l.dq[0] - hidden.dq[0], state.p);
        if constexpr (Traits::forces_at_ends) {
          state.p = state.p - (T(1.0) - step_.vartheta_) * transpose_times(g_0_, lambda) -
                    step_.vartheta_ * transpose_times(position_constraint(system, q_1).jacobian, lambda);
        } else {
          state.p = state.p - transpose_times(position_constraint(system, middle).jacobian, lambda);
        }
        state.q = q_1;
      }
      state.lambda = (T(-1.0) / h_) * lambda;
    }

   private:
    const GeneralGgl& step_;
    const State state_;
    T h_;
    Vector<T, n> v_0_;
    Matrix<T, m, n> g_0_;
  };

 public:
  using Team = typename detail::DualProblem<T, Equations>::Team;
  using Workspace = NewtonWorkspace<detail::DualProblem<T, Equations>>;

 private:
  System system_;
  SolverOptions<T> options_;
  T theta_, vartheta_;
};

RB_NAMESPACE_END
