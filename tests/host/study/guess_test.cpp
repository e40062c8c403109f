// Where Newton's method starts: the solution does not depend on the guess, its price does.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

constexpr int steps = 100;

Result four_particles(const std::string& method, const std::string& guess) {
  return Session().run(
      Study::parse(fmt::format("[system]\nname = \"four-particle\"\n"
                               "[method]\nname = \"{}\"\nsolver = {{ tolerance = 1e-12, guess = \"{}\" }}\n"
                               "[time]\nstep = 0.01\nsteps = {}\n"
                               "[[observable]]\nname = \"q[0]\"\n[[observable]]\nname = \"p[7]\"\n"
                               "[[observable]]\nname = \"iterations\"\n",
                               method, guess, steps)));
}

double last(const Result& result, const std::string& name) { return result.statistic(name, "mean").back(); }

TEST(Guess, ChangesTheIterationsAndNotTheSolution) {
  for (const char* method : {"ggl-vi-a", "ggl-vi-b", "ggl-vi-bs", "ggl-theta", "energy-momentum",
                             "energy-momentum-index3", "classical-ggl"}) {
    const Result advanced = four_particles(method, "advanced"), simple = four_particles(method, "simple");
    for (const char* name : {"q[0]", "p[7]"})
      EXPECT_NEAR(last(simple, name), last(advanced, name), 1e-11) << method << ' ' << name;
    EXPECT_GE(last(simple, "iterations"), last(advanced, "iterations") + steps / 2) << method;
  }
}

TEST(Guess, IsKeptByTheTextOfAStudy) {
  Study study;
  study.method.guess = "simple";
  EXPECT_NE(study.to_toml().find("guess = \"simple\""), std::string::npos);
  EXPECT_EQ(Study{}.to_toml().find("guess"), std::string::npos);
}

}  // namespace
