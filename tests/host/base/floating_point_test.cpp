// The bits of a result do not depend on the floating-point environment of the thread that asks for the result.

#include <bit>
#include <cfenv>
#include <cstdint>
#include <limits>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

/// Returns a copy that no compiler computes with.
double unknown(double value) {
  volatile double copy = value;
  return copy;
}

/// Comparisons of numbers would see denormal numbers as 0, so their bits are compared.
bool is_zero(double value) { return std::bit_cast<std::uint64_t>(value) << 1 == 0; }
bool flushes() { return is_zero(unknown(std::numeric_limits<double>::min()) * unknown(0.25)); }
bool rounds_upward() { return unknown(1.0) + unknown(1e-30) != 1.0; }

/// An orbit of this size is a harmonic oscillation.
Study orbits(double size, double velocity) {
  Study study = Study::parse(henon_heiles_orbits +
                             "end = 1.0\nsamples = 4\n[[observable]]\nname = \"energy\"\n"
                             "statistics = [\"mean\", \"std\"]\n");
  study.ensemble.axes[0].from = -size;
  study.ensemble.axes[0].to = size;
  study.ensemble.v = {velocity, 0.1};
  return study;
}

Result run_on_the_cpu(const Study& study) { return run(study, {.backend = "cpu:scalar"}); }

/// A new thread has the environment of its parent. No other test sees what the thread changes.
void in_a_thread(void (*body)()) { std::thread(body).join(); }

TEST(FloatingPoint, ALibraryWithFastMathChangesNoBits) {
  in_a_thread([] {
    const Study study = orbits(1e-309, 3e-310);
    const Result expected = run_on_the_cpu(study);
    int denormal = 0;
    for (const double x : expected.array("/final/q"))
      denormal += !is_zero(x) && std::abs(x) < std::numeric_limits<double>::min();
    ASSERT_GT(denormal, 500);

    ASSERT_FALSE(flushes());
    ASSERT_NE(dlopen(RATTLEBACK_FAST_MATH, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
    if (!flushes()) GTEST_SKIP() << "libraries of this compiler leave the environment alone";
    EXPECT_EQ(differences(expected, run_on_the_cpu(study)), "");
    EXPECT_EQ(differences(expected, run_on_the_cpu(orbits(1e-309, 3e-310))), "");  // also what the study says is read
    EXPECT_TRUE(flushes()) << "the environment of the caller is restored";
    EXPECT_FALSE(rounds_upward());
  });
  EXPECT_FALSE(flushes());
}

TEST(FloatingPoint, TheDirectionOfRoundingChangesNoBits) {
  in_a_thread([] {
    const Study study = orbits(0.1, 0.03);
    const Result expected = run_on_the_cpu(study);
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    ASSERT_TRUE(rounds_upward());
    EXPECT_EQ(differences(expected, run_on_the_cpu(study)), "");
    EXPECT_EQ(differences(expected, run_on_the_cpu(orbits(0.1, 0.03))), "");
    const OrderReport report = order(study, {0.1, 0.05});
    EXPECT_TRUE(rounds_upward()) << "the environment of the caller is restored";
    std::fesetround(FE_TONEAREST);
    const OrderReport again = order(study, {0.1, 0.05});
    EXPECT_EQ(report.variables[0].rms.error, again.variables[0].rms.error);
    EXPECT_EQ(report.variables[0].max.slope, again.variables[0].max.slope);
  });
}

}  // namespace
