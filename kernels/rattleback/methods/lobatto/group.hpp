#pragma once
// The Lobatto IIIA-IIIB integrators of general.hpp for mechanical systems on Lie groups: l = eta.M eta/2 - U(g), where M may
// depend on g and A(g).eta may be added, with constraints affine in the velocity, A(g) eta + d(g) = 0, or holonomic ones,
// phi(g) = 0, A = Dphi.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/linalg/parked.hpp"
#include "rattleback/methods/lobatto/general.hpp"
#include "rattleback/methods/lobatto/stage_inertia.hpp"
#include "rattleback/methods/solve/handing_over.hpp"

RB_NAMESPACE_BEGIN

/// Quasi-Newton sweeps. Unknowns x = (H_1..H_s, (s-1) m multipliers) and residual r = (r1, r2) are those of GeneralLobatto, but
/// no Jacobian J is formed. With its part of order zero in h,
///
///   P = ( M    -ah A^T )   (velocity constraints),      ( M     -ah A^T )   (holonomic ones),
///       ( 0   a A M^-1 A^T )                            ( a A      0    )
///
/// of which (s-1) m equations are all that is ever solved, x0 = -P^-1 r and the update is x0 - P^-1 (J - P) x0, with
/// the terms of first order in h of J - P: brackets with the velocity eta at the node and, where M or A depends on g, those with
/// B = l_eta,g as on R^n (stage_sweeps.hpp). Then M is that of each stage. So the sweeps contract like h^2.
/// An applied force has its derivative F by eta added to B^T.
/// Lanes that have not converged after 4/5 of the iterations they may take, or whose updates grow, are left unsolved.
template <class T, class System, class Tau, int S, bool parks = false>
class GroupSweeps {
  using G = group_of<System>;
  using At = Chart<G, Tau, T>;
  static constexpr int n = System::n, m = System::m;
  static constexpr bool holonomic = is_holonomic<System>;
  using Inertia = InertiaOfStages<T, System, S>;
  static constexpr int coupled = (S - 1) * m;
  /// The equations of many multipliers are factorised once per step. The factors of few cost registers and little time.
  static constexpr bool keeps = coupled > 4;
  /// The unknown multipliers are those of the stages first..first + s - 2, counted from 0.
  static constexpr int first = holonomic ? 0 : 1;
  using Unknowns = StageUnknowns<T, n, m, S, first>;
  using Balance = LobattoBalance<T, n, S, false, holonomic || m == 0 ? S - 1 : 1>;
  static constexpr bool drags = detail::has_force_of_velocity<System>();

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  template <bool parking>
  using Parking = GroupSweeps<T, System, Tau, S, parking>;
  static constexpr bool two_packs = many_registers && n <= 3 && S == 2 && m == 0;

  RB_HD GroupSweeps(const System& system, const SolverOptions<T>& options)
      : system_(system), mass_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    Unknowns x;
    Inertia inertia(system_, mass_);
    const T scale = guess(state, h, inertia, x);

    Sweeps<T> lanes(options_, scale);
    Stages at;
    RB_UNROLL
    for (int i = 0; i < S; ++i) at.times.keep(i, system_, h * T(lobatto_pair<S>().c[i]));
    constexpr bool fits = parks && sizeof(State) + sizeof(Unknowns) + sizeof(End) <= most_parked_bytes;
    const Parked<State, fits> start(state);
    Parked<Unknowns, fits> parked(x);
    Parked<End, fits> end;
    for (int sweep = 0;; ++sweep) {
      evaluate(start(), h, parked(), inertia, sweep == 0, at);
      end = at.end;
      if (lanes.ended() || lanes.late(sweep, options_)) break;
      if constexpr (m > 0)
        if (sweep == 0 || !keeps) lanes.note_singular(at.factors.factorise());
      solve(at, inertia, at.residual);
      x = parked();
      subtract(at.residual, lanes.active, x);
      const T change = size_of(at.residual, at, inertia);
      Unknowns second = first_order(start(), h, at, inertia, at.residual);
      solve(at, inertia, second);
      subtract(second, lanes.active, x);
      parked = x;
      lanes.settle(sweep, change);
    }

    x = parked();
    state.q = end().g;
    state.p = end().p;
    Vector<T, m> impulse{};
    if constexpr (m > 0) impulse = put_on_constraint(at_stage(at, h, S - 1), state.q, state.p, lanes.singular);
    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work_of_stages<S, Tau>(system_, start().q, h, x, impulse), state);
    return end_step<S>(lanes, h, impulse, x.multiplier[S - 1], at.residual.largest(), state);
  }

 private:
  struct Nothing {};
  struct End {
    Configuration<System> g;  // of the last stage
    Vector<T, n> p;           // mu'
  };
  struct Stages {
    End end;
    ConstraintForms<System> forms[S];                                                    // A_i
    RB_MAYBE_EMPTY std::conditional_t<drags, Vector<Matrix<T, n, n>, S>, Nothing> drag;  // F_j
    Factors<T, coupled, Guide<>> factors;  // of the equations of the multipliers
    /// Of stage i in velocity[i]; the constraint of stage i + 1 with the multiplier of stage first + i.
    Unknowns residual;
    RB_MAYBE_EMPTY Instants<System, S> times;
  };
  /// The system at the time of stage i.
  RB_HD decltype(auto) at_stage(const Stages& at, const T& h, int i) const {
    return at.times.at(i, system_, h * T(lobatto_pair<S>().c[i]));
  }

  /// First-order prediction of the stages, with chat_i = sum_j ah_ij,
  ///   H_i = eta + h M^-1 (chat_i (l_g + A^T lambda) + (c_i + chat_i)/2 ad*_eta mu - c_i B eta);
  /// returns the size of the velocities, see GeneralLobatto.
  RB_HD T guess(const State& state, T h, Inertia& inertia, Unknowns& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    const Vector<T, n> eta = inertia.velocity(system_, state.q, state.p);
    inertia.set_node(system_, state.q, eta);
    inertia.set_stage(system_, 0, state.q, eta, true);
    Vector<T, n> torque = configuration_force(system_, state.q, eta);
    if constexpr (m > 0) torque = torque + transpose_times(constraint_forms(system_, state.q, eta), state.lambda);
    const Vector<T, n> by_force = h * inertia.inverse_times(0, torque);
    const Vector<T, n> by_motion = h * inertia.inverse_times(0, G::ad_star(eta, state.p));
    [[maybe_unused]] Vector<T, n> by_turning;
    if constexpr (Inertia::varies) by_turning = -h * inertia.inverse_times(0, inertia.coupling(0) * eta);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      double c_hat = 0.0;
      for (int j = 0; j < S; ++j) c_hat += tableau.ah[i][j];
      x.velocity[i] = fma(T(c_hat), by_force, fma(T(0.5 * (tableau.c[i] + c_hat)), by_motion, eta));
      if constexpr (Inertia::varies) x.velocity[i] = fma(T(tableau.c[i]), by_turning, x.velocity[i]);
      if constexpr (m > 0) x.multiplier[i] = holonomic && i + 1 == S ? Vector<T, m>::zero() : h * state.lambda;
    }
    const T speed = magnitude(eta) + magnitude(by_force) + magnitude(by_motion);
    return holonomic || timed<System> ? speed + rounding_velocity_of_stages<S>(T(1.0) / h, state.q) : speed;
  }

  /// The residuals at x, and what the solves need.
  RB_HD void evaluate(const State& state, T h, const Unknowns& x, Inertia& inertia, bool first_sweep,
                      Stages& at) const {
    constexpr auto tableau = lobatto_pair<S>();
    Matrix<T, m, n> f[S], response[S];  // Ad*_{tau^-1} A, Ad_tau M^-1 A^T
    Balance balance;
    balance.begin(state.p, at.residual.velocity);
    RB_UNROLL
    for (int j = 0; j < S; ++j) {
      Vector<T, n> sum = Vector<T, n>::zero();
      RB_UNROLL
      for (int l = 0; j > 0 && l < S; ++l) sum = fma(T(tableau.a[j][l]), x.velocity[l], sum);
      const At chart(h * sum);
      const auto& system = at_stage(at, h, j);
      at.end.g = chart.move(state.q);
      const Vector<T, n> eta = chart.dtau(x.velocity[j]), p = inertia.momentum(system, at.end.g, eta);
      inertia.set_stage(system, j, at.end.g, eta, first_sweep);
      Vector<T, n> impulse = h * configuration_force(system, at.end.g, eta);
      if constexpr (drags)
        if (first_sweep) at.drag[j] = force_by_velocity(system, at.end.g, eta);
      if constexpr (m > 0) {
        at.forms[j].mu = constraint_forms(system, at.end.g, p);
        impulse = impulse + at.forms[j].transpose_times(x.multiplier[j]);
      }
      balance.add(j, StageMomenta<T, n>::template of<S, false>(j, chart, h, x.velocity[j], p, impulse),
                  at.residual.velocity);
      if (j + 1 == S) {
        balance.close(state.p, at.residual.velocity, chart);
        at.end.p = chart.Ad_star(balance.z(state.p, j));
      }
      if constexpr (m > 0) {
        if (j == 0) continue;
        Vector<T, m>& r = at.residual.multiplier[first + j - 1];
        if constexpr (holonomic) {
          r = (T(1.0) / h) * system.position_constraint(at.end.g);
        } else {
          r = constraint_offset(system, at.end.g);
          RB_UNROLL
          for (int k = 0; k < m; ++k) {
            f[j][k] = chart.Ad_inverse_star(at.forms[j].mu[k]);
            response[j][k] = chart.Ad(inertia.inverse_times(j, at.forms[j].mu[k]));
          }
          if constexpr (requires { system.vector_potential(at.end.g); })
            r = r - at.forms[j] * inertia.inverse_times(j, system.vector_potential(at.end.g));
        }
      }
    }
    if constexpr (m > 0) {
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        Vector<T, m>& r = at.residual.multiplier[first + i - 1];
        if constexpr (!holonomic) r = r + response[i] * balance.z(state.p, i);
      }
      if (!keeps || first_sweep) set_matrix(inertia, f, response, at);
    }
  }
  /// The matrix of the equations of the multipliers.
  RB_HD void set_matrix(const Inertia& inertia, const Matrix<T, m, n> (&f)[S], const Matrix<T, m, n> (&response)[S],
                        Stages& at) const {
    constexpr auto tableau = lobatto_pair<S>();
    RB_UNROLL
    for (int l = 0; l < S - 1; ++l) {
      RB_UNROLL_FEW(m)
      for (int c = 0; c < m; ++c) {
        [[maybe_unused]] typename Inertia::Responses pushed;
        if constexpr (holonomic) pushed = inertia.responses(at.forms[l].mu[c]);
        RB_UNROLL
        for (int i = 1; i < S; ++i) {
          RB_UNROLL
          for (int k = 0; k < m; ++k)
            at.factors.matrix()[(i - 1) * m + k][l * m + c] =
                holonomic ? inertia.coupled(tableau, i, l, at.forms[i].mu[k], pushed)
                          : T(tableau.a[i][l + 1]) * dot(response[i][k], f[l + 1][c]);
        }
      }
    }
  }

  /// x becomes P^-1 x.
  RB_HD void solve(const Stages& at, const Inertia& inertia, Unknowns& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    if constexpr (m > 0) {
      Vector<T, coupled> right;
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        Vector<T, m> row = x.multiplier[first + i - 1];
        if constexpr (holonomic) row = row - at.forms[i] * inertia.sum_of_inverses(tableau.a[i], x.velocity);
        RB_UNROLL
        for (int k = 0; k < m; ++k) right[(i - 1) * m + k] = row[k];
      }
      right = at.factors.solve(right);
      RB_UNROLL
      for (int l = first; l < first + S - 1; ++l) {
        RB_UNROLL
        for (int k = 0; k < m; ++k) x.multiplier[l][k] = right[(l - first) * m + k];
        if (l + 1 == S) continue;
        const Vector<T, n> along = at.forms[l].transpose_times(x.multiplier[l]);
        RB_UNROLL
        for (int i = 0; i < S; ++i) x.velocity[i] = fma(T(tableau.ah[i][l]), along, x.velocity[i]);
      }
    }
    RB_UNROLL
    for (int i = 0; i < S; ++i) x.velocity[i] = inertia.inverse_times(i, x.velocity[i]);
  }

  /// -(J - P) x to first order in h: with y = a x, z = (b - ah) x, w = ah x for the velocities x_i, at eta and mu,
  ///   h/2 (M ad_eta (y_i - c_i x_i) + ad*_eta (M (z_i - c_i x_i) - sum_l (c_l (b_l - ah_il) + b_l (1 - 2 c_l)) A_l^T Lambda_l)
  ///        - ad*_{w_i + y_i} mu)
  /// in the stages, and in the constraints h times the derivative along y_i of Phi(g, M^-1 mu), mu carried along, or
  /// -h/2 c_i A_i ad_eta y_i where they are holonomic. Where M or A depends on g the stages have the terms with B as well, and
  /// velocity constraints -h A_i M_i^-1 sum_j a_ij B_j^T x_j; the derivative of Phi has the other one.
  RB_HD Unknowns first_order(const State& state, T h, const Stages& at, const Inertia& inertia,
                             const Unknowns& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    const Vector<T, n> eta = inertia.node_velocity(state.p);
    [[maybe_unused]] Vector<T, n> back[S];  // h (B_j^T + F_j) x_j
    if constexpr (Inertia::varies) {
      RB_UNROLL
      for (int j = 0; j < S; ++j) back[j] = h * transpose_times(inertia.coupling(j), x.velocity[j]);
    }
    if constexpr (drags) {
      RB_UNROLL
      for (int j = 0; j < S; ++j) {
        const Vector<T, n> dragged = h * (at.drag[j] * x.velocity[j]);
        back[j] = Inertia::varies ? back[j] + dragged : dragged;
      }
    }
    Unknowns r;
    [[maybe_unused]] Vector<T, n> along[S];  // A_l^T Lambda_l
    if constexpr (m > 0) {
      RB_UNROLL
      for (int l = first; l + 1 < S; ++l) along[l] = at.forms[l].transpose_times(x.multiplier[l]);
    }
    const T half = T(-0.5) * h;
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      Vector<T, n> y = Vector<T, n>::zero(), z = T(-tableau.c[i]) * x.velocity[i], w_y = Vector<T, n>::zero();
      RB_UNROLL
      for (int j = 0; j < S; ++j) {
        y = fma(T(tableau.a[i][j]), x.velocity[j], y);
        z = fma(T(tableau.b[j] - tableau.ah[i][j]), x.velocity[j], z);
        w_y = fma(T(tableau.ah[i][j] + tableau.a[i][j]), x.velocity[j], w_y);
      }
      Vector<T, n> momentum = inertia.node_times(z);
      if constexpr (m > 0) {
        RB_UNROLL
        for (int l = first; l + 1 < S; ++l) {
          const double weight =
              tableau.c[l] * (tableau.b[l] - tableau.ah[i][l]) + tableau.b[l] * (1.0 - 2.0 * tableau.c[l]);
          momentum = fma(T(-weight), along[l], momentum);
        }
      }
      r.velocity[i] = half * (inertia.node_times(G::ad(eta, fma(T(-tableau.c[i]), x.velocity[i], y))) +
                              G::ad_star(eta, momentum) - G::ad_star(w_y, state.p));
      [[maybe_unused]] Vector<T, n> pushed = Vector<T, n>::zero();
      if constexpr (Inertia::varies) r.velocity[i] = r.velocity[i] - h * (inertia.coupling(i) * y);
      if constexpr (Inertia::varies || drags) {
        RB_UNROLL
        for (int j = 0; j < S; ++j) {
          r.velocity[i] = fma(T(tableau.ah[i][j]), back[j], r.velocity[i]);
          pushed = fma(T(tableau.a[i][j]), back[j], pushed);
        }
      }
      if constexpr (m > 0) {
        if (i == 0) continue;
        Vector<T, m>& constraint = r.multiplier[first + i - 1];
        if constexpr (holonomic) {
          constraint = (-half * T(tableau.c[i])) * (at.forms[i] * G::ad(eta, y));
        } else {
          constraint = -h * constraint_rate(state, inertia, y);
          if constexpr (Inertia::varies || drags)
            constraint = constraint - at.forms[i] * inertia.inverse_times(i, pushed);
        }
      }
    }
    return r;
  }

  /// d/de Phi(g tau(e y), M^-1 Ad*_{tau(e y)} mu) at e = 0.
  RB_HD Vector<T, m> constraint_rate(const State& state, const Inertia& inertia, const Vector<T, n>& y) const {
    const auto p = detail::along(state.p, G::ad_star(y, state.p));
    const auto g = moving<G>(state.q, y);
    return detail::derivative(constraint(system_, g, inertia.velocity(system_, g, p)));
  }

  /// x less an update, in the lanes of the mask.
  RB_HD void subtract(const Unknowns& update, const mask_t<T>& mask, Unknowns& x) const {
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      x.velocity[i] = select(mask, x.velocity[i] - update.velocity[i], x.velocity[i]);
      if constexpr (m > 0) {
        if (i < first || i >= first + S - 1) continue;
        x.multiplier[i] = select(mask, x.multiplier[i] - update.multiplier[i], x.multiplier[i]);
      }
    }
  }

  /// Size of an update, measured in velocities.
  RB_HD T size_of(const Unknowns& x, const Stages& at, const Inertia& inertia) const {
    T size(0.0);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      size = larger(size, magnitude(x.velocity[i]));
      if constexpr (m > 0) {
        if (i < first || i >= first + S - 1) continue;
        size = larger(size, magnitude(inertia.inverse_times(first, at.forms[first].transpose_times(x.multiplier[i]))));
      }
    }
    return size;
  }

  System system_;
  RB_MAYBE_EMPTY Mass<System> mass_;
  SolverOptions<T> options_;
};

/// The sweeps, and GeneralLobatto where they do not converge.
template <class T, class System, class Tau, int S>
using GroupLobatto = HandingOver<GroupSweeps<T, System, Tau, S>, GeneralLobatto<T, System, Tau, S>>;

RB_NAMESPACE_END
