#pragma once
// The method hbvm in the catalogue: options, checks, texts.

#include <cstdio>

#include "rattleback/catalogue/option.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr const char* hbvm_constraints[] = {"line-integral", "direct"};
inline constexpr const char* hbvm_iterations[] = {"fixed-point", "newton"};
inline constexpr OptionInfo hbvm_options[] = {
    {.name = "s",
     .kind = OptionKind::integer,
     .text = "number of coefficients of the velocity",
     .standard = 2,
     .minimum = 1,
     .maximum = legendre_terms_max,
     .compiled = true},
    {.name = "k",
     .kind = OptionKind::integer,
     .text =
         "number of nodes of the quadrature, at least s; the energy is conserved for potentials of degree up to 2k/s",
     .standard = 6,
     .minimum = 1,
     .maximum = legendre_nodes_max},
    {.name = "constraint",
     .kind = OptionKind::choice,
     .text = "what determines the multiplier: the mean of d/dt g over the step vanishes, or g at its end",
     .choices = hbvm_constraints},
    {.name = "iteration",
     .kind = OptionKind::choice,
     .text = "how a step is solved; where the fixed point does not contract, Newton's method follows in any case",
     .choices = hbvm_iterations},
    {.name = "compensated",
     .kind = OptionKind::flag,
     .text = "the rounding errors of q and p are carried along and added later: those of the sums vanish"}};

/// Writes the numbers of the step; refuses k < s.
inline Settled settle_hbvm(std::span<const OptionValue> values, const SystemEntry&, double* numbers, char* message,
                           int message_size) {
  const int s = static_cast<int>(values[0].number), k = static_cast<int>(values[1].number);
  if (k < s) {
    std::snprintf(
        message, static_cast<std::size_t>(message_size),
        "k = %d nodes are fewer than the s = %d coefficients (k >= s is needed for the quadrature of their products); "
        "set k = %d or more",
        k, s, s);
    return Settled::refused;
  }
  hbvm_numbers(s, {k, values[2].number != 0.0, values[3].number != 0.0}, numbers);
  return Settled::good;
}

/// The order of q. The component of the momentum along the constraint forces has order 2.
inline int order_of_hbvm(std::span<const OptionValue> values, const SystemEntry& system) {
  const int s = static_cast<int>(values[0].number);
  return system.m > 0 && s > 1 ? 4 : 2 * s;
}

inline constexpr MethodEntry hbvm{
    .name = "hbvm",
    .summary =
        "line-integral method HBVM(k, s); conserves the energy where the quadrature of k nodes is exact; symmetric",
    .source =
        "L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral Solution of Hamiltonian Systems "
        "with Holonomic Constraints, eqs. (49)-(52)",
    .order = "2s without constraints; with them q: 2 (s = 1) or 4, p: 2, lambda: 1",
    .constraints = ConstraintKind::holonomic | ConstraintKind::none,
    .options = hbvm_options,
    .carries_multiplier = true,
    .settle = settle_hbvm,
    .order_of = order_of_hbvm,
    .needs = "a Lagrangian v.Mv/2 - U(q) on R^n",
    .separable_form = true,
    .exact_constraint = false,
    .exact_hidden_constraint = false,
    .compensation = "compensated"};

}  // namespace methods

RB_NAMESPACE_END
