// Simplification and derivatives of expressions.

#include "rattleback/language/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/language/parser.hpp"
#include "rattleback/language/scaled.hpp"

using namespace rattleback;

namespace {

/// Variables: a and b are parameters; x, y and z are not.
struct Formula {
  Graph graph;
  ExpressionAlgebra algebra{graph, 2};
  int operator()(const std::string& text) {
    return parse_expression(text, graph, [&](const std::string& name) {
      const std::string names = "abxyz";
      if (name.size() != 1 || names.find(name) == std::string::npos) throw NameError(name);
      return graph.variable(static_cast<int>(names.find(name)));
    });
  }
  int simple(const std::string& text) { return algebra.simplified((*this)(text)); }
  double value(int node, const std::vector<double>& at) const { return Program(graph, node)(at.data()); }
  /// The number of operations on which a node depends.
  int operations(int node) const {
    std::vector<char> needed(static_cast<std::size_t>(node) + 1);
    needed[static_cast<std::size_t>(node)] = 1;
    int count = 0;
    for (int i = node; i >= 0; --i) {
      if (!needed[static_cast<std::size_t>(i)]) continue;
      count += arity(graph[i].op) > 0;
      for (int k = 0; k < arity(graph[i].op); ++k)
        needed[static_cast<std::size_t>(graph[i].operand[static_cast<std::size_t>(k)])] = 1;
    }
    return count;
  }
};

TEST(ExpressionAlgebra, EqualFormulasHaveOneNode) {
  Formula f;
  for (const auto& [text, same] :
       std::initializer_list<std::pair<const char*, const char*>>{{"x + 0", "x"},
                                                                  {"x * 1 + 0 * y", "x"},
                                                                  {"x - x", "0"},
                                                                  {"x / x", "1"},
                                                                  {"x + x", "2 x"},
                                                                  {"x y", "y x"},
                                                                  {"x + y + z", "z + y + x"},
                                                                  {"x x^2 x", "x^4"},
                                                                  {"x / y * y", "x"},
                                                                  {"2 (3 x)", "6 x"},
                                                                  {"-(-x)", "x"},
                                                                  {"-(x - y)", "y - x"},
                                                                  {"x + (-y)", "x - y"},
                                                                  {"x y + x z", "x (y + z)"},
                                                                  {"2 x + 2 y", "2 (x + y)"},
                                                                  {"0.5 (2 x + 2 x y^2)", "x (1 + y^2)"},
                                                                  {"sqrt(x)^2", "x"},
                                                                  {"sqrt(x)^3", "x sqrt(x)"},
                                                                  {"x^1.5", "x sqrt(x)"},
                                                                  {"x^-0.5", "1 / sqrt(x)"},
                                                                  {"x^-2", "1 / x^2"},
                                                                  {"x / z + y / z", "(x + y) / z"},
                                                                  {"(x + y)^2 / (x + y)", "x + y"},
                                                                  {"a x b", "a b x"},
                                                                  {"sin(x + y) - sin(y + x)", "0"}}) {
    EXPECT_EQ(f.simple(text), f.simple(same)) << text;
    EXPECT_EQ(f.simple(text), f.algebra.simplified(f.simple(text))) << text;  // simple nodes stay
  }
  EXPECT_NE(f.simple("x - y"), f.simple("y - x"));
  EXPECT_NE(f.simple("x^2"), f.simple("x^3"));
  EXPECT_FALSE(std::isfinite(f.value(f.simple("x / 0"), {1, 1, 1, 1, 1})));
}

const char* const formulas[] = {"x^2 y - z / (1 + x^2)",
                                "0.5 (x^2 + y^2) + x^2 y - y^3 / 3",
                                "sin(x y) cos(y)^2 exp(-z) + a cos(x - b y)",
                                "sqrt(1 + x^2 + y^2) / (2 + z^2)^1.5",
                                "log(2 + x) tan(y / 3) + log2(3 + y) - log10(4 + z)",
                                "asin(x / 3) acos(y / 4) + atan(z x) + atan2(1 + x^2, y - z)",
                                "sinh(x) cosh(y) tanh(z) + asinh(x y) + acosh(3 + z) - atanh(x / 4)",
                                "(2 + x)^(y / 2) + 2^z + (1 + x^2)^-3 + (x - y)^7",
                                "abs(x - 3) y + max(x, 2 y) min(z, x) + (x < y ? x^2 : y^2 z)",
                                "-x^2 / y / z + x / (y z) - (x - y) (y - z) (z - x) / a^3",
                                "a b x / (a + b) - b y^2 / sqrt(x^2 + y^2 + z^2)"};
const std::vector<double> points[] = {{0.7, 1.3, 0.4, 0.8, 0.9}, {1.1, 0.6, 1.2, 0.5, 0.3}, {0.9, 2.1, 0.35, 1.6, 1.1}};

TEST(ExpressionAlgebra, SimpleFormulasHaveTheSameValue) {
  for (const char* text : formulas) {
    Formula f;
    const int plain = f(text), simple = f.algebra.simplified(plain);
    for (const auto& at : points) {
      const double value = f.value(plain, at);
      EXPECT_NEAR(f.value(simple, at), value, 1e-14 * (1 + std::abs(value))) << text;
    }
    EXPECT_LE(f.operations(simple), f.operations(plain) + 5) << text;
  }
}

TEST(ExpressionAlgebra, DerivativesAgreeWithDifferences) {
  for (const char* text : formulas) {
    Formula f;
    const int node = f.simple(text);
    for (const auto& at : points) {
      for (int i = 0; i < 5; ++i) {
        const auto difference = [&](int of) {
          auto right = at, left = at;
          const double h = 1e-5;
          right[static_cast<std::size_t>(i)] += h;
          left[static_cast<std::size_t>(i)] -= h;
          return (f.value(of, right) - f.value(of, left)) / (2 * h);
        };
        const int first = f.algebra.derivative(node, i);
        EXPECT_NEAR(f.value(first, at), difference(node), 2e-8) << text << " by " << i;
        for (int j = 0; j < 5; ++j) {
          const int of_j = f.algebra.derivative(node, j), second = f.algebra.derivative(of_j, i);
          EXPECT_NEAR(f.value(second, at), difference(of_j), 2e-7) << text << " by " << j << " and " << i;
        }
      }
    }
  }
}

/// A random formula with few parentheses more than it needs.
std::string random_formula(std::mt19937& random, int depth) {
  const auto part = [&] { return "(" + random_formula(random, depth - 1) + ")"; };
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const char* const leaves[] = {"x", "y", "z", "a", "b", "2", "0.5", "1", "-1", "3"};
  if (depth == 0) return leaves[pick(10)];
  switch (pick(9)) {
    case 0:
    case 1:
      return part() + " + " + part();
    case 2:
      return part() + " - " + part();
    case 3:
    case 4:
      return part() + " " + part();
    case 5:
      return part() + " / (2 + " + part() + "^2)";
    case 6:
      return part() + "^" + std::to_string(1 + pick(4));
    case 7:
      return "sqrt(1 + " + part() + "^2)^" + std::to_string(pick(7) - 3);
    default:
      return (pick(2) == 0 ? "sin" : "exp") + ("(sin" + part() + ")");
  }
}

TEST(ExpressionAlgebra, EveryOperationHasItsDerivative) {
  constexpr double step = 1e-6;
  for (int i = 0; i < static_cast<int>(operations().size()); ++i) {
    const Op op = static_cast<Op>(i);
    if (arity(op) == 0) continue;
    Formula f;
    const int b = op == Op::whole_power ? 3 : f("y"), node = f.graph.apply(op, f("x"), b, f("z"));
    int compared = 0;
    for (const double x : {0.4, 1.7, 0.0}) {
      std::vector<double> at{0.0, 0.0, x, 0.8, 2.1};
      for (std::size_t k = 2; k < 5 && (x != 0.0 || op == Op::choose); ++k) {
        const double exact = f.value(f.algebra.derivative(node, static_cast<int>(k)), at), middle = at[k];
        if (x == 0.0 && k == 2) continue;  // a step
        at[k] = middle + step;
        const double above = f.value(node, at);
        at[k] = middle - step;
        const double difference = (above - f.value(node, at)) / (2.0 * step);
        at[k] = middle;
        if (!std::isfinite(difference)) continue;
        EXPECT_NEAR(exact, difference, 1e-8 * std::max(1.0, std::abs(difference))) << operation(op).text << " by " << k;
        ++compared;
      }
    }
    EXPECT_GE(compared, 3) << operation(op).text;
  }
}

TEST(ExpressionAlgebra, RandomFormulasKeepTheirValuesAndSlopes) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0.3, 1.7);
  int compared = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    Formula f;
    const std::string text = random_formula(random, 1 + trial % 4);
    const int plain = f(text), simple = f.algebra.simplified(plain);
    EXPECT_EQ(f.algebra.simplified(simple), simple) << text;
    std::vector<double> at(5);
    for (double& x : at) x = uniform(random);
    double size = 1.0;  // of all parts: bounds the rounding errors
    for (int node = 0; node <= plain; ++node) size = std::max(size, std::abs(f.value(node, at)));
    if (!(size < 1e4)) continue;
    ++compared;
    EXPECT_NEAR(f.value(simple, at), f.value(plain, at), 1e-12 * size) << text;
    const auto shifted = [&](double h) {
      auto moved = at;
      moved[2] += h;
      return f.value(plain, moved);
    };
    const double h = 1e-4;  // the error of this quotient is of the order h^4
    const double slope = (8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))) / (12 * h);
    const double own = f.value(f.algebra.derivative(simple, 2), at);
    EXPECT_NEAR(own, slope, 1e-7 * (size + std::abs(own))) << text;
  }
  EXPECT_GT(compared, 1000);
}

TEST(ExpressionAlgebra, DerivativesAreShort) {
  Formula f;
  const auto slope = [&](const char* text, int variable) { return f.algebra.derivative(f.simple(text), variable); };
  EXPECT_EQ(slope("0.5 (x^2 + y^2 + x^2 y^2 + x^2 z^2)", 2), f.simple("x (1 + y^2 + z^2)"));
  EXPECT_EQ(slope("a b z", 4), f.simple("a b"));
  EXPECT_EQ(slope("sqrt(x^2 + y^2)", 2), f.simple("x / sqrt(x^2 + y^2)"));
  EXPECT_EQ(slope("b (x^2 - 1)^2", 2), f.simple("4 b x (x^2 - 1)"));
  EXPECT_EQ(slope("sin(x)^2 + cos(x)", 3), f.simple("0"));
  EXPECT_EQ(f.algebra.derivative(slope("(x^2 + y^2) / 2 - a^2", 2), 3), f.simple("0"));
}

TEST(ExpressionAlgebra, LargeFormulasTakeLittleTime) {
  Formula f;
  std::string powers = "x";
  for (int i = 0; i < 20; ++i) powers = "(" + powers + ")^16";
  EXPECT_LE(f.operations(f.simple(powers)), 100);
  EXPECT_EQ(f.value(f.simple(powers), {1, 1, -1, 1, 1}), 1.0);
  EXPECT_EQ(f.value(f.algebra.derivative(f.simple("(x^16)^16"), 2), {1, 1, 1, 1, 1}), 256.0);
  const int many = f.simple("sum(i, 1, 2000, sin(i x) / i)");
  EXPECT_NEAR(f.value(f.algebra.derivative(many, 2), {1, 1, 0, 1, 1}), 2000.0, 1e-9);
}

TEST(ExpressionAlgebra, VariablesCanBeReplaced) {
  Formula f;
  const int node = f.simple("a x^2 + y");
  EXPECT_EQ(f.algebra.substituted(node, {{f("a"), f("2")}, {f("x"), f("y")}, {f("y"), f("-x")}}),
            f.simple("2 y^2 - x"));
  const int sum = f.simple("x^2 + y^2 - a"), within = f.simple("b sqrt(x^2 + y^2 - a) + z");
  EXPECT_EQ(f.algebra.substituted(within, {{sum, f("y")}}), f.simple("b sqrt(y) + z"));
  EXPECT_TRUE(f.algebra.depends(node, 2, 4));
  EXPECT_TRUE(f.algebra.depends(node, 0, 1));
  EXPECT_FALSE(f.algebra.depends(node, 1, 2));
  EXPECT_FALSE(f.algebra.depends(node, 4, 9));
}

TEST(ExpressionAlgebra, EveryNumberIsTakenOutOfASum) {  // also where c (1/c) is not 1
  Formula f;
  const int rest = f.simple("x + y + x^2 y");
  const auto check = [&](const std::string& c) {
    const int sum = f.simple(c + " x + " + c + " y + " + c + " x^2 y");
    EXPECT_EQ(sum, f.algebra.product(f.simple(c), rest)) << c;
    EXPECT_EQ(f.algebra.quotient(sum, f.simple(c)), rest) << c;
    EXPECT_EQ(f.simple("(" + c + " x) / (" + c + " y)"), f.simple("x / y")) << c;
  };
  for (int i = 1; i < 1000; ++i) check(fmt::format("{}", i / 100.0));
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-60, 60);
  for (int i = 0; i < 1000; ++i) check(fmt::format("{}", std::pow(10.0, exponent(random))));
}

/// A value with its first two derivatives by x, computed as the formula is written, with 33 digits and exponents to 4932.
struct Jet {
  __float128 value = 0, first = 0, second = 0;
  /// Bounds of the rounding errors of any order of the terms.
  __float128 size = 0, first_size = 0, second_size = 0;
};
__float128 magnitude(__float128 x) { return x < 0 ? -x : x; }
Jet times(const Jet& a, const Jet& b) {
  return {a.value * b.value,
          a.first * b.value + a.value * b.first,
          a.second * b.value + 2 * a.first * b.first + a.value * b.second,
          a.size * b.size,
          a.first_size * b.size + a.size * b.first_size,
          a.second_size * b.size + 2 * a.first_size * b.first_size + a.size * b.second_size};
}
Jet inverse(const Jet& a) {
  const __float128 r = 1 / a.value, s = a.size * r * r;
  return {r, -a.first * r * r,     (2 * a.first * a.first * r - a.second) * r * r,
          s, a.first_size * s * s, (2 * a.first_size * a.first_size * s + a.second_size) * s * s};
}
Jet plus(const Jet& a, const Jet& b, int sign) {
  return {a.value + sign * b.value, a.first + sign * b.first,    a.second + sign * b.second,
          a.size + b.size,          a.first_size + b.first_size, a.second_size + b.second_size};
}
/// Also the largest and the least size on the way.
Jet evaluate(const Graph& graph, int root, const std::vector<double>& at, __float128& least, __float128& most) {
  std::vector<Jet> jets;
  for (int i = 0; i <= root; ++i) {
    const Node& node = graph[i];
    const auto operand = [&](std::size_t k) { return jets[static_cast<std::size_t>(node.operand[k])]; };
    const auto power = [&](int exponent) {
      Jet product = operand(0);
      for (int k = 1; k < std::abs(exponent); ++k) product = times(product, operand(0));
      return exponent < 0 ? inverse(product) : product;
    };
    Jet jet;
    if (node.op == Op::constant || node.op == Op::variable) {
      const double value = node.op == Op::constant ? node.number : at[static_cast<std::size_t>(node.index)];
      const int slope = node.op == Op::variable && node.index == 2;
      jet = {value, __float128(slope), 0, magnitude(value), __float128(slope), 0};
    } else if (node.op == Op::add || node.op == Op::subtract) {
      jet = plus(operand(0), operand(1), node.op == Op::add ? 1 : -1);
    } else if (node.op == Op::multiply) {
      jet = times(operand(0), operand(1));
    } else if (node.op == Op::divide) {
      jet = times(operand(0), inverse(operand(1)));
    } else if (node.op == Op::negate) {
      jet = plus({}, operand(0), -1);
    } else {
      jet = power(node.op == Op::whole_power ? node.index : static_cast<int>(graph[node.operand[1]].number));
    }
    for (const __float128 x : {jet.value, jet.first, jet.second}) {
      if (x != 0) least = std::min(least, magnitude(x));
      most = std::max(most, magnitude(x));
    }
    jets.push_back(jet);
  }
  return jets.back();
}

std::string extreme_formula(std::mt19937& random, int depth) {
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const auto part = [&] { return "(" + extreme_formula(random, depth - 1) + ")"; };
  if (depth == 0)
    return pick(2) == 0 ? std::string(1, "abxyz"[pick(5)]) : fmt::format("{}e{}", 1 + 0.01 * pick(800), pick(81) - 40);
  const int kind = pick(8);
  if (kind == 7) return part() + "^" + std::to_string(pick(2) == 0 ? 2 + pick(15) : -1 - pick(12));
  return part() + " " + std::string(1, "+-***//"[kind]) + " " + part();
}

TEST(ExpressionAlgebra, ExtremeNumbersKeepValuesAndDerivatives) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.5, 2.0);
  int compared = 0;
  const auto check = [&](const std::string& text, const std::vector<double>& at) {
    Formula f;
    const int plain = f(text), simple = f.algebra.simplified(plain);
    __float128 least = 1, most = 1;
    const Jet right = evaluate(f.graph, plain, at, least, most);
    if (least < 1e-150 || most > 1e150) return;
    const int slope = f.algebra.derivative(simple, 2), curvature = f.algebra.derivative(slope, 2);
    EXPECT_EQ(f.algebra.simplified(simple), simple) << text;
    const auto close = [&](int node, __float128 value, __float128 size, const char* what) {
      const double own = f.value(node, at);
      EXPECT_TRUE(magnitude(own - value) <= 1e-12 * size)
          << text << ": " << what << " is " << own << ", not " << static_cast<double>(value);
    };
    close(simple, right.value, right.size, "the value");
    close(slope, right.first, right.first_size, "the first derivative");
    close(curvature, right.second, right.second_size, "the second derivative");
    ++compared;
  };
  for (const char* text : {"4 ((1e-30/x)^12 - (1e-30/x)^6)", "(1e-30/x)^12", "(x/1e-30)^-12", "1/(1e30 x)^12",
                           "(1e-30/x)^10", "1e-30^4/x^4", "(1e-30/x)^5 (1e-30/x)^7", "(1e30 x)^6 (2e30 x)^-5"})
    check(text, {1, 1, 1.2e-30, 1, 1});
  EXPECT_EQ(compared, 8);
  for (const auto& [text, x] : std::initializer_list<std::pair<const char*, double>>{
           {"1e149 x^2", 1e-9}, {"1e-140 / x^3", 1e-40}, {"1e120 (x - 1.1e-9)^2", 1e-9}, {"(1e-120 / x) y", 1e-9}})
    check(text, {1, 1, x, 1.5, 1});
  EXPECT_EQ(compared, 12);
  for (int trial = 0; trial < 4000; ++trial) {
    std::vector<double> at(5);
    for (double& x : at)
      x = uniform(random) * (random() % 3 == 0 ? std::pow(10.0, static_cast<int>(random() % 81) - 40) : 1.0);
    check(extreme_formula(random, 1 + trial % 4), at);
  }
  EXPECT_GT(compared, 1500);
}

TEST(ExpressionAlgebra, QuotientsOfGrowingFunctionsDoNotOverflow) {
  struct Case {
    const char* text;
    double x, value, slope, curvature;  // by 50-digit arithmetic
  };
  for (const Case& one :
       {Case{"1/(1 + exp(x))", 800, 0, 0, 0},
        {"1/(1 + exp(x))", -800, 1, 0, 0},
        {"1/(1 + exp(x))", 400, 1.9151695967140057e-174, -1.9151695967140057e-174, 1.9151695967140057e-174},
        {"1/(1 + exp(x))", 0, 0.5, -0.25, 0},
        {"1/(1 + exp(x))^3", 0, 0.125, -0.1875, 0.1875},
        {"exp(x)/(1 + exp(x))", 800, 1, 0, 0},
        {"1/cosh(x)", 800, 0, 0, 0},
        {"1/cosh(x)", 700, 1.9719353087519542e-304, -1.9719353087519542e-304, 1.9719353087519542e-304},
        {"1/cosh(x)^2", -800, 0, 0, 0},
        {"sinh(x)/cosh(x)", -800, -1, 0, 0},
        {"log(1 + exp(x))", 800, 800, 1, 0},
        {"3 log(1 + exp(x))", 800, 2400, 3, 0},
        {"log(1 + exp(x))^2", 800, 640000, 1600, 2},
        {"x log(1 + exp(x))", 800, 640000, 1600, 2},
        {"sqrt(log(1 + exp(x)))", 900, 30, 1.0 / 60, -1.0 / 108000},
        {"log(cosh(x))", -800, 799.30685281944005469, -1, 0},
        {"(1 + exp(x))^-0.3", 800, 5.8792826982452694e-105, -1.7637848094735808e-105, 5.2913544284207425e-106},
        {"x^2/(1 + x^2 + exp(x) + exp(-x))", 800, 0, 0, 0},
        {"(exp(x) - exp(-x))/(exp(x) + exp(-x))", 800, 1, 0, 0},
        {"1/(1 + exp(x) + exp(2 x))", 800, 0, 0, 0},
        {"exp(-x^2)/(1 + exp(-x^2))", 800, 0, 0, 0}}) {
    Formula f;
    const int value = f.simple(one.text), slope = f.algebra.derivative(value, 2);
    const auto check = [&](int node, double right) {
      const double own = f.value(without_overflow(f.algebra, node), {1, 1, one.x, 1, 1});
      EXPECT_NEAR(own, right, 1e-12 * std::abs(right)) << one.text << " at " << one.x;
    };
    check(value, one.value);
    check(slope, one.slope);
    check(f.algebra.derivative(slope, 2), one.curvature);
  }
  Formula f;  // ordinary formulas stay
  for (const char* text :
       {"(1 - exp(-a (x - b)))^2", "exp(-x)/x", "cosh(x)/(1 + x^2)", "sin(x)/(2 + cos(y))", "x/exp(a)"})
    EXPECT_EQ(without_overflow(f.algebra, f.simple(text)), f.simple(text)) << text;
}

}  // namespace
