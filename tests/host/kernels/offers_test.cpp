// A header that lacks a member is told which one, in a sentence, whatever compiler is here.

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compile_testing.hpp"
#include "rattleback/kernels/compiler.hpp"
#include "rattleback/kernels/kernel_flags.hpp"
#include "rattleback/kernels/sources.hpp"

namespace rattleback::tests {
namespace {

/// A system that is complete, with a constraint.
const std::string complete = R"(template <class T>
struct System {
  using scalar = T;
  T k;
  static constexpr int n = 2, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;
  static constexpr auto name = "name";
  static constexpr auto variant = "";
  static constexpr auto summary = "summary";
  static constexpr auto configuration = "R^2";
  static constexpr auto source = "source";
  static constexpr bool conserves_energy = true;
  static constexpr std::array<double, 2> default_q{1.0, 0.0};
  static constexpr std::array<double, 2> default_v{0.0, 0.0};
  static constexpr std::array<ParameterInfo, 1> parameters() { return {{{"k", 1.0, "", ""}}}; }
  static constexpr std::array<StructureInfo, 0> structure() { return {}; }
  static constexpr std::array<ObservableInfo, 1> invariants() { return {{{"one", true, ""}}}; }
  template <class S> RB_HD S potential(const Vector<S, n>& q) const { return S(k) * q[0]; }
  template <class S> RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const { return {q[0] * q[0] - S(1.0)}; }
  RB_HD Vector<T, 1> evaluate_invariants(const Vector<T, n>&, const Vector<T, n>&) const { return {T(1.0)}; }
};
)";

/// Members that a system leaves out where it has nothing to say.
const std::vector<std::string> left_out = {
    "  static constexpr auto kind = ConstraintKind::holonomic;\n",
    "  static constexpr auto variant = \"\";\n",
    "  static constexpr bool conserves_energy = true;\n",
    "  static constexpr std::array<StructureInfo, 0> structure() { return {}; }\n",
    "  T k;\n",
    "  static constexpr std::array<ParameterInfo, 1> parameters() { return {{{\"k\", 1.0, \"\", \"\"}}}; }\n",
    "  static constexpr std::array<ObservableInfo, 1> invariants() { return {{{\"one\", true, \"\"}}}; }\n",
    "  RB_HD Vector<T, 1> evaluate_invariants(const Vector<T, n>&, const Vector<T, n>&) const { return {T(1.0)}; }\n",
};

/// A change of the complete system, and what the sentence then says.
struct Change {
  std::string from, to, says;
};
const std::vector<Change> changes = {
    {"  using scalar = T;\n", "", "`using scalar = T;`"},
    {"kind = ConstraintKind::holonomic", "kind = \"holonomic\"", "a `kind` that is ConstraintKind::none"},
    {"  static constexpr auto name = \"name\";\n", "", "`static constexpr auto name`"},
    {"auto name = \"name\"", "int name = 1", "`static constexpr auto name`"},
    {"auto variant = \"\"", "int variant = 1", "a `variant` that is a text, or none"},
    {"  static constexpr auto summary = \"summary\";\n", "", "`static constexpr auto summary`"},
    {"  static constexpr auto configuration = \"R^2\";\n", "", "`static constexpr auto configuration`"},
    {"  static constexpr auto source = \"source\";\n", "", "`static constexpr auto source`"},
    {"bool conserves_energy = true", "auto conserves_energy = nullptr", "a `conserves_energy` that is a bool, or none"},
    {"  static constexpr std::array<double, 2> default_q{1.0, 0.0};\n", "", "`default_q`"},
    {"  static constexpr std::array<double, 2> default_v{0.0, 0.0};\n", "", "`default_v`"},
    {"2> default_q{1.0, 0.0}", "3> default_q{1.0, 0.0, 0.0}", "as many numbers in `default_q` as hold a configuration"},
    {"2> default_v{0.0, 0.0}", "1> default_v{0.0}", "n numbers in `default_v`"},
    {"> parameters()", "> their_parameters()", "ParameterInfo, k> parameters()`, which names its data members"},
    {"std::array<ParameterInfo, 1> parameters() { return {{{\"k\", 1.0, \"\", \"\"}}}; }", "int parameters = 1;",
     "`parameters()` to be a static constexpr function"},
    {"std::array<StructureInfo, 0> structure() { return {}; }", "int structure = 1;",
     "`structure()` to be a static constexpr function"},
    {"std::array<ObservableInfo, 1> invariants() { return {{{\"one\", true, \"\"}}}; }", "int invariants = 1;",
     "`invariants()` to be a static constexpr function"},
    {"> invariants()", "> their_invariants()", "for each of its `invariants()`"},
    {"  T k;\n", "  static constexpr double k = 1.0;\n", "a data member of type T for each of its `parameters()`"},
    {"  T k;\n", "  T k;\n  int more = 0;\n", "in their order, and no other"},
    {"S potential(", "S their_potential(", "its forces: `potential(q)`"},
    {"template <class S> RB_HD S potential(const Vector<S, n>& q) const { return S(k) * q[0]; }",
     "RB_HD T potential(const Vector<T, n>& q) const { return T(k) * q[0]; }",
     "`potential` as a template over the scalar S"},
    {"template <class S> RB_HD S potential(const Vector<S, n>& q) const { return S(k) * q[0]; }",
     "RB_HD T lagrangian(const Vector<T, n>& q, const Vector<T, n>& v) const { return v[0] * v[0] - q[0]; }",
     "`lagrangian` as a template over the scalar S"},
    {"position_constraint(", "their_constraint(", "its m constraints: `position_constraint(q)`"},
    {"Vector<S, m> position_constraint(const Vector<S, n>& q) const { return {q[0] * q[0] - S(1.0)}",
     "Vector<S, 2> position_constraint(const Vector<S, n>& q) const { return {q[0], q[1]}",
     "as many values of its constraint as `m`"},
    {"ConstraintKind::holonomic", "ConstraintKind::velocity", "the right `kind` of its constraints"},
    {"evaluate_invariants(", "their_values(", "`Vector<T, k> evaluate_invariants(q, v) const`"},
};

class Offers : public CompileTest {
 protected:
  /// What a compiler says of a unit that checks all systems, one namespace for each.
  [[nodiscard]] std::string log_of(const std::vector<std::string>& systems) const {
    std::string unit =
        "#define RATTLEBACK_ISA user\n#define RATTLEBACK_SMALL_CODE\n#include \"rattleback/builtin/offers.hpp\"\n"
        "RB_NAMESPACE_BEGIN\n";
    for (std::size_t i = 0; i < systems.size(); ++i)
      unit += fmt::format(
          "#line 1 \"system {0}\"\nnamespace system_{0} {{\n{1}}}\ntemplate struct offers::Constants<system_{0}::System"
          "<double>>;\ntemplate struct offers::Functions<system_{0}::System<double>>;\n",
          i, systems[i]);
    write("unit.cpp", whole_unit(unit + "RB_NAMESPACE_END\n", {}).text);
    std::vector<std::string> flags = flags_of(Isa::scalar, compiler.clang, true);
    if (compiler.clang) flags.emplace_back("-ferror-limit=0");
    const CompileFiles files{.unit = directory / "unit.cpp",
                             .object = directory / "kernel.so",
                             .log = directory / "log",
                             .kept_log = {},
                             .own = "own.hpp"};
    try {
      (void)compile(compiler, flags, files);
      message.clear();
    } catch (const Error& error) {
      message = error.what();
    }
    return text_of(directory / "log");
  }

  const Compiler compiler = find_compiler();
  mutable std::string message;  ///< of the Error
};

TEST_F(Offers, OfACompleteSystemAreComplete) {
  EXPECT_EQ(log_of({complete}).find("error"), std::string::npos) << text_of(directory / "log");
  EXPECT_EQ(message, "");
}

TEST_F(Offers, AreCompleteWithoutMembersThatSayNothing) {
  std::string system = complete;
  for (const std::string& member : left_out) {
    const std::size_t place = system.find(member);
    ASSERT_NE(place, std::string::npos) << member;
    system.erase(place, member.size());
  }
  system.replace(system.find("S(k)"), 4, "S(1.0)");
  EXPECT_EQ(log_of({system}).find("error"), std::string::npos) << text_of(directory / "log");
  EXPECT_EQ(message, "");
}

TEST_F(Offers, AreNamedWhereOneIsMissing) {
  std::vector<std::string> systems;
  for (const Change& change : changes) {
    std::string system = complete;
    const std::size_t place = system.find(change.from);
    ASSERT_NE(place, std::string::npos) << change.from;
    systems.push_back(system.replace(place, change.from.size(), change.to));
  }
  const std::string log = log_of(systems);
  std::size_t place = 0;
  for (const Change& change : changes) {
    const std::size_t next = log.find(change.says, place);
    EXPECT_NE(next, std::string::npos) << change.says << " after " << change.to;
    if (next != std::string::npos) place = log.find('\n', next);
  }
  EXPECT_TRUE(message.starts_with("own.hpp: a system needs `using scalar = T;`")) << message;
}

TEST_F(Offers, AreSaidBeforeWhatTheCompilerSays) {
  std::string system = complete;
  const std::string line = "static constexpr int n = 2, m = 1;";
  system.replace(system.find(line), line.size(), "static constexpr int m = 1;");
  (void)log_of({system});
  if (compiler.clang) {
    EXPECT_TRUE(message.starts_with("system 0:") && message.find("undeclared identifier 'n'") != std::string::npos)
        << message;
    return;
  }
  EXPECT_TRUE(message.starts_with(
      "own.hpp: a system needs `static constexpr int n`, the dimension of its configuration space; the "
      "compiler says first: system 0:"))
      << message;
}

}  // namespace
}  // namespace rattleback::tests
