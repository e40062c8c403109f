#pragma once
// A variational integrator from any explicit Runge-Kutta method (G. Patrick, C. Cuell, R. Spiteri, W. Zhang, On converting
// any one-step method to a variational integrator of the same order).
//
// With R_t the base step of length t on q' = v, v' = A(q, v), S' = L(q, v), bias alpha- <= 0 <= alpha+ = alpha- + 1, and P the
// orthogonal projection onto g = 0, a state w = (q, v) stands for a curve segment with the ends and the action
//
//   d-(w) = P R^q_{h alpha-}(w),    d+(w) = P R^q_{h alpha+}(w),    L_h(w) = R^S_{h alpha+}(w) - R^S_{h alpha-}(w).
//
// The action principle for sequences of segments that share their ends, d+(w1) = d-(w2), is that of a variational integrator:
// it equates the momenta at the common end, the node. The momenta p-(w), p+(w) at the ends of a segment solve the linear
// system
//
//   DL_h(w) = p+ Dd+(w) - p- Dd-(w) + nu1 [G, 0] + nu2 [D^2g(v, .) + G_t, G],     p-, p+ tangent,       G = Dg(q)
//
// The directions (N xi, N eta - G^+ (D^2g(v, .) + G_t) N xi) with a basis N of ker G are those in which w moves on the constraint. In these
// directions the terms of nu1 and nu2 vanish, and p-, p+ have 2 (n - m) numbers by bases at the ends. With the discrete Legendre
// transforms F-+(w) = (d-+(w), p-+(w)) the step is w2 = (F-)^-1 F+ w1. In the nodes
// (q, p) it is F+ (F-)^-1, a symplectic map of T*Q that keeps the momentum maps p . xi q of linear symmetries.
//
// Where the time acts on the system, w is at the time of the state and P at that of its end; a node state is at that of the node. A
// generalized force f is part of A, and the virtual work of the curve adds to DL_h(w): L_q + f stands where L_q does.
//
// The unknown is w2. The equation F-(w2) = (q, p) is solved by Newton's method with a derivative from first derivatives only:
// for the exact flow F-(w) is R_{h alpha-}(w), with p for v; so its derivative is DR_{h alpha-} up to O(h^order).

#include "rattleback/linalg/units.hpp"
#include "rattleback/mechanics/hessian.hpp"
#include "rattleback/methods/conversion/runge_kutta.hpp"

RB_NAMESPACE_BEGIN

/// What a state (q, p) of the method is: w, that is q and p = dL/dv(q, v), or a node and its momentum.
enum class ConversionState { segment, node };

/// What is wrong with a bias, or null.
constexpr const char* conversion_bias_fault(double minus, double plus) {
  if (!(minus <= 0.0 && plus >= 0.0)) return "the bias must be a number <= 0 and a number >= 0";
  const double span = plus - minus - 1.0;
  if (!(span <= 1e-12 && span >= -1e-12)) return "the bias does not span the step: the second less the first must be 1";
  return nullptr;
}

/// The numbers of a step of `variational-conversion`.
struct ConversionNumbers {
  ExplicitNumbers base;
  double bias[2];
  double nodes;  ///< 1 where states are nodes, 0 where they are segments

  /// Host only.
  static constexpr ConversionNumbers of(const ExplicitTableau& base, double minus, double plus, ConversionState state) {
    return {ExplicitNumbers::of(base), {minus, plus}, state == ConversionState::node ? 1.0 : 0.0};
  }
};

namespace detail {
/// The largest divisor of `directions` that is at most `most`. It is not consteval: clang 14 refuses such a call in a class template.
constexpr int widest_pass(int directions, int most) {
  int width = most;
  while (directions % width != 0) --width;
  return width;
}
}  // namespace detail

template <class T, class System>
  requires HolonomicOnRn<System>
class VariationalConversion {
  static constexpr int n = System::n, m = System::m, r = n - m;
  /// Tangent maps of the base step are exact, by dual numbers, in 2 r directions. Their width, how many of these go along with
  /// one pass over the step, makes no difference to the result; it is by measurement of registers and spills.
  static constexpr int width = RB_DEVICE_PASS ? 2 : detail::widest_pass(2 * r, n* r > 50 ? 3 : 8);
  using D = Dual<T, width>;
  using Flow = ExplicitFlow<T, System>;
  /// Where a base step leads, with the derivatives in the 2 r directions, and those of the action.
  using End = typename Flow::template End<Dual<T, 2 * r>>;
  /// Whether coordinates may differ in their units: M is more than the identity.
  static constexpr bool has_units = !Separable<System> || !Mass<System>::is_identity;
  using Normals = detail::Normals<System, m>;
  using Basis = Matrix<T, r, n>;  ///< of tangent vectors, in rows

 public:
  using Numbers = ConversionNumbers;
  using State = StateOf<T, System>;

  RB_HD VariationalConversion(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : dynamics_(system), options_(options), numbers_(numbers) {}

  RB_HD_APART StepReport<T> operator()(State& state, T h) const {
    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work(state, h), state);
    const bool nodes = numbers_.nodes != 0.0;
    const T t_minus = h * T(numbers_.bias[0]), t_plus = end_time(h);
    const auto& at_node = dynamics_.after(nodes ? T(0.0) : t_plus);
    const auto& at_w = at_node.after(-t_minus);
    mask_t<T> converged(true), singular(false);
    Segment s;
    Node node;
    if (nodes) {
      const System& system = at_node.system();
      node.q = state.q;
      if constexpr (m > 0) node.normals = Normals(position_jacobian(system, node.q));
      node.basis = basis_of(node.normals);
      node.p = node.normals.tangential(state.p);
      if constexpr (m > 0 && NotQuadratic<System>) {
        node.v = velocity(system, node.q, state.p);
      } else {
        node.v = tangential_velocity(at_node, node);
      }
      node.units = units_of(system, node.q, node.v, node.basis);
    } else {
      node = node_after(state, h, converged, singular);
    }
    const Linearisation linear(at_node, node);

    const T scale_q = guess(at_node, at_w, node, t_minus, s, h, converged);
    const T scale_v = magnitude(node.v) + s.speed;
    Iteration<T> lanes(options_, scale_q * scale_v);
    lanes.singular = singular;
    T left(__builtin_huge_val()), previous = left;
    for (int iteration = 0;; ++iteration) {
      // a state of the segment is not evaluated once more at the end, a node follows from it
      if (!nodes && (lanes.ended() || iteration == options_.max_iterations)) break;
      follow(at_w, s, h);
      lanes.note_singular(momenta(at_w, s, node.basis, node.units, h));
      if (nodes && (lanes.ended() || iteration == options_.max_iterations)) break;
      Vector<T, n> dq, dv;
      lanes.note_singular(newton_update(at_node, at_w, s, node, linear, t_minus, dq, dv));
      s.q = select(lanes.active, s.q + dq, s.q);
      s.v = select(lanes.active, s.v + dv, s.v);
      // the larger of the relative changes of q and v
      const T change = larger(magnitude(dq) * scale_v, magnitude(dv) * scale_q);
      left = select(lanes.active, change * min(T(1.0), change / previous), left);  // about the size of the next update
      previous = change;
      lanes.settle(change);
    }
    converged = converged & lanes.converged();
    singular = lanes.singular;

    const auto& at_end = at_w.after(nodes ? t_plus : T(0.0));
    if (nodes) {
      node = end_of(at_end, s, converged, singular);
      state.q = node.q;
      if constexpr (m > 0 && NotQuadratic<System>) {
        s.v = tangential_velocity(at_end, node, scale_v, converged);
      } else {
        s.v = tangential_velocity(at_end, node);
      }
    } else {
      state.q = s.q;
    }
    state.p = momentum(at_end.system(), state.q, s.v);
    if constexpr (m > 0) at_end.acceleration(state.q, s.v, state.lambda);
    return {step_status<T>(converged, singular, is_finite(state)), lanes.iterations, left / scale_q};
  }

  /// The node after the segment of a state, with the momentum there as a tangent covector: what the step keeps of momentum
  /// maps it keeps in these. Not to be called on nodes.
  RB_HD_LARGE void node(const State& state, T h, Vector<T, n>& q, Vector<T, n>& p) const {
    mask_t<T> converged(true), singular(false);
    const Node end = node_after(state, h, converged, singular);
    q = end.q;
    p = end.p;
  }

 private:
  /// A segment: w, its ends with their derivatives, the momenta there.
  struct Segment {
    Vector<T, n> q, v;
    Normals normals;  ///< at q
    Basis move,
        turn;  ///< the directions: q moves by a row of `move`, v turns by that of `turn`; v moves by a row of `move`
    End minus, plus;
    NearestPoint<System> after;    ///< d+(w)
    Vector<T, n> p_minus, p_plus;  ///< the covectors p-+ DP at the ends before they are projected
    T speed;                       ///< how much velocities change within a step
  };
  /// A common end of two segments, its momentum, which is tangent, and the velocity there, about.
  struct Node {
    Vector<T, n> q, p, v;
    Normals normals;
    Basis basis;
    Vector<T, r> units;  ///< about the momenta along the rows of the basis at the kinetic energy 1/2
  };
  RB_HD static Basis basis_of(const Normals& normals) {
    if constexpr (m > 0) {
      return detail::tangent_basis<T, n, m>(normals.jacobian());
    } else {
      Basis unit = Basis::zero();
      for (int i = 0; i < n; ++i) unit[i][i] = T(1.0);
      return unit;
    }
  }
  RB_HD static Vector<T, r> units_of(const System& system, const Vector<T, n>& q, const Vector<T, n>& v,
                                     const Basis& basis) {
    Vector<T, r> units;
    for (int k = 0; has_units && k < r; ++k)
      units[k] = detail::unit_of(dot(basis[k], inertia_times(system, q, v, basis[k])));
    return units;
  }
  /// What Newton's method needs of the node: the mass matrix and the normal multiplier of its momentum.
  struct Linearisation {
    Saddle<System> saddle;
    Vector<T, m> normal;

    RB_HD Linearisation(const Dynamics<System>& dynamics, const Node& node)
        : saddle(dynamics.saddle(node.q, node.v, jacobian_of(node))) {
      if constexpr (m > 0) normal = node.normals.multiplier(momentum(dynamics.system(), node.q, node.v));
    }
  };
  RB_HD static Matrix<T, m, n> jacobian_of(const Node& node) {
    if constexpr (m > 0) {
      return node.normals.jacobian();
    } else {
      return {};
    }
  }

  /// The work of a step, by a step of the base from the state.
  RB_HD_LARGE T work(const State& state, T h) const {
    const Flow flow(dynamics_, numbers_.base, true);
    const Vector<T, n> v = velocity(dynamics_.system(), state.q, state.p);
    typename Flow::template Rate<T> rate;
    flow.rate(T(0.0), state.q, v, rate);
    typename Flow::template End<T> end;
    flow(state.q, v, rate, h, end);
    return end.work;
  }

  /// The time at which the segment of a state ends, from that of w on.
  RB_HD T end_time(const T& h) const { return h * T(numbers_.bias[1]); }

  /// F+ of the segment of a state.
  RB_HD_APART Node node_after(const State& state, T h, mask_t<T>& converged, mask_t<T>& singular) const {
    Segment s;
    s.q = state.q;
    s.v = velocity(dynamics_.system(), s.q, state.p);
    follow(dynamics_, s, h);
    Normals before;
    if constexpr (m > 0) {
      const auto& at_beginning = dynamics_.after(h * T(numbers_.bias[0]));
      before = nearest_point(at_beginning.system(), detail::values(s.minus.q)).normals;
    }
    const Vector<T, r> units = units_of(dynamics_.system(), s.q, s.v, s.move);
    singular = singular | momenta(dynamics_, s, basis_of(before), units, h);
    Node node = end_of(dynamics_.after(end_time(h)), s, converged, singular);
    node.units = units;
    return node;
  }
  /// The node at the end of a segment, by the dynamics there.
  RB_HD_APART Node end_of(const Dynamics<System>& dynamics, const Segment& s, mask_t<T>& converged,
                          mask_t<T>& singular) const {
    converged = converged & s.after.converged;
    singular = singular | s.after.singular;
    return {s.after.q,
            unprojected(dynamics, s.after, s.p_plus),
            s.after.normals.onto_hidden_constraint(dynamics.system(), s.after.q, detail::values(s.plus.v)),
            s.after.normals,
            basis_of(s.after.normals),
            {}};
  }

  /// The velocity on the constraint that has the node's momentum on tangent vectors: v of
  ///
  ///   dL/dv(q, v) - G^T mu = p,    G v + g_t = 0
  ///
  /// for any regular L, by Newton's method from the velocity that the node is known to have about. `scale` is the size of velocities.
  RB_HD_APART Vector<T, n> tangential_velocity(const Dynamics<System>& dynamics, const Node& node, const T& scale,
                                               mask_t<T>& converged) const {
    constexpr int max_iterations = 20;
    Vector<T, n> v = node.v;
    Iteration<T> lanes({T(1e-16), max_iterations}, scale);
    for (int iteration = 0; !lanes.ended() && iteration < max_iterations; ++iteration) {
      Vector<T, n> dv;
      Vector<T, m> multiplier;
      dynamics.saddle(node.q, v, node.normals.jacobian())
          .solve(node.p - momentum(dynamics.system(), node.q, v), -hidden(dynamics.system(), node.q, v, node.normals),
                 dv, multiplier);
      v = select(lanes.active, v + dv, v);
      lanes.settle(magnitude(dv));
    }
    converged = converged & lanes.converged();
    return v;
  }
  /// The same where L is quadratic in v: one step from the velocity of the momentum is exact.
  RB_HD_APART Vector<T, n> tangential_velocity(const Dynamics<System>& dynamics, const Node& node) const {
    Vector<T, n> v = velocity(dynamics.system(), node.q, node.p);
    if constexpr (m > 0) {
      Vector<T, n> dv;
      Vector<T, m> multiplier;
      dynamics.saddle(node.q, v, node.normals.jacobian())
          .solve(Vector<T, n>::zero(), -hidden(dynamics.system(), node.q, v, node.normals), dv, multiplier);
      v = v + dv;
    }
    return v;
  }

  /// The hidden constraint, with the known normals at q.
  RB_HD static Vector<T, m> hidden(const System& system, const Vector<T, n>& q, const Vector<T, n>& v,
                                   const Normals& normals) {
    if constexpr (detail::changes_in_time<System>()) {
      return detail::hidden_constraint(system, q, v);
    } else {
      return normals * v;
    }
  }

  /// The directions and the ends of the segment of w, by the dynamics there.
  RB_HD_APART void follow(const Dynamics<System>& dynamics, Segment& s, T h) const {
    s.turn = Basis::zero();
    if constexpr (m > 0) s.normals = Normals(position_jacobian(dynamics.system(), s.q));
    s.move = basis_of(s.normals);
    if constexpr (m > 0) {
      const auto dg = forms_of<System>(hidden_constraint_by_position(dynamics.system(), s.q, s.v));
      for (int k = 0; k < r; ++k) s.turn[k] = -s.normals.along(s.normals.solve(dg * s.move[k]));
    }
    for (int first = 0; first < 2 * r; first += width) follow(dynamics, s, h, first);
  }
  /// The ends with the derivatives in `width` directions.
  RB_HD_LARGE void follow(const Dynamics<System>& dynamics, Segment& s, T h, int first) const {
    const Flow flow(dynamics, numbers_.base);
    Vector<D, n> q, v;
    for (int i = 0; i < n; ++i) {
      q[i] = D(s.q[i]);
      v[i] = D(s.v[i]);
      for (int k = 0; k < width; ++k) {
        const bool moves = first + k < r;
        q[i].partial[k] = moves ? s.move[first + k][i] : T(0.0);
        v[i].partial[k] = moves ? s.turn[first + k][i] : s.move[first + k - r][i];
      }
    }
    typename Flow::template Rate<D> rate;
    flow.rate(T(0.0), q, v, rate);
    for (int side = 0; side < 2; ++side) {
      const double bias = numbers_.bias[side];
      typename Flow::template End<D> end{q, v, Vector<T, width>::zero()};
      if (bias != 0.0) flow(q, v, rate, h * T(bias), end);
      End& all = side == 0 ? s.minus : s.plus;
      for (int i = 0; i < n; ++i) {
        all.q[i].value = end.q[i].value;
        all.v[i].value = end.v[i].value;
        for (int k = 0; k < width; ++k) {
          all.q[i].partial[first + k] = end.q[i].partial[k];
          all.v[i].partial[first + k] = end.v[i].partial[k];
        }
      }
      for (int k = 0; k < width; ++k) all.action[first + k] = end.action[k];
    }
  }

  /// The momenta of the segment, where that at the first end is tangent in the sense of the basis `before`. Returns singular
  /// lanes.
  RB_HD_APART mask_t<T> momenta(const Dynamics<System>& dynamics, Segment& s, const Basis& before,
                                const Vector<T, r>& units, T h) const {
    const auto& at_end = dynamics.after(end_time(h));
    s.after = nearest_point(at_end.system(), detail::values(s.plus.q));
    const Basis after = basis_of(s.after.normals);
    const T inverse_h = T(1.0) / h;
    Matrix<T, 2 * r, 2 * r> matrix;
    Vector<T, 2 * r> x;
    // columns p-, p+; rows the derivatives where q moves, those where v moves over h
    for (int k = 0; k < 2 * r; ++k) {
      const T weight = k < r ? T(1.0) : inverse_h;
      for (int j = 0; j < r; ++j) {
        T minus(0.0), plus(0.0);
        for (int i = 0; i < n; ++i) {
          minus = fma(before[j][i], s.minus.q[i].partial[k], minus);
          plus = fma(after[j][i], s.plus.q[i].partial[k], plus);
        }
        matrix[k][j] = -weight * minus;
        matrix[k][r + j] = weight * plus;
      }
      x[k] = weight * (s.plus.action[k] - s.minus.action[k]);
    }
    const mask_t<T> singular = detail::solve_square<has_units>(matrix, x, units);
    s.p_minus = transpose_times(before, segment<0, r>(x));
    s.p_plus = transpose_times(after, segment<r, r>(x));
    return singular;
  }

  /// p from p DP: by the derivative of the projection, (p DP) (1 + D^2(theta . g)) less its normal part.
  RB_HD static Vector<T, n> unprojected(const Dynamics<System>& dynamics, const NearestPoint<System>& at,
                                        const Vector<T, n>& p) {
    if constexpr (m == 0) {
      return p;
    } else {
      return at.normals.tangential(
          p + forms_of<System>(position_hessian(dynamics.system(), at.q, p)).transpose_times(at.theta));
    }
  }

  /// p DP at the node, where the projection moves by theta: y of y (1 + D^2(theta . g)) + z G = p, G y = 0.
  RB_HD_LARGE Vector<T, n> projected(const System& system, const Node& node, const Vector<T, m>& theta) const {
    if constexpr (m == 0) {
      return node.p;
    } else {
      // y = N^T pi, with N (1 + D^2(theta . g)) N^T pi = N p
      Matrix<T, r, r> matrix;
      for (int j = 0; j < r; ++j) {
        const Vector<T, n> bent =
            forms_of<System>(position_hessian(system, node.q, node.basis[j])).transpose_times(theta);
        const Vector<T, r> column = node.basis * (node.basis[j] + bent);
        for (int i = 0; i < r; ++i) matrix[i][j] = column[i];
      }
      return transpose_times(node.basis, Factors<T, r>(matrix).solve(node.basis * node.p));
    }
  }

  /// Starts from the base step that leads from the node back to w. Returns the size of positions, leaves that of changes of
  /// velocities. The rounding of positions shows in velocities divided by h: near rest, that is what an iteration can reach.
  RB_HD_APART T guess(const Dynamics<System>& at_node, const Dynamics<System>& at_w, const Node& node, T t_minus,
                      Segment& s, T h, mask_t<T>& converged) const {
    const Flow flow(at_node, numbers_.base);
    typename Flow::template Rate<T> rate;
    flow.rate(T(0.0), node.q, node.v, rate);
    typename Flow::template End<T> end;
    flow(node.q, node.v, rate, -t_minus, end);
    const NearestPoint<System> start = nearest_point(at_w.system(), end.q);
    converged = converged & start.converged;
    s.q = start.q;
    s.v = start.normals.onto_hidden_constraint(at_w.system(), s.q, end.v);
    const T size = magnitude(node.q);
    s.speed = abs(h) * magnitude(rate.a) + T(0.01) * size / abs(h);
    return size + abs(h) * magnitude(node.v);
  }

  /// The change of w that takes F-(w) to the node. Returns singular lanes.
  RB_HD_APART mask_t<T> newton_update(const Dynamics<System>& at_node, const Dynamics<System>& at_w, const Segment& s,
                                      const Node& node, const Linearisation& linear, T t_minus, Vector<T, n>& dq,
                                      Vector<T, n>& dv) const {
    const System &system = at_node.system(), &of_w = at_w.system();
    // (x, u): the change of R_{h alpha-}(w) that is wanted, of its position and of its velocity
    Vector<T, n> x = node.q - detail::values(s.minus.q), u;
    Vector<T, m> tangency, multiplier;
    if constexpr (m > 0) {
      // g vanishes at w, not at the base step's end, which may differ from the node by a normal vector
      const Vector<T, m> g = of_w.position_constraint(s.q), dg = hidden(of_w, s.q, s.v, s.normals);
      const Vector<T, m> normal_change = -node.normals.solve(fma(t_minus, dg, g));
      const Vector<T, m> theta = normal_change - node.normals.multiplier(x);
      x = node.normals.tangential(x) + node.normals.along(normal_change);
      const auto turn = forms_of<System>(position_hessian(system, node.q, x));
      u = projected(system, node, theta) - s.p_minus + turn.transpose_times(linear.normal);
      tangency = -(dg + turn * node.v);
      if constexpr (detail::changes_in_time<System>())
        tangency = -(dg + forms_of<System>(hidden_constraint_by_position(system, node.q, node.v)) * x);
    } else {
      u = node.p - s.p_minus;
    }
    if constexpr (!Separable<System>)
      u = u -
          detail::derivative(momentum(system, detail::along(node.q, x), detail::along(node.v, Vector<T, n>::zero())));
    linear.saddle.solve(u, tangency, u, multiplier);
    if (numbers_.bias[0] == 0.0) {  // R_0 is the identity
      dq = x;
      dv = u;
      return mask_t<T>(false);
    }
    Matrix<T, 2 * r, 2 * r> derivative;
    for (int k = 0; k < 2 * r; ++k) {
      Vector<T, n> by_q, by_v;
      for (int i = 0; i < n; ++i) {
        by_q[i] = s.minus.q[i].partial[k];
        by_v[i] = s.minus.v[i].partial[k];
      }
      const Vector<T, r> of_q = node.basis * by_q, of_v = node.basis * by_v;
      for (int j = 0; j < r; ++j) {
        derivative[j][k] = of_q[j];
        derivative[r + j][k] = of_v[j];
      }
    }
    // back to the constraint, along its normals; the flow of the base step carries this on nearly unchanged
    Vector<T, n> back_q = Vector<T, n>::zero(), back_v = back_q;
    if constexpr (m > 0) {
      const auto along_normals = [&s](const Vector<T, m>& y) { return s.normals.along(s.normals.solve(y)); };
      back_q = -along_normals(of_w.position_constraint(s.q));
      back_v = -along_normals(hidden(of_w, s.q, s.v, s.normals) +
                              forms_of<System>(hidden_constraint_by_position(of_w, s.q, s.v)) * back_q);
      x = x - fma(t_minus, back_v, back_q);
      u = u - back_v;
    }
    Vector<T, r> per_unit;  // the rows are coordinates, where those of the momenta are derivatives by them
    for (int k = 0; has_units && k < r; ++k) per_unit[k] = T(1.0) / node.units[k];
    Vector<T, 2 * r> dw = rattleback::join(node.basis * x, node.basis * u);
    const mask_t<T> singular = detail::solve_square<has_units>(derivative, dw, per_unit);
    const Vector<T, r> moved = segment<0, r>(dw);
    dq = transpose_times(s.move, moved) + back_q;
    dv = transpose_times(s.move, segment<r, r>(dw)) + transpose_times(s.turn, moved) + back_v;
    return singular;
  }

  Dynamics<System> dynamics_;
  SolverOptions<T> options_;
  const Numbers& numbers_;
};

RB_NAMESPACE_END
