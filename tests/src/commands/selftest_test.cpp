// rattleback selftest.

#include "program.hpp"

using nlohmann::json;

namespace {

class Selftest : public Program {
 protected:
  /// One of the kernels that every build has.
  const std::string one = "--match 'chaotic_printed_m2_nonholonomic_lobatto_s2$' --seconds 0.01";
};

TEST_F(Selftest, ComparesKernelsWithTheProcessor) {
  const Outcome outcome = shell("XDG_STATE_HOME=$PWD $RB selftest --backend cpu --json " + one);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["passed"], true);
  ASSERT_EQ(report["kernels"].size(), 1u);
  EXPECT_EQ(report["kernels"][0]["identical"], true);
  EXPECT_GT(report["kernels"][0]["trajectory_steps"], 0);
  EXPECT_GE(report["kernels"][0]["seconds"], 0.01);
  EXPECT_GT(report["copy_bytes_per_second"], 0);
  EXPECT_EQ(report["digest"].get<std::string>().size(), 16u);
  // the digest is of the processor's results: the same for every backend
  const Outcome scalar = shell("$RB selftest --backend cpu:scalar --json " + one);
  EXPECT_EQ(json::parse(scalar.out)["digest"], report["digest"]);
  EXPECT_FALSE(fs::exists(directory / "rattleback"));  // a part of the kernels is no test of the machine
}

TEST_F(Selftest, RefusesBadInput) {
  const std::string many = std::string(20'000, '(') + std::string(20'000, ')');  // too deep for a recursive matcher
  const std::pair<std::string, const char*> cases[] = {
      {"--match '" + many + "'", "(40000 bytes) is too long"},
      {"--match '('", "'(' is not a regular expression"},
      {"--match nosuchkernel", "no kernel of this build matches 'nosuchkernel'"},
      {"--match ''", "is empty"},
      {"--seconds -1", "--seconds"},
      {"--backend gpu", "unknown backend 'gpu'"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = shell(fmt::format("$RB selftest {}", arguments));
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.out.empty());
  }
}

}  // namespace
