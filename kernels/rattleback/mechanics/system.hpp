#pragma once
// What a mechanical system offers, and what follows from it by differentiation.
//
// A system is a struct template over the scalar T whose data members are its parameters, all of type T, in the order of
// `parameters()`. Its configuration space is R^n, or the Lie group that it names (`using Group = SO3;`); q is then an element
// of the group, as lie/ stores it, and v the left-trivialised velocity eta = g^-1 dg/dt in R^n, its derivatives by q the left
// trivialised ones, d/de f(g tau(e zeta)) at e = 0. It gives either
//
//   T lagrangian(q, v)                              any regular Lagrangian L(q, v), with
//   Vector<T, m> constraint(q, v)                   Phi(q, v) = 0,
//
// or the separable form L = v.Mv/2 - U(q) with a constraint affine in v, which methods exploit:
//
//   T potential(q)                                  U
//   Vector<T, n> force(q)                           -grad U by hand (optional)
//   Vector<T, n> mass_diagonal() / Matrix<T, n, n> mass_matrix()      constant M (optional; identity otherwise)
//   Matrix<T, m, n> constraint_matrix(q)            Phi = mu(q) v + d(q)
//   Vector<T, m> constraint_offset(q)               d (optional)
//   static bool constraint_entry(row, column)       sparsity of mu (optional)
//
// A system may give both: then `lagrangian` is L, and `potential` and the mass are those of its separable form, which L has
// where the parameters listed in `separable_without` are 0. Methods for separable systems take it there only.
//
// For a holonomic constraint (kind = ConstraintKind::holonomic), in place of the velocity constraint,
//
//   Vector<T, m> position_constraint(q)             g(q) = 0; Phi = Dg(q) v, the hidden constraint, follows
//   Matrix<T, m, n> position_jacobian(q)            Dg by hand (optional); constraint_entry is then its sparsity
//   static int constraint_opposite(row, column)     the column whose entry of Dg is minus this one, or `column` (optional)
//
// A separable holonomic system may state more of its structure; methods that condense their equations use it (`Blocks` below):
//
//   static constexpr int block                      coordinates come in groups of `block`, in which the mass and the second
//                                                   derivatives below are multiples of the identity (particles, directors)
//   position_jacobian(q) as above                   affine in q: g is at most quadratic
//   Matrix<T, n/block, n/block> constraint_hessian(a)    sum_k a_k D^2 g_k, constant, an entry for each pair of groups
//   static constexpr int terms                      U = linear function + sum_a f_a(pi_a), a < terms, with pi_a
//                                                   at most quadratic
//   T potential_term<a>(pi)                         f_a
//   Vector<T, terms> potential_invariants(q)        pi_a, which are to have the symmetries of U
//   Matrix<T, terms, n> potential_invariants_jacobian(q)
//   Matrix<T, n/block, n/block> potential_invariants_hessian(c)    sum_a c_a D^2 pi_a, constant
//
// A Lagrangian system that is not separable may give
//
//   Vector<T, n> velocity(q, p)                     the inverse of p = dL/dv
//   T hamiltonian(q, p)                             v.p - L (optional)
//
// A Lagrangian may be missing, or singular, where methods for it take
//
//   T hamiltonian(q, p)                             H, p in the dual of the algebra
//
// Some methods hold v and p in space, right trivialised: Ad_g v and Ad*_{g^-1} p. They are not the system's concern.
//
// And, where the motion is known,
//
//   bool exact(double time, Vector<double, n>& q, Vector<double, n>& v)
//                                                   the state a time `time` later, in place, to round-off; on the host only.
//                                                   False where these parameters and this state have no known solution
//
// The functions are templates over their argument's scalar, so that dual numbers pass through them. Static members describe
// the system to the catalogue: name, variant, summary, configuration, source, parameters(), structure(), invariants(),
// default_q, default_v, conserves_energy, kind, and, where it is far from 1, time_scale (see SystemEntry).
// `invariants()` names what `evaluate_invariants(q, v)` returns.

#include <array>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/lie/rn.hpp"
#include "rattleback/linalg/lu.hpp"
#include "rattleback/real/dual.hpp"

RB_NAMESPACE_BEGIN

template <class System>
inline constexpr int dimension = System::n;
template <class System>
inline constexpr int constraint_count = System::m;

namespace detail {
template <class System>
struct GroupOf {
  using type = Rn<System::n>;
};
template <class System>
  requires requires { typename System::Group; }
struct GroupOf<System> {
  using type = typename System::Group;
  static_assert(type::dimension == System::n);
};
}  // namespace detail

/// The configuration space: R^n where the system names no group.
template <class System>
using group_of = typename detail::GroupOf<System>::type;
/// Whether the configuration space is more than R^n.
template <class System>
inline constexpr bool on_group = requires {
  typename System::Group;
};
/// Numbers that hold a configuration; n on R^n.
template <class System>
inline constexpr int element_size = group_of<System>::element_size;
template <class System, class S = typename System::scalar>
using Configuration = Vector<S, element_size<System>>;

/// A potential and a mass matrix are given: L = v.Mv/2 - U(q) where the parameters of `separable_without` are 0.
template <class System>
concept SeparableForm = requires(const System& s, const Configuration<System>& q) {
  s.potential(q);
};
/// L = v.Mv/2 - U(q) for all parameters.
template <class System>
concept Separable = SeparableForm<System> &&
    !requires(const System& s, const Configuration<System>& q, const Vector<typename System::scalar, System::n>& v) {
  s.lagrangian(q, v);
};

template <class System>
concept AffineConstraint = System::m == 0 || requires(const System& s, const Configuration<System>& q) {
  s.constraint_matrix(q);
};

/// On R^n, constant mass matrix and a constraint affine in the velocity (or none): the condensed methods apply.
template <class System>
concept Condensable = !on_group<System> && Separable<System> && AffineConstraint<System>;

/// A system with a Lagrangian in either form and, where m > 0, a velocity constraint.
template <class System>
concept VelocityConstrained = System::m == 0 || AffineConstraint<System> ||
                              requires(const System& s, const Configuration<System>& q,
                                       const Vector<typename System::scalar, System::n>& v) {
  s.constraint(q, v);
};

template <class System>
concept Lagrangian = Separable<System> ||
    requires(const System& s, const Configuration<System>& q, const Vector<typename System::scalar, System::n>& v) {
  s.lagrangian(q, v);
};

/// A system that gives its Hamiltonian, which may be degenerate: velocities need not determine momenta.
template <class System>
concept HasHamiltonian = requires(const System& s, const Configuration<System>& q,
                                  const Vector<typename System::scalar, System::n>& p) {
  s.hamiltonian(q, p);
};

namespace detail {

struct Identity {
  char not_empty{};  // nvcc's quick compilation has no functions that return empty classes
};
template <class S, int n>
RB_HD const Vector<S, n>& apply(Identity, const Vector<S, n>& x) {
  return x;
}
template <class T, class S, int n>
RB_HD Vector<S, n> apply(const Vector<T, n>& diagonal, const Vector<S, n>& x) {
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = x[i] * diagonal[i];
  return r;
}
template <class T, class S, int n>
RB_HD Vector<S, n> apply(const Matrix<T, n, n>& matrix, const Vector<S, n>& x) {
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    r[i] = x[0] * matrix[i][0];
    RB_UNROLL
    for (int j = 1; j < n; ++j) r[i] = r[i] + x[j] * matrix[i][j];
  }
  return r;
}

}  // namespace detail

/// The constant mass matrix of a separable system and its inverse: identity, diagonal or dense.
template <class System>
class Mass {
  using T = typename System::scalar;
  static constexpr int n = System::n;
  static constexpr bool diagonal = requires(const System& s) { s.mass_diagonal(); };
  static constexpr bool dense = requires(const System& s) { s.mass_matrix(); };
  using Storage =
      std::conditional_t<diagonal, Vector<T, n>, std::conditional_t<dense, Matrix<T, n, n>, detail::Identity>>;

 public:
  static constexpr bool is_diagonal = !dense, is_identity = !dense && !diagonal;

  RB_HD explicit Mass(const System& system) {
    if constexpr (diagonal) {
      mass_ = system.mass_diagonal();
      RB_UNROLL
      for (int i = 0; i < n; ++i) inverse_[i] = T(1.0) / mass_[i];
    } else if constexpr (dense) {
      mass_ = system.mass_matrix();
      Matrix<T, n, n> factors = mass_;
      factorise(factors);
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        inverse_[i] = Vector<T, n>::zero();
        inverse_[i][i] = T(1.0);
        solve_factorised(factors, inverse_[i]);  // the inverse is symmetric: column i is row i
      }
    }
  }

  template <class S>
  RB_HD Vector<S, n> times(const Vector<S, n>& v) const {
    return detail::apply(mass_, v);
  }
  template <class S>
  RB_HD Vector<S, n> inverse_times(const Vector<S, n>& p) const {
    return detail::apply(inverse_, p);
  }

 private:
  [[no_unique_address]] Storage mass_, inverse_;
};

/// mu(q) of a constraint affine in v, with the sparsity the system states.
template <class System, class S = typename System::scalar>
struct ConstraintForms {
  static constexpr int n = System::n, m = System::m;
  Matrix<S, m, n> mu;

  ConstraintForms() = default;
  RB_HD ConstraintForms(const System& system, const Configuration<System, S>& q) {
    if constexpr (m > 0) mu = system.constraint_matrix(q);
  }

  RB_HD static constexpr bool entry(int row, int column) {
    if constexpr (requires { System::constraint_entry(0, 0); }) {
      return System::constraint_entry(row, column);
    } else {
      return true;
    }
  }

  /// mu x
  RB_HD Vector<S, m> operator*(const Vector<S, n>& x) const {
    Vector<S, m> r;
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      r[i] = S(0.0);
      bool first = true;  // a product: x + 0 is an addition to a compiler
      RB_UNROLL
      for (int j = 0; j < n; ++j) {
        if (!entry(i, j)) continue;
        r[i] = first ? mu[i][j] * x[j] : fma(mu[i][j], x[j], r[i]);
        first = false;
      }
    }
    return r;
  }
  /// mu^T lambda
  RB_HD Vector<S, n> transpose_times(const Vector<S, m>& lambda) const {
    auto y = Vector<S, n>::zero();
    if constexpr (m > 0) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (entry(0, j)) y[j] = lambda[0] * mu[0][j];
    }
    return plus_transpose_times<1>(y, lambda);
  }
  /// y + mu^T lambda, from row `first` on.
  template <int first = 0>
  RB_HD Vector<S, n> plus_transpose_times(Vector<S, n> y, const Vector<S, m>& lambda) const {
    RB_UNROLL
    for (int i = first; i < m; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (entry(i, j)) y[j] = fma(lambda[i], mu[i][j], y[j]);
    }
    return y;
  }
  /// mu M^-1 other^T
  RB_HD Matrix<S, m, m> gram(const Mass<System>& mass, const ConstraintForms& other) const {
    Matrix<S, m, m> c;
    RB_UNROLL
    for (int l = 0; l < m; ++l) {
      const Vector<S, m> column = *this * mass.inverse_times(other.mu[l]);
      RB_UNROLL
      for (int k = 0; k < m; ++k) c[k][l] = column[k];
    }
    return c;
  }
};

/// d(q) of a constraint affine in v.
template <class System, class S>
RB_HD Vector<S, System::m> constraint_offset(const System& system, const Vector<S, element_size<System>>& q) {
  if constexpr (requires { system.constraint_offset(q); }) {
    return system.constraint_offset(q);
  } else {
    return Vector<S, System::m>::zero();
  }
}
template <class System>
inline constexpr bool has_constraint_offset = requires(const System& s, const Configuration<System>& q) {
  s.constraint_offset(q);
};

/// L(q, v).
template <class System, class S>
RB_HD S lagrangian(const System& system, const Vector<S, element_size<System>>& q, const Vector<S, System::n>& v) {
  if constexpr (Separable<System>) {
    return S(0.5) * dot(v, Mass<System>(system).times(v)) - system.potential(q);
  } else {
    return system.lagrangian(q, v);
  }
}

/// Whether the constraint is on positions, g(q) = 0.
template <class System>
inline constexpr bool is_holonomic = requires(const System& s, const Configuration<System>& q) {
  s.position_constraint(q);
};

/// On R^n, with holonomic constraints or none; with holonomic constraints.
template <class System>
concept HolonomicOnRn = !on_group<System> && (System::m == 0 || is_holonomic<System>);
template <class System>
concept ConstrainedOnRn = HolonomicOnRn<System> && System::m >
0;

/// The configuration g tau(x) for a small x that exists only in the partial derivatives of a dual number: to first order, all
/// retractions are the same.
template <class G, class S>
RB_HD Vector<Dual<S, 1>, G::element_size> moving(const Vector<S, G::element_size>& g,
                                                 const Vector<S, G::dimension>& x) {
  const auto rate = G::translate(g, x);
  Vector<Dual<S, 1>, G::element_size> r;
  RB_UNROLL
  for (int i = 0; i < G::element_size; ++i) {
    r[i].value = g[i];
    r[i].partial[0] = rate[i];
  }
  return r;
}

/// Phi(q, v); Dg(q) v where the constraint is holonomic.
template <class System, class S>
RB_HD Vector<S, System::m> constraint(const System& system, const Vector<S, element_size<System>>& q,
                                      const Vector<S, System::n>& v) {
  if constexpr (System::m == 0) {
    return {};
  } else if constexpr (is_holonomic<System>) {
    const auto g = system.position_constraint(moving<group_of<System>>(q, v));
    Vector<S, System::m> phi;
    RB_UNROLL
    for (int i = 0; i < System::m; ++i) phi[i] = g[i].partial[0];
    return phi;
  } else if constexpr (AffineConstraint<System>) {
    const ConstraintForms<System, S> forms(system, q);
    return forms * v + constraint_offset(system, q);
  } else {
    return system.constraint(q, v);
  }
}

/// q as the dual numbers that give the n derivatives by q, the first of D's partials.
template <class G, class D, class T>
RB_HD Vector<D, G::element_size> seeded_configuration(const Vector<T, G::element_size>& q) {
  Vector<D, G::element_size> r;
  RB_UNROLL
  for (int i = 0; i < G::element_size; ++i) r[i] = D(q[i]);
  RB_UNROLL
  for (int k = 0; k < G::dimension; ++k) {
    auto unit = Vector<T, G::dimension>::zero();
    unit[k] = T(1.0);
    const auto rate = G::translate(q, unit);
    RB_UNROLL
    for (int i = 0; i < G::element_size; ++i) r[i].partial[k] = rate[i];
  }
  return r;
}
/// v as the dual numbers whose partials number `first`, `first` + 1, ... are the derivatives by v.
template <class D, int first, class T, int n>
RB_HD Vector<D, n> seeded_velocity(const Vector<T, n>& v) {
  Vector<D, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = D(v[i], first + i);
  return r;
}

/// Force -grad U of a separable system.
template <class System, class T>
RB_HD Vector<T, System::n> force(const System& system, const Vector<T, element_size<System>>& q) {
  constexpr int n = System::n;
  if constexpr (requires { system.force(q); }) {
    return system.force(q);
  } else {
    const Dual<T, n> u = system.potential(seeded_configuration<group_of<System>, Dual<T, n>>(q));
    Vector<T, n> f;
    RB_UNROLL
    for (int i = 0; i < n; ++i) f[i] = -u.partial[i];
    return f;
  }
}

/// Value and first derivatives of a function of (q, v) with R components.
template <class T, int n, int R>
struct Gradient {
  Vector<T, R> value;
  Matrix<T, R, n> dq, dv;
};

template <int R, class Group = void, class T, int N, int n, class F>
RB_HD_LARGE Gradient<T, n, R> gradient(F&& f, const Vector<T, N>& q, const Vector<T, n>& v) {
  using G = std::conditional_t<std::is_void_v<Group>, Rn<N>, Group>;
  using D = Dual<T, 2 * n>;
  const Vector<D, R> y = f(seeded_configuration<G, D>(q), seeded_velocity<D, n>(v));
  Gradient<T, n, R> g;
  RB_UNROLL
  for (int r = 0; r < R; ++r) {
    g.value[r] = y[r].value;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      g.dq[r][i] = y[r].partial[i];
      g.dv[r][i] = y[r].partial[n + i];
    }
  }
  return g;
}

/// Constant mass, constraint and potential in the form that condensed holonomic methods take.
template <class System>
concept Blocks = Separable<System> && requires(const System& s, const Vector<typename System::scalar, System::n>& q,
                                               const Vector<typename System::scalar, System::m>& a) {
  s.mass_diagonal();
  s.position_jacobian(q);
  s.constraint_hessian(a);
  System::terms;
};

/// g and its derivative Dg at q.
template <class T, int n, int m>
struct PositionConstraint {
  Vector<T, m> value;
  Matrix<T, m, n> jacobian;
};

template <class System, class T>
RB_HD PositionConstraint<T, System::n, System::m> position_constraint(const System& system,
                                                                      const Vector<T, element_size<System>>& q) {
  constexpr int n = System::n, m = System::m;
  if constexpr (requires { system.position_jacobian(q); }) {
    return {system.position_constraint(q), system.position_jacobian(q)};
  } else {
    const auto g = system.position_constraint(seeded_configuration<group_of<System>, Dual<T, n>>(q));
    PositionConstraint<T, n, m> r;
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      r.value[k] = g[k].value;
      RB_UNROLL
      for (int i = 0; i < n; ++i) r.jacobian[k][i] = g[k].partial[i];
    }
    return r;
  }
}

/// First and second derivatives of a function of (q, v) with R components: qq[r][i][j] = d2 f_r / dq_i dq_j and so on.
template <class T, int n, int R>
struct Hessian {
  Gradient<T, n, R> first;
  Matrix<T, n, n> qq[R], vq[R], vv[R];  // vq[i][j] = d2 f / dv_i dq_j
};

template <int R, class T, int n, class F>
RB_HD_LARGE Hessian<T, n, R> hessian(F&& f, const Vector<T, n>& q, const Vector<T, n>& v) {
  using Inner = Dual<T, 1>;  // derivative in one direction at a time keeps the code small
  Hessian<T, n, R> h;
  for (int direction = 0; direction < 2 * n; ++direction) {
    Vector<Inner, n> iq, iv;
    for (int i = 0; i < n; ++i) {
      iq[i].value = q[i];
      iq[i].partial[0] = T(direction == i ? 1.0 : 0.0);
      iv[i].value = v[i];
      iv[i].partial[0] = T(direction == n + i ? 1.0 : 0.0);
    }
    const Gradient<Inner, n, R> g = gradient<R>(f, iq, iv);
    for (int r = 0; r < R; ++r) {
      h.first.value[r] = g.value[r].value;
      for (int i = 0; i < n; ++i) {
        h.first.dq[r][i] = g.dq[r][i].value;
        h.first.dv[r][i] = g.dv[r][i].value;
        if (direction < n) {
          h.qq[r][i][direction] = g.dq[r][i].partial[0];
          h.vq[r][i][direction] = g.dv[r][i].partial[0];
        } else {
          h.vv[r][i][direction - n] = g.dv[r][i].partial[0];
        }
      }
    }
  }
  return h;
}

/// p = dL/dv.
template <class System, class T>
RB_HD Vector<T, System::n> momentum(const System& system, const Vector<T, element_size<System>>& q,
                                    const Vector<T, System::n>& v) {
  constexpr int n = System::n;
  if constexpr (Separable<System>) {
    return Mass<System>(system).times(v);
  } else {
    using D = Dual<T, n>;
    Vector<D, element_size<System>> x;
    RB_UNROLL
    for (int i = 0; i < element_size<System>; ++i) x[i] = D(q[i]);
    const D l = lagrangian(system, x, seeded_velocity<D, 0>(v));
    Vector<T, n> p;
    RB_UNROLL
    for (int i = 0; i < n; ++i) p[i] = l.partial[i];
    return p;
  }
}

/// The mass matrix d2L/dv2 at (q, v).
template <class System, class T>
RB_HD_LARGE Matrix<T, System::n, System::n> mass_matrix(const System& system, const Vector<T, element_size<System>>& q,
                                                        const Vector<T, System::n>& v) {
  constexpr int n = System::n;
  using D = Dual<T, n>;
  Vector<D, element_size<System>> x;
  RB_UNROLL
  for (int i = 0; i < element_size<System>; ++i) x[i] = D(q[i]);
  const Vector<D, n> p = momentum(system, x, seeded_velocity<D, 0>(v));
  Matrix<T, n, n> mass;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    RB_UNROLL
    for (int j = 0; j < n; ++j) mass[i][j] = p[i].partial[j];
  }
  return mass;
}

/// dL/dq, on a group the left-trivialised derivative.
template <class System, class T>
RB_HD Vector<T, System::n> configuration_force(const System& system, const Vector<T, element_size<System>>& q,
                                               const Vector<T, System::n>& v) {
  constexpr int n = System::n;
  if constexpr (Separable<System>) {
    return force(system, q);
  } else {
    using D = Dual<T, n>;
    Vector<D, n> y;
    RB_UNROLL
    for (int i = 0; i < n; ++i) y[i] = D(v[i]);
    const D l = lagrangian(system, seeded_configuration<group_of<System>, D>(q), y);
    Vector<T, n> f;
    RB_UNROLL
    for (int i = 0; i < n; ++i) f[i] = l.partial[i];
    return f;
  }
}

/// dH/dp and -dH/dq, on a group the left-trivialised derivative.
template <class System, class T>
RB_HD void hamiltonian_rates(const System& system, const Vector<T, element_size<System>>& q,
                             const Vector<T, System::n>& p, Vector<T, System::n>& velocity,
                             Vector<T, System::n>& force) {
  constexpr int n = System::n;
  using D = Dual<T, 2 * n>;
  const D h = system.hamiltonian(seeded_configuration<group_of<System>, D>(q), seeded_velocity<D, n>(p));
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    velocity[i] = h.partial[n + i];
    force[i] = -h.partial[i];
  }
}

/// The covectors along which multipliers act, row by row: Phi_v, or Dg where the constraint is holonomic.
template <class System, class T>
RB_HD Matrix<T, System::m, System::n> constraint_forms(const System& system, const Vector<T, element_size<System>>& q,
                                                       const Vector<T, System::n>& v) {
  constexpr int n = System::n, m = System::m;
  if constexpr (is_holonomic<System>) {
    return position_constraint(system, q).jacobian;
  } else if constexpr (AffineConstraint<System>) {
    return system.constraint_matrix(q);
  } else {
    using D = Dual<T, n>;
    Vector<D, element_size<System>> x;
    RB_UNROLL
    for (int i = 0; i < element_size<System>; ++i) x[i] = D(q[i]);
    const Vector<D, m> phi = system.constraint(x, seeded_velocity<D, 0>(v));
    Matrix<T, m, n> forms;
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i) forms[k][i] = phi[k].partial[i];
    }
    return forms;
  }
}

/// v from p = dL/dv(q, v). For a Lagrangian that is not quadratic in v a system gives `velocity(q, p)` itself.
template <class System, class T>
RB_HD Vector<T, System::n> velocity(const System& system, const Vector<T, element_size<System>>& q,
                                    const Vector<T, System::n>& p) {
  constexpr int n = System::n;
  if constexpr (Separable<System>) {
    return Mass<System>(system).inverse_times(p);
  } else if constexpr (requires { system.velocity(q, p); }) {
    return system.velocity(q, p);
  } else {
    // dL/dv = M(q) v + b(q): one Newton step from v = 0 is exact, a second takes out the rounding of the first
    Vector<T, n> v = Vector<T, n>::zero();
    const Lu<T, n> mass(mass_matrix(system, q, v));
    v = mass.solve(p - momentum(system, q, v));
    return v + mass.solve(p - momentum(system, q, v));
  }
}

/// v of a state (q, p); on a group both are in the body or both in space, right trivialised.
template <class System, class T>
RB_HD Vector<T, System::n> velocity_of_state(const System& system, const Vector<T, element_size<System>>& q,
                                             const Vector<T, System::n>& p, bool in_space) {
  if constexpr (on_group<System>) {
    using G = group_of<System>;
    if (in_space) return G::Ad(q, velocity(system, q, G::Ad_star(q, p)));
  }
  return velocity(system, q, p);
}

/// Adds an impulse C^T x to p, C the constraint's forms, after which Phi(q, v(q, p)) = 0; returns x. Exact where v is
/// affine in p and Phi in v, but for round-off, of which a second pass leaves less; the pair of passes is two Newton
/// steps otherwise.
template <class System, class T>
RB_HD_LARGE Vector<T, System::m> impulse_to_constraint(const System& system, const Vector<T, element_size<System>>& q,
                                                       Vector<T, System::n>& p, mask_t<T>& singular) {
  constexpr int n = System::n, m = System::m;
  Vector<T, n> v = velocity(system, q, p);
  const Matrix<T, m, n> forms = constraint_forms(system, q, v);
  Matrix<T, m, m> gram;
  if constexpr (Separable<System>) {
    const Mass<System> mass(system);
    for (int k = 0; k < m; ++k) {
      const Vector<T, n> response = mass.inverse_times(forms[k]);
      for (int i = 0; i < m; ++i) gram[i][k] = dot(forms[i], response);
    }
  } else {
    const Lu<T, n> mass(mass_matrix(system, q, v));
    for (int k = 0; k < m; ++k) {
      const Vector<T, n> response = mass.solve(forms[k]);
      for (int i = 0; i < m; ++i) gram[i][k] = dot(forms[i], response);
    }
  }
  singular = singular | factorise(gram);  // positive definite: needs no exchanges
  auto impulse = Vector<T, m>::zero();
  for (int pass = 0; pass < 2; ++pass) {
    if (pass > 0) v = velocity(system, q, p);
    Vector<T, m> correction = constraint(system, q, v);
    solve_factorised(gram, correction);
    p = p - transpose_times(forms, correction);
    impulse = impulse - correction;
  }
  return impulse;
}

/// Energy v.dL/dv - L.
template <class System, class T>
RB_HD T energy(const System& system, const Vector<T, element_size<System>>& q, const Vector<T, System::n>& v) {
  if constexpr (Separable<System>) {
    return fma(T(0.5), dot(v, Mass<System>(system).times(v)), system.potential(q));
  } else {
    return dot(v, momentum(system, q, v)) - lagrangian(system, q, v);
  }
}

/// Names of the parameters that must be 0 for the separable form to hold.
template <class System>
constexpr auto separable_without() {
  if constexpr (requires { System::separable_without; }) {
    return System::separable_without;
  } else {
    return std::array<const char*, 0>{};
  }
}

/// 1, or what the system gives as `time_scale`.
template <class System>
constexpr double time_scale() {
  if constexpr (requires { System::time_scale; }) {
    return System::time_scale;
  } else {
    return 1.0;
  }
}

/// Names of the components of q; a system may give them as `coordinates`.
template <class System>
constexpr auto coordinate_names() {
  if constexpr (requires { System::coordinates; }) {
    return System::coordinates;
  } else {
    return std::array<const char*, 0>{};
  }
}

/// Number of observables of a system: energy, constraint (when there is one) and, where it is holonomic, the hidden one,
/// invariants.
template <class System>
inline constexpr int observable_count = 1 + (System::m > 0 ? 1 : 0) + (is_holonomic<System> ? 1 : 0) +
                                        static_cast<int>(System::invariants().size());

template <class System>
constexpr auto observables() {
  std::array<ObservableInfo, observable_count<System>> r{};
  std::size_t i = 0;
  r[i++] = {"energy", System::conserves_energy, "energy v.dL/dv - L"};
  if constexpr (is_holonomic<System>) {
    r[i++] = {"constraint", false, "max norm of the constraint g(q)"};
    r[i++] = {"hidden_constraint", false, "max norm of the hidden constraint Dg(q) v"};
  } else if constexpr (System::m > 0) {
    r[i++] = {"constraint", false, "max norm of the constraint Phi(q, v)"};
  }
  for (const ObservableInfo& invariant : System::invariants()) r[i++] = invariant;
  return r;
}

template <class System, class T>
RB_HD Vector<T, observable_count<System>> evaluate_observables(const System& system,
                                                               const Vector<T, element_size<System>>& q,
                                                               const Vector<T, System::n>& v) {
  Vector<T, observable_count<System>> r;
  int i = 0;
  r[i++] = energy(system, q, v);
  if constexpr (is_holonomic<System>) r[i++] = max_norm(system.position_constraint(q));
  if constexpr (System::m > 0) r[i++] = max_norm(constraint(system, q, v));
  if constexpr (System::invariants().size() > 0) {
    const auto own = system.evaluate_invariants(q, v);
    RB_UNROLL
    for (int j = 0; j < own.size; ++j) r[i + j] = own[j];
  }
  return r;
}

RB_NAMESPACE_END
