// What is kept of a test of the machine, and told by results.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "rattleback/engine/outcome.hpp"
#include "rattleback/measure/selftest.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;

namespace {

class KeptOutcome : public testing::Test {
 protected:
  KeptOutcome() { setenv("XDG_STATE_HOME", folder_.c_str(), 1); }
  ~KeptOutcome() override {
    unsetenv("XDG_STATE_HOME");
    std::filesystem::remove_all(folder_);
  }
  static std::string told() {
    const Result result = run(Study::parse("[system]\nname = \"henon-heiles\"\n[method]\nname = \"lobatto\"\n"
                                           "[time]\nstep = 0.1\nend = 1\n"),
                              {.backend = "cpu:scalar"});
    return std::get<std::string>(result.attribute("/", "selftest").value());
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("rattleback-state-{}", getpid());
};

TEST_F(KeptOutcome, IsToldByResultsOfTheSameDevice) {
  EXPECT_EQ(told(), "not made");
  SelftestReport report = selftest({.backend = "cpu:scalar", .match = "henon_heiles.*lobatto.*_s2", .seconds = 0.0});
  EXPECT_EQ(report.faults(), 0u);
  const std::string file = keep_outcome(report.device, report.driver, report.outcome());
  EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(told(), report.outcome());
  EXPECT_EQ(kept_outcome(report.device, report.driver), report.outcome());
  EXPECT_EQ(kept_outcome("another device", report.driver), "");
  report.kernels[0].fault = "/final/q";
  keep_outcome(report.device, report.driver, report.outcome());
  EXPECT_TRUE(told().starts_with("failed, 1 of ")) << told();
  std::ofstream(file) << "not\x1b[31m plain\n";
  EXPECT_EQ(told(), "not made");
}

}  // namespace
