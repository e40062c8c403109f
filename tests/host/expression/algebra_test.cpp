// Simplification and derivatives of expressions.

#include "rattleback/expression/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "rattleback/expression/parser.hpp"

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

}  // namespace
