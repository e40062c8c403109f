// What can be wrong with parts: a clear line each, and nothing is lost.

#include <fcntl.h>

#include "parts.hpp"

namespace {

class BadParts : public Parts {
 protected:
  void SetUp() override {
    Parts::SetUp();
    for (int k = 1; k <= 3; ++k)
      ASSERT_EQ(shell(fmt::format("$RB run s.toml -o r.h5 --quiet --part {}/3", k)).exit_code, 0);
    for (int k = 1; k <= 3; ++k) whole.push_back(read_file(part(k)));
  }
  fs::path part(int k) const { return directory / "r.h5.parts" / fmt::format("{:03}-of-003.h5", k); }
  void put_back(int k) const { std::ofstream(part(k), std::ios::binary) << whole[static_cast<std::size_t>(k - 1)]; }
  void expect_merge_refused(const std::string& message) const { expect_refusal("$RB merge r.h5", message); }

  std::vector<std::string> whole;
};

TEST_F(BadParts, NumbersOutOfRange) {
  for (const char* text : {"0/3", "4/3", "3", "x/3", "1/3x", "-1/3", "1/0", "18446744073709551616/3"})
    expect_refusal(fmt::format("$RB run s.toml -o q.h5 --part {}", text), "is not a part (a part is K/N");
  expect_refusal("$RB run s.toml -o q.h5 --part 1/12", "12 parts are not possible");
  expect_refusal("$RB run s.toml -o q.h5 --parts 12 --worker", "12 parts are not possible");
  expect_refusal("$RB run s.toml -o q.h5 --worker", "--worker: needs the number of parts");
  expect_refusal("$RB run s.toml -o q.h5 --parts 3 --part 1/3", "--part: excludes --parts, --worker and --gather");
  expect_refusal("$RB run s.toml -o q.h5 --parts 0", "must be a whole number from 1");
}

TEST_F(BadParts, AnotherStudyOrCutOrVersionInTheFolder) {
  expect_refusal("$RB run s.toml --set time.step=0.05 -o r.h5 --part 1/3", "holds parts of another study");
  expect_refusal("$RB run s.toml -o r.h5 --part 1/4", "holds parts of a cut into 3, not into 4");
  expect_refusal("$RB run s.toml -o r.h5 --parts 5 --worker", "holds parts of a cut into 3, not into 5");
  const fs::path about = directory / "r.h5.parts" / "about.json";
  const std::string text = read_file(about);
  std::string other = text;
  other.replace(other.find("\"version\": \"") + 12, 5, "0.0.9");
  std::ofstream(about) << other;
  expect_refusal("$RB run s.toml -o r.h5 --part 1/3", "holds parts by rattleback 0.0.9");
  expect_merge_refused("holds parts by rattleback 0.0.9");
  std::ofstream(about) << "{";
  expect_merge_refused("does not describe parts");
  expect_refusal("$RB status r.h5", "does not describe parts");
  std::ofstream(about) << text;
  EXPECT_EQ(shell("$RB merge r.h5 --quiet").exit_code, 0);
  expect_same("r.h5");
}

TEST_F(BadParts, NoFolderAndThingsInTheWay) {
  expect_refusal("$RB merge q.h5", "has no parts");
  expect_refusal("$RB status q.h5", "has no parts");
  write("q.h5.parts", "mine");
  expect_refusal("$RB run s.toml -o q.h5 --part 1/3", "is in the way");
  EXPECT_EQ(read_file(directory / "q.h5.parts"), "mine");
  write("t.h5", "mine");
  expect_refusal("$RB run s.toml -o t.h5 --part 1/3", "rattleback did not write the existing file");
  write("r.h5", "mine");
  expect_merge_refused("rattleback did not write the existing file");
  EXPECT_EQ(read_file(directory / "r.h5"), "mine");
}

TEST_F(BadParts, MissingDamagedAndForeignParts) {
  fs::remove(part(2));
  expect_merge_refused("1 of 3 parts is missing (2)");
  put_back(2);

  fs::resize_file(part(2), whole[1].size() / 2);
  expect_merge_refused("002-of-003.h5: is cut off");
  put_back(2);
  std::mt19937 random(3);
  for (int i = 0; i < 40; ++i) {
    std::string flipped = whole[1];
    const std::size_t at =
        i < 5 ? random() % 120 : 512 + random() % (flipped.size() - 512);  // the mark, the seal, or data
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
    std::ofstream(part(2), std::ios::binary) << flipped;
    const Outcome outcome = shell("$RB merge r.h5");
    EXPECT_EQ(outcome.exit_code, 2) << at;
    EXPECT_NE(outcome.err.find("002-of-003.h5: is "), std::string::npos) << at << outcome.err;
  }
  std::ofstream(part(2), std::ios::binary) << "no HDF5";
  expect_merge_refused("002-of-003.h5: is not a finished part of rattleback");
  std::ofstream(part(2), std::ios::binary) << whole[2];  // a part twice
  expect_merge_refused("002-of-003.h5: has other trajectories than part 2 of 3");
  ASSERT_EQ(shell("$RB run s.toml -o other.h5 --quiet --part 2/3 --set method.solver.max_iterations=49").exit_code, 0);
  fs::copy_file(directory / "other.h5.parts" / "002-of-003.h5", part(2), fs::copy_options::overwrite_existing);
  expect_merge_refused("002-of-003.h5: is a part of another study");
  fs::copy_file(directory / "single.h5", part(2), fs::copy_options::overwrite_existing);
  expect_merge_refused("002-of-003.h5: is not a finished part of rattleback");

  // A worker computes again what was deleted.
  fs::remove(part(2));
  EXPECT_EQ(shell("$RB run s.toml -o r.h5 --parts 3 --worker --quiet").exit_code, 0);
  EXPECT_EQ(shell("$RB merge r.h5 --quiet").exit_code, 0);
  expect_same("r.h5");
}

TEST_F(BadParts, TwoMergesAtOnce) {
  write("r.h5.part", "");
  const int file = open((directory / "r.h5.part").c_str(), O_RDWR | O_CLOEXEC);
  struct flock whole{};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(file, F_OFD_SETLK, &whole), 0);
  expect_refusal("$RB merge r.h5", "another run is writing this result");
  close(file);
  EXPECT_EQ(shell("$RB merge r.h5 --quiet").exit_code, 0);
  expect_same("r.h5");
}

TEST_F(BadParts, AFullDiskDuringTheMerge) {
  fs::copy_file(directory / "single.h5", directory / "r.h5");
  const std::vector<std::string> before = files();
  const Outcome outcome = shell("ulimit -f 2600; $RB merge r.h5");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("as large as 'ulimit -f' allows"), std::string::npos) << outcome.err;
  EXPECT_EQ(files(), before);
  expect_same("r.h5");
  for (int k = 1; k <= 3; ++k) EXPECT_EQ(read_file(part(k)), whole[static_cast<std::size_t>(k - 1)]);
  EXPECT_EQ(shell("$RB merge r.h5 --quiet").exit_code, 0);
  expect_same("r.h5");
}

TEST_F(BadParts, ClaimsOfAHostThatIsGone) {
  fs::remove(part(2));
  const fs::path claim = directory / "r.h5.parts" / "002-of-003.claim-0";
  fs::create_directory(claim);
  std::ofstream(claim / "heartbeat") << R"({"host": "elsewhere", "pid": 17, "machine": "elsewhere", "released": false,
    "seconds": 3.0, "steps": 50, "all_steps": 100})";
  // a sign of life a moment ago
  const std::string for_three_seconds = "timeout 3 $RB run s.toml -o r.h5 --part 2/3";
  const Outcome waited = shell(for_three_seconds);
  EXPECT_EQ(waited.exit_code, 124);
  EXPECT_NE(waited.err.find("part 2 is computed by process 17 on elsewhere; waiting for it"), std::string::npos)
      << waited.err;
  auto status = nlohmann::json::parse(shell("$RB status r.h5 --json").out);
  EXPECT_EQ(status.at("running").at(0).at("part"), 2);
  EXPECT_EQ(status.at("running").at(0).at("share"), 0.5);
  // no sign of life for two minutes
  fs::last_write_time(claim / "heartbeat", fs::file_time_type::clock::now() - std::chrono::minutes(2));
  status = nlohmann::json::parse(shell("$RB status r.h5 --json").out);
  EXPECT_EQ(status.at("stale").at(0).at("host"), "elsewhere");
  EXPECT_EQ(shell(for_three_seconds + " --stale 300").exit_code, 124);
  EXPECT_EQ(shell("$RB run s.toml -o r.h5 --quiet --part 2/3").exit_code, 0);
  EXPECT_FALSE(fs::exists(claim));
  EXPECT_EQ(shell("$RB merge r.h5 --quiet").exit_code, 0);
  expect_same("r.h5");
}

TEST_F(BadParts, ATerminatedWorkerLeavesACheckpoint) {
  const std::string arguments =
      "run s.toml -o long.h5 --parts 2 --set time.end=120 --set "
      "output.checkpoint=50ms --worker";
  const pid_t worker = start(arguments);
  wait_for(worker, "long.h5.parts");
  const auto checkpoint = [this] {
    for (const auto& entry : fs::recursive_directory_iterator(directory / "long.h5.parts"))
      if (entry.path().extension() == ".checkpoint") return true;
    return false;
  };
  while (!checkpoint()) std::this_thread::sleep_for(5ms);
  kill(worker, SIGTERM);
  EXPECT_EQ(wait(worker), 1);
  EXPECT_NE(read_file(directory / "err").find("any worker continues from there"), std::string::npos);
  EXPECT_TRUE(checkpoint());
  const auto status = nlohmann::json::parse(shell("$RB status long.h5 --json").out);
  EXPECT_EQ(status.at("stale").size(), 1u);
  EXPECT_EQ(wait(start(arguments)), 0);
  const std::string study = "s.toml --quiet --set time.end=120 --set output.checkpoint=50ms";
  ASSERT_EQ(shell("$RB run -o alone.h5 " + study).exit_code, 0);
  EXPECT_EQ(shell("$RB merge long.h5 --quiet").exit_code, 0);
  expect_same("long.h5", "alone.h5");
}

TEST_F(BadParts, ASuspendedWorkerCostsItsPartOnly) {
  const std::string study = "s.toml --set time.end=120 --set output.checkpoint=50ms";
  const pid_t first = start("run " + study + " -o long.h5 --parts 2 --worker");
  const auto checkpoint = [this] {
    std::error_code code;
    for (const auto& entry : fs::recursive_directory_iterator(directory / "long.h5.parts", code))
      if (entry.path().extension() == ".checkpoint") return true;
    return false;
  };
  while (!checkpoint()) std::this_thread::sleep_for(5ms);
  kill(first, SIGSTOP);
  EXPECT_EQ(wait(start("run " + study + " -o long.h5 --parts 2 --worker --stale 1")), 0)
      << read_file(directory / "err");
  kill(first, SIGCONT);
  EXPECT_EQ(wait(first), 0) << read_file(directory / "err");
  EXPECT_EQ(shell("$RB merge long.h5 --quiet").exit_code, 0);
  ASSERT_EQ(shell("$RB run -o alone.h5 --quiet " + study).exit_code, 0);
  expect_same("long.h5", "alone.h5");
}

}  // namespace
