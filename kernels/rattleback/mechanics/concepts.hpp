#pragma once
// Concepts and constants for the members of a system (system.hpp lists these members).

#include "rattleback/lie/rn.hpp"
#include "rattleback/linalg/vector.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class System>
using GroupMember = typename System::Group;
}  // namespace detail
/// The configuration space: R^n where the system names no group.
template <class System>
using group_of = detail::member_or<detail::GroupMember, System, Rn<System::n>>;
/// Whether the system names a Lie group as its configuration space.
template <class System>
inline constexpr bool on_group = requires { typename System::Group; };
/// Count of numbers in a configuration; n on R^n.
template <class System>
inline constexpr int element_size = group_of<System>::element_size;
template <class System, class S = typename System::scalar>
using Configuration = Vector<S, element_size<System>>;

namespace detail {
template <class System>
inline constexpr bool gives_lagrangian =
    requires(const System& s, const Configuration<System>& q, const Vector<typename System::scalar, System::n>& v) {
      s.lagrangian(q, v);
    };
template <class System>
inline constexpr bool gives_mass_matrix =
    requires(const System& s, const Configuration<System>& q) { s.mass_matrix(q); };
template <class System>
inline constexpr bool gives_constant_mass =
    requires(const System& s) { s.mass_diagonal(); } || requires(const System& s) { s.mass_matrix(); };
}  // namespace detail

/// The system is one at a time (mechanics/driven.hpp).
template <class System>
inline constexpr bool timed = requires { typename System::Untimed; };

/// The system states L = v.M(q)v/2 + A(q).v - U(q) by its parts. A system that gives `lagrangian` too says so by its
/// `active` coordinates.
template <class System>
concept StatesParts =
    detail::gives_mass_matrix<System> &&
    (requires { System::active; } || !(detail::gives_lagrangian<System> || detail::gives_constant_mass<System>));

/// The system states L on R^n as one function of q and v, without the parts.
template <class System>
concept LagrangianAlone = !on_group<System> && detail::gives_lagrangian<System> && !StatesParts<System>;
/// Such a system gives the derivatives of L by hand.
template <class System>
concept GivesDerivatives =
    LagrangianAlone<System> && requires(const System& s, const Vector<typename System::scalar, System::n>& q) {
      s.lagrangian_derivatives(q, q);
      System::active;
    };
/// The system says that its Lagrangian is not quadratic in v.
template <class System>
concept NotQuadratic = detail::gives_lagrangian<System> && requires { requires !System::quadratic; };

/// The system gives a potential and a mass matrix: L = v.Mv/2 - U(q) where the parameters of `separable_without` are 0.
template <class System>
concept SeparableForm = requires(const System& s, const Configuration<System>& q) { s.potential(q); } &&
                        (!StatesParts<System> || requires { System::separable_without; });
/// L = v.Mv/2 - U(q) for all parameters.
template <class System>
concept Separable = SeparableForm<System> && !detail::gives_lagrangian<System> && !StatesParts<System>;

namespace detail {
template <class System>
inline constexpr bool gives_position_constraint =
    requires(const System& s, const Configuration<System>& q) { s.position_constraint(q); };
template <class System>
inline constexpr bool gives_constraint_matrix =
    requires(const System& s, const Configuration<System>& q) { s.constraint_matrix(q); };
}  // namespace detail

/// Whether the system has constraints of both kinds: the first `positions` of the m are on positions, the others on velocities.
template <class System>
inline constexpr bool is_mixed = detail::gives_position_constraint<System> && requires { System::positions; };
/// Whether the constraint is on positions, g(q) = 0.
template <class System>
inline constexpr bool is_holonomic = detail::gives_position_constraint<System> && !is_mixed<System>;
namespace detail {
template <class System>
consteval int count_positions() {
  if constexpr (is_mixed<System>) {
    return System::positions;
  } else {
    return is_holonomic<System> ? System::m : 0;
  }
}
}  // namespace detail
/// How many constraints are on positions, and how many on velocities.
template <class System>
inline constexpr int position_count = detail::count_positions<System>();
template <class System>
inline constexpr int velocity_count = System::m - position_count<System>;

template <class System>
concept AffineConstraint = System::m == 0 || (detail::gives_constraint_matrix<System> && !is_mixed<System>);

/// The condensed methods apply: configuration space R^n, constant mass matrix, and a constraint affine in the velocity
/// or none.
template <class System>
concept Condensable = !on_group<System> && Separable<System> && AffineConstraint<System>;

/// Methods use the parts M, A and U, with a constraint affine in the velocity, a holonomic one, or none.
template <class System>
concept Quadratic = !on_group<System> && StatesParts<System> && !Separable<System> &&
                    (AffineConstraint<System> || is_holonomic<System>);

/// The system gives a Hamiltonian. The Hamiltonian may be degenerate: velocities need not determine momenta.
template <class System>
concept HasHamiltonian = requires(const System& s, const Configuration<System>& q,
                                  const Vector<typename System::scalar, System::n>& p) { s.hamiltonian(q, p); };

/// The system gives its Hamiltonian and no Lagrangian.
template <class System>
concept HamiltonianAlone =
    HasHamiltonian<System> && !detail::gives_lagrangian<System> && !detail::gives_mass_matrix<System> &&
    !requires(const System& s, const Configuration<System>& q) { s.potential(q); };
/// The energy of a state is H(q, p), on groups, where velocities need not determine it, and where the system says that its Lagrangian
/// follows from H (`by_hamiltonian`).
template <class System>
concept EnergyOfMomentum =
    HasHamiltonian<System> && (on_group<System> || HamiltonianAlone<System> || requires { System::by_hamiltonian; });

template <class System>
inline constexpr bool has_constraint_offset =
    requires(const System& s, const Configuration<System>& q) { s.constraint_offset(q); };

/// Systems on R^n with a Lagrangian.
template <class System>
concept LagrangianOnRn = !on_group<System> && !HamiltonianAlone<System>;
/// Systems on R^n with a Lagrangian, and holonomic constraints or none. ConstrainedOnRn excludes systems without constraints.
template <class System>
concept HolonomicOnRn = LagrangianOnRn<System> && (System::m == 0 || is_holonomic<System>);
template <class System>
concept ConstrainedOnRn = HolonomicOnRn<System> && System::m > 0;

/// v follows from (q, p) without a linear solve, as the Hamiltonian schemes on R^n need it.
template <class System>
concept ExplicitVelocity =
    Separable<System> ||
    requires(const System& s, const Vector<typename System::scalar, System::n>& q) { s.velocity(q, q); };

/// A Lagrange top in directors, without further forces.
template <class System>
concept LagrangeTop = !timed<System> && requires(const System& s, const Vector<typename System::scalar, System::n>& q) {
  s.angular_momentum(q, q);
  s.axial_inertia;
};

/// Mass, constraint and potential have the form that condensed holonomic methods take; the mass is constant.
template <class System>
concept Blocks = Separable<System> && !timed<System> &&
                 requires(const System& s, const Vector<typename System::scalar, System::n>& q,
                          const Vector<typename System::scalar, System::m>& a) {
                   s.mass_diagonal();
                   s.position_jacobian(q);
                   s.constraint_hessian(a);
                   System::terms;
                 };

RB_NAMESPACE_END
