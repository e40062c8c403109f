#pragma once
// Formulas whose parts overflow although their values do not, such as 1/(1 + exp(x)) and its derivatives.

#include "rattleback/language/algebra.hpp"

namespace rattleback {

/// Returns a node with the same value, in which quotients, negative powers and logarithms of sums and products with exp, sinh
/// and cosh do not overflow where their value is finite. Such a sum is written as m exp(s), where s is its largest exponent,
/// and exponents are added and subtracted before exp is taken. Dual numbers of the result are finite, too. Nodes without such
/// parts stay as they are. The result has comparisons, which secants (real/secant.hpp) do not take.
[[nodiscard]] int without_overflow(ExpressionAlgebra& algebra, int node);

}  // namespace rattleback
