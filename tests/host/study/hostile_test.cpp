// Studies and files made to break the program: each gets one short line.

#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/base/message.hpp"
#include "rattleback/measure/estimate.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view pendulum = R"toml([system]
name = "planar-pendulum"
[method]
name = "holonomic-lobatto"
[time]
step = 0.1
end = 1
)toml";

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "";
}

std::string parse(const std::string& more, const std::vector<std::string>& overrides = {}) {
  const std::string message = message_of([&] { Study::parse(std::string(pendulum) + more, "s.toml", overrides); });
  EXPECT_LE(message.size(), 2000u);
  EXPECT_TRUE(is_printable(message)) << message;
  return message;
}

void expect_in(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

// A list of these times would need 48 TB.
TEST(Hostile, AnyNumberOfSamples) {
  const std::vector<std::string> samples{"time.end=6e11", "time.sample_every=1"};
  EXPECT_EQ(parse("[output]\ntrajectories = []\n", samples), "");
  const std::string observable = "[[observable]]\nname = \"energy\"\nstatistics = [\"mse\"]\n";
  const std::string fit = "[[fit]]\nname = \"rate\"\nobservable = \"energy\"\nstatistic = \"mse\"\nmodel = \"power\"\n";
  EXPECT_EQ(parse(observable + fit + "from = 1\n", samples), "");
  expect_in(parse(observable + fit + "from = 0\n", samples), "has a sample at time 0");
  expect_in(parse(observable + fit + "from = 1.05\nto = 1.25\n", samples), "has 2 samples between");
}

TEST(Hostile, SurfacesOfAnyDepth) {
  const auto surface = [](const std::string& text) { return parse("[[section]]\nsurface = \"" + text + "\"\n"); };
  for (const std::string& deep : {repeated("(", 20000) + "q0" + repeated(")", 20000), repeated("sin(", 20000),
                                  repeated("-", 200000) + "q0", repeated("(", 4000) + "q0"}) {
    const std::string message = surface(deep);
    EXPECT_TRUE(message.starts_with("s.toml:9: section[0].surface = '")) << message;
    EXPECT_LT(message.size(), 400u);
  }
  expect_in(surface(repeated("-", 40000) + "q0"), "it has 40002 bytes; an expression has at most 32768");
  expect_in(surface(repeated("(", 65) + "q0" + repeated(")", 65)), "nested deeper than 64 levels");
  EXPECT_EQ(surface("(((q0))) - --0.5^2"), "");
  expect_in(surface("q0\\u0000+1"), "NUL");
}

TEST(Hostile, ExpressionsOfAnyDepth) {
  const auto step = [](const std::string& text) { return parse("", {"time.step=\"" + text + "\""}); };
  expect_in(step(repeated("(", 2000) + "1" + repeated(")", 2000)), "nested deeper than 64 levels");
  expect_in(step(repeated("1+", 1 << 20) + "1"), "an expression has at most 32768");
  expect_in(step("0.1\\u0000 and more"), "NUL");
  EXPECT_EQ(step("((0.05)) + 0.05"), "");
}

TEST(Hostile, TomlOfAnyDepth) {
  const std::string levels = "nested deeper than 64 levels";
  expect_in(parse("x" + repeated(".a", 50000) + " = 1\n"), "s.toml:8: brackets and dotted keys are " + levels);
  expect_in(parse("\n[a" + repeated(".a", 100000) + "]\n"), "s.toml:9: brackets and dotted keys are " + levels);
  expect_in(parse("x = " + repeated("[", 100000)), levels);
  expect_in(parse("x = " + repeated("{a.b=", 40) + "1" + repeated("}", 40)), levels);
  expect_in(parse("x = [\n" + repeated("[\n", 100) + "1" + repeated("]", 101)), "s.toml:72: ");
  expect_in(parse("", {"time" + repeated(".a", 400) + "=1"}), "--set time.a.a");
  expect_in(parse("", {"time" + repeated(".a", 50000) + "=1"}), "no key of a study has more than 1000 bytes");
  expect_in(parse("", {"time.step=" + repeated("[", 100000)}), "--set time.step: brackets");
}

TEST(Hostile, DepthIsCountedInTomlOnly) {
  const std::string text = repeated("[.", 200);
  EXPECT_EQ(parse("# " + text + "\n[study]\nname = \"a " + text + "\\\" " + "\"\n").find("nested"), std::string::npos);
  EXPECT_EQ(parse("[study]\nname = '''" + text + "\n" + text + "'''\n").find("nested"), std::string::npos);
  expect_in(parse("[study]\nname = \"\"\"\n\n\"\"\"\nx" + repeated(".a", 100) + " = 1"), "s.toml:12: brackets");
  // many, none of them deep
  std::string rows;
  for (int i = 0; i < 300; ++i) rows += "[1.5, 2.5],\n";
  expect_in(parse("", {"method.a=[" + rows + "]"}), "unknown key 'a'");
  expect_in(parse(repeated("[x.y.z\n", 100)), "not TOML");
}

TEST(Hostile, NamesBecomePathsOfTheResult) {
  const auto section = [](const std::string& name) {
    return parse(fmt::format("[[section]]\nname = \"{}\"\nsurface = \"q0\"\n", name));
  };
  for (const std::string& name : std::vector<std::string>{"a\\u0000b", "a\\nb", "a\\u001b[31m", "a/b", ".", "..",
                                                          repeated("a", 101), "\\u202e"}) {
    expect_in(section(name), "s.toml:8: a section cannot be called '");
    EXPECT_EQ(section(name).find('\x1b'), std::string::npos);
    const std::string study = parse("[study]\nname = \"" + name + "\"\n");
    if (name == "a/b") {
      EXPECT_EQ(study, "");  // no path of the result has it
    } else {
      expect_in(study, "a study cannot be called '");
    }
    expect_in(parse("[ensemble]\naxes = [{ name = \"" + name + "\", values = [1] }]\n"), "cannot name an axis");
    expect_in(parse("[[observable]]\nname = \"" + name + "\"\n"), "unknown observable '");
  }
  EXPECT_EQ(section("Schnitt \xc3\xa4 1.5"), "");
  expect_in(parse("[[section]]\nname = \"1\"\nsurface = \"q0\"\n[[section]]\nsurface = \"q1\"\n"),
            "section '1' appears twice");

  Study study = Study::parse(pendulum);
  study.name = std::string("a\0b", 3);
  expect_in(message_of([&] { study.validate(); }), "a study cannot be called 'a\\x00b'");
  study.name = "a";
  study.sections.push_back(
      {.name = std::string("x\0y", 3), .surface = "q0", .every = {}, .direction = 1, .returns = {}, .where = ""});
  expect_in(message_of([&] { study.validate(); }), "a section cannot be called 'x\\x00y'");
}

TEST(Hostile, TextsThatAreEmptyAreNoTexts) {
  for (const char* key : {"study.name", "system.name", "system.variant", "method.name", "ensemble.file",
                          "ensemble.group", "ensemble.frame"})
    expect_in(parse("", {fmt::format("{}=''", key)}), fmt::format("--set {}: {} is empty", key, key));
}

TEST(Hostile, AxesThatNoExpressionReadsAreFinite) {
  for (const char* axis :
       {"{ name = \"x\", from = -1e308, to = 1e308, count = 3 }",
        "{ name = \"x\", distribution = \"uniform\", from = -1e308, to = 1e308, seed = 1, draws = 3 }",
        "{ name = \"x\", distribution = \"normal\", mean = 1e308, std = 1e308, seed = 1, draws = 3 }"})
    expect_in(parse(fmt::format("[ensemble]\naxes = [{}]\n", axis)), "axis 'x' has values that are not finite");
}

TEST(Hostile, NumbersAreReportedAsGiven) {
  expect_in(parse("", {"method.solver.max_iterations=4294967298"}), "max_iterations = 4294967298 is out of range");
}

class HostileFile : public testing::Test {
 protected:
  HostileFile() {
    std::string name = (fs::temp_directory_path() / "rattleback-test-XXXXXX").string();
    directory = mkdtemp(name.data());
  }
  ~HostileFile() override { fs::remove_all(directory); }

  std::string points(const std::string& csv) const {
    std::ofstream(directory / "p.csv", std::ios::binary) << csv;
    return message_of([&] {
      Study study = Study::parse(std::string(pendulum) + "[ensemble]\nfile = \"p.csv\"\n");
      study.directory = directory;
      const Ensemble ensemble(study);
    });
  }

  fs::path directory;
};

TEST_F(HostileFile, StudiesAreFilesOfBoundedSize) {
  EXPECT_EQ(message_of([&] { Study::load(directory); }), directory.string() + ": cannot be read (Is a directory)");
  EXPECT_EQ(message_of([&] { Study::load(""); }), "'': cannot be read (No such file or directory)");
  expect_in(message_of([&] { Study::load(directory / repeated("x", 5000)); }), "File name too long");
  std::ofstream(directory / "big.toml") << pendulum;
  fs::resize_file(directory / "big.toml", std::uintmax_t{3} << 30);
  expect_in(message_of([&] { Study::load(directory / "big.toml"); }), "it has more than 64 MiB");
  std::ofstream(directory / "bom.toml") << "\xef\xbb\xbf" << pendulum;
  EXPECT_EQ(message_of([&] { Study::load(directory / "bom.toml"); }), "");
}

TEST_F(HostileFile, CsvWithAByteOrderMark) {
  EXPECT_EQ(points("\xef\xbb\xbf"
                   "a\n1\n2\n"),
            "");
}

TEST_F(HostileFile, CsvThatIsNone) {
  expect_in(points("a\n" + std::string(3 << 20, '1') + "\n"), "p.csv:2: has a line of more than");
  expect_in(points(repeated("x,", 20000) + "y\n"), "names 20001 columns");
  expect_in(points("a\n\x1b[31m\n"), "p.csv:2: '\\x1b[31m' in column 'a' is not a number");
  fs::create_directory(directory / "d.csv");
  expect_in(message_of([&] {
              Study study = Study::parse(std::string(pendulum) + "[ensemble]\nfile = \"d.csv\"\n");
              study.directory = directory;
              const Ensemble ensemble(study);
            }),
            "cannot be read (it is a directory)");
}

TEST(Message, IsOneLineWhateverIsInIt) {
  EXPECT_EQ(quote("a'b"), "'a'b'");
  EXPECT_EQ(quote("\"a\\b\""), "'\"a\\b\"'");
  EXPECT_EQ(quote("\xc3\xa9\n\x1b[0m\xff"), "'\xc3\xa9\\n\\x1b[0m\\xff'");
  EXPECT_EQ(quote(std::string("a\0b", 3)), "'a\\x00b'");
  EXPECT_EQ(quote(std::string(200, 'x')), "'" + std::string(100, 'x') + "...' (200 bytes)");
  EXPECT_EQ(quote(repeated("\xc3\xa9", 51) + "x"), "'" + repeated("\xc3\xa9", 50) + "...' (103 bytes)");
  EXPECT_EQ(quote("x" + repeated("\xc3\xa9", 60)), "'x" + repeated("\xc3\xa9", 49) + "...' (121 bytes)");
  const std::string line = one_line("begin" + std::string(1'000'000, '\n') + "end");
  EXPECT_LE(line.size(), 2000u);
  EXPECT_TRUE(line.starts_with("begin\\n") && line.ends_with("\\nend")) << line;
  EXPECT_TRUE(is_printable(line));
  EXPECT_EQ(one_line("a 'b': \"c\""), "a 'b': \"c\"");
}

TEST(Check, VisitsASampleOfALargeEnsemble) {
  const auto study = [](const std::string& count, const std::string& v) {
    return Study::parse(
        std::string(pendulum) + "[ensemble]\naxes = [{ name = \"x\", from = 0, to = 1, count = " + count +
        " }, { name = \"y\", values = [0.0, 1.0] }]\n[ensemble.initial]\nq = [1, 0]\nv = [" + v + ", \"x*y\"]\n");
  };
  const auto start = std::chrono::steady_clock::now();
  const Estimate large = estimate(study("1e12", "0"));
  EXPECT_EQ(large.trajectories, 2'000'000'000'000u);
  EXPECT_LE(large.checked, 100'000u);
  EXPECT_GT(large.checked, 100u);
  EXPECT_EQ(large.trajectory_steps, 2e13);
  EXPECT_GT(large.rate, 1e3);
  EXPECT_GT(large.disk, 2e12 * 8);
  const Estimate small = estimate(study("50", "0"));
  EXPECT_EQ(small.checked, 100u);
  EXPECT_EQ(small.trajectory_steps, 1000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  // the ends of the axes are looked at, whatever the sample
  expect_in(message_of([&] { (void)estimate(study("1e12", "\"(x==1)*y\"")); }),
            "initial state of trajectory 1999999999999 (x = 1, y = 1) is off the constraint");
  EXPECT_EQ(result_bytes(study("4e18", "0")), std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace rattleback
