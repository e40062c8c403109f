// Functions of the language of expressions, as the host evaluates them, against MPFR.

#include <gtest/gtest.h>

#include "comparison.hpp"
#include "rattleback/language/graph.hpp"

namespace rattleback {
namespace {

constexpr int points = 100000;

/// The graph of an operation on variables, for use without captures.
template <Op op>
double value(double a, double b = 0.0) {
  static const Program program = [] {
    Graph graph;
    const int first = graph.variable(0);
    return Program(graph, graph.apply(op, first, arity(op) > 1 ? graph.variable(1) : 0));
  }();
  const double at[] = {a, b};
  return program(at);
}

/// Numbers of every size, subnormal ones included, and plain ones; at most `largest` in size.
double number(Random& random, double largest = infinity) {
  const double x = random.bits() % 2 ? random.uniform(-30.0, 30.0) : log_uniform(random, -1074.0, 1024.0);
  return std::fabs(x) <= largest ? x : std::remainder(x, largest);
}

template <Op op>
void compare(const char* name, typename KernelAndExact<1>::Exact exact, double least, double largest) {
  Comparison<> comparison{name, [](double x) { return value<op>(x); }, exact};
  Random random(21);
  for (int i = 0; i < points;) {
    const double x = i % 3 ? number(random, std::min(largest, 0x1p1023)) : random.uniform(std::max(least, -2.0), 2.0);
    if (!(x >= least && x <= largest)) continue;
    comparison.at(x);
    ++i;
  }
  comparison.expect_below_one_ulp();
}

TEST(Functions, HaveErrorsBelowOneUnitInTheLastPlace) {
  const double angle = 0x1p30;
  compare<Op::sin>("sin", mpfr_sin, -angle, angle);
  compare<Op::cos>("cos", mpfr_cos, -angle, angle);
  compare<Op::tan>("tan", mpfr_tan, -angle, angle);
  compare<Op::asin>("asin", mpfr_asin, -1.0, 1.0);
  compare<Op::acos>("acos", mpfr_acos, -1.0, 1.0);
  compare<Op::atan>("atan", mpfr_atan, -infinity, infinity);
  compare<Op::sinh>("sinh", mpfr_sinh, -infinity, infinity);
  compare<Op::cosh>("cosh", mpfr_cosh, -infinity, infinity);
  compare<Op::tanh>("tanh", mpfr_tanh, -infinity, infinity);
  compare<Op::asinh>("asinh", mpfr_asinh, -infinity, infinity);
  compare<Op::acosh>("acosh", mpfr_acosh, 1.0, infinity);
  compare<Op::atanh>("atanh", mpfr_atanh, -1.0 + 0x1p-53, 1.0 - 0x1p-53);
  compare<Op::exp>("exp", mpfr_exp, -infinity, infinity);
  compare<Op::log>("log", mpfr_log, 0x1p-1074, infinity);
  compare<Op::log2>("log2", mpfr_log2, 0x1p-1074, infinity);
  compare<Op::log10>("log10", mpfr_log10, 0x1p-1074, infinity);
  compare<Op::sqrt>("sqrt", mpfr_sqrt, 0.0, infinity);
}

TEST(Functions, OfTwoNumbersHaveErrorsBelowOneUnitInTheLastPlace) {
  Comparison<2> power{"pow", [](double a, double b) { return value<Op::power>(a, b); }, mpfr_pow};
  Comparison<2> angle{"atan2", [](double a, double b) { return value<Op::atan2>(a, b); }, mpfr_atan2};
  Random random(22);
  for (int i = 0; i < points; ++i) {
    const double a = std::fabs(number(random));
    power.at(a, random.uniform(-745.0, 709.0) / std::max(1e-3, std::fabs(std::log(a))));
    const double y = number(random), x = random.bits() % 2 ? number(random) : y * random.uniform(-3.0, 3.0);
    if (std::isfinite(x)) angle.at(y, x);
  }
  power.expect_below_one_ulp();
  angle.expect_below_one_ulp();
}

// floor(x + 1/2): 0.49999999999999994 is nearest to 0, and from 2^52 on all numbers are whole.
TEST(Functions, RintIsTheNearestWholeNumber) {
  Random random(23);
  const auto expect = [](double x) {
    double nearest = std::floor(x);
    if (x - nearest >= 0.5) nearest += 1.0;  // both differences are exact
    const double found = value<Op::rint>(x);
    EXPECT_EQ(found, nearest) << x;
    if (found == 0.0) {
      EXPECT_FALSE(std::signbit(found)) << x;
    }
  };
  for (int i = 0; i < points; ++i) expect(i % 2 ? number(random) : random.uniform(-3.0, 3.0));
  for (int k = -1074; k <= 1023; ++k)
    for (const double size : {std::ldexp(1.0, k), std::ldexp(1.5, std::max(k, -1073))})
      for (const double x : {size, -size, std::nextafter(size, 0.0), -std::nextafter(size, 0.0),
                             std::nextafter(size, infinity), size + 0.5, -size - 0.5})
        if (std::isfinite(x)) expect(x);
  for (const double x : {0.49999999999999994, -0.49999999999999994, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0x1p51 + 0.5,
                         -0x1p51 - 0.5, 0x1p52 - 0.5, -0x1p52 + 0.5, 0x1p52 + 1.0, 0x1p53, 0.0, -0.0})
    expect(x);
  EXPECT_EQ(value<Op::rint>(0.49999999999999994), 0.0);
  EXPECT_EQ(value<Op::rint>(infinity), infinity);
  EXPECT_EQ(value<Op::rint>(-infinity), -infinity);
  EXPECT_TRUE(std::isnan(value<Op::rint>(nan)));
}

// Zeros, infinities and NaN, as in the C library, which states them exactly.
TEST(Functions, HaveTheSpecialValuesOfTheCLibrary) {
  const auto expect = [](const char* name, double found, double library, double x) {
    EXPECT_EQ(std::isnan(found), std::isnan(library)) << name << ' ' << x;
    if (std::isnan(library)) return;
    EXPECT_EQ(found, library) << name << ' ' << x;
    EXPECT_EQ(std::signbit(found), std::signbit(library)) << name << ' ' << x;
  };
  for (const double x : {0.0, -0.0, infinity, -infinity, nan}) {
    const std::tuple<const char*, double (*)(double, double), double (*)(double)> functions[] = {
        {"sin", value<Op::sin>, std::sin},       {"cos", value<Op::cos>, std::cos},
        {"tan", value<Op::tan>, std::tan},       {"atan", value<Op::atan>, std::atan},
        {"asin", value<Op::asin>, std::asin},    {"sinh", value<Op::sinh>, std::sinh},
        {"cosh", value<Op::cosh>, std::cosh},    {"tanh", value<Op::tanh>, std::tanh},
        {"asinh", value<Op::asinh>, std::asinh}, {"acosh", value<Op::acosh>, std::acosh},
        {"atanh", value<Op::atanh>, std::atanh}, {"exp", value<Op::exp>, std::exp},
        {"log", value<Op::log>, std::log},       {"log2", value<Op::log2>, std::log2},
        {"log10", value<Op::log10>, std::log10}, {"sqrt", value<Op::sqrt>, std::sqrt},
        {"abs", value<Op::abs>, std::fabs}};
    for (const auto& [name, found, library] : functions)
      if (std::isinf(x) && std::string(name) == "atan")
        EXPECT_DOUBLE_EQ(found(x, 0.0), library(x));
      else
        expect(name, found(x, 0.0), library(x), x);
    expect("sign", value<Op::sign>(x), std::isinf(x) ? std::copysign(1.0, x) : x, x);
  }
  for (const double x : {1.0, -1.0}) expect("atanh", value<Op::atanh>(x), std::copysign(infinity, x), x);
  for (const double x : {std::nextafter(0x1p30, infinity), 1e300})
    EXPECT_TRUE(std::isnan(value<Op::sin>(x)) && std::isnan(value<Op::cos>(x)) && std::isnan(value<Op::tan>(x)));
}

}  // namespace
}  // namespace rattleback
