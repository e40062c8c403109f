// The language of expressions, and its graph.

#include "rattleback/language/expression.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "rattleback/base/error.hpp"

using namespace rattleback;

namespace expression_test {

constexpr double x = 1.25, y = -0.75, b = 3.5;
const std::vector<std::string> names{"x", "y", "b", "x2"};
const double values[] = {x, y, b, 7.0};

double value(const std::string& text) { return Expression(Value(text), "f", names, values)(); }
std::string fault(const std::string& text) {
  try {
    (void)value(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Expressions, HaveTheUsualRanks) {
  EXPECT_EQ(value("1 + 2 * 3"), 7.0);
  EXPECT_EQ(value("10 - 4 - 3"), 3.0);
  EXPECT_EQ(value("16 / 4 / 2"), 2.0);
  EXPECT_EQ(value("-2^2"), -4.0);
  EXPECT_EQ(value("2^3^2"), 512.0);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("2 * -x"), -2.5);
  EXPECT_EQ(value("- - x + + 1"), 2.25);
  EXPECT_EQ(value("(1 + 2) * (3 - 1)"), 6.0);
  EXPECT_EQ(value("1e2 + .5 + 5."), 105.5);
  EXPECT_EQ(value("x < 2 ? 1 : x > 5 ? 2 : 3"), 1.0);
  EXPECT_EQ(value("1 < 2 && 2 >= 3 || x != x"), 0.0);
  EXPECT_EQ(value("1 + 1 == 2"), 1.0);
  EXPECT_EQ(value("(3 > 2) > 1"), 0.0);
}

TEST(Expressions, MultiplyFactorsSideBySide) {
  EXPECT_EQ(value("2 y^2"), 2.0 * (y * y));
  EXPECT_EQ(value("b (x^2 - 1)"), b * (x * x - 1.0));
  EXPECT_EQ(value("2x2"), 14.0);  // x2 is a name
  EXPECT_EQ(value("2 x b"), 2.0 * x * b);
  EXPECT_EQ(value("1/2 x"), 0.5 * x);
  EXPECT_EQ(value("(x) (y)"), x * y);
  EXPECT_DOUBLE_EQ(value("2 cos(x - y) sin(x)"), 2.0 * std::cos(x - y) * std::sin(x));
  EXPECT_EQ(value("2 -x"), 2.0 - x);
  EXPECT_EQ(value("3 pi"), 3.0 * std::numbers::pi);
}

TEST(Expressions, KnowTheirFunctions) {
  const std::pair<const char*, double (*)(double)> known[] = {
      {"sin", std::sin},   {"cos", std::cos},     {"tan", std::tan},   {"asin", std::asin}, {"acos", std::acos},
      {"atan", std::atan}, {"sinh", std::sinh},   {"cosh", std::cosh}, {"tanh", std::tanh}, {"asinh", std::asinh},
      {"exp", std::exp},   {"atanh", std::atanh}, {"log", std::log},   {"ln", std::log},    {"log2", std::log2},
      {"sqrt", std::sqrt}, {"log10", std::log10}, {"abs", std::abs},   {"rint", std::round}};
  for (const auto& [name, function] : known)
    EXPECT_DOUBLE_EQ(value(std::string(name) + "(x / 2)"), function(x / 2)) << name;
  EXPECT_DOUBLE_EQ(value("acosh(x)"), std::acosh(x));
  EXPECT_DOUBLE_EQ(value("atan2(y, x)"), std::atan2(y, x));
  EXPECT_EQ(value("sign(y) + sign(0)"), -1.0);
  EXPECT_EQ(value("min(x, y, b) + max(x, y, b) + sum(1, 2, 3) + max(2)"), y + b + 6.0 + 2.0);
  EXPECT_EQ(value("x^3"), x * x * x);
  EXPECT_DOUBLE_EQ(value("x^0.5"), std::pow(x, 0.5));
  EXPECT_EQ(value("avg(1, 2, 6) + avg(x)"), 3.0 + x);
  EXPECT_EQ(value("x^0"), 1.0);
  for (const FunctionInfo& function : functions()) {
    EXPECT_NE(fault(std::string(function.name)), "") << function.name;  // without arguments
    EXPECT_FALSE(is_variable_name(function.name));
  }
}

TEST(Expressions, SayWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> bad[] = {{"", "column 1: it ends where a value is expected"},
                                                     {"x +", "column 4: it ends where a value is expected"},
                                                     {"x * / y", "column 5: a value is expected at '/ y'"},
                                                     {"(x", "column 3: a ')' is missing"},
                                                     {"x)", "column 2: ')' is not expected"},
                                                     {"x 2", "column 3: '2' is not expected"},
                                                     {"1, x", "column 5: it has 2 values, and one is needed"},
                                                     {"x = 1", "column 3: it assigns"},
                                                     {"x < 1 ? 2", "column 10: a ':' is missing"},
                                                     {"sin x", "column 1: sin is a function; write sin(..)"},
                                                     {"sin(x, y)", "column 6: sin takes 1 argument"},
                                                     {"atan2(x)", "column 8: atan2 takes 2 arguments"},
                                                     {"1e999", "column 1: 1e999 is beyond the range of a double"},
                                                     {".", "column 1: '.' is not a number"},
                                                     {"x # y", "column 3: '# y' is not expected"},
                                                     {"x 0.93", "'0.93' is not expected; write * before a number"},
                                                     {"x**2", "column 2: '**' is not expected; write ^ for a power"},
                                                     {"x·y", "is not expected; write * for a product"},
                                                     {"|x|", "a value is expected at '|x|'; write abs(..)"}};
  for (const auto& [text, part] : bad)
    EXPECT_NE(fault(text).find(part), std::string::npos) << text << ": " << fault(text);
  EXPECT_NE(fault("xy").find("unknown name 'xy' in f = 'xy' (known: x, y, b, x2, pi)"), std::string::npos);
  EXPECT_NE(fault("sinn(x)").find("did you mean 'sin'?"), std::string::npos);
  EXPECT_NE(fault("pow(x, 2)").find("pi); write x^a for pow(x, a)"), std::string::npos);
  EXPECT_NE(fault("1/(x - 1.25)").find("is not finite (it is inf at x = 1.25)"), std::string::npos);
  std::string powers = "x";
  for (int i = 0; i < 300; ++i) powers += "^x";
  EXPECT_NE(fault(powers).find("more than 256 operators"), std::string::npos);
  std::string terms = "0";  // powers side by side are not nested
  for (int i = 0; i < 300; ++i) terms += " + 1^2 + (x < 0 ? 1 : 0)";
  EXPECT_EQ(value(terms), 300.0);
}

TEST(Expressions, SumOverAnIndex) {
  const std::vector<std::string> indexed{"y[1]", "y[2]", "y[3]", "y[4]", "i", "x"};
  const double slots[] = {2.0, 3.0, 5.0, 7.0, 11.0, 13.0};
  const auto of = [&](const std::string& text) { return Expression(Value(text), "f", indexed, slots)(); };
  EXPECT_EQ(of("sum(k, 1, 4, y[k]^2)"), 4.0 + 9.0 + 25.0 + 49.0);
  EXPECT_EQ(of("sum(k, 1, 3, y[k] y[k + 1]) x"), (6.0 + 15.0 + 35.0) * 13.0);
  EXPECT_EQ(of("sum(j, 1, 3, sum(k, j + 1, 4, (y[j] - y[k])^2))"), 1 + 9 + 25 + 4 + 16 + 4.0);
  EXPECT_EQ(of("sum(k, 1, 4, k)"), 10.0);
  EXPECT_EQ(of("sum(k, 2, 1, (y[k + 9]) + 1) + x"), 13.0);
  EXPECT_EQ(of("sum(i, 1, 4, y[2])"), 11.0 + 1 + 4 + 3);  // i is a variable
  EXPECT_EQ(of("sum(1, 2, 3)"), 6.0);
  const auto fault_of = [&](const std::string& text) {
    try {
      (void)of(text);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  for (const auto& [text, part] : std::initializer_list<std::pair<const char*, const char*>>{
           {"sum(k, 1, 5, y[k])", "unknown name 'y[5]'"},
           {"sum(k, 1, x, y[k])", "column 11: the bounds of a sum are whole numbers"},
           {"sum(k, 1, 2)", "column 12: a sum over k is sum(k, first, last, term)"},
           {"sum(k, 1)", "a sum over k is sum(k, first, last, term)"},
           {"sum(k, 1, 4, y[k / 3])", "column 14: the index in 'y[k / 3]' is not a whole number"},
           {"sum(k, 1, 5000, k)", "more than 4096 terms"},
           {"sum(x in 1..3: x)", "column 5: 'x' already has a meaning; choose another name for the index"},
           {"sum(k in 1..2: sum(k in 1..2: k))", "column 20: 'k' already has a meaning"},
           {"sum(k, 1, 9, sum(l, 1, 999, l))", "more than 4096 terms"},
           {"sum(k, 2, 1, (y[k]", "a ')' is missing"},
           {"y[k]", "unknown name 'y[k]'"},
           {"y[1", "unknown name 'y[1'"}})
    EXPECT_NE(fault_of(text).find(part), std::string::npos) << text << ": " << fault_of(text);
  EXPECT_EQ(variables_of(Value("2 y[1")), std::vector<std::string>{"y[1"});
}

TEST(Expressions, ShareEqualPartsAndFoldConstants) {
  Graph graph;
  const auto resolve = [&](const std::string& name) { return graph.variable(name == "x" ? 0 : 1); };
  const int root = parse_expression("sin(x y) + 2 * 3 * sin(x * y) - pi / pi", graph, resolve);
  const double at[] = {x, y};
  EXPECT_DOUBLE_EQ(Program(graph, root)(at), std::sin(x * y) + 6.0 * std::sin(x * y) - 1.0);
  int sines = 0;
  for (int i = 0; i < graph.size(); ++i) sines += graph[i].op == Op::sin;
  EXPECT_EQ(sines, 1);
  EXPECT_EQ(parse_expression("2 * 3 + sqrt(4)", graph, resolve), graph.constant(8.0));
}

TEST(Expressions, FoldFunctionsOfConstants) {
  const auto resolve = [](const std::string&) { return 0; };
  Graph graph;
  for (const char* text : {"sin(1)", "2^0.3", "exp(2)", "atan2(1, 2)", "log(3)", "tanh(2)", "sqrt(2)", "1/3 + 2 pi",
                           "2^-(-3)", "abs(-2)", "max(1, 2)"})
    EXPECT_EQ(graph[parse_expression(text, graph, resolve)].op, Op::constant) << text;
}

TEST(Expressions, ListTheirVariables) {
  EXPECT_EQ(variables_of(Value("2 y + sin(x) y - pi + 1e5 z2")), (std::vector<std::string>{"y", "x", "z2"}));
  EXPECT_TRUE(variables_of(Value(2.0)).empty());
}

}  // namespace expression_test
