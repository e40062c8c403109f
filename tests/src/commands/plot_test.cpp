// rattleback plot, run as a user runs it: figures of every kind, printed fits, messages.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "program.hpp"

namespace {

// 20 trajectories that are all kept, two of which fail
const std::string study = R"toml([study]
name = "cost $5"
[system]
name = "pendulum-cvt"
parameters = { epsilon = "e" }
[method]
name = "nonholonomic-lobatto"
stages = 3
[time]
step = "h"
end = 12.0
samples = 12
[ensemble]
axes = [ { name = "h", values = [0.1, 0.5] }, { name = "e", from = 0.0, to = 0.9, count = 10 } ]
[ensemble.initial]
q = [1, 0, 1]
v = [0, 2, 0]
[[observable]]
name = "energy"
statistics = ["mse", "max"]
[[observable]]
name = "q[0]"
statistics = ["mean"]
quantiles = [0.5]
[output]
trajectories = "all"
)toml";

class Plot : public Program {
 protected:
  Outcome plot(const std::string& arguments) const { return shell("$RB plot " + arguments); }

  /// Runs a Python script in which `file` makes a result file, from (dataset name, values) pairs.
  void python(const std::string& script) const {
    write("make.py", R"(import h5py, numpy as np
def file(path, datasets, mode="w"):
    with h5py.File(path, mode) as f:
        if mode == "w":
            f.attrs["study"] = '[study]\nname = "made"\n[system]\nname = "x"\n[method]\nname = "y"\n[time]\nstep = 0.1\n'
        for name, values in datasets.items():
            f[name] = values
)" + script);
    const Outcome outcome = shell("/usr/bin/python3 make.py");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    fs::remove(directory / "make.py");
  }

  void expect_figure(const std::string& arguments, const std::string& name) const {
    const Outcome outcome = plot(fmt::format("{} -o {}", arguments, name));
    ASSERT_EQ(outcome.exit_code, 0) << arguments << "\n" << outcome.err;
    EXPECT_TRUE(outcome.err.empty()) << arguments << "\n" << outcome.err;
    EXPECT_NE(outcome.out.find("figure: " + name), std::string::npos) << outcome.out;
    const std::string content = read_file(directory / name);
    if (name.ends_with(".png")) {
      EXPECT_EQ(content.substr(0, 8), "\x89PNG\r\n\x1a\n");
    } else if (name.ends_with(".pdf")) {
      EXPECT_EQ(content.substr(0, 5), "%PDF-");
    } else {
      EXPECT_NE(content.substr(0, 500).find("<svg"), std::string::npos);
      EXPECT_EQ(content.substr(content.size() - 7), "</svg>\n");
    }
    EXPECT_GT(content.size(), 4000u) << arguments;
  }
};

/// The numbers in the row of a printed table that starts with `label`.
std::vector<double> row(const std::string& text, const std::string& label) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(label)) continue;
    std::istringstream words(line.substr(label.size()));
    return {std::istream_iterator<double>(words), {}};
  }
  ADD_FAILURE() << "no row '" << label << "' in\n" << text;
  return std::vector<double>(4);
}

TEST_F(Plot, DrawsEveryKind) {
  write("s.toml", study);
  ASSERT_EQ(shell("$RB run s.toml --quiet").exit_code, 0);
  ASSERT_EQ(plot("s.h5").exit_code, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"s.h5", "s.png", "s.toml"}));
  expect_figure("s.h5 time --observable energy,'q[0]' --statistic count --semilog", "time.svg");
  expect_figure("phase s.h5 --components 'q[0],p[0]'", "phase.png");  // a curve for each of 20
  expect_figure("phase s.h5 --components 't,lambda[0]' --trajectories 3,11 --points --times 2:8 --equal", "phase.svg");
  expect_figure("histogram s.h5 --of 'q[1]' --times 0,6.2,12 --bins 5", "histogram.png");
  expect_figure("histogram s.h5 --of e --density --logy", "histogram.svg");
  expect_figure("map s.h5", "map.png");
  expect_figure("map s.h5 --of 'q[2]' --axes e,h", "map.pdf");
  expect_figure("map s.h5 --of iterations --where h=0.4 --log", "map2.svg");
}

TEST_F(Plot, GivesTheSameBytesWithoutADisplay) {
  write("s.toml", study);
  ASSERT_EQ(shell("$RB run s.toml --quiet").exit_code, 0);
  const Outcome outcome = shell(R"(
    for format in svg pdf; do $RB plot s.h5 -o a.$format; done
    sleep 1  # dates are in seconds
    for format in svg pdf; do
      env -u DISPLAY MPLBACKEND=TkAgg $RB plot s.h5 -o b.$format && cmp a.$format b.$format || exit 1
    done)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(Plot, NamesTheStatusOfFailedTrajectories) {
  python(R"(
file("f.h5", {"time": [0.0, 1.0], "axes/a": [0, 0, 1, 1.0], "axes/b": [0, 1, 0, 1.0], "final/q": np.eye(4),
              "final/status": np.array([0, 1, 4, 5], dtype="u4")})
with h5py.File("f.h5", "a") as f:
    f["final/status"].attrs["bit 1"] = "it diverged"
    f["final/status"].attrs["bit 4"] = "it broke"
)");
  // letters in an SVG are shapes; the text is in the comments before them
  expect_figure("map f.h5", "f.svg");
  const std::string svg = read_file(directory / "f.svg");
  for (const char* text : {"good (1)", "it diverged (1)", "it broke (1)", "it diverged and it broke (1)"})
    EXPECT_NE(svg.find(fmt::format("<!-- {} -->", text)), std::string::npos) << text;
  expect_figure("map f.h5 --of 'q[0]' --axes a", "q.svg");
  EXPECT_NE(read_file(directory / "q.svg").find("<!-- without the 3 that failed -->"), std::string::npos);
  expect_figure("histogram f.h5", "h.svg");
  EXPECT_NE(read_file(directory / "h.svg").find("<!-- t = 1, 1 trajectories -->"), std::string::npos);
}

TEST_F(Plot, FitsKnownGrowth) {
  python(R"(
t = np.arange(0, 50.5, 0.5)
file("g.h5", {"time": t, "observables/energy/mse": np.where(t < 5, 77.0, 2.0 + 0.5 * t),
              "observables/q[0]/mse": np.where(t < 5, 77.0, 3.0 * np.maximum(t, 1e-9) ** 1.25),
              "observables/q[1]/mse": 0.01 * np.exp(0.3 * t), "observables/q[1]/count": t,
              "observables/noise/mse": 2.0 + 0.5 * t + 0.1 * np.cos(np.pi * t / 0.5)})
)");
  const Outcome line = plot("g.h5 --fit 5 --table 5,10.5 -o g.svg");
  ASSERT_EQ(line.exit_code, 0) << line.err;
  const auto fitted = line.out.substr(line.out.find("fit of"));
  const auto number = row(fitted, "made, h = 0.1");
  EXPECT_NEAR(number[0], 0.5, 1e-6);
  EXPECT_NEAR(number[1], 0.0, 1e-6);
  EXPECT_NEAR(number[2], 2.0, 1e-6);
  EXPECT_EQ(row(line.out, "made, h = 0.1"), (std::vector<double>{4.5, 7.25}));
  const auto power = row(plot("g.h5 --observable 'q[0]' --fit 5 --model power").out, "made, h = 0.1");
  EXPECT_NEAR(power[0], 1.25, 1e-6);
  EXPECT_NEAR(power[2], 3.0, 1e-5);
  const auto growth = row(plot("g.h5 --observable 'q[1]' --fit 0:40 --model exponential").out, "made, h = 0.1");
  EXPECT_NEAR(growth[0], 0.3, 1e-6);
  EXPECT_NEAR(growth[2], 0.01, 1e-7);
  // alternating residuals of 0.1: a standard error of 0.1 / sqrt(n var t), within the degrees of freedom
  const auto noise = row(plot("g.h5 --observable noise --fit 0").out, "made, h = 0.1");
  EXPECT_NEAR(noise[0], 0.5, 1e-3);
  EXPECT_NEAR(noise[1], 0.1 / std::sqrt(101 * 0.25 * (101 * 101 - 1) / 12.0), 1e-5);
}

TEST_F(Plot, UsesTheFitsAndErrorsOfTheRun) {
  python(R"(
t = np.arange(0, 11.0)
file("g.h5", {"time": t, "observables/energy/mse": 2.0 + 0.5 * t, "observables/energy/mse_error": 0.0123 * np.ones(11),
              "fits/growth/slope": [0.625], "fits/growth/slope_error": [0.25], "fits/growth/intercept": [1.5],
              "fits/growth/intercept_error": [0.125], "fits/growth/count": np.array([7], dtype="u8")})
with h5py.File("g.h5", "a") as f:
    f["fits/growth/count"].attrs.update({"observable": "energy", "statistic": "mse", "model": "line", "from": 2.0, "to": 10.0})
)");
  const Outcome stored = plot("g.h5 --fit 2 --table 5 -o g.svg");
  ASSERT_EQ(stored.exit_code, 0) << stored.err;
  EXPECT_NE(stored.out.find("4.500(12)e+00"), std::string::npos) << stored.out;
  EXPECT_EQ(row(stored.out.substr(stored.out.find("fit of")), "made, h = 0.1"),
            (std::vector<double>{0.625, 0.25, 1.5, 0.125}));
  EXPECT_EQ(stored.out.find("too small"), std::string::npos);
  const Outcome other = plot("g.h5 --fit 3");  // other times: the tool's own fit, which warns of its errors
  EXPECT_NE(other.out.find("far too small"), std::string::npos) << other.out;
}

TEST_F(Plot, DrawsSectionsAndStoredHistograms) {
  python(R"(
index = np.arange(300, dtype="u8") % 30
file("s.h5", {"time": [0.0, 1.0, 2.0], "sections/turn/q": np.random.rand(300, 2), "sections/turn/p": np.random.rand(300, 2),
              "sections/turn/trajectory": index, "sections/turn/time": np.linspace(0, 2, 300),
              "sections/turn/residual": np.full(300, 1e-15),
              "sections/never/q": np.empty((0, 2)), "sections/never/p": np.empty((0, 2)),
              "sections/never/trajectory": np.empty(0, dtype="u8"), "sections/never/time": np.empty(0),
              "final/status": np.zeros(30, dtype="u4"), "final/q": np.zeros((30, 2)),
              "observables/energy/histogram": np.array([[30, 0], [20, 10], [15, 15]], dtype="u8"),
              "observables/energy/histogram_edges": [-1.0, 0.0, 1.0], "observables/energy/mean": np.zeros(3)})
)");
  expect_figure("section s.h5 --name turn --components 'q[1],p[1]'", "section.png");
  expect_figure("section s.h5 --name turn --components t,residual --trajectories 0,29 --times 1", "section.svg");
  EXPECT_NE(read_file(directory / "section.svg").find("<!-- trajectory 29 -->"), std::string::npos);
  expect_figure("histogram s.h5 --times 0,1.4", "histogram.svg");
  EXPECT_NE(read_file(directory / "histogram.svg").find("<!-- t = 1, 30 trajectories -->"), std::string::npos);
  const Outcome none = plot("section s.h5 --name never");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("section 'never' has no crossing"), std::string::npos) << none.err;
  const Outcome unknown = plot("section s.h5 --name trun");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'turn'"), std::string::npos) << unknown.err;
}

TEST_F(Plot, DrawsErrorsAgainstStepAndTime) {
  write("order.json",
        R"({"command": "order", "study": "s", "system": "x", "method": "y", "stages": 3, "reference": "h = 0.01",
    "end": 5, "steps": [0.4, 0.2, 0.1], "failed": 1, "variables": {
    "q": {"max": [1.6e-3, 1e-4, 6.3e-6], "rms": [1e-3, 8e-5, null], "order_max": [null, 4, 4], "slope_max": 4.0,
          "slope_rms": null},
    "lambda": {"max": [0, 0, 0], "rms": [0, 0, 0], "order_max": [null, null, null], "slope_max": null, "slope_rms": null}}})");
  write("work.json", R"({"command": "work-precision", "study": "s", "reference": "r", "runs": [
    {"label": "a", "step": 0.1, "seconds": 2, "errors": {"q": 1e-5, "lambda": null}},
    {"label": "b", "step": 0.1, "seconds": 3, "errors": {"q": 1e-7, "lambda": 1e-3}},
    {"label": "a", "step": 0.2, "seconds": 1, "errors": {"q": 1e-3, "lambda": null}}]})");
  expect_figure("order order.json", "order.svg");
  const std::string svg = read_file(directory / "order.svg");
  EXPECT_NE(svg.find("<!-- max error of q, slope 4.00 -->"), std::string::npos);
  EXPECT_NE(svg.find("<!-- $h^{4}$ -->"), std::string::npos);
  expect_figure("order order.json order.json --variable q --norm max", "order.png");
  expect_figure("work-precision work.json --variable lambda", "work.pdf");
}

struct Broken {
  const char* arguments;
  const char* message;  // part of what stderr must say
};

TEST_F(Plot, RefusesBadInputWithOneMessageAndWritesNothing) {
  write("s.toml", study);
  ASSERT_EQ(shell("$RB run s.toml --quiet").exit_code, 0);
  ASSERT_EQ(shell("$RB run " RATTLEBACK_EXAMPLES "/sleigh.toml --quiet --set output.final_state=false").exit_code, 0);
  ASSERT_EQ(shell("$RB run " RATTLEBACK_EXAMPLES "/cvt-erratic.toml --quiet").exit_code, 0);
  write("text.h5", "text");
  write("other.json", R"({"command": "bench"})");
  write("order.json", R"({"command": "order", "steps": [0.1], "variables": {"q": {"max": [1], "rms": [1]}}})");
  write("broken.json", "{");
  const auto before = files();
  const Broken cases[] = {
      {"fase s.h5", "did you mean 'phase'"},
      {"s.h5 --obervable energy", "did you mean '--observable'"},
      {"missing.h5", "missing.h5: cannot be read"},
      {"text.h5", "text.h5: not an HDF5 file"},
      {"time", "required: RESULT.h5"},
      {"s.h5 --observable energi", "did you mean 'energy'"},
      {"s.h5 --statistic rms", "energy: no statistic 'rms' (there are: max, mse, effective_number, count, missing)"},
      {"s.h5 --fit 12", "fewer than three samples"},
      {"s.h5 --fit x", "'x' is not a time T0 or a span T0:T1"},
      {"s.h5 --model power", "--fit"},
      {"s.h5 --fit 1 --model cubic", "cubic"},
      {"s.h5 --table 0.5", "no sample at t = 0.5"},
      {"s.h5 --scale-by-order", "needs one step size"},
      {"s.h5 -o a.jpg", ".png, .svg, .pdf"},
      {"s.h5 -o nowhere/a.png", "nowhere/a.png: cannot be written"},
      {"phase s.h5 --components 'q[0],q[7]'", "did you mean 'q[2]'"},
      {"phase s.h5 --components 'q[0]'", "not two or three components"},
      {"phase s.h5 --angles 'q[7]'", "no drawn component 'q[7]' (there are: q[0], p[0])"},
      {"phase s.h5 --trajectories 20", "trajectory 20 is not stored"},
      {"phase s.h5 --times 3.1:3.2", "no sample at 3.1 <= t <= 3.2"},
      {"phase sleigh.h5 --trajectories 0", "trajectory 0 is not stored (there are: 4)"},
      {"phase cvt-erratic.h5", "no trajectories (none were stored; set output.trajectories"},
      {"section s.h5", "no sections"},
      {"histogram s.h5 --of energy", "an observable without histogram"},
      {"histogram s.h5 --of 'u[0]'", "no component 'u[0]' (there are: "},
      {"histogram s.h5 --times 13", "no sample near t = 13"},
      {"histogram s.h5 --bins 0", "not a whole number above 0"},
      {"histogram sleigh.h5", "output.trajectories = \"all\""},
      {"map s.h5 --of residul", "did you mean 'residual'"},
      {"map s.h5 --axes h,ee", "no axis 'ee'"},
      {"map s.h5 --where epsilon=1", "no axis 'epsilon'"},
      {"map s.h5 sleigh.h5", "a map is of one result"},
      {"map cvt-erratic.h5", "no axes"},
      {"map sleigh.h5 --of 'q[0]'", "no component 'q[0]' (there are: "},
      {"order other.json", "not what 'rattleback order --json' prints"},
      {"order broken.json", "broken.json: not a JSON file"},
      {"order s.h5", "s.h5: not a JSON file"},
      {"order order.json --variable lambda", "no variable 'lambda' (there are: q)"},
      {"work-precision order.json", "not what 'rattleback work-precision --json' prints"},
  };
  for (const Broken& broken : cases) {
    const Outcome outcome = plot(broken.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << broken.arguments;
    EXPECT_NE(outcome.err.find(broken.message), std::string::npos) << broken.arguments << "\n" << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("rattleback: ")) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    EXPECT_EQ(files(), before) << broken.arguments;
  }
  EXPECT_EQ(plot("").exit_code, 2);
}

TEST_F(Plot, SaysWhenTheToolCrashes) {
  write("a.h5", "damaged");
  write("tool", "#!/bin/sh\nkill -$SIGNAL $$\n");
  fs::permissions(directory / "tool", fs::perms::owner_all);
  const Outcome crash = shell("SIGNAL=SEGV RATTLEBACK_PLOT=$PWD/tool $RB plot a.h5 -o a.png");
  EXPECT_EQ(crash.exit_code, 2);
  EXPECT_EQ(crash.err, "rattleback: a.h5: the plotting tool was killed (Segmentation fault); the file is damaged\n");
  const Outcome killed = shell("SIGNAL=KILL RATTLEBACK_PLOT=$PWD/tool $RB plot a.h5");
  EXPECT_EQ(killed.exit_code, 1);
  EXPECT_EQ(killed.err, "rattleback: the plotting tool was killed (Killed)\n");
}

TEST_F(Plot, ShowsHelp) {
  const Outcome help = plot("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* kind : {"time", "phase", "section", "histogram", "map", "order", "work-precision"}) {
    EXPECT_NE(help.out.find(fmt::format("\n  {} ", kind)), std::string::npos) << kind;
    const Outcome options = plot(fmt::format("{} --help", kind));
    EXPECT_EQ(options.exit_code, 0);
    EXPECT_NE(options.out.find(fmt::format("usage: rattleback plot {} ", kind)), std::string::npos) << options.out;
  }
  EXPECT_NE(shell("$RB --help").out.find("plot"), std::string::npos);
  const Outcome missing = shell("RATTLEBACK_PLOT=/nonexistent/plot $RB plot --help");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("/nonexistent/plot cannot be run"), std::string::npos) << missing.err;
}

}  // namespace
