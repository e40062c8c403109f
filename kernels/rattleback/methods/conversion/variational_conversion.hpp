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
//   DL_h(w) = p+ Dd+(w) - p- Dd-(w) + nu1 [G, 0] + nu2 [D^2g(v, .), G],     p-, p+ tangent,       G = Dg(q)
//
// and with the discrete Legendre transforms F-+(w) = (d-+(w), p-+(w)) the step is w2 = (F-)^-1 F+ w1. In the nodes
// (q, p) it is F+ (F-)^-1, a symplectic map of T*Q that keeps the momentum maps p . xi q of linear symmetries.
//
// The unknown is w2. The equation F-(w2) = (q, p) is solved by Newton's method with a derivative from first derivatives only:
// for the exact flow F-(w) is R_{h alpha-}(w), with p for v; so its derivative is DR_{h alpha-} up to O(h^order).

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

/// The block of numbers of a step of `variational-conversion`; host only.
inline void fill_conversion_numbers(const ExplicitTableau& base, double bias_minus, double bias_plus,
                                    ConversionState state, double* numbers) {
  ExplicitNumbers::fill(base, numbers);
  numbers[ExplicitNumbers::size] = bias_minus;
  numbers[ExplicitNumbers::size + 1] = bias_plus;
  numbers[ExplicitNumbers::size + 2] = state == ConversionState::node ? 1.0 : 0.0;
}

template <class T, class System>
  requires HolonomicOnRn<System>
class VariationalConversion {
  static constexpr int n = System::n, m = System::m;
  /// Tangent maps of the base step are exact, by dual numbers. Their width, how many of the 2 n columns go along with one pass
  /// over the step, makes no difference to the result; it is by measurement of registers and spills.
  static constexpr int width = RB_DEVICE_PASS ? 2 : 2 * n;
  using D = Dual<T, width>;
  using Flow = ExplicitFlow<T, System>;
  /// Where a base step leads, with the derivatives by (q, v), and the derivatives of the action.
  using End = typename Flow::template End<Dual<T, 2 * n>>;
  using Normals = detail::Normals<T, n, m>;

 public:
  using State = StateOf<T, System>;

  RB_HD VariationalConversion(const System& system, const SolverOptions<T>& options, const double* numbers)
      : dynamics_(system), options_(options), numbers_(numbers) {}

  RB_HD_LARGE StepReport<T> operator()(State& state, T h) const {
    const System& system = dynamics_.system();
    const bool nodes = numbers_[ExplicitNumbers::size + 2] != 0.0;
    const T t_minus = h * T(numbers_[ExplicitNumbers::size]);
    mask_t<T> converged(true), singular(false);
    Segment s;
    Node node;
    if (nodes) {
      node.q = state.q;
      if constexpr (m > 0) node.normals = Normals(position_jacobian(system, node.q));
      node.p = node.normals.tangential(state.p);
      node.v = tangential_velocity(node);
    } else {
      node = node_after(state, h, converged, singular);
    }
    const Linearisation linear(dynamics_, node);

    const T scale_q = guess(node, t_minus, s, h, converged);
    const T scale_v = magnitude(node.v) + s.speed;
    Iteration<T> lanes(options_, scale_q * scale_v);
    lanes.singular = singular;
    T left(__builtin_huge_val()), previous = left;
    for (int iteration = 0;; ++iteration) {
      // a state of the segment is not evaluated once more at the end, a node follows from it
      if (!nodes && (lanes.ended() || iteration == options_.max_iterations)) break;
      follow(s, h);
      lanes.note_singular(momenta(s, node.normals, h));
      if (nodes && (lanes.ended() || iteration == options_.max_iterations)) break;
      Vector<T, n> dq, dv;
      lanes.note_singular(newton_update(s, node, linear, t_minus, dq, dv));
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

    if (nodes) {
      node = end_of(s, converged, singular);
      state.q = node.q;
      s.v = tangential_velocity(node);
    } else {
      state.q = s.q;
    }
    state.p = momentum(system, state.q, s.v);
    T check = sum(state.q) + sum(state.p);
    if constexpr (m > 0) {
      dynamics_.acceleration(state.q, s.v, state.lambda);
      check = check + sum(state.lambda);
    }
    return {step_status<T>(converged, singular, is_finite(check)), lanes.iterations, left / scale_q};
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
    End minus, plus;
    NearestPoint<T, n, m> after;   ///< d+(w)
    Vector<T, n> p_minus, p_plus;  ///< the covectors p-+ DP at the ends before they are projected
    T speed;                       ///< how much velocities change within a step
  };
  /// A common end of two segments, its momentum, which is tangent, and the velocity there, about.
  struct Node {
    Vector<T, n> q, p, v;
    Normals normals;
  };
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
      return node.normals.jacobian;
    } else {
      return {};
    }
  }

  /// F+ of the segment of a state.
  RB_HD_LARGE Node node_after(const State& state, T h, mask_t<T>& converged, mask_t<T>& singular) const {
    Segment s;
    s.q = state.q;
    s.v = velocity(dynamics_.system(), s.q, state.p);
    follow(s, h);
    Normals before;
    if constexpr (m > 0) before = nearest_point(dynamics_.system(), detail::values(s.minus.q)).normals;
    singular = singular | momenta(s, before, h);
    return end_of(s, converged, singular);
  }
  RB_HD_LARGE Node end_of(const Segment& s, mask_t<T>& converged, mask_t<T>& singular) const {
    converged = converged & s.after.converged;
    singular = singular | s.after.singular;
    return {s.after.q, unprojected(s.after, s.p_plus), s.after.normals.tangential(detail::values(s.plus.v)),
            s.after.normals};
  }

  /// The velocity that has the node's momentum on tangent vectors.
  RB_HD_LARGE Vector<T, n> tangential_velocity(const Node& node) const {
    Vector<T, n> v = velocity(dynamics_.system(), node.q, node.p);
    if constexpr (m > 0) {
      const auto saddle = dynamics_.saddle(node.q, v, node.normals.jacobian);
      Vector<T, n> dv;
      Vector<T, m> multiplier;
      saddle.solve(Vector<T, n>::zero(), -(node.normals.jacobian * v), dv, multiplier);
      v = v + dv;
    }
    return v;
  }

  /// The ends of the segment of w.
  RB_HD_LARGE void follow(Segment& s, T h) const {
    for (int first = 0; first < 2 * n; first += width) follow(s, h, first);
  }
  /// The ends with the derivatives in `width` directions.
  RB_HD_LARGE void follow(Segment& s, T h, int first) const {
    const Flow flow(dynamics_, numbers_);
    Vector<D, n> q, v;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      q[i] = D(s.q[i]);
      v[i] = D(s.v[i]);
      RB_UNROLL
      for (int k = 0; k < width; ++k) {
        q[i].partial[k] = T(double(first + k == i));
        v[i].partial[k] = T(double(first + k == n + i));
      }
    }
    typename Flow::template Rate<D> rate;
    flow.rate(q, v, rate);
    for (int side = 0; side < 2; ++side) {
      const double bias = numbers_[ExplicitNumbers::size + side];
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

  /// The momenta of the segment, where that at the first end is tangent in the sense of `before`. Returns singular lanes.
  RB_HD_LARGE mask_t<T> momenta(Segment& s, const Normals& before, T h) const {
    const System& system = dynamics_.system();
    constexpr int size = 2 * n + 2 * m;
    const T inverse_h = T(1.0) / h;
    auto matrix = Matrix<T, size, size>::zero();
    Vector<T, size> x;
    // columns p-, p+, nu1, nu2/h; rows the derivatives by q, those by v over h, the tangencies
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        matrix[i][j] = -s.minus.q[j].partial[i];
        matrix[i][n + j] = s.plus.q[j].partial[i];
        matrix[n + i][j] = -inverse_h * s.minus.q[j].partial[n + i];
        matrix[n + i][n + j] = inverse_h * s.plus.q[j].partial[n + i];
      }
    for (int i = 0; i < n; ++i) {
      x[i] = s.plus.action[i] - s.minus.action[i];
      x[n + i] = inverse_h * (s.plus.action[n + i] - s.minus.action[n + i]);
    }
    s.after = nearest_point(system, detail::values(s.plus.q));
    if constexpr (m > 0) {
      const Matrix<T, m, n> g = position_jacobian(system, s.q), dg = position_hessian(system, s.q, s.v);
      for (int k = 0; k < m; ++k) {
        for (int i = 0; i < n; ++i) {
          matrix[i][2 * n + k] = g[k][i];
          matrix[i][2 * n + m + k] = h * dg[k][i];
          matrix[n + i][2 * n + m + k] = g[k][i];
          matrix[2 * n + k][i] = before.jacobian[k][i];
          matrix[2 * n + m + k][n + i] = s.after.normals.jacobian[k][i];
        }
        x[2 * n + k] = T(0.0);
        x[2 * n + m + k] = T(0.0);
      }
    }
    const Lu<T, size> lu(matrix);
    x = lu.solve(x);
    s.p_minus = segment<0, n>(x);
    s.p_plus = segment<n, n>(x);
    return lu.singular();
  }

  /// p from p DP: by the derivative of the projection, (p DP) (1 + D^2(theta . g)) less its normal part.
  RB_HD Vector<T, n> unprojected(const NearestPoint<T, n, m>& at, const Vector<T, n>& p) const {
    if constexpr (m == 0) {
      return p;
    } else {
      return at.normals.tangential(p + transpose_times(position_hessian(dynamics_.system(), at.q, p), at.theta));
    }
  }

  /// p DP at the node, where the projection moves by theta: y of y (1 + D^2(theta . g)) + z G = p, G y = 0.
  RB_HD_LARGE Vector<T, n> projected(const Node& node, const Vector<T, m>& theta) const {
    if constexpr (m == 0) {
      return node.p;
    } else {
      const auto jacobian = position_jacobian(dynamics_.system(), seeded_configuration<Rn<n>, Dual<T, n>>(node.q));
      auto matrix = Matrix<T, n + m, n + m>::zero();
      for (int k = 0; k < m; ++k)
        for (int i = 0; i < n; ++i) {
          matrix[i][n + k] = node.normals.jacobian[k][i];
          matrix[n + k][i] = node.normals.jacobian[k][i];
          for (int j = 0; j < n; ++j) matrix[i][j] = fma(theta[k], jacobian[k][i].partial[j], matrix[i][j]);
        }
      for (int i = 0; i < n; ++i) matrix[i][i] = matrix[i][i] + T(1.0);
      return segment<0, n>(Lu<T, n + m>(matrix).solve(join(node.p, Vector<T, m>::zero())));
    }
  }

  /// Starts from the base step that leads from the node back to w. Returns the size of positions, leaves that of changes of
  /// velocities. The rounding of positions shows in velocities divided by h: near rest, that is what an iteration can reach.
  RB_HD_LARGE T guess(const Node& node, T t_minus, Segment& s, T h, mask_t<T>& converged) const {
    const Flow flow(dynamics_, numbers_);
    typename Flow::template Rate<T> rate;
    flow.rate(node.q, node.v, rate);
    typename Flow::template End<T> end;
    flow(node.q, node.v, rate, -t_minus, end);
    const NearestPoint<T, n, m> start = nearest_point(dynamics_.system(), end.q);
    converged = converged & start.converged;
    s.q = start.q;
    s.v = start.normals.tangential(end.v);
    const T size = magnitude(node.q);
    s.speed = abs(h) * magnitude(rate.a) + T(0.01) * size / abs(h);
    return size + abs(h) * magnitude(node.v);
  }

  /// The change of w that takes F-(w) to the node. Returns singular lanes.
  RB_HD_LARGE mask_t<T> newton_update(const Segment& s, const Node& node, const Linearisation& linear, T t_minus,
                                      Vector<T, n>& dq, Vector<T, n>& dv) const {
    const System& system = dynamics_.system();
    // (x, u): the change of R_{h alpha-}(w) that is wanted, of its position and of its velocity
    Vector<T, n> x = node.q - detail::values(s.minus.q), u;
    Vector<T, m> tangency, multiplier;
    if constexpr (m > 0) {
      // g vanishes at w, not at the base step's end, which may differ from the node by a normal vector
      const Vector<T, m> g = system.position_constraint(s.q), dg = position_jacobian(system, s.q) * s.v;
      const Vector<T, m> normal_change = -node.normals.gram.solve(fma(t_minus, dg, g));
      const Vector<T, m> theta = normal_change - node.normals.multiplier(x);
      x = node.normals.tangential(x) + transpose_times(node.normals.jacobian, normal_change);
      const Matrix<T, m, n> turn = position_hessian(system, node.q, x);
      u = projected(node, theta) - s.p_minus + transpose_times(turn, linear.normal);
      tangency = -(dg + turn * node.v);
    } else {
      u = node.p - s.p_minus;
    }
    if constexpr (!Separable<System>)
      u = u -
          detail::derivative(momentum(system, detail::along(node.q, x), detail::along(node.v, Vector<T, n>::zero())));
    linear.saddle.solve(u, tangency, u, multiplier);
    if (numbers_[ExplicitNumbers::size] == 0.0) {  // R_0 is the identity
      dq = x;
      dv = u;
      return mask_t<T>(false);
    }
    Matrix<T, 2 * n, 2 * n> derivative;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < 2 * n; ++j) {
        derivative[i][j] = s.minus.q[i].partial[j];
        derivative[n + i][j] = s.minus.v[i].partial[j];
      }
    const Lu<T, 2 * n> lu(derivative);
    const Vector<T, 2 * n> dw = lu.solve(rattleback::join(x, u));
    dq = segment<0, n>(dw);
    dv = segment<n, n>(dw);
    return lu.singular();
  }

  Dynamics<System> dynamics_;
  SolverOptions<T> options_;
  const double* numbers_;
};

RB_NAMESPACE_END
