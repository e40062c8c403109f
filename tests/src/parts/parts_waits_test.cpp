// Nothing in a folder of parts makes a command wait for ever.

#include <sys/stat.h>

#include "parts.hpp"

namespace {

class Waits : public Program {
 protected:
  void SetUp() override {
    write("s.toml", chaotic);
    ASSERT_EQ(shell("$RB run s.toml " + small + " -o r.h5 --quiet --part 1/3").exit_code, 0);
  }
  fs::path in(const std::string& name) const { return directory / "r.h5.parts" / name; }
  void fifo(const fs::path& place) const {
    fs::remove(place);
    ASSERT_EQ(mkfifo(place.c_str(), 0600), 0);
  }
  void expect_refusal(const std::string& command, const std::string& message) const {
    const Outcome outcome = shell("timeout 30 " + command);
    EXPECT_EQ(outcome.exit_code, 2) << command << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << command << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
  const std::string small = "--set time.end=0.2 --set time.sample_every=1";
  const std::string worker = "$RB run s.toml " + small + " -o r.h5 --parts 3 --worker --quiet";
};

TEST_F(Waits, NotForADescriptionThatIsNoFile) {
  fifo(in("about.json"));
  for (const std::string command : {"$RB status r.h5", "$RB merge r.h5", worker.c_str()})
    expect_refusal(command, "about.json: cannot be read (it is not a regular file)");
}

TEST_F(Waits, NotForPartsWithoutEnd) {
  std::string about = read_file(in("about.json"));
  const auto put = [&about](const std::string& key, const std::string& number) {
    const std::size_t begin = about.find(key) + key.size(), end = about.find(',', begin);
    about.replace(begin, end - begin, number);
  };
  put("\"trajectories\": ", "18446744073709551615");
  for (const char* parts : {"1099511627776", "1000001", "18446744073709551615", "-1", "1e99"}) {
    put("\"parts\": ", parts);
    std::ofstream(in("about.json")) << about;
    expect_refusal("$RB status r.h5", "does not describe parts");
    expect_refusal("$RB merge r.h5", "does not describe parts");
  }
}

TEST_F(Waits, NotForAClaimThatIsNoFolder) {
  for (const bool file : {true, false}) {
    const fs::path claim = in("002-of-003.claim-0");
    if (file)
      std::ofstream(claim) << "mine";
    else
      fs::create_symlink("/nowhere", claim);
    for (const std::string& command : {worker, worker + " --stale 0", std::string("$RB status r.h5")})
      expect_refusal(command, "002-of-003.claim-0: is in the way of a claim on a part");
    EXPECT_TRUE(fs::is_symlink(claim) || read_file(claim) == "mine");
    fs::remove(claim);
  }
}

TEST_F(Waits, NotForSignsOfLifeThatAreNone) {
  const fs::path claim = in("002-of-003.claim-0");
  fs::create_directory(claim);
  std::ofstream(claim / "heartbeat") << "{\"host\": \"h\xff\x1b[31m\\nx\", \"pid\": 1}";
  ASSERT_EQ(shell("touch -d '2 years' r.h5.parts/002-of-003.claim-0/heartbeat").exit_code, 0);
  const Outcome status = shell("$RB status r.h5");
  EXPECT_EQ(status.exit_code, 0) << status.err;
  EXPECT_NE(status.out.find("part 2: stale"), std::string::npos) << status.out;
  for (const char c : status.out) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < '\x7f')) << status.out;
  // A heartbeat that is a FIFO or a folder tells nothing, and the claim counts as old as it is.
  fifo(claim / "heartbeat");
  EXPECT_EQ(shell("timeout 20 $RB status r.h5 --json").exit_code, 0);
  const Outcome done = shell("timeout 60 " + worker + " --stale 1");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(shell("$RB merge r.h5 --quiet").exit_code, 0);
}

TEST_F(Waits, NotForAFolderThatTakesNoClaim) {
  const fs::path claim = in("002-of-003.claim-0");
  fs::create_directories(claim / "heartbeat" / "x");  // no heartbeat can be put there
  const Outcome outcome = shell("timeout 60 " + worker + " --stale 0");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("002-of-003.claim-0: cannot be taken over"), std::string::npos) << outcome.err;
}

}  // namespace
