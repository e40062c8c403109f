// Kernels of systems that a user wrote, as a header or as formulas.

#include "kernels_on_demand.hpp"

namespace {

TEST_F(KernelsOnDemand, OfOwnSystemsComeFromAPackWhereverTheHeaderLies) {
  for (const char* place : {"here", "there"}) {
    fs::create_directory(directory / place);
    fs::copy_file(RATTLEBACK_EXAMPLES "/cpp/double_well.hpp", directory / place / "double_well.hpp");
    write(fmt::format("{}/own.toml", place),
          "[system]\nfile = \"double_well.hpp\"\ntype = \"example::DoubleWell<T>\"\n[method]\n"
          "name = \"nonholonomic-lobatto\"\nstages = 2\n[time]\nstep = 0.1\nend = 1\n"
          "[ensemble.initial]\nq = [-1, 0.5, 0]\nv = [0.8, 0.6, 0.4]\n"
          "[[observable]]\nname = \"energy_y\"\nstatistics = [\"max\"]\n");
  }
  const Outcome made = in_cache("$RB compile here/own.toml --isa scalar --pack p");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string own = "$RB run {}/own.toml --backend cpu:scalar -o {}.h5 --kernels {}";
  const Outcome here = in_cache(fmt::format(fmt::runtime(own), "here", "here", "cached"));
  ASSERT_EQ(here.exit_code, 0) << here.err;
  fs::remove_all(directory / "here");
  const Outcome there = in_cache("export RATTLEBACK_KERNEL_PATH=$PWD/p; " + std::string(no_compiler) +
                                     fmt::format(fmt::runtime(own), "there", "there", "builtin"),
                                 "none");
  ASSERT_EQ(there.exit_code, 0) << there.err;
  EXPECT_TRUE(datasets(directory / "there.h5") == datasets(directory / "here.h5"));
  // another header is another kernel
  std::ofstream(directory / "there" / "double_well.hpp", std::ios::app) << "// changed\n";
  const Outcome changed = in_cache(
      "export RATTLEBACK_KERNEL_PATH=$PWD/p; " + fmt::format(fmt::runtime(own), "there", "there", "builtin"), "none");
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_NE(changed.err.find("is not compiled"), std::string::npos) << changed.err;
}

TEST_F(KernelsOnDemand, OfFormulasGiveTheBitsOfAHeader) {
  fs::copy_file(RATTLEBACK_EXAMPLES "/cpp/double_well.hpp", directory / "double_well.hpp");
  const std::string formulas = read_file(RATTLEBACK_EXAMPLES "/double-well.toml");
  write("formulas.toml", formulas);
  std::string rest = formulas.substr(formulas.find("[method]"));
  for (std::size_t at; (at = rest.find("\"barrier\"")) != std::string::npos;) rest.replace(at, 9, "\"b\"");
  write("header.toml",
        "[system]\nfile = \"double_well.hpp\"\ntype = \"example::DoubleWell<T>\"\n"
        "parameters = { barrier = \"b\" }\n" +
            rest);
  for (const char* study : {"formulas", "header"}) {
    const Outcome outcome =
        in_cache(fmt::format("$RB run {}.toml -o {}.h5 --backend cpu:scalar --quiet", study, study));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  auto written = datasets(directory / "formulas.h5");
  auto by_hand = datasets(directory / "header.h5");
  written.erase("axes/barrier");
  by_hand.erase("axes/b");
  EXPECT_TRUE(written == by_hand);
  // each compilation gives these bits
  const std::vector<double> q = numbers(directory / "formulas.h5", "final/q");
  EXPECT_EQ(fmt::format("{:a} {:a} {:a}", q[0], q[1], q[2]),
            "-0x1.0d26ef06c6135p+0 0x1.4cdc0d3f4481dp-2 -0x1.9b77d16c4694dp-6");
}

TEST_F(KernelsOnDemand, OfAHeaderThatTreatsPacksInAnotherWayAreRefused) {
  std::string header = read_file(RATTLEBACK_EXAMPLES "/cpp/double_well.hpp");
  const std::string begin = "RB_HD Vector<S, n> force(const Vector<S, n>& q) const {";
  const std::size_t at = header.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::string study =
      "[system]\nfile = \"own.hpp\"\ntype = \"example::DoubleWell<T>\"\n[method]\nname = \"nonholonomic-lobatto\"\n"
      "[time]\nstep = 0.1\nend = 1\n[ensemble.initial]\nq = [-1, 0.5, 0]\nv = [0.8, 0.6, 0.4]\n";
  write("own.toml", study);
  write("own.hpp", header);
  EXPECT_EQ(in_cache("$RB run own.toml -o good.h5 --quiet").exit_code, 0);
  header.insert(at + begin.size(),
                "\n    if constexpr (sizeof(S) == sizeof(double)) return {S(2.0), S(0.0), S(0.0)};\n");
  write("own.hpp", header);
  const Outcome refused = in_cache("$RB run own.toml -o bad.h5 --quiet");
  const Outcome scalar = in_cache("$RB run own.toml -o scalar.h5 --quiet --backend cpu:scalar");
  EXPECT_EQ(scalar.exit_code, 0) << scalar.err;
  if (refused.exit_code == 0) GTEST_SKIP() << "this processor has no packs";
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("do not give the bits of those without packs"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(directory / "bad.h5"));
}

TEST_F(KernelsOnDemand, OfAHeaderWithTwoLagrangiansAreRefused) {
  std::string header = read_file(RATTLEBACK_EXAMPLES "/cpp/double_well.hpp");
  const std::size_t begin = header.find("  template <class S>\n  RB_HD Vector<S, n> force"),
                    end = header.find("  template <class S>\n  RB_HD Matrix<S, m, n> constraint_matrix");
  ASSERT_LT(begin, end);
  const auto with = [&](std::string_view mass, std::string_view active) {
    std::string text = header;
    text.replace(
        begin, end - begin,
        fmt::format(
            "  template <class S>\n  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {{\n"
            "    return S(0.5) * dot(v, v) - potential(q);\n  }}\n"
            "  template <class S>\n  RB_HD S mass_matrix(const Vector<S, n>&) const {{ return S({}); }}\n"
            "  static constexpr std::array<int, {}> active{{{}}};\n",
            mass, (active.size() + 1) / 2, active));
    write("own.hpp", text);
    return in_cache("$RB run own.toml -o own.h5 --quiet --backend cpu:scalar");
  };
  write("own.toml",
        "[system]\nfile = \"own.hpp\"\ntype = \"example::DoubleWell<T>\"\n[method]\nname = \"nonholonomic-lobatto\"\n"
        "[time]\nstep = 0.1\nend = 1\n[ensemble.initial]\nq = [-0.9, 0.5, 0]\nv = [0.8, 0.6, 0.4]\n");
  const Outcome mass = with("2.0", "0,1"), active = with("1.0", "1");
  for (const Outcome* refused : {&mass, &active}) {
    EXPECT_EQ(refused->exit_code, 2) << refused->err;
    EXPECT_NE(refused->err.find("states two Lagrangians"), std::string::npos) << refused->err;
  }
  EXPECT_NE(mass.err.find("has L_v[0] = 1."), std::string::npos) << mass.err;
  EXPECT_NE(active.err.find("by `lagrangian`, and 0 by `mass_matrix`"), std::string::npos) << active.err;
  EXPECT_NE(active.err.find("has L_q[0] = "), std::string::npos) << active.err;
  EXPECT_FALSE(fs::exists(directory / "own.h5"));
}

TEST_F(KernelsOnDemand, OfALagrangianThatIsNotQuadraticMustSaySo) {
  std::string header = read_file(RATTLEBACK_EXAMPLES "/cpp/double_well.hpp");
  const std::size_t begin = header.find("  template <class S>\n  RB_HD Vector<S, n> force"),
                    end = header.find("  template <class S>\n  RB_HD Matrix<S, m, n> constraint_matrix");
  ASSERT_LT(begin, end);
  header.replace(begin, end - begin,
                 "  template <class S>\n  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {\n"
                 "    return S(-4.0) * sqrt(S(1.0) - S(0.25) * dot(v, v)) - potential(q);\n  }\n");
  write("own.toml",
        "[system]\nfile = \"own.hpp\"\ntype = \"example::DoubleWell<T>\"\n[method]\nname = \"nonholonomic-lobatto\"\n"
        "[time]\nstep = 0.1\nend = 1\n[ensemble.initial]\nq = [-0.9, 0.5, 0]\nv = [0.8, 0.6, 0.4]\n");
  write("own.hpp", header);
  // also from rest, and near the largest speed, which is 2
  for (const char* v : {"[0.8, 0.6, 0.4]", "[0, 0, 0]", "[1.3, 1.3, 0.65]"}) {
    const Outcome silent = in_cache(
        fmt::format("$RB run own.toml --set 'ensemble.initial.v={}' -o own.h5 --quiet --backend cpu:scalar", v));
    EXPECT_EQ(silent.exit_code, 2) << silent.err;
    EXPECT_NE(silent.err.find("state `static constexpr bool quadratic = false`"), std::string::npos) << silent.err;
  }
  EXPECT_FALSE(fs::exists(directory / "own.h5"));
  header.insert(begin, "  static constexpr bool quadratic = false;\n");
  write("own.hpp", header);
  const Outcome said = in_cache("$RB run own.toml -o own.h5 --quiet --backend cpu:scalar");
  EXPECT_EQ(said.exit_code, 0) << said.err;
}

}  // namespace
