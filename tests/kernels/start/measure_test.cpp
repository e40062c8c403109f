// An initial point is measured by the terms of each constraint, and a velocity by the terms of its momentum, in any units.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "rattleback/loop/describe.hpp"
#include "rattleback/start/terms.hpp"

namespace rattleback {
namespace measure_test {

TEST(Terms, KnowTheSizeOfWhatCancels) {
  using Terms = rattleback::Terms<double>;
  const Terms x(3.0), y = Terms(0.25, 0.25);
  EXPECT_EQ((x - Terms(3.0)).value, 0.0);
  EXPECT_EQ((x - Terms(3.0)).size, 6.0);
  EXPECT_EQ((x * y).size, 2 * 0.75);
  EXPECT_EQ((x / y).size, 2 * 12.0);
  EXPECT_EQ(fma(x, y, -x).value, -2.25);
  EXPECT_EQ(fma(x, y, -x).size, 4.5);
  // Functions multiply relative changes by x f'/f, and add their own rounding.
  EXPECT_DOUBLE_EQ(exp(x).size, 4.0 * std::exp(3.0));
  EXPECT_DOUBLE_EQ(cos(x).size, std::abs(std::cos(3.0)) + 3.0 * std::sin(3.0));
  EXPECT_DOUBLE_EQ(sqrt(y).size, 1.5 * 0.5);
  EXPECT_DOUBLE_EQ(pow(x, 4.0).size, 5.0 * 81.0);
  EXPECT_DOUBLE_EQ(atan2(y, x).size, 2 * 0.75 / 9.0625);
}

/// Two particles on a sphere and on the plane z = 0, of sizes L and R, and a constraint that is 0 to itself.
template <class T>
struct Mixed {
  using scalar = T;
  static constexpr int n = 5, m = 2;
  static constexpr auto kind = ConstraintKind::holonomic;
  T L, R;
  template <class S>
  S potential(const Vector<S, n>& q) const {
    return q[2];
  }
  template <class S>
  Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - L * L, q[3] - R * cos(q[4])};
  }
  static constexpr std::array<ParameterInfo, 2> parameters() {
    return {ParameterInfo{"L", 1, "", ""}, {"R", 1, "", ""}};
  }
};

template <template <class> class System, std::size_t N>
PrepareReport report_of(std::array<double, N> q, std::array<double, N> v, std::vector<double> parameters,
                        bool project = false) {
  std::array<double, N> p{}, lambda{};
  return prepare<System>({parameters.data(), 0.0}, {q.data(), v.data(), p.data(), lambda.data()},
                         {.from_momentum = false, .keep_multiplier = false, .project = project, .step = 0.01});
}
bool is_on(const PrepareReport& report) { return report.residual <= report.tolerance; }

TEST(Constraints, AreMeasuredByTheirOwnTerms) {
  for (const double L : {1.0, 1e-6, 1e-10, 1e-15, 1e12})
    for (const double R : {1.0, 1e-9, 1e9}) {
      const auto at = [&](double off, double off_plane, double off_v) {
        return report_of<Mixed, 5>({0.6 * L, 0, -0.8 * L * (1 + off), R * std::cos(0.3) * (1 + off_plane), 0.3},
                                   {0.4 * L, 0.2 * L, 0.3 * L * (1 + off_v), -R * 0.2 * std::sin(0.3), 0.2}, {L, R});
      };
      EXPECT_TRUE(is_on(at(0, 0, 0))) << L << " " << R;
      EXPECT_TRUE(is_on(at(1e-13, -1e-13, 1e-13))) << L << " " << R;
      for (const double off : {1e-3, 1e-6, 1e-9, -1e-10}) {
        EXPECT_FALSE(is_on(at(off, 0, 0))) << L << " " << R;
        EXPECT_FALSE(is_on(at(0, off, 0))) << L << " " << R;
        EXPECT_FALSE(is_on(at(0, 0, off))) << L << " " << R;
      }
      const PrepareReport projected =
          report_of<Mixed, 5>({0.7 * L, 0, -0.7 * L, R, 0.3}, {0.4 * L, 0.2 * L, L, R, 0.1}, {L, R}, true);
      EXPECT_TRUE(projected.projected_ok) << L << " " << R;
    }
}

TEST(Constraints, KeepRoundOffThatStandsAlone) {
  // a coordinate and a velocity that should be 0 come from a cosine, or from a run that ends at rest
  EXPECT_TRUE(is_on(report_of<Mixed, 5>({0, 6e-17, -1, 6e-17, std::acos(0.0)}, {1e-9, 1e-9, 1e-17, 0, 0}, {1, 1})));
  EXPECT_FALSE(is_on(report_of<Mixed, 5>({0, 0, -1, 1e-11, std::acos(0.0)}, {0, 0, 0, 0, 0}, {1, 1})));
  EXPECT_FALSE(is_on(report_of<Mixed, 5>({0, 0, -1, 1, 0}, {0, 0, 1e-9, 0, 0}, {1, 1})));
  EXPECT_FALSE(is_on(report_of<Mixed, 5>({0, 0, -1, std::nan(""), 0}, {0, 0, 0, 0, 0}, {1, 1})));
}

/// Masses of all sizes on one rod.
template <class T>
struct Masses {
  using scalar = T;
  static constexpr int n = 4, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;
  T large, small;
  Vector<T, n> mass_diagonal() const { return {large, large, small, small}; }
  template <class S>
  S potential(const Vector<S, n>& q) const {
    return large * q[1] + small * q[3];
  }
  template <class S>
  Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    const S x = q[2] - q[0], y = q[3] - q[1];
    return {x * x + y * y - S(1.0)};
  }
  static constexpr std::array<ParameterInfo, 2> parameters() {
    return {ParameterInfo{"large", 1, "", ""}, {"small", 1, "", ""}};
  }
};

TEST(Constraints, TakeMassesOfAllSizes) {
  for (const auto& [large, small] : {std::pair(1e30, 1e-30), std::pair(1.0, 1e-60), std::pair(1e60, 1e30)}) {
    std::array<double, 4> q{0.1, 0.2, 0.8, -0.4}, v{0.3, -0.1, 0.2, 0.4}, p{};
    std::array<double, 1> lambda{};
    const std::vector<double> parameters{large, small};
    const PointView point{q.data(), v.data(), p.data(), lambda.data()};
    PrepareReport report =
        prepare<Masses>({parameters.data(), 0.0}, point,
                        {.from_momentum = false, .keep_multiplier = false, .project = true, .step = 0.01});
    EXPECT_TRUE(report.projected_ok && report.multiplier_ok) << large;
    EXPECT_EQ(q[0], 0.1);  // the large mass stays
    EXPECT_NEAR(std::hypot(q[2] - q[0], q[3] - q[1]), 1.0, 1e-15);
    EXPECT_NEAR((q[2] - q[0]) * (v[2] - v[0]) + (q[3] - q[1]) * (v[3] - v[1]), 0.0, 1e-15);
    report = prepare<Masses>({parameters.data(), 0.0}, point,
                             {.from_momentum = true, .keep_multiplier = false, .project = false, .step = 0.01});
    EXPECT_TRUE(is_on(report)) << large;
    // free fall with a rotation: the small mass alone feels the rod
    EXPECT_NEAR(std::abs(lambda[0]) / small, 0.5 * (std::pow(v[2] - v[0], 2) + std::pow(v[3] - v[1], 2)), 1e-12)
        << large;
  }
}

/// A charge in a magnetic field B, given by L and by `velocity`, with an error of a share `wrong`.
template <class T>
struct Charge {
  using scalar = T;
  static constexpr int n = 2, m = 0;
  static constexpr auto kind = ConstraintKind::none;
  T mass, B, wrong;
  template <class S>
  S lagrangian(const Vector<S, 2>& q, const Vector<S, 2>& v) const {
    return S(0.5) * mass * dot(v, v) + S(0.5) * B * (q[0] * v[1] - q[1] * v[0]);
  }
  template <class S>
  Vector<S, 2> velocity(const Vector<S, 2>& q, const Vector<S, 2>& p) const {
    const S inverse = S(1.0) / mass * (S(1.0) + wrong);
    return {inverse * (p[0] + S(0.5) * B * q[1]), inverse * (p[1] - S(0.5) * B * q[0])};
  }
  static constexpr std::array<ParameterInfo, 3> parameters() {
    return {ParameterInfo{"mass", 1, "", ""}, {"B", 1, "", ""}, {"wrong", 0, "", ""}};
  }
};

TEST(Velocities, AreMeasuredByMomentumAndVectorPotential) {
  for (const double unit : {1.0, 1e-20, 1e20})
    for (const double mass : {1.0, 1e-27, 3e10})
      for (const double v : {0.0, 1e-17, 1.0}) {
        const std::array<double, 2> q{0.7 * unit, -0.3 * unit}, rate{v * unit, 0.5 * v * unit};
        EXPECT_LT((report_of<Charge, 2>(q, rate, {mass, 0.7 * mass, 0}).other_velocity), 0)
            << unit << " " << mass << " " << v;
        if (v == 1.0) EXPECT_GE((report_of<Charge, 2>(q, rate, {mass, 0.7 * mass, 1e-3}).other_velocity), 0);
      }
}

}  // namespace measure_test
}  // namespace rattleback
