// What the program makes of a system that a study writes as formulas.

#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include "language/systems.hpp"
#include "rattleback/language/print.hpp"
#include "rattleback/language/read.hpp"
#include "rattleback/language/system_graph.hpp"
#include "rattleback/study/reader.hpp"

using namespace rattleback;

namespace {

SystemFormulas read(std::string_view text) { return read_system_formulas(toml::parse(text, std::string("f.toml"))); }
std::string header(std::string_view text) { return system_header(read(text)); }

TEST(Formulas, NameTheNumbersOfBodies) {
  const auto names = [](std::string_view text) { return read(text).configuration(); };
  EXPECT_EQ(names("name='a'\ngroup='SE(2)'"), "SE(2): x, y, theta; velocities u1, u2, w");
  EXPECT_EQ(names("name='a'\ngroup='S^1 x R^1'\ncoordinates=['x']"), "S^1 x R^1: theta, x; velocities w, v_x");
  EXPECT_EQ(names("name='a'\ndimensions={k=2}\ngroup='(S^1)^k x (R^1 x SE(2))'\ncoordinates=['x']"),
            "(S^1)^2 x R^1 x SE(2): theta_1, theta_2, x, x_3, y_3, theta_3; velocities w_1, w_2, v_x, u1_3, u2_3, w_3");
  EXPECT_EQ(names("name='a'\ngroup='S^1 x SE(2)'\nbodies=['dial', 'cart']"),
            "S^1 x SE(2): dial_theta, cart_x, cart_y, cart_theta; velocities dial_w, cart_u1, cart_u2, cart_w");
  EXPECT_EQ(
      names("name='a'\ngroup='SE(3)'\nbodies=['b']"),
      "SE(3): b_R11, b_R12, b_R13, b_R21, b_R22, b_R23, b_R31, b_R32, b_R33, b_x, b_y, b_z; velocities b_w1, b_w2, "
      "b_w3, b_u1, b_u2, b_u3");
  EXPECT_EQ(read("name='a'\ngroup='SO(3)^2 x SE(2)'\ninitial={q=[0,0,0, 0,0,0, 1,2,3]}").q.size(), 21u);
}

TEST(Formulas, TakeTheInertiaOfBodiesInAnyForm) {
  const std::string two = "name='a'\ngroup='SE(2) x R^1 x SE(3)'\nbodies=['cart', 'link[1..1]']\ncoordinates=['s']\n";
  const std::string rows =
      header(two +
             "mass=[2,2,5, 7, 1,2,3, 4,4,4]\npotential='link1_R33 cart_theta + s link1_x'\nforce=['-cart_u1',0,0,0,"
             "0,0,0,0,0,0]");
  for (const char* inertia : {"inertia={cart=5, link1=[1,2,3]}\nmass={cart=2, link1=[4,4,4], s=7}",
                              "inertia=[5, [1,2,3]]\nmass=[2,7,4]", "inertia=[5, [1,2,3]]\nmass=[2,2,7,4,4,4]"})
    EXPECT_EQ(header(two + inertia +
                     "\npotential='sum(i in 1..1: link[i]_R33) cart_theta + s link[1]_x'\nforce=['-cart_u1', 'for i in "
                     "2..10: 0']"),
              rows)
        << inertia;
  const std::string tops = "name='a'\ngroup='SO(3)^2'\n";
  EXPECT_EQ(header(tops + "inertia=[1,2,3]"), header(tops + "mass=[1,2,3,1,2,3]"));
  EXPECT_EQ(header(tops + "inertia=4"), header(tops + "inertia=[[4,4,4], 4]"));
  EXPECT_EQ(
      header(tops + "inertia=[[[1,0,0.5],[0,2,0],[0.5,0,3]], [4,5,6]]"),
      header(tops + "mass=[[1,0,0.5,0,0,0],[0,2,0,0,0,0],[0.5,0,3,0,0,0],[0,0,0,4,0,0],[0,0,0,0,5,0],[0,0,0,0,0,6]]"));
  EXPECT_EQ(header("name='a'\ngroup='SE(2)'\ninertia=[5]\nmass=[2]"), header("name='a'\ngroup='SE(2)'\nmass=[2,2,5]"));
}

TEST(Formulas, StandForSeveralByAnIndex) {
  const std::string chain =
      "name='a'\ndimensions={n=3}\ncoordinates=['x[1..n]','y[1..n]']\n"
      "initial={q=[1,2,3,0,0,0]}\n";
  EXPECT_EQ(header(chain + "constraints=['for i in 1..n-1: (x[i+1] - x[i])^2 + (y[i+1] - y[i])^2 - i^2/i^2']\n"
                           "potential='sum(i in 1..n: y[i]) + sum(i in 1..n-1: sum(j in i+1..n: x[i] x[j]))'"),
            header(chain + "constraints=['(x2 - x1)^2 + (y2 - y1)^2 - 1', '(x3 - x2)^2 + (y3 - y2)^2 - 1']\n"
                           "potential='y1 + y2 + y3 + x1 x2 + x1 x3 + x2 x3'"));
  EXPECT_EQ(header(chain + "velocity_constraints=['for i in 1..n-1: for j in i+1..n: v_x[i] - v_y[j]']"),
            header(chain + "velocity_constraints=['v_x1 - v_y2', 'v_x1 - v_y3', 'v_x2 - v_y3']"));
  EXPECT_EQ(header(chain + "velocity_constraints=['for i in 1..0: v_x[i]']"), header(chain));
  const std::string tops = "name='a'\ngroup='SO(3)^2'\n";
  EXPECT_EQ(
      header(tops +
             "potential='sum(k in 1..3: R[k][3][1] R[k][3][2])'\nforce=['for i in 1..2: for k in 1..3: -w[k][i]']"),
      header(tops + "potential='R13_1 R13_2 + R23_1 R23_2 + R33_1 R33_2'\n"
                    "force=['-w1_1','-w2_1','-w3_1','-w1_2','-w2_2','-w3_2']"));
}

// The numbers of circles add up, so that a method sees R^n, and every method takes the system.
TEST(Formulas, SeeRnInCircles) {
  const auto functions = [](std::string_view text) {
    const std::string all = header(text);
    return all.substr(all.find("\n  template"));
  };
  EXPECT_EQ(functions("name='a'\ngroup='(S^1)^2'\npotential='cos(theta[1] - theta[2])'\ninertia=[2,3]"),
            functions("name='a'\ncoordinates=['a','b']\npotential='cos(a - b)'\nmass=[2,3]"));
  EXPECT_EQ(header("name='a'\ngroup='S^1'").find("Group"), std::string::npos);
}

TEST(Formulas, NeverPasteTextIntoCode) {
  const std::string text = R"toml(
name = "double-well"
summary = "a \"quoted\" text; \\ and \u00e4"
coordinates = ["int", "class"]
parameters = { return = { value = 2, unit = "\"", text = "*/ #define T" } }
potential = "return int^2 + class^4 + 0.1"
observables = { double = "int" }
)toml";
  const SystemFormulas system = read(text);
  const std::string header = system_header(system);
  EXPECT_NE(header.find("summary = \"a \\\"quoted\\\" text; \\\\ and \\303\\244\""), std::string::npos) << header;
  EXPECT_NE(header.find("{\"return\", 2.0, \"\\\"\", \"*/ #define T\"}"), std::string::npos) << header;
  EXPECT_NE(header.find("T parameter_return;"), std::string::npos) << header;
  EXPECT_EQ(system_type(system), "formulas::DoubleWellSystem<T>");
  EXPECT_TRUE(std::ranges::all_of(header, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_EQ(header.find("const S int"), std::string::npos);
}

TEST(Formulas, LongSumsAreLoops) {
  const auto lines = [](int atoms) {
    const std::string text = header(
        fmt::format("name = 'cluster'\ndimensions = {{ N = {} }}\ncoordinates = ['x[1..N]', 'y[1..N]']\n"
                    "potential = 'sum(i, 1, N - 1, sum(j, i + 1, N, 1/sqrt(1 + (x[i] - x[j])^2 + (y[i] - y[j])^2)))'",
                    atoms));
    EXPECT_EQ(text.find("RB_ROLLED") != std::string::npos, atoms > 6) << text;
    return std::ranges::count(text, '\n');
  };
  EXPECT_GT(lines(6), lines(3) + 30);  // 15 pairs, and 3
  EXPECT_LT(lines(24), 3 * lines(8));  // 276 pairs, tables included
}

TEST(Formulas, TextsOfHeadersMayHaveAnyEnd) {
  std::string observables;
  const char* const texts[] = {"\\\\", "\\\"", "a\\\\\\\\", "?\?/", "x )delimiter\\\" y"};
  for (int i = 0; i < 40; ++i)
    observables += fmt::format("p{0} = {{ value = 1, unit = \"{1}\", text = \"{2} {1}\" }}\n", i, texts[i % 5],
                               std::string(static_cast<std::size_t>(40 + i), 'w'));
  const std::string header = system_header(read("name = \"a\"\nsummary = \"" + std::string(96, 's') +
                                                "\\\\\"\ncoordinates = [\"x\"]\n[parameters]\n" + observables));
  std::string line;
  for (std::istringstream lines(header); std::getline(lines, line);) {  // literals begin and end on a line
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (quoted && line[i] == '\\')
        ++i;
      else if (line[i] == '"')
        quoted = !quoted;
    }
    EXPECT_FALSE(quoted) << line;
    EXPECT_EQ(line.find("?\?"), std::string::npos) << line;
  }
}

TEST(Formulas, AMatrixIsSymmetricHoweverItIsWritten) {
  for (const auto& [first, second] :
       std::initializer_list<std::pair<const char*, const char*>>{{"cos(x - y)", "cos(y - x)"},
                                                                  {"a sin(x - y)", "-a sin(y - x)"},
                                                                  {"cos(x) cos(y) + sin(x) sin(y)", "cos(x - y)"},
                                                                  {"(x + y)^2", "x^2 + 2 x y + y^2"},
                                                                  {"sqrt(x^2 + 1)", "(1 + x^2)^0.5"},
                                                                  {"exp(x) exp(y)", "exp(x + y)"},
                                                                  {"log(x^2 + 5)", "log(5 + x^2)"}}) {
    const std::string start = "name='a'\ncoordinates=['x','y']\nparameters={a=0.1}\nmass=[['40', '";
    EXPECT_EQ(system_header(read(start + first + "'], ['" + second + "', '30']]")),
              system_header(read(start + first + "'], ['" + first + "', '30']]")));
    EXPECT_THROW((void)read(start + first + "'], ['" + second + " + 1e-6 x', '30']]"), Error) << first;
  }
}

TEST(Formulas, NumbersOfAnySizeHaveADerivative) {
  EXPECT_NE(system_header(read("name='a'\ncoordinates=['x']\npotential='1e308 x^2 / 2'")).find("1e+308"),
            std::string::npos);
  // The pattern of 64 coordinates has a bit beyond long long.
  const std::string header =
      system_header(read("name='a'\ncoordinates=['q[0..63]']\nlagrangian='sum(i, 0, 63, (1 + q[i]^2) v_q[i]^2) / 2'"));
  EXPECT_NE(header.find("constexpr unsigned long long table[n * n]"), std::string::npos);
  EXPECT_NE(header.find("9223372036854775808ull"), std::string::npos);
}

TEST(Formulas, EmptySumsAreZero) {
  const std::string start = "name='a'\ncoordinates=['x']\ndimensions={m=0}\npotential='x^2";
  EXPECT_EQ(system_header(read(start + " + sum(i, 1, m, y[i] sum(k, i, 3, z[k] x))'")),
            system_header(read(start + "'")));
}

TEST(Formulas, MomentaOfHigherPowersGiveTheVelocity) {  // also where their derivative is 0 at rest
  for (const char* lagrangian : {"v_x^4 / 4", "v_x^2 v_x^2 + v_x^6", "v_x^4 / 4 - x^2"})
    EXPECT_NO_THROW((void)system_header(read(fmt::format("name='a'\ncoordinates=['x']\nlagrangian='{}'", lagrangian))))
        << lagrangian;
}

TEST(Formulas, SinesOfDifferencesFollowFromThoseOfTheCoordinates) {
  const auto header = [](const char* potential, const char* constraints) {
    return system_header(
        read(fmt::format("name='a'\ncoordinates=['x','y']\nmass=[['2','cos(x - y)'],['cos(x - y)','1']]\n"
                         "potential='{}'\n{}",
                         potential, constraints)));
  };
  const char* difference = "q[0] - q[1]";
  EXPECT_EQ(header("cos(x) + sin(y)", "").find(difference), std::string::npos);
  EXPECT_NE(header("cos(x)", "").find(difference), std::string::npos);                            // one more sine
  EXPECT_NE(header("cos(x) + sin(y)", "constraints=['x']").find(difference), std::string::npos);  // discrete gradients
  EXPECT_NE(header("cos(x) + sin(2 y)", "").find(difference), std::string::npos);                 // of 2 y
}

TEST(Formulas, AHeaderDependsOnTheTextAlone) {
  for (const WrittenSystem& written : written_systems) {
    const std::string header = system_header(read(written.toml));
    EXPECT_EQ(system_header(read(written.toml)), header) << written.identifier;
    std::size_t longest = 0, begin = 0;
    for (std::size_t end; (end = header.find('\n', begin)) != std::string::npos; begin = end + 1)
      longest = std::max(longest, end - begin);
    EXPECT_LE(longest, 120u) << written.identifier;
  }
}

/// The header of a system, by a Hamiltonian or by the keys of its Lagrangian.
std::string header_of(std::string_view coordinates, std::string_view rest) {
  return system_header(
      read(fmt::format("name='a'\ncoordinates={}\nparameters={{m=2.0, k=0.5}}\n{}", coordinates, rest)));
}

TEST(Formulas, AHamiltonianThatIsQuadraticIsTheMechanicalSystem) {
  const auto same = [](std::string_view coordinates, std::string_view by_h, std::string_view by_l) {
    const std::string first = header_of(coordinates, by_h), momenta = first.substr(first.find("/// p = "));
    std::string second = header_of(coordinates, by_l);
    second.insert(second.find("template <class T>"), momenta.substr(0, momenta.find('\n') + 1));
    EXPECT_EQ(first, second);
  };
  same("['x']", "hamiltonian='p_x^2/(2 m) + k x^4'", "mass='m'\npotential='k x^4'");
  same("['x','y']", "hamiltonian='((p_x - k y)^2 + (p_y + k x)^2)/(2 m) + x y'",
       "mass='m'\nvector_potential=['k y', '-k x']\npotential='x y'");
  same("['x','y']", "hamiltonian='p_x p_y + x y'", "mass=[[0, 1], [1, 0]]\npotential='x y'");
  same("['x','y']", "hamiltonian='(p_x^2/(1 + x^2) + p_y^2/m)/2 + k y'", "mass=['1 + x^2', 'm']\npotential='k y'");
  same("['x','y','z','s']", "hamiltonian='p_x^2/2 + p_x p_y/2 + p_y^2 + 3 p_z^2/2 + p_s^2/4 + x'",
       "mass=[['8/7', '-2/7', 0, 0], ['-2/7', '4/7', 0, 0], [0, 0, '1/3', 0], [0, 0, 0, 2]]\npotential='x'");
}

TEST(Formulas, AHamiltonianIsRegularOrDegenerate) {
  const auto kind = [](std::string_view h, std::string_view more = "") {
    const SystemFormulas system = read(fmt::format("name='a'\ncoordinates=['x','y']\nhamiltonian='{}'\n{}", h, more));
    const SystemGraph graph(system);
    return graph.degenerate ? "degenerate" : graph.hamiltonian < 0 ? "mechanical" : "regular";
  };
  EXPECT_STREQ(kind("p_x^2/2 + 1e-20 p_y^2"), "mechanical");
  EXPECT_STREQ(kind("p_x^2/2 + x p_y"), "degenerate");
  EXPECT_STREQ(kind("(p_x + p_y)^2/2 + x"), "degenerate");
  EXPECT_STREQ(kind("(p_x cos(x) + p_y sin(x))^2/2 + y"), "degenerate");
  EXPECT_STREQ(kind("sqrt(1 + p_x^2 + p_y^2) + x"), "regular");
  EXPECT_STREQ(kind("sqrt(p_x^2 + p_y^2) + x", "initial={q=[0, 0], p=[1, 0.5]}"), "degenerate");  // v has the length 1
  EXPECT_STREQ(kind("p_x^4/4 + p_y^2/2 + x"), "regular");  // singular at p = 0 alone
  EXPECT_STREQ(kind("exp(x) cosh(p_x) + p_y^2 cosh(p_x)", "initial={q=[0, 0], v=[1, 0.5]}"), "regular");
}

TEST(Formulas, NameFunctionsWithoutDifferenceQuotient) {
  const auto lacking = [](const std::string& formulas) {
    const SystemFormulas system = read("name = 's'\ncoordinates = ['x', 'y']\nparameters = { a = 1 }\n" + formulas);
    return SystemGraph(system).without_difference_quotient();
  };
  EXPECT_EQ(lacking("potential = 'sin(x) exp(y) + sqrt(1 + x^2) + x^3 / log(3 + y^2)'"), "");
  EXPECT_EQ(lacking("potential = 'tan(a) x'"), "");
  EXPECT_EQ(lacking("potential = 'tanh(t) x'"), "tanh");
  EXPECT_EQ(lacking("potential = 'cos(tanh(x))'"), "tanh");
  EXPECT_EQ(lacking("potential = '(2 + x^2)^a'"), "pow");
  EXPECT_EQ(lacking("mass = 'cosh(x)'"), "cosh");
  EXPECT_EQ(lacking("constraints = ['atan2(x, 1 + y^2)']"), "atan2");
  EXPECT_EQ(lacking("velocity_constraints = ['tan(x) v_x']"), "");
}

TEST(Formulas, NamesHaveTheOrderOfTheText) {
  const SystemFormulas system = read(
      "name = 's'\ndimensions = { k = 2 }\ncoordinates = ['z', 'a[1..k]', 'y[k..3]']\nparameters = { zeta = 1, alpha = "
      "'k/4', beta = { value = -1, unit = 'm' } }\nobservables = { u = 'z', b = 'a1' }\nconserved = ['b']");
  EXPECT_EQ(system.coordinates, (std::vector<std::string>{"z", "a1", "a2", "y2", "y3"}));
  EXPECT_EQ(system.velocities, (std::vector<std::string>{"v_z", "v_a1", "v_a2", "v_y2", "v_y3"}));
  ASSERT_EQ(system.parameters.size(), 3u);
  EXPECT_EQ(system.parameters[0].name, "zeta");
  EXPECT_EQ(system.parameters[1].value, 0.5);
  EXPECT_EQ(system.parameters[2].unit, "m");
  EXPECT_EQ(system.observables[0].name, "u");
  EXPECT_TRUE(system.observables[1].conserved && !system.observables[0].conserved);
  EXPECT_EQ(system.q, std::vector<double>(5));
  EXPECT_FALSE(system.on_group());
}

TEST(Formulas, GroupsNameTheirNumbers) {
  const SystemFormulas system = read("name = 's'\ngroup = 'R^1 x SE(3) x R^2'\ncoordinates = ['a', 'b', 'c']");
  EXPECT_TRUE(system.on_group());
  EXPECT_EQ(system.elements(), 15);
  EXPECT_EQ(system.coordinates[1], "R11");
  EXPECT_EQ(system.coordinates[12], "z");
  EXPECT_EQ(system.coordinates[14], "c");
  EXPECT_EQ(system.velocities, (std::vector<std::string>{"v_a", "w1", "w2", "w3", "u1", "u2", "u3", "v_b", "v_c"}));
  EXPECT_EQ(system.q, (std::vector<double>{0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
}

/// A default state matters where trajectories start there.
TEST(Formulas, TheDefaultStateOfAnEnsembleThatStartsElsewhereIsFree) {
  const auto fault = [](const std::string& formulas, const std::string& ensemble) -> std::string {
    try {
      (void)read_study("[system]\nname = 'a'\ncoordinates = ['x', 'y']\n" + formulas +
                           "\n[method]\nname = 'lobatto'\n[time]\nstep = 0.1\nend = 1\n" + ensemble,
                       "s.toml", {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const std::string formulas : {"constraints = ['x^2 + y^2 - 1']", "potential = '-1/sqrt(x^2 + y^2)'"}) {
    EXPECT_NE(fault(formulas, "").find("default state"), std::string::npos);
    EXPECT_NE(fault(formulas, "[ensemble]\naxes = [{ name = 'k', values = [1] }]").find("default state"),
              std::string::npos);
    EXPECT_EQ(fault(formulas, "[ensemble.initial]\nq = [1, 0]\nv = [0, 1]"), "");
    EXPECT_EQ(fault(formulas, "[ensemble]\nfile = 'states.csv'"), "");
    EXPECT_EQ(fault(formulas, "[ensemble]\nproject = true"), "");
  }
}

}  // namespace
