#pragma once
// The numbers that a composed step reads.

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// Count of weights of a composition (tableaus/compositions.hpp), at most: of substeps as drifts and kicks.
inline constexpr int max_given_weights = 14, max_composition_weights = 4 * max_given_weights + 3;

/// How many substeps there are, and their weights; of a splitting how many drifts, and the weights b_0, a_1, b_1, .., a_k, b_k of kicks and
/// drifts.
struct CompositionNumbers {
  double count = 0.0, weights[max_composition_weights]{};
};

RB_NAMESPACE_END
