#pragma once
// Runge-Kutta tableaus with implicit stages, in the form of explicit.hpp, and coefficients of Crouch-Grossman methods.

#include <cstddef>

#include "rattleback/tableaus/explicit.hpp"

RB_NAMESPACE_BEGIN

/// A tableau whose stages may be implicit.
using RungeKuttaTableau = ExplicitTableau;

/// The named tableaus. `order` is the order of the pair with ahat_ij = b_j - b_j a_ji/b_i. This pair is the symplectic
/// partitioned method to which variational integrators reduce on R^n.
inline constexpr RungeKuttaTableau runge_kutta_tableaus[] = {
    {"gauss1", 1, 2, {{0.5}}, {1.0}},
    {"gauss2", 2, 4, {{0.25, 0.25 - 0.28867513459481288225}, {0.25 + 0.28867513459481288225, 0.25}}, {0.5, 0.5}},
    {"gauss3",
     3,
     6,
     {{5.0 / 36, 2.0 / 9 - 0.25819888974716112568, 5.0 / 36 - 0.12909944487358056284},
      {5.0 / 36 + 0.16137430609197570355, 2.0 / 9, 5.0 / 36 - 0.16137430609197570355},
      {5.0 / 36 + 0.12909944487358056284, 2.0 / 9 + 0.25819888974716112568, 5.0 / 36}},
     {5.0 / 18, 4.0 / 9, 5.0 / 18}},
    {"gauss4",
     4,
     8,
     {{0.086963711284363464343, -0.026604180084998793313, 0.012627462689404724515, -0.0035551496857956831569},
      {0.18811811749986807165, 0.16303628871563653566, -0.027880428602470895224, 0.0067355005945381555154},
      {0.16719192197418877317, 0.35395300603374396654, 0.16303628871563653566, -0.014190694931141142964},
      {0.17748257225452261184, 0.3134451147418683468, 0.35267675751627186463, 0.086963711284363464343}},
     {0.17392742256872692869, 0.32607257743127307131, 0.32607257743127307131, 0.17392742256872692869}},
    {"kutta3", 3, 3, {{}, {0.5}, {-1.0, 2.0}}, {1.0 / 6, 2.0 / 3, 1.0 / 6}},
    {"rk4", 4, 4, {{}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}},
    // Lobatto IIIA
    {"trapezoidal", 2, 2, {{}, {0.5, 0.5}}, {0.5, 0.5}},
    {"lobatto3", 3, 4, {{}, {5.0 / 24, 1.0 / 3, -1.0 / 24}, {1.0 / 6, 2.0 / 3, 1.0 / 6}}, {1.0 / 6, 2.0 / 3, 1.0 / 6}},
    {"lobatto4",
     4,
     6,
     {{},
      {0.11030056647916491413, 0.18969943352083508587, -0.033907364229143883777, 0.010300566479164914135},
      {0.073032766854168419196, 0.45057403089581055044, 0.22696723314583158081, -0.026967233145831580808},
      {1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12}},
     {1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12}},
};

/// The Gauss method of 1 to 4 stages; these methods come first among the named tableaus.
constexpr const RungeKuttaTableau& gauss_tableau(int stages) { return runge_kutta_tableaus[stages - 1]; }

/// A Crouch-Grossman method that runs one stage after the other: one-stage methods with a = theta_i and steps
/// weight_i h. As one tableau, a_ij = weight_j for j < i, a_ii = theta_i weight_i and b_i = weight_i.
inline constexpr int max_substeps = 16;
struct CrouchGrossmanSet {
  const char* name;
  int substeps;
  int order;  ///< 0 if unknown
  double theta[max_substeps], weight[max_substeps];
};

inline constexpr CrouchGrossmanSet crouch_grossman_sets[] = {
    {"midpoint", 1, 2, {0.5}, {1.0}},
    {"triple-jump4", 3, 4, {0.5, 0.5, 0.5}, {1.3512071919596576340, -1.7024143839193152681, 1.3512071919596576340}},
    // H. Yoshida, Phys. Lett. A 150 (1990) 262, solution A of order 6.
    {"yoshida6",
     7,
     6,
     {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
     {0.78451361047755726381949763, 0.23557321335935813368479318, -1.17767998417887100694641568,
      1.31518632068391121888424973, -1.17767998417887100694641568, 0.23557321335935813368479318,
      0.78451361047755726381949763}},
    // R. D. Ruth, IEEE Trans. Nucl. Sci. 30 (1983) 2669: alternating Euler methods.
    {"ruth3", 5, 3, {0.0, 1.0, 0.0, 1.0, 0.0}, {7.0 / 24, 9.0 / 24, 9.0 / 24, -25.0 / 24, 1.0}},
};

/// The order, at most 4, of the pair of a tableau and the partner ahat_ij = b_j - b_j a_ji/b_i, by the order conditions
/// of W. W. Hager, Numer. Math. 87 (2000) 247, with d_j = sum_i b_i a_ij.
constexpr int symplectic_pair_order(const RungeKuttaTableau& t) {
  const int s = t.stages;
  double c[max_explicit_stages] = {}, d[max_explicit_stages] = {};
  for (int i = 0; i < s; ++i)
    for (int j = 0; j < s; ++j) {
      c[i] += t.a[i][j];
      d[j] += t.b[i] * t.a[i][j];
    }
  double b = 0, dd = 0, bcc = 0, ddb = 0, dac = 0, bccc = 0, bcac = 0, dcc = 0, cddb = 0, dddbb = 0, bcad = 0, dad = 0;
  for (int i = 0; i < s; ++i) {
    b += t.b[i];
    dd += d[i];
    bcc += t.b[i] * c[i] * c[i];
    ddb += d[i] * d[i] / t.b[i];
    bccc += t.b[i] * c[i] * c[i] * c[i];
    dcc += d[i] * c[i] * c[i];
    cddb += c[i] * d[i] * d[i] / t.b[i];
    dddbb += d[i] * d[i] * d[i] / (t.b[i] * t.b[i]);
    for (int j = 0; j < s; ++j) {
      dac += d[i] * t.a[i][j] * c[j];
      bcac += t.b[i] * c[i] * t.a[i][j] * c[j];
      bcad += t.b[i] * c[i] * t.a[i][j] * d[j] / t.b[j];
      dad += d[i] * t.a[i][j] * d[j] / t.b[j];
    }
  }
  const auto holds = [](double value, double expected) {
    const double lack = value - expected;
    return lack <= 1e-12 && lack >= -1e-12;
  };
  if (!holds(b, 1.0)) return 0;
  if (!holds(dd, 0.5)) return 1;
  if (!holds(bcc, 1.0 / 3) || !holds(ddb, 1.0 / 3)) return 2;
  // The condition on sum d_i c_i is the third condition for trees of three nodes.
  double dc = 0;
  for (int i = 0; i < s; ++i) dc += d[i] * c[i];
  if (!holds(dc, 1.0 / 6)) return 2;
  if (!holds(bccc, 0.25) || !holds(bcac, 0.125) || !holds(dcc, 1.0 / 12) || !holds(dac, 1.0 / 24) ||
      !holds(cddb, 1.0 / 12) || !holds(dddbb, 0.25) || !holds(bcad, 5.0 / 24) || !holds(dad, 0.125))
    return 3;
  return 4;
}

/// The fault of a tableau as a variational method, or null.
constexpr const char* variational_tableau_fault(const RungeKuttaTableau& tableau) {
  double sum = -1.0;
  for (int i = 0; i < tableau.stages; ++i) {
    if (tableau.b[i] == 0.0) return "a weight b_i is 0, by which the momentum equations divide";
    sum += tableau.b[i];
  }
  if (!(sum <= 1e-12 && sum >= -1e-12)) return "the weights b_i do not sum to 1: the method is not consistent";
  return nullptr;
}

RB_NAMESPACE_END
