// `rattleback compare --statistics`.

#include <cmath>

#include "program.hpp"

using nlohmann::json;

namespace {

class PairedProgram : public Program {
 protected:
  PairedProgram() { write("s.toml", chaotic); }

  void run(const std::string& output, const std::string& options = "") const {
    const Outcome outcome =
        shell(fmt::format("$RB run s.toml --quiet -o {} --set time.end=5.0 --set 'ensemble.axes[0].count=300' --set "
                          "'output.trajectories=[]' --set 'observable[0].values=true' {}",
                          output, options));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
};

TEST_F(PairedProgram, ShowsTheGainOfPairing) {
  run("a.h5", "--backend cpu:scalar");
  run("b.h5", "--set time.step=0.05 --set time.sample_every=40");
  const Outcome outcome = shell("$RB compare --statistics a.h5 b.h5 --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["first"], "a.h5");
  EXPECT_EQ(report["trajectories"], 300);
  EXPECT_EQ(report["samples"], (json{{"first", 6}, {"second", 4}, {"common", 4}}));  // 0, 2, 4 and the end
  const json& energy = report["observables"][0];
  EXPECT_EQ(energy["name"], "energy");
  EXPECT_EQ(energy["reference"]["second"], 3.06);
  ASSERT_EQ(energy["samples"].size(), 4u);
  const json& last = energy["samples"][3];
  EXPECT_EQ(last["time"], 5.0);
  EXPECT_EQ(last["pairs"], 300);
  EXPECT_EQ(last["failed"], (json{{"first", 0}, {"second", 0}}));

  // The same from the values, plainly.
  const std::vector<double> a = numbers(directory / "a.h5", "observables/energy/values"),
                            b = numbers(directory / "b.h5", "observables/energy/values");
  long double mean = 0, squares = 0;
  const auto difference = [&](std::size_t k) {
    const long double x = a[5 * 300 + k] - static_cast<long double>(3.06),
                      y = b[3 * 300 + k] - static_cast<long double>(3.06);
    return x * x - y * y;
  };
  for (std::size_t k = 0; k < 300; ++k) mean += difference(k) / 300;
  for (std::size_t k = 0; k < 300; ++k) squares += (difference(k) - mean) * (difference(k) - mean);
  const auto error = static_cast<double>(std::sqrt(squares / (300.0L * 299.0L)));
  const double found = last["mse"]["difference"]["value"], found_error = last["mse"]["difference"]["error"];
  EXPECT_NEAR(found, static_cast<double>(mean), 1e-9 * error);
  EXPECT_NEAR(found_error, error, 1e-9 * error);
  const double unpaired = last["mse"]["unpaired_error"], gain = last["mse"]["gain"];
  EXPECT_NEAR(gain, unpaired / error, 1e-6 * gain);

  const Outcome text = shell("$RB compare b.h5 a.h5 --statistics --observable energy");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(text.out.starts_with(
      "A: b.h5\nB: a.h5\n300 trajectories, 4 samples in common (of 4 in A and 6 in B)\n\nenergy, mean\n"))
      << text.out;
  EXPECT_NE(text.out.find("\nenergy, mse against 3.06\n"), std::string::npos) << text.out;
  const Outcome quiet = shell("$RB compare --statistics a.h5 b.h5 --quiet");
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_TRUE(quiet.out.empty() && quiet.err.empty()) << quiet.out << quiet.err;
}

TEST_F(PairedProgram, SaysWhatIsLeftOutAndWhatDiffers) {
  write("f.toml", chaotic +
                      "[[observable]]\nname = \"w\"\nformula = \"2 q[0]\"\nvalues = true\n"
                      "[[observable]]\nname = \"q[1]\"\nvalues = true\n");
  const std::string run_it = "$RB run f.toml --quiet --set time.end=5.0 --set 'output.trajectories=[]' -o ";
  ASSERT_EQ(shell(run_it + "a.h5").exit_code, 0);
  ASSERT_EQ(shell(run_it + "b.h5 --set 'observable[1].formula=3 q[0]' --set 'observable[2].values=false'").exit_code,
            0);
  const Outcome outcome = shell("$RB compare --statistics a.h5 b.h5");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("left out, as one result alone has the values: q[1]\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("observable 'w' has another formula in b.h5 than in a.h5"), std::string::npos)
      << outcome.err;
}

TEST_F(PairedProgram, RefusesWhatCannotBePaired) {
  run("a.h5");
  run("elsewhere.h5", "--set 'ensemble.initial.q[1]=0.7'");
  run("fewer.h5", "--set 'ensemble.axes[0].count=299'");
  run("without.h5", "--set 'observable[0].values=false'");
  fs::copy(directory / "a.h5", directory / "copy.h5");
  write("cut.h5", read_file(directory / "a.h5").substr(0, 20000));
  write("text.h5", "no HDF5");
  const std::pair<const char*, const char*> cases[] = {
      {"--statistics a.h5 a.h5", "a.h5: is given twice"},
      {"--statistics a.h5 ./a.h5", "is given twice"},
      {"--statistics a.h5 elsewhere.h5",
       "elsewhere.h5: trajectory 0 starts elsewhere than that of a.h5 (q[1] is 0.7 and 0.6)"},
      {"--statistics a.h5 fewer.h5", "fewer.h5: has 299 trajectories, and a.h5 has 300"},
      {"--statistics a.h5 without.h5",
       "without.h5: has no values of observables, which pairs are made of; set `values = true`"},
      {"--statistics without.h5 a.h5", "without.h5: has no values"},
      {"--statistics a.h5 cut.h5", "cut.h5: cannot be read"},
      {"--statistics text.h5 a.h5", "text.h5: cannot be read"},
      {"--statistics a.h5 none.h5", "none.h5: cannot be read"},
      {"--statistics a.h5 s.toml", "s.toml: cannot be read"},
      {"--statistics a.h5 copy.h5 --observable enrgy", "did you mean 'energy'?"},
      {"--statistics a.h5", "--statistics compares two results (got 'a.h5')"},
      {"a.h5 copy.h5", "two files are compared by --statistics"},
      {"s.toml", "--backends is missing"},
      {"s.toml --backends cpu,cpu --observable energy", "--observable"},
      {"--statistics a.h5 copy.h5 --backends cpu,cpu", "--backends"},
      {"--statistics a.h5 copy.h5 --set time.step=1", "--set"},
  };
  const std::vector<std::string> before = files();
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = shell(fmt::format("$RB compare {}", arguments));
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  }
  EXPECT_EQ(files(), before);
}

}  // namespace
