#pragma once
// The GGL integrators for any regular Lagrangian (ggl.hpp).

#include "rattleback/methods/ggl/equations.hpp"
#include "rattleback/methods/solve/dual_problem.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Derivatives in q and v of gamma . (G(q) v + g_t) - L_v(q, v) . w. Where the derivative in v is zero, L_vv w = G^T gamma, and
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
    const auto g = running<S>(system).position_constraint(moved);
    S sum = -lagrangian(system, fixed, pushed).partial[0];
    for (int k = 0; k < m; ++k) sum = sum + S(gamma[k]) * g[k].partial[0];
    return Vector<S, 1>{sum};
  };
  return gradient<1>(f, q, v);
}

/// The equations for any regular Lagrangian, with the symbols of ggl.hpp. The unknowns of VI-S are v, z, w, h lambda and
/// gamma. The unknowns of the theta family are u = (q' - q)/h, v, h lambda and gamma, with w = u - v.
template <class T, class System, GglScheme scheme>
class GeneralGglEquations : public NumbersOfScheme<scheme> {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;
  static constexpr bool vi_s = scheme == GglScheme::vi_s;
  static constexpr int blocks = vi_s ? 3 : 2, first_lambda = blocks * n, first_gamma = first_lambda + m;

 public:
  using State = StateOf<T, System>;
  static constexpr int size = blocks * n + 2 * m;

  template <class... Numbers>
  RB_HD GeneralGglEquations(const System& system, const State& state, const T& h, const Numbers&... numbers)
      : system_(system),
        state_(state),
        equations_{system, state, h, T(numbers.theta)..., T(numbers.vartheta)...},
        v_0_(velocity(system, state.q, state.p)),
        g_0_(position_jacobian(system, state.q)) {}

  RB_HD Vector<T, size> guess(const T& fraction) const {
    auto x = Vector<T, size>::zero();
    for (int i = 0; i < n; ++i) x[i] = x[n + i] = fraction * v_0_[i];
    for (int k = 0; k < m; ++k) x[first_lambda + k] = -(equations_.h * state_.lambda[k]);
    return x;
  }
  RB_HD T scale() const { return velocity_scale(system_, equations_.h, state_.q, v_0_); }
  /// The size of the velocities among the unknowns.
  RB_HD T size_of(const Vector<T, size>& update) const { return magnitude(segment<0, blocks * n>(update)); }

  template <class D>
  RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& unknowns) const {
    const Vector<D, m> l = segment<first_lambda, m>(unknowns), gamma = segment<first_gamma, m>(unknowns);
    if constexpr (vi_s) {
      const Vector<D, n> v = segment<0, n>(unknowns), z = segment<n, n>(unknowns), w = segment<2 * n, n>(unknowns);
      const Vector<D, n> q_0 = lift<D>(state_.q), y = fma(D(equations_.h), v, q_0);
      const auto at = point(y, z, w, gamma);
      const auto l_0 = lagrangian_gradient(system_, q_0, v);
      const auto r = equations_(fma(D(equations_.h), l_0.dq[0], lift<D>(state_.p)), pull_at_start(l), l_0.dv[0],
                                fma(D(equations_.h), v + w, q_0), at);
      return join(join(join(at.drift, r.kick), r.turn), join(r.position, r.hidden));
    } else {
      const Vector<D, n> u = segment<0, n>(unknowns), v = segment<n, n>(unknowns);
      const Vector<D, n> x = equations_.middle(u);
      const auto at = point(x, v, u - v, gamma);
      const auto r = equations_(x, equations_.end(u), pull(x, l), at);
      return join(join(at.drift, r.kick), join(r.position, r.hidden));
    }
  }

  /// At (q, v) of VI-S, or at x of the theta family.
  RB_HD_LARGE T work(const Vector<T, size>& unknowns) const {
    const Vector<T, n> first = segment<0, n>(unknowns);
    const Vector<T, m> l = segment<first_lambda, m>(unknowns);
    if constexpr (vi_s) {
      return work_along(system_, equations_.h, state_.q, first, first + segment<2 * n, n>(unknowns), l);
    } else {
      return work_along(equations_.at_point(), equations_.h, equations_.middle(first), segment<n, n>(unknowns), first,
                        l);
    }
  }

  template <class Keep>
  RB_HD_LARGE StepReport<T> finish(const Vector<T, size>& unknowns, State& state, const SolveState<T>& lanes,
                                   const T& residual, const Keep& keep) const {
    const T& h = equations_.h;
    const Vector<T, m> l = segment<first_lambda, m>(unknowns), gamma = segment<first_gamma, m>(unknowns);
    const Vector<T, n> u = segment<0, n>(unknowns), v = segment<vi_s ? 0 : n, n>(unknowns);
    Vector<T, n> q_1, p_1;
    if constexpr (vi_s) {
      q_1 = fma(h, v + segment<2 * n, n>(unknowns), state_.q);
      p_1 = momentum(equations_.at_point(), fma(h, v, state_.q), segment<n, n>(unknowns));
    } else {
      const Vector<T, n> x = equations_.middle(u);
      q_1 = equations_.end(u);
      p_1 = equations_.momentum_at_end(point(x, v, u - v, gamma).slope, pull(x, l), pull_at(after(system_, h), q_1, l));
    }
    return end_of_step<scheme>(state, h, q_1, p_1, l, gamma, v,
                               {lanes.converged(), lanes.singular, lanes.iterations, residual}, keep);
  }

 private:
  template <class D>
  struct Point : GglPoint<D, n, m> {
    Vector<D, n> drift;  // of A w = G^T gamma
  };
  template <class D>
  RB_HD Point<D> point(const Vector<D, n>& x, const Vector<D, n>& v, const Vector<D, n>& w,
                       const Vector<D, m>& gamma) const {
    const auto& system = equations_.at_point();
    const auto hidden = hidden_gradient(system, x, v, w, gamma);
    const auto l = lagrangian_gradient(system, x, v);
    Vector<D, n> slope = -hidden.dq[0];
    if constexpr (!vi_s) slope = l.dq[0] + slope;
    return {{l.dv[0], slope, constraint(system, x, v)}, hidden.dv[0]};
  }
  /// l along G(q), and along G(x).
  template <class D>
  RB_HD Vector<D, n> pull_at_start(const Vector<D, m>& l) const {
    auto sum = Vector<D, n>::zero();
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < m; ++k) sum[i] = sum[i] + l[k] * D(g_0_[k][i]);
    return sum;
  }
  template <class At, class D>
  RB_HD static Vector<D, n> pull_at(const At& system, const Vector<D, n>& x, const Vector<D, m>& l) {
    return transpose_times(position_jacobian(system, x), l);
  }
  template <class D>
  RB_HD Vector<D, n> pull(const Vector<D, n>& x, const Vector<D, m>& l) const {
    if constexpr (Traits::forces_at_ends) return pull_at_start(l);
    return pull_at(equations_.at_point(), x, l);
  }

  const System& system_;
  const State& state_;
  std::conditional_t<vi_s, ViSEquations<T, System>, ThetaEquations<T, System, scheme>> equations_;
  Vector<T, n> v_0_;
  Matrix<T, m, n> g_0_;
};
}  // namespace detail

template <class T, class System, GglScheme scheme>
using GeneralGgl = detail::NewtonStep<T, System, detail::GeneralGglEquations<T, System, scheme>>;

RB_NAMESPACE_END
