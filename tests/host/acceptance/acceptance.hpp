#pragma once
// What the acceptance tests share.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/rattleback.hpp"
#include "testing.hpp"

namespace rattleback::tests {

inline std::vector<double> values(const Result& result, const std::string& path) {
  const auto x = result.array(path);
  return {x.begin(), x.end()};
}
inline double largest(const Result& result, const std::string& observable, const std::string& statistic) {
  return std::ranges::max(result.statistic(observable, statistic));
}
inline void expect_ratio(double value, double expected, double tolerance, const std::string& what = "") {
  EXPECT_NEAR(value / expected, 1.0, tolerance) << what << ": " << value << " instead of " << expected;
}

/// Examples that need a system left out of this build are skipped.
class Families : public testing::Test {
 protected:
  static Study load(const std::string& example, const std::vector<std::string>& overrides = {}) {
    return Study::load(fmt::format("{}/{}.toml", RATTLEBACK_EXAMPLES, example), overrides);
  }
  static Result result(const std::string& example, const std::vector<std::string>& overrides = {}) {
    return run(load(example, overrides));
  }
  static std::string message(const std::string& example, const std::vector<std::string>& overrides) {
    try {
      (void)result(example, overrides);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
};

}  // namespace rattleback::tests
