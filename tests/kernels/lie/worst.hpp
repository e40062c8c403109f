#pragma once
// Comparisons of the tests of Lie groups.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "testing.hpp"

namespace rattleback {

/// The largest error of a test, relative to the size of what is compared where that exceeds `floor`.
class Worst {
 public:
  explicit Worst(double bound = 1e-14, double floor = 1.0) : bound_(bound), floor_(floor) {}
  ~Worst() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::printf("%s, %s: largest error %.2e\n", test->name(), test->type_param() ? test->type_param() : "", worst_);
  }
  template <int N>
  void compare(const Vector<double, N>& a, const Vector<double, N>& b, double scale = 0.0) {
    add(distance(a, b), std::max(scale, max_norm(b)));
  }
  template <int N>
  void compare(const Matrix<double, N, N>& a, const Matrix<double, N, N>& b) {
    double difference = 0.0, size = 0.0;
    for (int i = 0; i < N; ++i) {
      difference = std::max(difference, distance(a[i], b[i]));
      size = std::max(size, max_norm(b[i]));
    }
    add(difference, size);
  }
  void compare(double a, double b, double scale = 0.0) {
    add(std::isnan(a - b) ? HUGE_VAL : std::fabs(a - b), std::max(scale, std::fabs(b)));
  }

 private:
  void add(double difference, double size) {
    const double error = difference / std::max(floor_, size);
    EXPECT_LT(error, bound_);
    worst_ = std::max(worst_, error);
  }
  double bound_, floor_, worst_ = 0.0;
};

}  // namespace rattleback
