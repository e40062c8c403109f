// Systems that a study writes as formulas: what is known of them before anything is compiled.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/base/error.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {
namespace {

std::string study_of(const std::string& system, const std::string& method) {
  return fmt::format(
      "[system]\n{}\n[method]\nname = '{}'\n[time]\nstep = 0.1\nend = 1\n[[observable]]\nname = 'energy'\n", system,
      method);
}

/// Nothing is compiled while this object lives.
struct NoCompiler {
  KernelPolicy before = Kernels::instance().policy();
  NoCompiler() { Kernels::instance().set_policy(KernelPolicy::builtin); }
  ~NoCompiler() { Kernels::instance().set_policy(before); }
};

TEST(OwnSystem, IsKnownBeforeItIsCompiled) {
  const NoCompiler none;
  const std::string system =
      "name = 'known-before'\ncoordinates = ['x', 'y']\nparameters = {k = {value = 2.5, unit = '1/s', text = 'rate'}}\n"
      "potential = 'k x^2 + 0.125 y^4'\nconstraints = ['x^2 + y^2 - 1']\nobservables = {spin = 'x v_y - y v_x'}\n"
      "initial = {q = [1, 0], v = [0, 0.5]}";
  const Problem problem = Problem::parse(study_of(system, "holonomic-lobatto"), "s.toml");
  const SystemEntry& entry = *problem.system;
  EXPECT_STREQ(entry.name, "known-before");
  EXPECT_STREQ(entry.coordinates[1], "y");
  EXPECT_EQ(entry.parameters[0].value, 2.5);
  EXPECT_STREQ(entry.parameters[0].unit, "1/s");
  ASSERT_EQ(entry.observables.size(), 4u);
  EXPECT_STREQ(entry.observables[3].name, "spin");
  EXPECT_EQ(entry.default_v[1], 0.5);
  EXPECT_THROW((void)Problem::parse(study_of(system, "lobatto"), "s.toml"), Error);
  try {
    (void)point_functions(entry);
    FAIL() << "the functions at points were there";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is not compiled"), std::string::npos) << error.what();
  }
}

TEST(OwnSystem, WithoutDifferenceQuotientsIsRefusedByMethodsThatTakeThem) {
  const NoCompiler none;
  const auto message = [](const std::string& potential, const std::string& method) -> std::string {
    const std::string system =
        fmt::format("name = 's'\ncoordinates = ['x', 'y']\npotential = '{}'\n{}\ninitial = {{q = [1, 0]}}", potential,
                    method.starts_with("nonholonomic") ? "velocity_constraints = ['v_x - x v_y']"
                                                       : "constraints = ['x^2 + y^2 - 1']");
    try {
      (void)Problem::parse(study_of(system, method), "s.toml");
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  for (const char* method : {"energy-momentum", "energy-momentum-index3", "classical-ggl", "nonholonomic-energy"}) {
    EXPECT_EQ(message("tan(x/4)", method),
              fmt::format("s.toml:8: method '{}' takes difference quotients of the formulas of 's', and tan has none "
                          "(those of sqrt, sin, cos, exp, log and whole powers are known); choose another method",
                          method));
    EXPECT_EQ(message("sin(x/4) + exp(y) + sqrt(2 + x) + x^3", method), "");
  }
  EXPECT_EQ(message("tan(x/4)", "ggl-vi-s"), "");
}

/// The kernels of these systems are those of the tests that run the examples.
TEST(OwnSystem, IsWhatItsCompiledTextSays) {
  int compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(RATTLEBACK_EXAMPLES)) {
    if (file.path().extension() != ".toml") continue;
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.find("\ncoordinates = ") == std::string::npos && text.find("\ngroup = ") == std::string::npos) continue;
    SCOPED_TRACE(file.path().filename().string());
    const Problem problem = Problem::load(file.path());
    const SystemEntry& known = *problem.system;
    EXPECT_NO_THROW((void)point_functions(known));  // compares the form
    const SystemEntry& compiled = Kernels::instance().system(known.source_text);
    EXPECT_STREQ(known.name, compiled.name);
    EXPECT_STREQ(known.configuration, compiled.configuration);
    EXPECT_EQ(known.force_of_velocity, compiled.force_of_velocity);
    EXPECT_EQ(known.default_q.size(), compiled.default_q.size());
    const auto names = [](const auto& infos) {
      std::vector<std::string> list;
      for (const auto& info : infos) list.emplace_back(info.name);
      return list;
    };
    EXPECT_EQ(names(known.parameters), names(compiled.parameters));
    EXPECT_EQ(names(known.structure), names(compiled.structure));
    EXPECT_EQ(names(known.observables), names(compiled.observables));
    for (std::size_t i = 0; i < known.observables.size(); ++i)
      EXPECT_EQ(known.observables[i].conserved, compiled.observables[i].conserved) << known.observables[i].name;
    ASSERT_EQ(known.coordinates.size(), compiled.coordinates.size());
    for (std::size_t i = 0; i < known.coordinates.size(); ++i)
      EXPECT_STREQ(known.coordinates[i], compiled.coordinates[i]);
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

}  // namespace
}  // namespace rattleback
