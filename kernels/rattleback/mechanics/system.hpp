#pragma once
// The members of a mechanical system, and the quantities that follow by differentiation.
//
// A system is a struct template over the scalar T. Its data members are the parameters, all of type T, in the order of
// `parameters()`. The configuration space is R^n, or the Lie group that the system names (`using Group = SO3;`). On a
// group q is an element as stored in lie/, v is the left-trivialised velocity eta = g^-1 dg/dt in R^n, and derivatives
// by q are left trivialised, d/de f(g tau(e zeta)) at e = 0. A system gives either
//
//   T lagrangian(q, v)                              any regular Lagrangian L(q, v), with
//   static bool quadratic = false                   where L is not quadratic in v, and
//   Vector<T, m> constraint(q, v)                   Phi(q, v) = 0,
//
// which on R^n may state, for speed, the coordinates `active` that L and a velocity constraint depend on, and
//
//   Vector<T, n + a + n(n+1)/2 + a n> lagrangian_derivatives(q, v)
//                                                   L_v, L_q by the a active coordinates, the rows of the upper triangle of
//                                                   L_vv, and the derivatives of L_v by each active coordinate,
//
// or the separable form L = v.Mv/2 - U(q) with a constraint affine in v, which methods exploit:
//
//   T potential(q)                                  U
//   Vector<T, n> force(q)                           -grad U by hand (optional)
//   Vector<T, n> mass_diagonal() / Matrix<T, n, n> mass_matrix()      constant M (optional; identity otherwise)
//   static bool mass_entry(row, column)             sparsity of M (optional)
//   Matrix<T, m, n> constraint_matrix(q)            Phi = mu(q) v + d(q)
//   Vector<T, m> constraint_offset(q)               d (optional)
//   static bool constraint_entry(row, column)       sparsity of mu (optional)
//
// or the parts of L = v.M(q)v/2 + A(q).v - U(q) on R^n, with a constraint affine in v, a holonomic one or none, which
// the Lobatto pairs, the GGL family and the energy-momentum schemes use (mechanics/quadratic.hpp):
//
//   mass_matrix(q)                                  M: S (a multiple of the identity), Vector<S, n> (diagonal) or
//                                                   Matrix<S, n, n>
//   Vector<S, n> vector_potential(q)                A (optional)
//   S potential(q)                                  U (optional)
//   static std::array<int, k> active                the coordinates that M, A, U and a velocity constraint depend on
//                                                   (optional; all). A system that gives `lagrangian` too must give
//                                                   `active`; otherwise methods use `lagrangian`
//   static bool mass_entry(row, column)             sparsity of M, and of the derivatives by coordinate k of M, A and U
//   static bool mass_varies(row, column, k)         (optional, for speed)
//   static bool vector_potential_varies(i, k)
//   static bool potential_varies(k)
//
// and, where M varies with many coordinates, the derivatives of L by hand (optional, for speed and short compilation),
//
//   Vector<S, n + a> momentum_and_force(q, v)       L_v, then L_q by the a active coordinates
//   Matrix<S, a, n> momentum_by_coordinates(q, v)   rows: the derivatives of L_v by each active coordinate
//
// A system may give both `lagrangian` and the separable form. Then `lagrangian` is L, and `potential` and the mass belong
// to the separable form of L. The separable form holds where the parameters in `separable_without` are 0; methods for
// separable systems take the system only there.
//
// A driven system (driven.hpp) gives an applied force, a function that depends on the time with the time first, or both:
//
//   Vector<T, n> force(t, q, v)                     pairs with v; on a group in the frame of the body
//   static bool force_of_velocity = false           where it does not depend on v (optional, for speed)
//   T potential(t, q), lagrangian(t, q, v), ..      each of the functions here on its own
//   Vector<T, k> parts_of_time(t)                   what these take from the time alone (optional, for speed)
//
// For a holonomic constraint a system gives, instead of the velocity constraint,
//
//   Vector<T, m> position_constraint(q)             g(q) = 0; Phi = Dg(q) v, the hidden constraint, follows
//   Matrix<T, m, n> position_jacobian(q)            Dg by hand (optional); constraint_entry is then its sparsity
//   static bool constraint_hessian_entry(i, j)      whether some d^2 g_k/dq_i dq_j is there (optional, for speed)
//   static int constraint_opposite(row, column)     the column with the negated entry of Dg, or `column` (optional)
//
// A system with constraints of both kinds gives position_constraint, the velocity constraint with the other rows, and
//
//   static constexpr int positions                  how many of the m constraints are on positions; they come first
//
// A separable holonomic system may state more structure for methods with condensed equations (concept `Blocks`):
//
//   static constexpr int block                      coordinates form groups of `block` coordinates; within a group the
//                                                   mass and the second derivatives below are multiples of the
//                                                   identity (particles, directors)
//   position_jacobian(q) as above                   affine in q: g is at most quadratic
//   Matrix<T, n/block, n/block> constraint_hessian(a)    sum_k a_k D^2 g_k, constant, an entry for each pair of groups
//   static constexpr int terms                      U = linear function + sum_a f_a(pi_a), a < terms, with pi_a
//                                                   at most quadratic
//   T potential_term<a>(pi)                         f_a
//   Vector<T, terms> potential_invariants(q)        pi_a, with the symmetries of U
//   Matrix<T, terms, n> potential_invariants_jacobian(q)
//   Matrix<T, n/block, n/block> potential_invariants_hessian(c)    sum_a c_a D^2 pi_a, constant
//
// A Lagrangian system that is not separable may give
//
//   Vector<T, n> velocity(q, p)                     the inverse of p = dL/dv (by Newton's method otherwise)
//   T hamiltonian(q, p)                             v.p - L (optional)
//
// Some methods take systems without a Lagrangian, or with a singular one. Such a system gives
//
//   T hamiltonian(q, p)                             H, p in the dual of the algebra
//
// alone, and its energy is H(q, p). `velocity` is dH/dp unless the system gives it; momenta follow from velocities where d2H/dp2
// is regular, and a study gives the momenta of its initial states otherwise.
//
// A regular Hamiltonian, which velocities determine the momenta of, gives a Lagrangian system. Besides `hamiltonian` it gives
//
//   Vector<T, n> velocity(q, p)                     H_p
//   Matrix<T, n, n> inverse_mass(q, p)              H_pp
//   Vector<T, n> momentum(q, v)                     p with v = H_p (detail::momentum_by_hamiltonian of legendre.hpp)
//   lagrangian(q, v), lagrangian_derivatives(q, v)  v.p - H, as above (detail::derivatives_by_hamiltonian)
//   static bool by_hamiltonian                      its energy is H(q, p)
//
// The invariants may be functions of the momentum too, evaluate_invariants(q, v, p). A system whose default state has a momentum of
// its own, in place of that of default_v, gives `default_p`.
//
// Some methods hold v and p in space, right trivialised: Ad_g v and Ad*_{g^-1} p. Systems always use left-trivialised
// v and p.
//
// A system with a known motion may give
//
//   bool exact(double time, Vector<double, n>& q, Vector<double, n>& v)
//                                                   moves the state by `time`, in place, to round-off; host only.
//                                                   Returns false where the parameters or the state have no
//                                                   known solution
//
// The functions are templates over the scalar of their argument, so that dual numbers work too. Static members describe the system to
// the catalogue: name, summary, configuration, source, default_q and default_v, and those that a system leaves out where it has
// nothing to say (stated.hpp): kind, variant, alias, parameters(), structure(), invariants(), conserves_energy, coordinates, time_scale.
// `invariants()` names the values of `evaluate_invariants(q, v)`.

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"
#include "rattleback/mechanics/legendre.hpp"
#include "rattleback/mechanics/observables.hpp"
#include "rattleback/mechanics/projection.hpp"
