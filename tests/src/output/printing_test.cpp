// Names and files may have any bytes: no command fails over them, and no control character reaches standard output.

#include <sys/stat.h>

#include "program.hpp"

using nlohmann::json;

namespace {

class Printing : public Program {
 protected:
  void SetUp() override {
    write("s.toml", chaotic);
    fs::create_directory(directory / bytes);
    setenv("NAME", bytes.c_str(), 1);
  }
  void TearDown() override { unsetenv("NAME"); }

  /// Runs a command whose text on stdout must be UTF-8 without control characters but line breaks.
  Outcome printed(const std::string& command, int exit_code = 0) const {
    Outcome outcome = shell(command);
    EXPECT_EQ(outcome.exit_code, exit_code) << command << outcome.err;
    EXPECT_NO_THROW((void)json(outcome.out).dump()) << command << outcome.out;  // throws for other bytes than UTF-8
    for (const char c : outcome.out)
      EXPECT_TRUE(c == '\n' || c < 0 || (c >= ' ' && c != '\x7f')) << command << outcome.out;
    EXPECT_EQ(outcome.out.find("\u009b"), std::string::npos) << command;
    return outcome;
  }
  const std::string bytes = "a\xff\x1b[31m\n\u009b";
  const std::string small = " --set time.end=0.2 --set time.sample_every=1 ";
};

TEST_F(Printing, JsonNamesFilesOfAnyBytes) {
  const auto result = [this](const std::string& command, int exit_code = 0) {
    return json::parse(printed(command, exit_code).out);
  };
  const std::string shown = "a\ufffd\x1b[31m\n\u009b/r.h5";
  EXPECT_EQ(result("$RB run s.toml --json -o \"$NAME/r.h5\"" + small)["result"], shown);
  EXPECT_EQ(result("$RB diff --json \"$NAME/r.h5\" \"$NAME/r.h5\"")["first"], shown);
  EXPECT_EQ(result("$RB diff --json --fingerprint \"$NAME/r.h5\"").dump().find("\"\""), std::string::npos);
  EXPECT_EQ(result("$RB run s.toml --json -o \"$NAME/p.h5\" --part 1/2" + small)["parts"], 1);
  EXPECT_EQ(result("$RB run s.toml --json -o \"$NAME/p.h5\" --parts 2 --worker" + small)["of"], 2);
  EXPECT_EQ(result("$RB status --json \"$NAME/p.h5\"")["finished"], 2);
  EXPECT_EQ(result("$RB merge --json \"$NAME/p.h5\"")["trajectories"], 600);
  EXPECT_EQ(result("$RB cite --json \"$NAME/p.h5\"")["name"], "test");
}

TEST_F(Printing, TextNamesFilesOfAnyBytes) {
  const Outcome ran = printed("$RB run s.toml -o \"$NAME/r.h5\" 2> /dev/null" + small);
  EXPECT_NE(ran.out.find("result: a\\xff\\x1b[31m\\n\\x9b/r.h5\n"), std::string::npos) << ran.out;
  for (const std::string command :
       {"$RB diff \"$NAME/r.h5\" \"$NAME/r.h5\"", "$RB diff --fingerprint \"$NAME/r.h5\"", "$RB cite \"$NAME/r.h5\"",
        "$RB report \"$NAME/r.h5\" --figures 0 -o \"$NAME/r.html\""})
    printed(command);
  printed("$RB run s.toml -o \"$NAME/p.h5\" --part 1/2 2> /dev/null" + small);
  printed("$RB status \"$NAME/p.h5\"");
}

/// What a result says of itself may have been changed by anybody.
TEST_F(Printing, ResultsHaveAnyTexts) {
  ASSERT_EQ(shell("$RB run s.toml -o a.h5 --quiet" + small).exit_code, 0);
  fs::copy_file(directory / "a.h5", directory / "b.h5");
  const hid_t file = H5Fopen((directory / "b.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
              root = H5Gopen2(file, "/", H5P_DEFAULT);
  const auto text = [&](const char* name, const std::string& value) {
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, value.size());
    H5Adelete(root, name);
    const hid_t attribute = H5Acreate2(root, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Awrite(attribute, type, value.data()), 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  };
  for (const char* name : {"version", "git", "fingerprint", "backend", "device", "selftest"})
    text(name, bytes + "}@x{y,\\%");
  text("kernels", std::string(100'000, '['));
  EXPECT_GE(H5Lmove(root, "time", root, ("t\n" + bytes).c_str(), H5P_DEFAULT, H5P_DEFAULT), 0);
  H5Gclose(root);
  H5Fclose(file);
  for (const std::string option : {"", " --json"}) {
    printed("$RB diff a.h5 b.h5" + option, 1);
    printed("$RB diff --fingerprint b.h5" + option, 1);
    const Outcome cited = printed("$RB cite b.h5" + option);
    EXPECT_EQ(cited.out.find("}@x") == std::string::npos, option.empty()) << cited.out;
  }
  if (std::system("/usr/bin/python3 -c 'import h5py' 2> /dev/null") == 0) {
    EXPECT_EQ(shell("$RB report b.h5 --figures 0 --quiet").exit_code, 0);
  }
}

}  // namespace
