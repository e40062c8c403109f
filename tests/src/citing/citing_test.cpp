// `rattleback cite`, `rattleback report` and `rattleback diff --fingerprint`.

#include <algorithm>
#include <regex>
#include <sstream>

#include "program.hpp"

using nlohmann::json;

namespace {

class Citing : public Program {
 protected:
  Citing() { write("s.toml", chaotic); }

  Outcome run(const std::string& output, const std::string& options = "") const {
    const Outcome outcome =
        shell(fmt::format("$RB run s.toml --json -o {} --set time.end=5.0 --set 'ensemble.axes[0].count=20' --set "
                          "'output.trajectories=[3, 11]' {}",
                          output, options));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }
  void change(const std::string& file, const std::string& dataset) const {
    const hid_t id = H5Fopen((directory / file).c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
                set = H5Dopen2(id, dataset.c_str(), H5P_DEFAULT), space = H5Dget_space(set);
    std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    values.back() = std::nextafter(values.back(), 1e300);
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(id);
  }
  /// Files that are no results, and what is said about each.
  std::vector<std::pair<std::string, std::string>> bad_files() const {
    const std::string bytes = read_file(directory / "a.h5");
    write("cut.h5", bytes.substr(0, bytes.size() / 2));
    H5Fclose(H5Fcreate((directory / "foreign.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    write("empty.h5", "");
    write("text.h5", "no HDF5");
    return {{"cut.h5", "damaged"}, {"foreign.h5", "not a result"}, {"empty.h5", "HDF5"},
            {"text.h5", "HDF5"},   {"absent.h5", "No such file"},  {".", "directory"}};
  }
};

TEST_F(Citing, RunStoresTheFingerprintAndDiffChecksIt) {
  const std::string fingerprint = json::parse(run("a.h5", "--backend cpu:scalar --threads 1").out)["fingerprint"];
  EXPECT_TRUE(std::regex_match(fingerprint, std::regex("[0-9a-f]{64}"))) << fingerprint;
  EXPECT_EQ(json::parse(run("b.h5", "--threads 2 --set study.name=other").out)["fingerprint"], fingerprint);
  EXPECT_NE(json::parse(run("c.h5", "--set time.step=0.05").out)["fingerprint"], fingerprint);
  const Outcome printed = shell("$RB run s.toml -o d.h5 --set time.end=1.0 2>&1 | grep -c '^fingerprint: [0-9a-f]*$'");
  EXPECT_EQ(printed.out, "1\n");

  Outcome outcome = shell("$RB diff --fingerprint a.h5 b.h5");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            fmt::format("{0}  a.h5  (as stored)\n{0}  b.h5  (as stored)\nthe fingerprints are equal\n", fingerprint));
  EXPECT_EQ(shell("$RB diff --fingerprint a.h5 " + fingerprint).exit_code, 0);
  EXPECT_EQ(shell("$RB diff --fingerprint a.h5").exit_code, 0);
  outcome = shell("$RB diff --fingerprint a.h5 c.h5");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.out.ends_with("the fingerprints differ\n")) << outcome.out;
  change("b.h5", "/final/q");
  outcome = shell("$RB diff --fingerprint b.h5");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("its data have changed"), std::string::npos) << outcome.out;
  const json report = json::parse(shell("$RB diff --fingerprint a.h5 b.h5 --json").out);
  EXPECT_EQ(report["identical"], false);
  EXPECT_EQ(report["fingerprints"][0]["changed"], false);
  EXPECT_EQ(report["fingerprints"][1]["changed"], true);
  EXPECT_EQ(shell("$RB diff --fingerprint a.h5 b.h5 --quiet").out, "");
  for (const auto& [file, message] : bad_files()) {
    const Outcome refused = shell(fmt::format("$RB diff --fingerprint a.h5 {}", file));
    EXPECT_EQ(refused.exit_code, 2) << file;
    EXPECT_NE(refused.err.find(message), std::string::npos) << file << "\n" << refused.err;
  }
}

/// The fingerprint can be computed without the program, as docs/results.md tells, also that of results which store the older one, without
/// blocks.
TEST_F(Citing, PythonComputesTheSameFingerprint) {
  write("fingerprint.py", R"(import h5py, hashlib, numpy as np, sys
block, store = 2 ** 20 if sys.argv[2] == "new" else 2 ** 63, len(sys.argv) > 3
digest = hashlib.sha256()
with h5py.File(sys.argv[1], "a" if store else "r") as file:
    paths = []
    def visit(name, item):
        if isinstance(item, h5py.Dataset) and b"not a netCDF variable" not in item.attrs.get("NAME", b""):
            paths.append("/" + name)
    file.visititems(visit)
    for path in sorted(paths):
        data = file[path][...]
        digest.update(f"{path} {data.dtype.name} {','.join(map(str, data.shape))}\n".encode())
        data = np.ascontiguousarray(data).tobytes()
        if len(data) > block:
            data = "".join(hashlib.sha256(data[i:i + block]).hexdigest() for i in range(0, len(data), block)).encode()
        digest.update(data)
    if store:
        file.attrs.create("fingerprint", digest.hexdigest().encode(), dtype=h5py.string_dtype("utf-8", 64))
        del file.attrs["fingerprint_block"]
print(digest.hexdigest())
)");
  const auto in_python = [this](const std::string& words) {
    return shell("/usr/bin/python3 fingerprint.py " + words).out;
  };
  const std::string small = json::parse(run("a.h5").out)["fingerprint"];
  EXPECT_EQ(in_python("a.h5 new"), small + "\n");
  EXPECT_EQ(in_python("a.h5 old"), small + "\n");
  const std::string large = "--set time.end=0.2 --set 'ensemble.axes[0].count=140000'";
  const std::string fingerprint = json::parse(run("a.h5", large).out)["fingerprint"];
  EXPECT_EQ(in_python("a.h5 new"), fingerprint + "\n");
  run("b.h5", large);
  std::string old = in_python("b.h5 old store");
  old.pop_back();
  EXPECT_NE(old, fingerprint);
  EXPECT_EQ(shell("$RB diff --fingerprint b.h5").out, old + "  b.h5  (as stored)\n");
  for (const std::string& words :
       {std::string("a.h5 b.h5"), std::string("b.h5 a.h5"), "a.h5 " + old, "b.h5 " + fingerprint, "b.h5 " + old})
    EXPECT_EQ(shell("$RB diff --quiet --fingerprint " + words).exit_code, 0) << words;
}

TEST_F(Citing, PartsAndOneRunHaveOneFingerprint) {
  const std::string fingerprint = json::parse(run("a.h5", "--set 'ensemble.axes[0].count=600'").out)["fingerprint"];
  const std::string options =
      "--set time.end=5.0 --set 'ensemble.axes[0].count=600' --set 'output.trajectories=[3, 11]' --quiet";
  const Outcome parts =
      shell(fmt::format("$RB run s.toml -o p.h5 --parts 2 --worker {} && $RB merge p.h5 --json", options));
  EXPECT_EQ(parts.exit_code, 0) << parts.err;
  const std::string found = json::parse(parts.out.substr(parts.out.find('{')))["fingerprint"];
  EXPECT_EQ(found, fingerprint);
}

TEST_F(Citing, CitesStudiesResultsAndEntries) {
  run("a.h5");
  Outcome outcome = shell("$RB cite a.h5");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("% software\n@software{rattleback,\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("doi           = {10.48550/arXiv.1810.10926}"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("fingerprint of the result: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("% method nonholonomic-lobatto (eqs. (14), (26), (27)); system chaotic (section 7.3)\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(shell("$RB cite s.toml").exit_code, 0);
  const json study = json::parse(shell("$RB cite s.toml --json").out);
  EXPECT_EQ(study["references"].size(), 2u);
  EXPECT_EQ(study["references"][1]["doi"], "10.48550/arXiv.1810.10926");
  EXPECT_NE(shell("$RB cite heavy-top").out.find("@book{landau1976,"), std::string::npos);
  EXPECT_NE(shell("$RB cite hbvm").out.find("@article{brugnano2018,"), std::string::npos);
  const std::string all = shell("$RB cite --all").out;
  EXPECT_GE(std::ranges::count(all, '@'), 30);
  EXPECT_EQ(shell("$RB cite").out.substr(0, 10), "% software");

  for (const auto& [file, message] : bad_files()) {
    const Outcome refused = shell(fmt::format("$RB cite {}", file));
    EXPECT_EQ(refused.exit_code, 2) << file;
    EXPECT_NE(refused.err.find(message), std::string::npos) << file << "\n" << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_TRUE(refused.out.empty());
  }
  EXPECT_NE(shell("$RB cite heavy-tpo").err.find("did you mean 'heavy-top'"), std::string::npos);
  EXPECT_EQ(shell("$RB cite heavy-tpo").exit_code, 2);
  write("bad.toml", "[study\n");
  EXPECT_EQ(shell("$RB cite bad.toml").exit_code, 2);
}

TEST_F(Citing, TellsTheSourceOfASystemOfTheUser) {
  write("own.toml", R"toml([system]
name = "double-well"
source = "Smith (1999)"
coordinates = ["x"]
potential = "(x^2 - 1)^2"
initial = { q = [0.5], v = [0] }
[method]
name = "lobatto"
[time]
step = 0.1
end = 1.0
[[observable]]
name = "energy"
)toml");
  const Outcome outcome = shell("$RB cite own.toml");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("% system of the study: Smith (1999)\n")) << outcome.out;
}

/// Whether Python has what figures need.
bool plots() { return std::system("/usr/bin/python3 -c 'import matplotlib, h5py' 2> /dev/null") == 0; }

TEST_F(Citing, ReportIsOnePage) {
  if (!plots()) GTEST_SKIP() << "Python has no matplotlib or h5py";
  run("a.h5");
  run("b.h5", "--set study.name='\"<b>&\"'");
  const Outcome outcome = shell("$RB report a.h5 b.h5 -o report.html --figures 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "report: report.html\n");
  const std::string page = read_file(directory / "report.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n<!-- rattleback report -->\n<html lang=\"en\">"));
  for (const char* text : {"have the same data, to the last bit", "The data give the fingerprint that the run stored",
                           "No trajectory failed", "energy mse", "&lt;b&gt;&amp;", "name = &quot;chaotic&quot;",
                           "https://doi.org/10.48550/arXiv.1810.10926", "prefers-color-scheme: dark",
                           "more statistics have no figure here"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  // Nothing is loaded: all images are in the page.
  int images = 0;
  for (std::size_t at = page.find("<img "); at != std::string::npos; at = page.find("<img ", at + 1), ++images) {
    const std::string_view source = std::string_view(page).substr(page.find("src=\"", at) + 5, 20);
    EXPECT_TRUE(source.starts_with("data:image/svg+xml,")) << source;
  }
  EXPECT_EQ(images, 4);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  // The same results give the same page, which replaces the page before.
  EXPECT_EQ(shell("$RB report a.h5 b.h5 -o report.html --figures 2 --quiet").out, "");
  EXPECT_EQ(read_file(directory / "report.html"), page);
}

TEST_F(Citing, ReportSaysInOneLineWhatPythonLacks) {
  if (!plots()) GTEST_SKIP() << "Python has no matplotlib or h5py";
  run("a.h5");
  write("h.html", "<!DOCTYPE html>\n<!-- rattleback report -->\nold");
  // The tool looks for its packages in these folders first.
  for (const char* name : {"h5py", "matplotlib"}) {
    fs::create_directories(directory / name);
    write(fmt::format("{}/{}.py", name, name), fmt::format("raise ImportError('no {} here')\n", name));
  }
  const auto before = files();
  const auto refused = [&](const std::string& tool, const std::string& options, const std::string& message) {
    const Outcome outcome = shell(fmt::format("{} $RB report a.h5 -o h.html {}", tool, options));
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(files(), before);
    EXPECT_TRUE(read_file(directory / "h.html").ends_with("old"));
  };
  refused("RATTLEBACK_PLOT=/nonexistent/plot", "--figures 0", "/nonexistent/plot cannot be run");
  refused("PYTHONPATH=h5py", "--figures 0", "need numpy, h5py and matplotlib (no h5py here)");
  refused("PYTHONPATH=matplotlib", "--figures 1", "no matplotlib here; with --figures 0 the page has no figures");
  EXPECT_EQ(shell("PYTHONPATH=matplotlib $RB report a.h5 -o h.html --figures 0").exit_code, 0);
}

TEST_F(Citing, ReportTellsFailuresAndChanges) {
  if (!plots()) GTEST_SKIP() << "Python has no matplotlib or h5py";
  const Outcome ran = shell(
      "$RB run s.toml -o a.h5 --quiet --set 'ensemble.axes=[{name=\"h\", values=[0.1, 3.0]}, {name=\"theta\", from=0, "
      "to=1, count=10}]' --set time.step=h --set time.samples=1 --set time.end=30.0 --set 'output.trajectories=[0]'");
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_EQ(shell("$RB report a.h5 --figures 0").exit_code, 0);
  const std::string page = read_file(directory / "report.html");
  // Steps of 3.0 fail, for one reason or another, and steps of 0.1 do not.
  std::vector<int> failed;
  const std::regex row("<td>(\\d+)</td><td>([\\d, ]+)</td></tr>");
  for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
    std::istringstream list((*match)[2].str());
    for (std::string number; std::getline(list, number, ',');) failed.push_back(std::stoi(number));
  }
  std::ranges::sort(failed);
  EXPECT_EQ(failed, (std::vector<int>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
  change("a.h5", "/final/q");
  EXPECT_EQ(shell("$RB report a.h5 --figures 0").exit_code, 0);
  EXPECT_NE(read_file(directory / "report.html").find("The run stored another fingerprint"), std::string::npos);
}

TEST_F(Citing, ReportRefusesBadFilesAndForeignPlaces) {
  run("a.h5");
  const auto bad = bad_files();
  const auto before = files();
  for (const auto& [file, message] : bad) {
    const Outcome refused = shell(fmt::format("$RB report a.h5 {} -o page.html", file));
    EXPECT_EQ(refused.exit_code, 2) << file;
    EXPECT_NE(refused.err.find(message), std::string::npos) << file << "\n" << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  }
  EXPECT_EQ(shell("$RB report a.h5 -o page.pdf").exit_code, 2);
  EXPECT_EQ(shell("$RB report a.h5 -o a.h5").exit_code, 2);
  EXPECT_EQ(shell("$RB report a.h5 -o nowhere/page.html").exit_code, 2);
  EXPECT_EQ(shell("$RB report").exit_code, 2);
  EXPECT_EQ(files(), before);
  write("mine.html", "<p>my page</p>");
  EXPECT_EQ(shell("$RB report a.h5 -o mine.html").exit_code, 2);
  EXPECT_EQ(read_file(directory / "mine.html"), "<p>my page</p>");
}

/// The figures of 10^4 samples fit into a page that can be sent.
TEST_F(Citing, LongStudiesStaySmall) {
  if (!plots()) GTEST_SKIP() << "Python has no matplotlib or h5py";
  const Outcome ran = shell(
      "$RB run s.toml -o long.h5 --quiet --set 'ensemble.axes[0].count=32' --set time.end=1000.0 --set "
      "'output.trajectories=[0]' --set "
      "time.sample_every=1");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  ASSERT_EQ(numbers(directory / "long.h5", "time").size(), 10001u);
  EXPECT_EQ(shell("$RB report long.h5").exit_code, 0);
  EXPECT_LT(fs::file_size(directory / "report.html"), 5'000'000u);
}

}  // namespace
