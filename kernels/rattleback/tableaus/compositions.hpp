#pragma once
// Symmetric compositions of a symmetric step of order 2 with itself, and symmetric splittings of L = v.Mv/2 - U(q) into drifts
// q += h a M^-1 p and kicks p -= h b U_q(q).
//
//   suzuki4        M. Suzuki, Phys. Lett. A 146 (1990) 319
//   kahan-li6, 8   W. Kahan, R.-C. Li, Math. Comp. 66 (1997) 1089, 9 substeps of order 6 (s9odr6a), 17 of order 8 (s17odr8a)
//   blanes-moan..  S. Blanes, P. C. Moan, J. Comput. Appl. Math. 142 (2002) 313, S_6 and S_10 of table 2, SRKN_6^b, SRKN_11^b and
//                  SRKN_14^a of table 3. Those of table 3 need forces that depend on q alone.

#include <iterator>

#include "rattleback/tableaus/composition_numbers.hpp"

RB_NAMESPACE_BEGIN

/// The palindrome is given by its first half: weights of substeps, or weights of drifts and kicks in turn. The middle weight,
/// and the one before it in a splitting, follow from the sums 1 (compositions; drifts; kicks).
struct Composition {
  enum class Kind { plain, substeps, drift_first, kick_first };
  const char* name;
  Kind kind;
  int order, given;  ///< order of the composed step; count of weights
  double weight[max_given_weights];
};

inline constexpr Composition compositions[] = {
    {"none", Composition::Kind::plain, 2, 0, {}},
    {"suzuki4", Composition::Kind::substeps, 4, 2, {0.41449077179437573714235406, 0.41449077179437573714235406}},
    {"kahan-li6",
     Composition::Kind::substeps,
     6,
     4,
     {0.39216144400731413927925056, 0.33259913678935943859974864, -0.70624617255763935980996482,
      0.08221359629355080023149045}},
    {"kahan-li8",
     Composition::Kind::substeps,
     8,
     8,
     {0.13020248308889008087881763, 0.56116298177510838456196441, -0.38947496264484728640807860,
      0.15884190655515560089621075, -0.39590389413323757733623154, 0.18453964097831570709183254,
      0.25837438768632204729397911, 0.29501172360931029887096624}},
    {"blanes-moan4",
     Composition::Kind::drift_first,
     4,
     5,
     {0.0792036964311957, 0.209515106613362, 0.353172906049774, -0.143851773179818, -0.0420650803577195}},
    {"blanes-moan6",
     Composition::Kind::drift_first,
     6,
     9,
     {0.0502627644003922, 0.148816447901042, 0.413514300428344, -0.132385865767784, 0.0450798897943977,
      0.067307604692185, -0.188054853819569, 0.432666402578175, 0.541960678450780}},
    {"blanes-moan-rkn4",
     Composition::Kind::kick_first,
     4,
     5,
     {0.0829844064174052, 0.245298957184271, 0.396309801498368, 0.604872665711080, -0.0390563049223486}},
    {"blanes-moan-rkn6",
     Composition::Kind::kick_first,
     6,
     10,
     {0.0414649985182624, 0.123229775946271, 0.198128671918067, 0.290553797799558, -0.0400061921041533,
      -0.127049212625417, 0.0752539843015807, -0.246331761062075, -0.0115113874206879, 0.357208872795928}},
    {"blanes-moan-rkn6-14",
     Composition::Kind::drift_first,
     6,
     13,
     {0.0378593198406116, 0.09171915262446165, 0.102635633102435, 0.183983170005006, -0.0258678882665587,
      -0.05653436583288827, 0.314241403071447, 0.004914688774712854, -0.130144459517415, 0.143761127168358,
      0.106417700369543, 0.328567693746804, -0.00879424312851058}},
};

/// The numbers of a composition; with `split` those of a splitting. Half a kick, a drift and half a kick make a substep.
constexpr CompositionNumbers composition_numbers(const Composition& composition, bool split) {
  CompositionNumbers numbers;
  double* out = numbers.weights;
  const bool substeps = composition.kind == Composition::Kind::substeps;
  double all[2 * max_given_weights + 3]{};  // the palindrome
  const int half = substeps ? composition.given : composition.given + 1, count = 2 * half + 1;
  for (int i = 0; i < composition.given; ++i) all[i] = composition.weight[i];
  const auto rest = [&](int i) {  // of 1/2, from i on
    double sum = 0.5;
    for (int j = i - (substeps ? 1 : 2); j >= 0; j -= substeps ? 1 : 2) sum -= all[j];
    return sum;
  };
  if (!substeps) all[half - 1] = rest(half - 1);
  all[half] = 2.0 * rest(half);
  for (int i = 0; i < half; ++i) all[count - 1 - i] = all[i];
  if (substeps && !split) {
    numbers.count = count;
    for (int i = 0; i < count; ++i) *out++ = all[i];
  } else if (substeps) {
    numbers.count = count;
    *out++ = 0.5 * all[0];
    for (int i = 0; i < count; ++i) {
      *out++ = all[i];
      *out++ = 0.5 * (all[i] + all[i + 1]);  // there is a zero behind the last
    }
  } else {
    const bool drift_first = composition.kind == Composition::Kind::drift_first;
    numbers.count = drift_first ? half + 1 : half;
    if (drift_first) *out++ = 0.0;
    for (int i = 0; i < count; ++i) *out++ = all[i];
    if (drift_first) *out++ = 0.0;
  }
  return numbers;
}
static_assert(
    [] {
      for (const Composition& c : compositions)
        for (const bool split : {false, true})
          if (c.kind != Composition::Kind::plain && composition_numbers(c, split).count == 0.0) return false;
      return true;
    }(),
    "all weights have their places: a place beyond the last is no constant expression");

RB_NAMESPACE_END
