// Runge-Kutta tableaus and Crouch-Grossman sets: order conditions, partners; the options of the methods that use them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "named.hpp"
#include "rattleback/methods/lie/vcg_entry.hpp"
#include "rooted_trees.hpp"

using namespace rattleback;

namespace {

/// The set as a tableau.
constexpr RungeKuttaTableau tableau_of(const CrouchGrossmanSet& set) {
  static_assert(max_explicit_stages >= 7);
  RungeKuttaTableau tableau{set.name, set.substeps, set.order, {}, {}};
  for (int i = 0; i < set.substeps; ++i) {
    tableau.b[i] = set.weight[i];
    tableau.a[i][i] = set.theta[i] * set.weight[i];
    for (int j = 0; j < i; ++j) tableau.a[i][j] = set.weight[j];
  }
  return tableau;
}

/// Whether b_i a_ij + b_j a_ji = b_i b_j: the tableau is its own partner ahat.
constexpr bool is_symplectic(const RungeKuttaTableau& t) {
  for (int i = 0; i < t.stages; ++i)
    for (int j = 0; j < t.stages; ++j) {
      const double lack = t.b[i] * t.a[i][j] + t.b[j] * t.a[j][i] - t.b[i] * t.b[j];
      if (lack > 1e-14 || lack < -1e-14) return false;
    }
  return true;
}

TEST(RungeKuttaTableaus, SatisfyTheirOrderConditionsAndNoMore) {
  for (const RungeKuttaTableau& t : runge_kutta_tableaus) {
    SCOPED_TRACE(t.name);
    const auto order = static_cast<std::size_t>(t.order);
    const auto trees = rooted_trees(t, t.order + 1);
    for (std::size_t nodes = 1; nodes <= order; ++nodes) EXPECT_LT(defect(t, trees[nodes]), 1e-13) << nodes;
    EXPECT_GT(defect(t, trees[order + 1]), 1e-4);
  }
}

TEST(RungeKuttaTableaus, AndThoseOfTheirPairs) {
  for (const RungeKuttaTableau& t : runge_kutta_tableaus) {
    SCOPED_TRACE(t.name);
    EXPECT_EQ(variational_tableau_fault(t), nullptr);
    EXPECT_EQ(symplectic_pair_order(t), std::min(t.order, 4));
    EXPECT_EQ(is_symplectic(t), std::string(t.name).starts_with("gauss"));
  }
  // Heun's third-order method has a weight 0; Ralston's has a partner of order 2
  const RungeKuttaTableau heun{"heun3", 3, 3, {{}, {1.0 / 3}, {0.0, 2.0 / 3}}, {0.25, 0.0, 0.75}};
  EXPECT_NE(variational_tableau_fault(heun), nullptr);
  const RungeKuttaTableau ralston{"ralston3", 3, 3, {{}, {0.5}, {0.0, 0.75}}, {2.0 / 9, 1.0 / 3, 4.0 / 9}};
  EXPECT_EQ(symplectic_pair_order(ralston), 2);
  EXPECT_EQ(named(runge_kutta_tableaus, "gauss3")->stages, 3);
  EXPECT_EQ(named(runge_kutta_tableaus, "gauss"), nullptr);
}

TEST(CrouchGrossmanSets, SatisfyTheirOrderConditions) {
  for (const CrouchGrossmanSet& set : crouch_grossman_sets) {
    SCOPED_TRACE(set.name);
    const RungeKuttaTableau t = tableau_of(set);
    const auto trees = rooted_trees(t, 6);
    for (int nodes = 1; nodes <= set.order; ++nodes)
      EXPECT_LT(defect(t, trees[static_cast<std::size_t>(nodes)]), 1e-12) << nodes;
    // with <u, v> = sum b u v, all products of c, chat and B (partial sums of weights) are 1/3 from order 3 on
    std::vector<double> vectors[3];
    double before = 0.0;
    for (int i = 0; i < t.stages; ++i) {
      double c = 0.0, c_hat = 1.0;
      for (int j = 0; j < t.stages; ++j) {
        c += t.a[i][j];
        c_hat -= t.b[j] * t.a[j][i] / t.b[i];
      }
      vectors[0].push_back(c);
      vectors[1].push_back(c_hat);
      vectors[2].push_back(before + 0.5 * t.b[i]);
      before += t.b[i];
    }
    double worst = 0.0;
    for (const auto& u : vectors)
      for (const auto& v : vectors) {
        double sum = 0.0;
        for (int i = 0; i < t.stages; ++i) {
          const auto k = static_cast<std::size_t>(i);
          sum += t.b[i] * u[k] * v[k];
        }
        worst = std::max(worst, std::fabs(sum - 1.0 / 3));
      }
    if (set.order >= 3) {
      EXPECT_LT(worst, 1e-15);
    } else {
      EXPECT_GT(worst, 1e-2);
    }
  }
}

/// A system on a group; that is all that matters here.
SystemEntry group_system() {
  SystemEntry system{};
  system.on_group = true;
  return system;
}
methods::VrkmkSettings vrkmk_settings(int stages, const char* tableau, int cutoff, const std::vector<double>& a = {},
                                      const std::vector<double>& b = {}) {
  const auto choice = std::ranges::find(methods::vrkmk_tableaus, std::string_view(tableau));
  return {.stages = stages,
          .tableau = int(choice - methods::vrkmk_tableaus.begin()),
          .cutoff = cutoff,
          .iteration = StageIteration::newton,
          .a = {int(std::sqrt(double(a.size()))), a},
          .b = b};
}
Settlement vrkmk_options(int stages, const char* tableau, int cutoff, const std::vector<double>& a = {},
                         const std::vector<double>& b = {}) {
  return methods::settle_vrkmk<false>(vrkmk_settings(stages, tableau, cutoff, a, b), group_system());
}

TEST(VariationalOptions, GiveTheNumbersOfTheStep) {
  const auto automatic = vrkmk_options(3, "gauss3", -1), explicit_cutoff = vrkmk_options(3, "gauss", 4);
  EXPECT_EQ(automatic.verdict, Settled::good);
  const auto expected =
      Settlement::of(VrkmkNumbers<3>::of(StageIteration::newton, *named(runge_kutta_tableaus, "gauss3"), 4, false))
          .numbers;
  for (std::size_t i = 0; i < max_method_numbers; ++i) {
    EXPECT_EQ(automatic.numbers[i], expected[i]);
    EXPECT_EQ(explicit_cutoff.numbers[i], expected[i]);
  }
  // the same tableau, given
  const double r = 0.28867513459481288225;
  const auto given = vrkmk_options(2, "given", -1, {0.25, 0.25 - r, 0.25 + r, 0.25}, {0.5, 0.5});
  const auto named = vrkmk_options(2, "gauss2", -1);
  EXPECT_EQ(given.verdict, Settled::good);
  for (std::size_t i = 0; i < max_method_numbers; ++i) EXPECT_EQ(given.numbers[i], named.numbers[i]);
}

TEST(VariationalOptions, KnowTheStagesAndTheOrder) {
  const auto stages = [](const char* tableau, const std::vector<double>& b = {}) {
    return methods::stages_of_vrkmk(vrkmk_settings(2, tableau, -1, {}, b));
  };
  EXPECT_EQ(stages("gauss"), 2);
  EXPECT_EQ(stages("kutta3"), 3);
  EXPECT_EQ(stages("given", {1.0}), 1);
  const SystemEntry on_group = group_system(), on_rn{};
  const auto order = [&](int of_stages, const char* tableau, int cutoff, const SystemEntry& system) {
    return methods::order_of_vrkmk<false>(vrkmk_settings(of_stages, tableau, cutoff), system);
  };
  EXPECT_EQ(order(4, "gauss", -1, on_group), 8);
  EXPECT_EQ(order(3, "kutta3", -1, on_group), 3);
  for (const auto& [cutoff, expected] : {std::pair{0, 2}, {1, 3}, {2, 5}, {4, 6}})
    EXPECT_EQ(order(3, "gauss3", cutoff, on_group), expected);
  EXPECT_EQ(methods::order_of_vrkmk<true>(vrkmk_settings(3, "gauss3", 2), on_group), 4);
  EXPECT_EQ(order(3, "gauss3", 0, on_rn), 6);
}

TEST(VariationalOptions, SayWhatIsWrong) {
  const auto refused = [](const Settlement& outcome, const char* part) {
    EXPECT_EQ(outcome.verdict, Settled::refused);
    EXPECT_NE(outcome.message.find(part), std::string::npos) << outcome.message;
  };
  refused(vrkmk_options(2, "gauss3", -1), "leave stages out");
  refused(vrkmk_options(2, "given", -1, {0.0, 0.0, 1.0, 0.0}, {1.0, 0.0}), "a weight b_i is 0");
  refused(vrkmk_options(2, "given", -1, {0.0}, {0.5, 0.5}), "not a square matrix");
  refused(vrkmk_options(2, "given", -1, {0.0, 0.0, 1.0, 0.0}, {0.5, 0.6}), "do not sum to 1");
  refused(vrkmk_options(3, "given", -1, {0.0, 0.0, 1.0, 0.0}, {0.5, 0.5}), "leave stages out");
  refused(vrkmk_options(4, "given", -1, std::vector<double>(25), std::vector<double>(5, 0.2)), "give 1 to 4");
  refused(vrkmk_options(2, "given", -1), "method.b has 0 weights");
  refused(vrkmk_options(2, "gauss2", -1, {1.0}), "set tableau = \"given\"");
  const auto low = vrkmk_options(2, "gauss2", 1);
  EXPECT_EQ(low.verdict, Settled::doubtful);
  EXPECT_NE(low.message.find("from 4 to 3"), std::string::npos) << low.message;
  EXPECT_EQ(vrkmk_options(3, "kutta3", 1).verdict, Settled::good);

  const auto vcg = [](int tableau, std::vector<double> weights, std::vector<double> theta) {
    return methods::settle_vcg({tableau, StageIteration::newton, std::move(weights), std::move(theta)}, group_system());
  };
  const int own = int(methods::vcg_sets.size()) - 1;
  EXPECT_EQ(vcg(1, {}, {}).verdict, Settled::good);
  refused(vcg(1, {1.0}, {}), "set tableau");
  refused(vcg(own, {0.5, 0.5}, {0.5}), "2 and 1 numbers");
  refused(vcg(own, {0.5, 0.4}, {0.5, 0.5}), "sum to 0.9");
  EXPECT_EQ(vcg(own, {0.5, 0.5}, {0.0, 1.0}).verdict, Settled::good);
}

}  // namespace
