#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "rattleback/base/normal.hpp"

namespace rattleback {
namespace {

// Computed with mpmath from the inverse error function, at the double nearest to each decimal.
const std::pair<double, double> known[] = {{0.1, -1.2815515655446004353},
                                           {0.25, -0.6744897501960817432},
                                           {0.4, -0.25334710313579974132},
                                           {0.05, -1.644853626951472688},
                                           {0.0749, -1.4402382675279636631},
                                           {0.0751, -1.4388253927525399824},
                                           {0.01, -2.3263478740408410931},
                                           {1e-3, -3.0902323061678135354},
                                           {1e-6, -4.7534243088228989573},
                                           {1e-11, -6.7060231554951362961},
                                           {2e-11, -6.6040775904056342776},
                                           {1e-16, -8.2220822161304356152},
                                           {1e-100, -21.273453560965324294},
                                           {1e-300, -37.047096299361199237},
                                           {0.9, 1.2815515655446005935},
                                           {0.975, 1.9599639845400538556},
                                           {0.5, 0.0}};

TEST(NormalQuantile, AgreesWithMultiplePrecision) {
  for (const auto& [p, x] : known) EXPECT_NEAR(normal_quantile(p), x, 1e-15 * std::abs(x)) << p;
}

TEST(NormalQuantile, InvertsTheDistributionFunction) {
  // The error of the distribution function is that of x times the density, x erfc'(x) / erfc(x) is below 70 here.
  for (double p = 1e-15; p < 1; p = p < 1e-3 ? 1.7 * p : p + 1e-3)
    EXPECT_NEAR(std::erfc(-normal_quantile(p) / std::sqrt(2.0)) / 2, p, 70e-16 * p + 3e-16) << p;
}

TEST(NormalQuantile, CellsAreFiniteSymmetricAndInOrder) {
  constexpr std::uint64_t cells = std::uint64_t{1} << 53;
  EXPECT_NEAR(normal_quantile_of_cell(0), -8.2923610758135955382, 1e-14);
  EXPECT_NEAR(normal_quantile_of_cell(cells / 2 - 1), -1.3914582123358834611e-16, 1e-30);
  double before = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 4096; ++i) {
    const std::uint64_t cell = static_cast<std::uint64_t>(i) * (cells / 4096);
    const double x = normal_quantile_of_cell(cell);
    EXPECT_GT(x, before);
    EXPECT_EQ(normal_quantile_of_cell(cells - 1 - cell), -x);
    before = x;
  }
  EXPECT_LT(normal_quantile_of_cell(cells - 1), 8.3);
}

}  // namespace
}  // namespace rattleback
