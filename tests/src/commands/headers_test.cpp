// Headers of the user: what makes their kernels cannot change between the pieces of one result, and a header that lacks something is
// told so in a sentence.

#include "commands/checkpoints.hpp"

namespace {

/// An oscillator whose stiffness is a macro, in three headers.
class OwnHeader : public Processes {
 protected:
  void SetUp() override {
    fs::create_directory(directory / "more");
    write("well.hpp", R"(#pragma once
#include "rattleback/mechanics/system.hpp"
#include "beside.hpp"
#include <found.hpp>
namespace field {
using namespace rattleback;
template <class T>
struct Well {
  using scalar = T;
  static constexpr int n = 1, m = 0;
  static constexpr auto kind = ConstraintKind::none;
  static constexpr auto name = "well";
  static constexpr auto variant = "", summary = "an oscillator", configuration = "R: x", source = "a test";
  static constexpr bool conserves_energy = true;
  static constexpr std::array<double, 1> default_q{1.0}, default_v{0.0};
  static constexpr std::array<ParameterInfo, 0> parameters() { return {}; }
  static constexpr std::array<StructureInfo, 0> structure() { return {}; }
  static constexpr std::array<ObservableInfo, 0> invariants() { return {}; }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5 * STIFF * beside * found) * q[0] * q[0];
  }
};
}  // namespace field
)");
    write("beside.hpp", "#pragma once\ninline constexpr double beside = 1.0;\n");
    write("more/found.hpp", "#pragma once\ninline constexpr double found = 1.0;\n");
    write("s.toml",
          "[system]\nfile = \"well.hpp\"\ntype = \"field::Well<T>\"\n[method]\nname = \"lobatto\"\nstages = 2\n[time]\n"
          "step = 0.01\nend = 20\n[ensemble]\naxes = [ { name = \"a\", from = 1, to = 2, count = 600 } ]\n"
          "[ensemble.initial]\nq = [\"a\"]\nv = [0]\n[[observable]]\nname = \"energy\"\nstatistics = [\"max\"]\n");
  }

  /// A command with this stiffness.
  Outcome with(const std::string& stiffness, const std::string& command) const {
    return shell(flags(stiffness) + command);
  }
  [[nodiscard]] std::string flags(const std::string& stiffness) const {
    return fmt::format("export RATTLEBACK_CXXFLAGS='-DSTIFF={} -I{}'; ", stiffness, (directory / "more").string());
  }
  /// The macros and the header are those of another system.
  static void expect_another(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("is not the header of this study any more"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("-DSTIFF=4.0"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
  static constexpr auto scalar = " --quiet --backend cpu:scalar ";
};

TEST_F(OwnHeader, IsTheSameInAllPiecesOfAResult) {
  const Outcome whole = with("1.0", std::string("$RB run s.toml -o whole.h5") + scalar);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  // a run that ends at its first checkpoint
  setenv("RATTLEBACK_CXXFLAGS", fmt::format("-DSTIFF=1.0 -I{}", (directory / "more").string()).c_str(), 1);
  const pid_t child =
      start("run s.toml -o a.h5 --backend cpu:scalar --tile 256 --set output.checkpoint=1ms --set time.end=20000");
  unsetenv("RATTLEBACK_CXXFLAGS");
  wait_for(child, "a.h5.checkpoint");
  kill(child, SIGINT);
  EXPECT_EQ(wait(child), 1) << read_file(directory / "err");
  expect_another(with("4.0", std::string("$RB resume a.h5") + scalar));
  // parts, and what reads them
  EXPECT_EQ(with("1.0", std::string("$RB run s.toml --part 1/2 -o p.h5") + scalar).exit_code, 0);
  const Outcome part = with("4.0", std::string("$RB run s.toml --part 2/2 -o p.h5") + scalar);
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_NE(part.err.find("holds parts of another study"), std::string::npos) << part.err;
  EXPECT_EQ(with("1.0", std::string("$RB run s.toml --part 2/2 -o p.h5") + scalar).exit_code, 0);
  expect_another(with("4.0", "$RB merge p.h5 --quiet"));
  const Outcome merged = with("1.0", "$RB merge p.h5 --quiet");
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_TRUE(datasets(directory / "p.h5") == datasets(directory / "whole.h5"));
  // a result as the beginning of another
  const std::string next =
      std::string("$RB run s.toml -o next.h5 --set 'ensemble={file=\"whole.h5\", group=\"/final\"}'") + scalar;
  const Outcome other = with("4.0", next);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("'whole.h5' is a result of another version of"), std::string::npos) << other.err;
  EXPECT_FALSE(fs::exists(directory / "next.h5"));
  const Outcome went_on = with("1.0", next);
  EXPECT_EQ(went_on.exit_code, 0) << went_on.err;
  // headers that the header includes
  for (const char* file : {"beside.hpp", "more/found.hpp"}) {
    const std::string text = read_file(directory / file);
    write(file, text + "\n// changed\n");
    const Outcome changed = with("1.0", "$RB merge p.h5 --quiet");
    EXPECT_EQ(changed.exit_code, 2) << file;
    EXPECT_NE(changed.err.find("is not the header of this study any more"), std::string::npos) << changed.err;
    write(file, text);
  }
  const Outcome resumed = with("1.0", std::string("timeout --foreground -s INT 1 $RB resume a.h5") + scalar);
  EXPECT_NE(resumed.exit_code, 2) << resumed.err;
}

TEST_F(OwnHeader, ThatLacksAMemberIsToldSo) {
  std::string header = read_file(directory / "well.hpp");
  const std::size_t place = header.find("  static constexpr auto name = \"well\";\n");
  header.erase(place, header.find('\n', place) + 1 - place);
  write("well.hpp", header);
  const Outcome outcome = with("1.0", "$RB check s.toml");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(outcome.err.starts_with("rattleback: " + fs::weakly_canonical(directory / "well.hpp").string() +
                                      ": a system needs `static constexpr auto name`, a text"))
      << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
}

TEST_F(OwnHeader, ThatIsAPipeOrNamesOneIsRefused) {
  const Outcome outcome = with("1.0", "rm beside.hpp; mkfifo beside.hpp; timeout 20 $RB check s.toml");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("the header 'beside.hpp' cannot be read (it is not a regular file)"), std::string::npos)
      << outcome.err;
}

}  // namespace
