// `rattleback diff` and `rattleback compare`.

#include <cmath>
#include <limits>

#include "program.hpp"

using nlohmann::json;

namespace {

class DiffProgram : public Program {
 protected:
  DiffProgram() { write("s.toml", chaotic); }

  void run(const std::string& output, const std::string& options = "") const {
    const Outcome outcome =
        shell(fmt::format("$RB run s.toml --quiet -o {} --set time.end=5.0 --set 'ensemble.axes[0].count=20' --set "
                          "'output.trajectories=[3, 11]' {}",
                          output, options));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  /// Changes one number of a result in place.
  template <class Change>
  void change(const std::string& file, const std::string& dataset, std::size_t index, Change change) const {
    const hid_t id = H5Fopen((directory / file).c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                set = H5Dopen2(id, dataset.c_str(), H5P_DEFAULT);
    std::vector<double> values = numbers_of(set);
    values.at(index) = change(values.at(index));
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(set);
    H5Fclose(id);
  }
  json diff_of(const std::string& a, const std::string& b, int exit_code) const {
    const Outcome outcome = shell(fmt::format("$RB diff {} {} --json", a, b));
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    return json::parse(outcome.out);
  }
  /// The datasets that differ.
  static std::vector<json> differing(const json& report) {
    std::vector<json> found;
    for (const json& dataset : report["datasets"])
      if (dataset["status"] != "identical") found.push_back(dataset);
    return found;
  }

 private:
  static std::vector<double> numbers_of(hid_t set) {
    const hid_t space = H5Dget_space(set);
    std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Sclose(space);
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    return values;
  }
};

double next(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

TEST_F(DiffProgram, SaysIdenticalWhateverTheRunsRanOn) {
  run("a.h5", "--backend cpu:scalar");
  run("b.h5", "--threads 1 --set study.name=other");
  const Outcome text = shell("$RB diff a.h5 b.h5");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_TRUE(text.out.starts_with("note: the studies of a.h5 and b.h5 differ\n  study.name: 'test' and 'other'\n"))
      << text.out;
  EXPECT_NE(text.out.find("a.h5 and b.h5 are identical: 37 datasets"), std::string::npos) << text.out;
  const json report = diff_of("a.h5", "b.h5", 0);
  EXPECT_EQ(report["identical"], true);
  EXPECT_EQ(report["study"][0]["key"], "study.name");
  EXPECT_TRUE(differing(report).empty());
  const Outcome quiet = shell("$RB diff a.h5 b.h5 --quiet");
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_TRUE(quiet.out.empty());
}

TEST_F(DiffProgram, LocatesOneUlp) {
  run("a.h5");
  run("b.h5");
  change("b.h5", "/trajectories/q", (4 * 2 + 1) * 7 + 5, next);
  const json report = diff_of("a.h5", "b.h5", 1);
  const auto found = differing(report);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["path"], "/trajectories/q");
  EXPECT_EQ(found[0]["status"], "values");
  EXPECT_EQ(found[0]["values"], 6 * 2 * 7);
  EXPECT_EQ(found[0]["differing"], 1);
  EXPECT_EQ(found[0]["ulps"], 1);
  const json& at = found[0]["at"];
  EXPECT_EQ(at["sample"], 4);
  EXPECT_EQ(at["time"], 4.0);
  EXPECT_EQ(at["trajectory"], 11);
  EXPECT_EQ(at["index"], (json{4, 1, 5}));
  const double a = at["first"], b = at["second"];
  EXPECT_EQ(b, next(a));
  EXPECT_EQ(found[0]["absolute"], b - a);

  const Outcome text = shell("$RB diff a.h5 b.h5");
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_NE(text.out.find("1 of 84 values differ, by up to 1 ulp and "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("; first at sample 4 (t = 4), trajectory 11, [4, 1, 5]: "), std::string::npos) << text.out;
  EXPECT_TRUE(text.out.ends_with("a.h5 and b.h5 differ in 1 of 37 datasets\n")) << text.out;
  const Outcome quiet = shell("$RB diff a.h5 b.h5 --quiet");
  EXPECT_EQ(quiet.exit_code, 1);
  EXPECT_TRUE(quiet.out.empty());
}

TEST_F(DiffProgram, NamesMissingDatasetsShapesAndNans) {
  run("a.h5");
  run("b.h5", "--set output.initial_state=false --set 'output.trajectories=[3]'");
  const auto found = differing(diff_of("a.h5", "b.h5", 1));
  std::map<std::string, json> by_path;
  for (const json& dataset : found) by_path[dataset["path"]] = dataset;
  EXPECT_EQ(by_path.size(), 9u);
  EXPECT_EQ(by_path["/initial/v"]["status"], "only_first");
  EXPECT_EQ(by_path["/initial/v"]["first"]["shape"], (json{20, 7}));
  EXPECT_EQ(by_path["/trajectories/q"]["status"], "shape");
  EXPECT_EQ(by_path["/trajectories/q"]["second"]["shape"], (json{6, 1, 7}));
  const Outcome text = shell("$RB diff b.h5 a.h5");
  EXPECT_NE(text.out.find("only in a.h5"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("shapes differ: [6, 1, 7] and [6, 2, 7]"), std::string::npos) << text.out;

  const auto nan = [](double) { return std::numeric_limits<double>::quiet_NaN(); };
  run("c.h5");
  change("c.h5", "/observables/energy/mse", 2, nan);
  const auto with_nan = differing(diff_of("a.h5", "c.h5", 1));
  ASSERT_EQ(with_nan.size(), 1u);
  EXPECT_EQ(with_nan[0]["nan"], 1);
  EXPECT_EQ(with_nan[0]["at"]["sample"], 2);
  EXPECT_NE(shell("$RB diff a.h5 c.h5").out.find("1 of 6 values differ, 1 with a NaN; first at sample 2 (t = 2): "),
            std::string::npos);
  EXPECT_EQ(diff_of("c.h5", "c.h5", 0)["identical"], true);
}

TEST_F(DiffProgram, RefusesWhatIsNoResult) {
  run("a.h5");
  const std::string bytes = read_file(directory / "a.h5");
  write("cut.h5", bytes.substr(0, bytes.size() / 2));
  H5Fclose(H5Fcreate((directory / "foreign.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  const std::pair<const char*, const char*> cases[] = {{"cut.h5", "damaged"},
                                                       {"foreign.h5", "not a result"},
                                                       {"s.toml", "not an HDF5 file"},
                                                       {"none.h5", "No such file"},
                                                       {".", "directory"}};
  for (const auto& [file, message] : cases)
    for (const auto& arguments : {fmt::format("a.h5 {}", file), fmt::format("{} a.h5", file)}) {
      const Outcome outcome = shell("$RB diff " + arguments);
      EXPECT_EQ(outcome.exit_code, 2) << arguments;
      EXPECT_NE(outcome.err.find(message), std::string::npos) << arguments << "\n" << outcome.err;
      EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    }
  EXPECT_EQ(shell("$RB diff a.h5").exit_code, 2);
}

/// A study of examples/, cut short, by every instruction set there is and by one thread.
TEST_F(DiffProgram, ComparesWithTheFirstBackend) {
  const Outcome outcome = shell(
      "$RB compare s.toml --backends cpu:scalar,threads=1 --backends cpu:threads=2,avx2,cpu,threads=1 "
      "--set time.end=1.0 --tile 256");
  if (outcome.err.find("is not available on this processor") == std::string::npos) {
    // cpu takes no ,threads=1 of its own: the whole specification is named
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("unknown backend 'cpu,threads=1'"), std::string::npos) << outcome.err;
  }
  const Outcome good =
      shell("$RB compare s.toml --backends cpu:scalar,threads=1 --backends cpu:threads=2,scalar --set time.end=1.0");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_NE(good.out.find("cpu:scalar,threads=1 and cpu:threads=2,scalar are identical: 37 datasets"),
            std::string::npos)
      << good.out;
  const Outcome quiet = shell("$RB compare s.toml --backends cpu,cpu:threads=1 --set time.end=1.0 --quiet");
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_TRUE(quiet.out.empty() && quiet.err.empty()) << quiet.out << quiet.err;
  EXPECT_EQ(files(), std::vector<std::string>{"s.toml"});
}

TEST_F(DiffProgram, ComparesFailedRuns) {
  const Outcome outcome = shell(
      "$RB compare s.toml --backends cpu:scalar,cpu --json --set 'ensemble.axes=[{name=\"h\", values=[0.1, 3.0]}, "
      "{name=\"theta\", from=0, to=1, count=10}]' --set time.step=h --set time.samples=1 --set time.end=30.0 "
      "--set 'output.trajectories=[0]'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  for (const json& run : report["runs"]) EXPECT_EQ(run["failed"], 10);
}

TEST_F(DiffProgram, RefusesBadComparisonsBeforeAnythingRuns) {
  const std::pair<const char*, const char*> cases[] = {
      {"s.toml --backends cpu", "names one backend (cpu)"},
      {"s.toml", "--backends"},
      {"s.toml --backends cpu,gpu", "unknown backend 'gpu'"},
      {"s.toml --backends cpu,,cpu", "unknown backend ''"},
      {"s.toml --backends cpu:scalar,avx512", "unknown backend 'avx512'"},
      {"s.toml --backends cpu,cpu --set time.stpe=1", "did you mean 'step'"},
      {"s.toml --backends cpu,cpu --set 'ensemble.axes[0].count=1000000000000'", "the disk has"},
      {"none.toml --backends cpu,cpu", "none.toml"},
  };
  fs::create_directory(directory / "scratch");
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = shell(fmt::format("TMPDIR=scratch $RB compare {}", arguments));
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  }
  const Outcome nowhere = shell("TMPDIR=/nonexistent $RB compare s.toml --backends cpu,cpu");
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_NE(nowhere.err.find("set TMPDIR"), std::string::npos) << nowhere.err;
  const Outcome stopped = shell(
      "export TMPDIR=scratch; $RB compare s.toml --backends cpu,cpu --quiet --set time.end=1000000.0 --set "
      "time.sample_every=1000 & P=$!; "
      "sleep 0.5; ls scratch; kill -INT $P; wait $P");
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_NE(stopped.out.find("rattleback-"), std::string::npos);
  EXPECT_NE(stopped.err.find("interrupted"), std::string::npos) << stopped.err;
  EXPECT_TRUE(fs::is_empty(directory / "scratch"));
}

}  // namespace
