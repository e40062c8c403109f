#!/usr/bin/env python3
"""Every kind of study through every command.  matrix_test.py PROGRAM [PACKAGE]

Each cell of the matrix succeeds, or refuses with exit code 2 and the reason that stands here. The studies are a third of the
examples, made small, and one for each thing that a study may ask for. PACKAGE is the folder of the Python package, where it is built.
The tests of the examples (tests/src/examples_test.cpp) have their further cells: interruptions, orders, bench, all backends."""
import concurrent.futures, contextlib, json, math, os, pathlib, re, signal, subprocess, sys, tempfile, threading, time, unittest, warnings, zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM, PACKAGE = "", ""
python = threading.Lock()  # the package runs in this process, one study at a time

# Studies of one system and method share their kernels.
CHAOTIC = """[study]
name = "cell"
[system]
name = "chaotic"
variant = "printed"
parameters = { m = 3 }
[method]
name = "nonholonomic-lobatto"
stages = 2
"""
TIME = "[time]\nstep = 0.1\nsteps = 40\nsample_every = 4\n"
AXES = '[ensemble]\naxes = [ { name = "theta", from = 0.0, to = "pi/2", count = 600 } ]\n'
STATE = '[ensemble.initial]\nq = ["cos(theta)", 0.6, 0.4, 0.2, 1, 1, 1]\nv = [0, "sin(theta)", 0, 0, 0, 0, 0]\n'
ENERGY = '[[observable]]\nname = "energy"\nstatistics = ["mean", "mse"]\n'
SPRING = """[study]
name = "cell"
[system]
name = "spring-pendulum"
coordinates = ["x", "y"]
parameters = { k = 40.0, length = 1.0, gravity = 9.81 }
potential = "k/2 (sqrt(x^2 + y^2) - length)^2 + gravity y"
observables = { spin = "x v_y - y v_x" }
initial = { q = [0.3, -1.2], v = [0, 0] }
[method]
name = "lobatto"
stages = 2
[time]
step = 0.01
steps = 40
sample_every = 4
[ensemble]
axes = [ { name = "pull", from = 0.0, to = 0.4, count = 300 } ]
[ensemble.initial]
q = ["pull", -1.2]
v = [0, 0]
"""
HEADER = """[study]
name = "cell"
[system]
file = "double_well.hpp"
type = "example::DoubleWell<T>"
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.05
steps = 40
sample_every = 4
[ensemble]
project = true
axes = [ { name = "a", from = -1.2, to = -0.8, count = 300 } ]
[ensemble.initial]
q = ["a", 0.5, 0]
v = [0.8, 0.6, 0.4]
"""
MACHINE = """[study]
name = "cell"
[system]
name = "two-bars"
gravity = [0, -9.81]
parameters = { weight = "w" }
[[body]]
name = "upper"
mass = 1
inertia = 0.08
position = [0.5, 0]
spin = 1
[[body]]
name = "lower"
mass = "weight"
inertia = 0.08
position = [1.5, 0]
[[joint]]
name = "ceiling"
type = "revolute"
between = ["ground", "upper"]
at = [0, 0]
damping = 0.1
[[joint]]
name = "elbow"
type = "revolute"
between = ["upper", "lower"]
at = [1, 0]
[method]
name = "holonomic-lobatto"
stages = 2
[time]
step = 0.01
steps = 40
sample_every = 4
[ensemble]
axes = [ { name = "w", from = 1, to = 3, count = 600 } ]
[[observable]]
name = "elbow_angle"
statistics = ["mean", "std"]
"""
POINTS = "q0,q1,q2,q3,q4,q5,q6,v0,v1,v2,v3,v4,v5,v6\n" + "".join(
    f"{math.cos(k / 400)!r},0.6,0.4,0.2,1,1,1,0,{math.sin(k / 400)!r},0,0,0,0,0\n" for k in range(600))
FIT = '[[fit]]\nname = "growth"\nobservable = "energy"\nfrom = 1.0\n'
SECTION = '[[section]]\nname = "plane"\nsurface = "q[0] - 0.3"\ndirection = "both"\n'
FEATURES = {
    "fit": CHAOTIC + TIME + AXES + STATE + ENERGY + FIT,
    "group_by": CHAOTIC + TIME + AXES.replace("axes = [", 'group_by = ["a"]\naxes = [ { name = "a", values = [0.4, 0.5, 0.6] },').replace(
        "600", "200") + STATE.replace("0.6", '"a"') + ENERGY + FIT,
    "sections": CHAOTIC + TIME + AXES + STATE + ENERGY + SECTION,
    "formulas": CHAOTIC + TIME + AXES + STATE + '[[observable]]\nname = "own"\nformula = "q[0]^2 + energy t"\nstatistics = ["mean", "max"]\n',
    "quasi-random": CHAOTIC + TIME + '[ensemble]\ndraws = 1024\nrandomisations = 4\naxes = [ { name = "theta", distribution = "sobol", '
                    'from = 0, to = 1.5, seed = 3 } ]\n' + STATE + ENERGY,
    "values": CHAOTIC + TIME + AXES + STATE + ENERGY + "values = true\nquantiles = [0.1, 0.5]\n",
    "histogram": CHAOTIC + TIME + AXES + STATE + ENERGY + "histogram = { from = 3.0, to = 3.1, bins = 20 }\n",
    "correlation": CHAOTIC + TIME + AXES + STATE + ENERGY + 'correlation = ["q[0]"]\n[[observable]]\nname = "q[0]"\n',
    "covariance": CHAOTIC + TIME + AXES + STATE + '[output]\ncovariance = ["q", "p"]\ntrajectories = [0, 300]\n',
    "lyapunov": CHAOTIC + TIME + AXES + STATE + '[[observable]]\nname = "lyapunov"\nstatistics = ["mean", "std"]\n',
    "derivatives": CHAOTIC + TIME + AXES + STATE + ENERGY + "values = true\n" + '[[observable]]\nname = "q[1]"\nstatistics = ["mean", "std", "mse", "rms"]\n'
                   '[[observable]]\nname = "own"\nformula = "q[0]^2 v[1] + t lambda[0]"\n[derivatives]\nby = ["theta", "q0[2]"]\n',
    "spectrum": CHAOTIC + TIME + AXES + STATE + '[[observable]]\nname = "lyapunov[2]"\nvalues = true\n[[observable]]\nname = "ln_gali[2]"\n'
                '[[observable]]\nname = "megno_mean"\n[[observable]]\nname = "lyapunov_window[0]"\nstatistics = ["mean", "std"]\n' + SECTION,
    "carried acceleration": CHAOTIC.replace("nonholonomic-lobatto", "generalized-alpha").replace("stages = 2\n", "rho = 0.9\n") + TIME + AXES + STATE
                            + ENERGY + '[[observable]]\nname = "lyapunov"\n' + SECTION,
    "own formulas": SPRING + ENERGY + '[[observable]]\nname = "spin"\nstatistics = ["std"]\n',
    "own header": HEADER + ENERGY + FIT + '[[observable]]\nname = "energy_y"\nstatistics = ["std"]\n',
    "machine": MACHINE + ENERGY,
    "points": CHAOTIC + TIME + '[ensemble]\nfile = "points.csv"\n' + ENERGY,
    "steps": CHAOTIC + '[time]\nstep = "h"\nend = 4.0\nsamples = 10\n'
             + AXES.replace("axes = [", 'group_by = ["h"]\naxes = [ { name = "h", values = [0.1, 0.05] },').replace("600", "200") + STATE + ENERGY,
    "all at once": CHAOTIC + TIME + AXES.replace("axes = [", 'group_by = ["a"]\naxes = [ { name = "a", values = [0.4, 0.5, 0.6] },').replace(
        "600", "200") + STATE.replace("0.6", '"a"')
        + '[[observable]]\nname = "energy"\nstatistics = ["mean", "mse", "std", "maxabs"]\nquantiles = [0.5]\nvalues = true\n'
          'histogram = { from = 3.0, to = 3.1, bins = 20 }\ncorrelation = ["own"]\n[[observable]]\nname = "own"\nformula = "q[0]^2 + energy t"\n'
          '[[observable]]\nname = "lyapunov"\n' + FIT + SECTION + '[output]\ncovariance = ["q"]\ntrajectories = [0, 599]\n',
}
# What a command refuses, with words of the reason.
REFUSED = {("covariance", "plot"): "no observables"}
STEPS = {"own formulas": "0.01,0.005", "machine": "0.01,0.005", "own header": "0.05,0.025"}


def options_of(example):
    """Overrides that make an example small. Stiff systems keep their step; studies of steps and steps that follow a density keep their times."""
    text = (ROOT / f"examples/{example}.toml").read_text()
    words = [] if 'step = "h"' in text or 'control = "density"' in text else ["time.steps=20", "time.sample_every=5"]
    if "count = 1024" in text:
        words.append("ensemble.axes[0].count=300")
    if re.search(r"^draws = ", text, re.M):
        words.append("ensemble.draws=256" if "randomisations" in text else "ensemble.draws=300")
    return [part for word in words for part in ("--set", word)], dict(word.split("=") for word in words)


class Cell:
    """A study in a folder of its own, and the commands on it."""

    def __init__(self, name, folder, study, options=()):
        self.name, self.folder, self.study, self.options = name, folder, study, list(options)

    def run(self, *words, code=0):
        """Returns what a command prints, which must end with this exit code, or refuse as REFUSED says."""
        outcome = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300)
        if reason := REFUSED.get((self.name, words[0])):
            code = 2
            self.expect(reason in outcome.stderr, f"{words[0]} refuses for another reason: {outcome.stderr}")
        if outcome.returncode != code:
            raise AssertionError(f"{self.name}: {' '.join(map(str, words))}: exit code {outcome.returncode}\n{outcome.stderr}{outcome.stdout[:2000]}")
        return outcome.stdout

    def expect(self, good, what):
        if not good:
            raise AssertionError(f"{self.name}: {what}")

    def same(self, other):
        self.run("diff", "a.h5", other, "--quiet")

    def on_study(self):
        """check, run, compile, cite, job of a study; the effective study is the same study."""
        effective = self.run("check", self.study, *self.options)
        (self.folder / "effective.toml").write_text(effective)
        self.run("run", self.study, *self.options, "-o", "a.h5", "--quiet")
        self.run("run", "effective.toml", "-o", "effective.h5", "--quiet")
        self.same("effective.h5")
        self.expect(", 0 there before" not in self.run("compile", self.study, *self.options), "compile knows other kernels than run")
        self.expect("#!/bin/bash" in self.run("job", self.study, *self.options, "--parts", "1", "--slurm", "-o", "job.h5"), "job prints no script")
        self.expect("@" in self.run("cite", self.study), "cite names nothing")

    def in_parts(self):
        count = json.loads(self.run("run", self.study, *self.options, "-o", "b.h5", "--json"))["trajectories"]
        parts = min(2, (count + 255) // 256)
        for part in range(parts, 0, -1):
            self.run("run", self.study, *self.options, "-o", "parts.h5", "--part", f"{part}/{parts}", "--quiet")
        self.expect(json.loads(self.run("status", "parts.h5", "--json"))["finished"] == parts, "status counts other parts")
        self.run("merge", "parts.h5", "--quiet")
        self.same("parts.h5")
        self.run("run", self.study, *self.options, "-o", "together.h5", "--parts", parts, "--quiet")
        self.same("together.h5")

    def on_result(self):
        self.run("diff", "--fingerprint", "a.h5", "--quiet")
        self.expect("@" in self.run("cite", "a.h5"), "cite names nothing")
        self.run("report", "a.h5", "-o", "a.html", "--figures", "1", "--quiet")
        page = (self.folder / "a.html").read_text()
        self.expect("</html>" in page and len(page) > 5000, "the report is not whole")

    def plot(self):
        self.run("plot", "a.h5", "-o", "a.png")
        self.expect((self.name, "plot") in REFUSED or (self.folder / "a.png").read_bytes().startswith(b"\x89PNG"), "the figure is none")

    def resume(self):
        """A run that is killed goes on to the same bits. Returns whether the kill left something to go on with."""
        words = [PROGRAM, "run", self.study, *self.options, "-o", "killed.h5", "--quiet", "--set", "output.checkpoint=1"]
        process = subprocess.Popen(words, cwd=self.folder, stderr=subprocess.DEVNULL)
        checkpoint = self.folder / "killed.h5.checkpoint"
        while process.poll() is None and not checkpoint.exists():
            time.sleep(0.001)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        process.wait()
        left = checkpoint.exists() and not (self.folder / "killed.h5").exists()
        if left:
            self.run("resume", "killed.h5", "--quiet")
        elif not (self.folder / "killed.h5").exists():
            self.run("run", self.study, *self.options, "-o", "killed.h5", "--quiet")
        self.same("killed.h5")
        return left

    def measure(self, steps):
        """order, bench, work against precision, two backends."""
        table = json.loads(self.run("order", self.study, "--steps", steps, "--quiet", "--json", "-o", "order.h5"))
        error = table["variables"]["q"]["max"]
        self.expect(len(error) == 2 and 0 < error[1] < error[0], f"errors do not fall: {error}")
        bench = json.loads(self.run("bench", self.study, "--repetitions", "1", "--json"))
        self.expect(bench["flops_per_step"] > 0 and bench["failed"] == 0, "bench counts nothing")
        work = json.loads(self.run("bench", self.study, "--work-precision", "--steps", steps, "--repetitions", "1", "--json", "--quiet"))
        self.expect(len(work["runs"]) == 2 and work["runs"][1]["errors"]["q"] == error[1], "bench and order have other errors")
        report = json.loads(self.run("compare", self.study, "--backends", "cpu:scalar,cpu", "--json"))
        self.expect(report["identical"] and len(report["comparisons"][0]["datasets"]) > 5, "backends differ")
        # no command replaces the file of another one
        self.run("order", self.study, "--steps", steps, "--quiet", "-o", "a.h5", code=2)
        self.run("run", self.study, "--quiet", "-o", "order.h5", code=2)
        self.same("effective.h5")

    def in_python(self, changes):
        if not PACKAGE:
            return
        with python:
            import rattleback

            study = rattleback.Study.load(self.folder / self.study)
            study.update({key: int(value) for key, value in changes.items()})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # doubts about small ensembles
                result = rattleback.run(study)
            report = rattleback.diff(result, self.folder / "a.h5")
            self.expect(report.identical, f"Python has other bits: {report}")


class Matrix(unittest.TestCase):
    def each(self, names, work):
        """Does the work of all cells, two at a time, and returns what they returned."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            futures = {name: pool.submit(work, name) for name in names}
        found = {}
        for name, future in futures.items():
            with self.subTest(name):
                found[name] = future.result()
        return found

    def test_features(self):
        def work(name):
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                (folder / "s.toml").write_text(FEATURES[name])
                (folder / "points.csv").write_text(POINTS)
                (folder / "double_well.hpp").write_text((ROOT / "examples/cpp/double_well.hpp").read_text())
                cell = Cell(name, folder, "s.toml")
                cell.on_study()
                cell.in_parts()
                cell.on_result()
                cell.plot()
                cell.measure(STEPS.get(name, "0.1,0.05"))
                cell.in_python({})
                # only stored values can be paired
                cell.run("compare", "--statistics", "a.h5", "effective.h5", code=0 if "values = true" in FEATURES[name] else 2)
                return cell.resume()
        resumed = self.each(FEATURES, work)
        self.assertGreater(sum(resumed.values()), len(FEATURES) // 3, "most runs ended before they were killed")

    def test_examples(self):
        def work(name):
            options, changes = options_of(name)
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                for file in (ROOT / "examples").glob("*.*"):
                    (folder / file.name).write_text(file.read_text())
                cell = Cell(name, folder, f"{name}.toml", options)
                cell.on_study()
                cell.in_parts()
                cell.on_result()
                cell.in_python(changes)
        names = sorted(path.stem for path in (ROOT / "examples").glob("*.toml"))
        self.each([name for name in names if zlib.crc32(name.encode()) % 3 == 0], work)


FAILS = CHAOTIC + TIME.replace("0.1", "5.0") + AXES + STATE + ENERGY
ARRAYS = """[study]
name = "cell"
[system]
name = "spherical-pendulum"
[method]
name = "holonomic-lobatto"
stages = 2
retraction = "cay"
[time]
step = 0.01
steps = 20
"""


class Commands(unittest.TestCase):
    """What commands refuse or say on the way."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def cell(self, study, *options):
        (self.folder / "s.toml").write_text(study)
        return Cell("cell", self.folder, "s.toml", options)

    def refused(self, cell, *words):
        before = {path.name: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        outcome = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(outcome.returncode, 2, f"{words}: {outcome.stderr}")
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, before, words)
        return outcome.stderr

    def test_every_command_replaces_only_files_of_its_own_kind(self):
        cell = self.cell(FEATURES["fit"])
        order = ["order", "s.toml", "--steps", "0.1,0.05", "--quiet", "-o"]
        bench = ["bench", "s.toml", "--repetitions", "1", "-o"]
        work = ["bench", "s.toml", "--work-precision", "--steps", "0.1", "--repetitions", "1", "--quiet", "-o"]
        writers = {"run": ["run", "s.toml", "--quiet", "-o"], "order": order}
        for own, other in (("run", "order"), ("order", "run")):
            cell.run(*writers[own], f"{own}.h5")
            cell.run(*writers[own], f"{own}.h5")
            self.assertIn("would be lost", self.refused(cell, *writers[other], f"{own}.h5"))
        for part in ("1/2", "2/2"):
            cell.run("run", "s.toml", "--part", part, "-o", "cut.h5", "--quiet")
        (self.folder / "part.h5").write_bytes((self.folder / "cut.h5.parts/001-of-002.h5").read_bytes())
        for words in writers.values():
            self.assertIn("a part of a result", self.refused(cell, *words, "part.h5"))
        (self.folder / "cut.h5").write_bytes((self.folder / "order.h5").read_bytes())
        self.assertIn("would be lost", self.refused(cell, "merge", "cut.h5"))
        for ending in ("csv", "json"):
            for name, words in (("order", order), ("bench", bench), ("work", work)):
                cell.run(*words, f"{name}.{ending}")
                cell.run(*words, f"{name}.{ending}")
                for other in ("order", "bench", "work"):
                    if other != name and (self.folder / f"{other}.{ending}").exists():
                        self.assertIn("would be lost", self.refused(cell, *words, f"{other}.{ending}"))
        (self.folder / "mine.html").write_text("<html></html>")
        self.assertIn("would be lost", self.refused(cell, "report", "run.h5", "-o", "mine.html"))
        (self.folder / "mine.png").write_bytes(b"\x89PNG\r\nmine")
        self.refused(cell, "plot", "run.h5", "-o", "mine.png")
        if PACKAGE:
            with python:
                import rattleback

                study, result = rattleback.Study.load(self.folder / "s.toml"), rattleback.open(self.folder / "run.h5")
                for name in ("run.h5", "order.json", "mine.html"):
                    with self.assertRaisesRegex(rattleback.InputError, "would be lost"):
                        study.save(self.folder / name)
                study.save(self.folder / "s.toml")
                result.save(self.folder / "copy.h5")
                result.save(self.folder / "copy.h5")
                with self.assertRaisesRegex(rattleback.InputError, "would be lost"):
                    result.save(self.folder / "order.h5")

    def test_names_of_other_formats_are_no_results(self):
        cell = self.cell(FEATURES["fit"])
        for name in ("res.csv", "res.TXT", "res.json", "res.npz", "res.parquet", "res.png"):
            for words in (["run", "s.toml"], ["job", "s.toml", "--parts", "1", "--slurm"], ["run", "s.toml", "--parts", "2"]):
                self.assertIn("use -o res.h5", self.refused(cell, *words, "-o", name))
        for name in ("res", "res.hdf5", "res.nc", "res.v2"):
            cell.run("run", "s.toml", "--quiet", "-o", name)

    def test_another_method_drops_the_options_that_it_lacks(self):
        cell = self.cell(ARRAYS)
        effective = cell.run("check", "s.toml", "--set", "method.name=hbvm")
        self.assertNotIn("stages", effective)
        self.assertNotIn("retraction", effective)
        self.assertIn("unknown key 'stages'", self.refused(cell, "check", "s.toml", "--set", "method.name=hbvm", "--set", "method.stages=3"))
        work = json.loads(cell.run("bench", "s.toml", "--work-precision", "--steps", "0.02", "--repetitions", "1", "--json", "--quiet",
                                   "--set", "method.stages=3", "--variant", "method.name=hbvm method.s=2", "--variant", "method.stages=2"))
        self.assertEqual([run["options"].get("stages") for run in work["runs"]], [None, 2])
        if PACKAGE:
            with python:
                import rattleback

                study = rattleback.Study.load(self.folder / "s.toml")
                study["method.name"] = "hbvm"
                self.assertNotIn("stages", study["method"])

    def test_parameters_given_as_a_table_leave_the_others(self):
        for study, given, wanted in ((SPRING, "{ k = 50.0 }", ["k = 50.0", "length = 1.0", "gravity = 9.81"]),
                                     (SPRING, "{}", ["k = 40.0"]),
                                     (ARRAYS.replace("[method]", "parameters = { mass = 2.0 }\n[method]"), "{ gravity = 1.5 }",
                                      ["mass = 2.0", "gravity = 1.5"])):
            effective = self.cell(study).run("check", "s.toml", "--set", f"system.parameters={given}")
            for entry in wanted:
                self.assertIn(entry, effective)

    def test_reasons_of_failures_are_named(self):
        cell = self.cell(FAILS)
        outcome = subprocess.run([PROGRAM, "run", "s.toml", "-o", "a.h5"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(outcome.returncode, 3)
        self.assertRegex(outcome.stderr, r"600 of 600 trajectories failed \(600 not finite\)")
        self.assertIn("600 failed (100 %)", outcome.stdout)
        for words in (["run", "s.toml", "-o", "b.h5", "--json"], ["bench", "s.toml", "--repetitions", "1", "--json"]):
            self.assertEqual(json.loads(cell.run(*words, code=3))["failures"], {"not-finite": 600})
        report = json.loads(cell.run("compare", "s.toml", "--backends", "cpu:scalar,cpu", "--json"))
        self.assertEqual(report["runs"][0]["failures"], {"not-finite": 600})

    def test_check_tells_the_time_of_a_run(self):
        """Within a factor of 3, for a run of about two seconds; a machine may be busy for a moment."""
        def ratio(steps):
            words = ["--set", f"time.steps={steps}", "--set", f"time.sample_every={steps // 10}"]
            told = subprocess.run([PROGRAM, "check", "s.toml", *words], cwd=self.folder, capture_output=True, text=True).stderr
            number, unit = re.search(r"about ([\d.e+-]+) (s|min) in all", told).groups()
            start = time.monotonic()
            cell.run("run", "s.toml", *words, "--quiet", "-o", "a.h5")
            seconds = time.monotonic() - start
            return seconds, float(number) * (60 if unit == "min" else 1) / seconds
        cell = self.cell(FEATURES["histogram"])
        ratio(100)
        seconds, _ = ratio(20000)
        found = [ratio(max(1000, round(20000 * 2 / seconds, -3)))[1] for _ in range(3)]
        self.assertTrue(any(1 / 3 < value < 3 for value in found), found)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]):
        PACKAGE = sys.argv.pop(1)
        sys.path.insert(0, PACKAGE)
    unittest.main()
