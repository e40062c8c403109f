#pragma once
// What the acceptance tests of the variational Lie group methods share.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Core>

#include "acceptance.hpp"
#include "rattleback/rattleback.hpp"

namespace rattleback::tests {

using Words = std::vector<std::string>;

class Variational : public testing::Test {};

struct Method {
  const char *paper, *name, *tableau;
  [[nodiscard]] Words set() const {
    return {fmt::format("method.name={}", name), fmt::format("method.tableau={}", tableau)};
  }
};
inline constexpr Method vrkmk2{"VRKMK2", "vrkmk", "gauss1"}, vrkmk3{"VRKMK3", "vrkmk", "kutta3"},
    vrkmk4{"VRKMK4", "vrkmk", "gauss2"}, vrkmk6{"VRKMK6", "vrkmk", "gauss3"}, vcg2{"VCG2", "vcg", "midpoint"},
    vcg4{"VCG4", "vcg", "triple-jump4"}, vcg6{"VCG6", "vcg", "yoshida6"};

inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Study vrkmk_example(const char* name, const Words& overrides) {
  return Study::load(fmt::format("{}/vrkmk-{}.toml", RATTLEBACK_EXAMPLES, name), overrides);
}

struct State {
  Eigen::VectorXd q, p;
};
inline State final_state(const Study& study) {
  const Result result = run(study);
  EXPECT_EQ(result.summary.failed, 0u);
  return {result.matrix("/final/q").row(0), result.matrix("/final/p").row(0)};
}

}  // namespace rattleback::tests
