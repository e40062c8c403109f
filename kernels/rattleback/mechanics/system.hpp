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

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"
#include "rattleback/mechanics/observables.hpp"
#include "rattleback/mechanics/projection.hpp"
