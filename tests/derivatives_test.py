#!/usr/bin/python3
"""Derivatives of results, of crossings and of stopped trajectories, with steps of one size and with steps that follow a density, against
numbers of an independent program and against differences of whole runs.
derivatives_test.py PROGRAM"""
import json, pathlib, subprocess, sys, tempfile, unittest

import h5py
import numpy as np

PROGRAM = ""

HENON = """
[system]
name = "cubic"
coordinates = ["x", "y"]
mass = 1
potential = "(x^2 + y^2)/2 + c (x^2 y - y^3/3)"
parameters = { c = 1 }
[method]
name = "lobatto"
stages = 2
[time]
step = 0.1
steps = 100
sample_every = 10
[ensemble.initial]
q = [0.1, 0.2]
v = [0.3, -0.1]
[[observable]]
name = "q[0]"
values = true
[derivatives]
by = ["q0[0]", "q0[1]", "v0[0]", "v0[1]", "c"]
"""
# derivatives of x after 10 and 100 steps by (x, y, v_x, v_y, c)
HENON_10 = (0.41735323868136953, -0.1557199593518948, 0.8071603587740003, -0.06618829387649178, -0.023575060427826273)
HENON_100 = (-1.0710477006552546, -1.1868611297963412, -0.07051049509124173, -0.38402694942048193, -0.14803983769735074)

# An ensemble whose axes and parameters are in all that a trajectory has: start, parameters, step.
CLOUD = """
[system]
name = "driven"
coordinates = ["x", "y"]
parameters = {{ k = "{k}", w = 1.3, b = {b} }}
mass = [["1", "b"], ["b", "2 + x^2"]]
potential = "k x^2/2 + y^4/4 + b x y"
force = ["sin(w t) - x v_x/9", "b cos(t)"]
[method]
name = "{method}"
[time]
step = "0.05 c"
end = 2.0
samples = 4
[ensemble]
group_by = ["g"]
axes = [{{ name = "g", values = [0.9, 1.1] }}, {{ name = "c", values = [1.0, 0.5] }}, {{ name = "a", distribution = "uniform", from = {low}, to = {high}, seed = 4, draws = 150 }}]
[ensemble.initial]
q = ["a + b", "g^2 k/3"]
v = ["0.2 w", "a g"]
[[observable]]
name = "own"
formula = "x^2 + y v_x + p[1] sin(b t) + energy k"
statistics = ["mean", "std", "mse", "rms"]
reference = 0.7
values = true
[[observable]]
name = "work"
statistics = ["mean", "std"]
[[observable]]
name = "energy"
statistics = ["mse", "rms"]
reference = "initial"
{more}
"""
# (system, method with options, parameters that differ): the start is consistent, and stays so to first order
PAIRS = [("planar-pendulum", 'name = "holonomic-lobatto"\nstages = 3', ["mass", "length"]),
         ("chaplygin-sleigh", 'name = "nonholonomic-lobatto"\nstages = 2', ["mass", "offset"]),
         ("planar-pendulum", 'name = "generalized-alpha"', ["mass", "length"]),
         ("heavy-top", 'name = "lobatto"\nstages = 2', ["moment_1"]),
         ("turntable-ball", 'name = "nonholonomic-lobatto"\nstages = 2', ["radius", "spin"])]

# Steps that follow a density, with crossings and stops. Some of the four trajectories stop, and the others reach the end.
ORBITS = """
[system]
name = "kepler"
coordinates = ["x", "y"]
parameters = {{ mu = {mu}, b = 0.1 }}
potential = "-mu/sqrt(x^2 + y^2)"
force = ["b sin(t)", "-v_y/20"]
[method]
name = "lobatto"
stages = 3
[time]
control = "density"
density = "sqrt(mu) (x^2 + (1 + b) y^2)^(-3/4)"
step = "(c + {c})/10"
end = 7.0
samples = 7
[ensemble]
axes = [{{ name = "c", values = [1.0, 0.7] }}, {{ name = "e", values = [0.3, 0.7] }}]
[ensemble.initial]
q = ["-1 - (e + {e})", 0]
v = [0.01, "{v} - sqrt((1 - (e + {e}))/(1 + (e + {e})))"]
[[observable]]
name = "own"
formula = "x^2 + y v_x + mu energy"
values = true
[[observable]]
name = "work"
values = true
[[section]]
name = "line"
surface = "y + x v_x/10 - mu/9"
[[stop]]
name = "near"
when = "x - 0.5 - b t/9"
{more}"""
ZERO = dict(mu="1.0", c="0.0", e="0.0", v="0.0")


class Derivatives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, *words, code=0):
        outcome = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(outcome.returncode, code, outcome.stderr + outcome.stdout[:1000])
        return outcome

    def read(self, name):
        found = {}
        with h5py.File(self.folder / f"{name}.h5") as file:
            file.visititems(lambda path, item: found.__setitem__(path, item[()]) if isinstance(item, h5py.Dataset) else None)
        return found

    def run_study(self, text, *words, name="study"):
        (self.folder / f"{name}.toml").write_text(text)
        (self.folder / f"{name}.h5").unlink(missing_ok=True)
        self.program("run", f"{name}.toml", "--quiet", *words)
        return self.read(name)

    def assertNear(self, x, y, share, what=""):
        x, y = np.asarray(x), np.asarray(y)
        self.assertTrue(np.isfinite(x).all(), what)
        self.assertLess(abs(x - y).max(), share * (1 + abs(y).max()), f"{what}: {x.ravel()[:4]} and {y.ravel()[:4]}")

    def test_numbers_of_fifty_digits(self):
        result = self.run_study(HENON)
        for name, first, last in zip(json.loads(HENON.splitlines()[-1].removeprefix("by = ")), HENON_10, HENON_100):
            with self.subTest(name):
                at_samples = result[f"observables/q[0]/values_by_{name}"]
                self.assertNear(at_samples[[1, 10], 0], [first, last], 1e-14)
                self.assertEqual(at_samples[10, 0], result[f"derivatives/{name}/q"][0, 0])
                self.assertTrue(np.array_equal(result[f"observables/q[0]/mean_by_{name}"], at_samples[:, 0]))
        columns = [np.concatenate([result[f"derivatives/{name}/{part}"][0] for part in "qp"]) for name in ("q0[0]", "q0[1]", "v0[0]", "v0[1]")]
        matrix, unit = np.array(columns).T, np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
        self.assertNear(matrix.T @ unit @ matrix, unit, 1e-14)  # the map is symplectic

    def test_differences_of_whole_runs(self):
        values = dict(k="g^2", b=0.3, low=0.1, high=0.4, method="lobatto")
        by = ["b", "w", "v0[1]", "q0[0]"]
        result = self.run_study(CLOUD.format(**values, more="[derivatives]\nby = " + json.dumps(["a", "g", "c", *by])))
        e = 1e-5

        def differences(change):
            sides = [self.run_study(change(CLOUD.format(**{**values, "more": ""}), sign * e), name="other") for sign in (1, -1)]
            return lambda path: (sides[0][path] - sides[1][path]) / (2 * e)

        changes = {"b": lambda text, e: text.replace("b = 0.3", f"b = {0.3 + e!r}"), "w": lambda text, e: text.replace("w = 1.3", f"w = {1.3 + e!r}"),
                   "v0[1]": lambda text, e: text.replace('"a g"', f'"a g + {e!r}"'), "q0[0]": lambda text, e: text.replace('"a + b"', f'"a + b + {e!r}"'),
                   "a": lambda text, e: text.replace("0.1, to = 0.4", f"{0.1 + e!r}, to = {0.4 + e!r}"),
                   "g": lambda text, e: text.replace("values = [0.9, 1.1]", f"values = [{0.9 + e!r}, {1.1 + e!r}]")}
        for name, change in changes.items():
            of = differences(change)
            for part in "qvp":
                self.assertNear(result[f"derivatives/{name}/{part}"], of(f"final/{part}"), 3e-9, f"{part} by {name}")
            self.assertNear(result[f"observables/own/values_by_{name}"], of("observables/own/values"), 1e-8, f"values by {name}")
            for root in ("", "groups/"):
                for path in ("own/mean", "own/std", "own/mse", "own/rms", "work/mean", "work/std", "energy/mse", "energy/rms"):
                    path = f"{root}observables/{path}"
                    known = np.isfinite(of(path))  # a standard deviation that is 0
                    found = result[f"{path}_by_{name}"]
                    self.assertNear(found[known & np.isfinite(found)], of(path)[known & np.isfinite(found)], 2e-8, f"{path} by {name}")
        # the number of steps does not change: the end moves with the step
        of = differences(lambda text, e: text.replace("values = [1.0, 0.5]", f"values = [{1 + e!r}, {0.5 * (1 + e)!r}]").replace("end = 2.0", f"end = {2 * (1 + e)!r}"))
        for part in "qvp":
            self.assertNear(result[f"derivatives/c/{part}"] * result["axes/c"][:, None], of(f"final/{part}"), 3e-9, f"{part} by c")
        self.assertNear(result["observables/own/values_by_c"] * result["axes/c"], of("observables/own/values"), 1e-8, "values by c")
        by_a = result["observables/own/values_by_a"]
        self.assertNear(result["observables/own/mean_by_a_error"], by_a.std(axis=1, ddof=1) / np.sqrt(600), 1e-12)
        by_mse = 2 * (result["observables/own/values"] - 0.7) * by_a
        self.assertNear(result["observables/own/mse_by_a"], by_mse.mean(axis=1), 1e-12)
        self.assertNear(result["observables/own/mse_by_a_error"], by_mse.std(axis=1, ddof=1) / np.sqrt(600), 1e-12)

    def test_crossings_and_stops_have_the_numbers_of_another_program(self):
        """The first return of Henon-Heiles to x = 0, with E = 1/8. At the start the trajectory is on the surface."""
        text = HENON.replace("stages = 2", "stages = 5").replace("step = 0.1\nsteps = 100\nsample_every = 10", "step = 0.05\nend = 20.0")
        text = text.replace("q = [0.1, 0.2]\nv = [0.3, -0.1]", 'q = [0, 0.25]\nv = ["sqrt(3/16 + 1/96)", 0]')
        result = self.run_study(text + '[[section]]\nname = "x"\nsurface = "x"\ndirection = "+"\n[[stop]]\nsection = "x"\ncount = 1\n')
        self.assertNear(result["final/time"], 6.105352789817, 1e-12)
        numbers = {"q0[0]": (-2.061959378, -1.181103109), "q0[1]": (-1.011140047, 0.119395883), "v0[0]": (-0.422324201, 1.106785407),
                   "v0[1]": (0.440955193, -2.802384515)}
        for name, (time, y) in numbers.items():
            with self.subTest(name):
                self.assertNear(result[f"derivatives/{name}/time"][0], time, 1e-9)
                self.assertNear(result[f"derivatives/{name}/q"][0], [0.0, y], 1e-9)
                for part in ("time", "q", "v", "p"):
                    self.assertTrue(np.array_equal(result[f"sections/x/derivatives/{name}/{part}"], result[f"derivatives/{name}/{part}"]))
        self.assertNotIn("observables/q[0]/mean_by_c", result)  # who counts in the mean depends on c, too
        self.assertTrue(np.isfinite(result["observables/q[0]/values_by_c"][0]).all())

    def test_differences_beside_a_density(self):
        by = ["mu", "c", "e", "v0[1]"]
        result = self.run_study(ORBITS.format(**ZERO, more="[derivatives]\nby = " + json.dumps(by)))
        self.assertEqual(set(result["final/stop"]), {0, 1})
        self.assertGreater(len(result["sections/line/time"]), 1)
        for name, key, at in (("mu", "mu", 1.0), ("c", "c", 0.0), ("e", "e", 0.0), ("v0[1]", "v", 0.0)):
            e = 1e-5
            sides = [self.run_study(ORBITS.format(**{**ZERO, key: repr(at + sign * e)}, more=""), name="other") for sign in (1, -1)]
            of = lambda path: (sides[0][path] - sides[1][path]) / (2 * e)
            for part in ("q", "v", "p", "time"):
                self.assertNear(result[f"derivatives/{name}/{part}"], of(f"final/{part}"), 1e-7, f"{part} by {name}")
                self.assertNear(result[f"sections/line/derivatives/{name}/{part}"], of(f"sections/line/{part}"), 1e-7, f"crossing, {part} by {name}")
            for observable in ("own", "work"):
                values, found = of(f"observables/{observable}/values"), result[f"observables/{observable}/values_by_{name}"]
                known = np.isfinite(values)
                self.assertTrue(np.array_equal(known, np.isfinite(found)))
                self.assertNear(found[known], values[known], 1e-7, f"{observable} by {name}")
        self.assertEqual(set(result["derivatives/e/time"][result["final/stop"] == 0]), {0.0})

    def test_bits_and_files_beside_a_density(self):
        text = ORBITS.format(**ZERO, more='[derivatives]\nby = ["mu", "c", "e", "v0[1]"]\n').replace("[1.0, 0.7]", "[1.0, 0.7, 0.9, 1.1]").replace("values = [0.3, 0.7]", "from = 0.2, to = 0.7, count = 150")
        first = self.run_study(text, "--backend", "cpu:scalar")
        other = self.run_study(text, "--backend", "cpu", "--tile", "1", name="other")
        self.assertEqual({path for path in first if not np.array_equal(first[path], other[path], equal_nan=True)}, set())
        self.program("run", "study.toml", "-o", "parts.h5", "--quiet", "--parts", "2", "--worker", "--tile", "1")
        self.program("merge", "parts.h5", "--quiet")
        self.program("diff", "other.h5", "parts.h5")
        self.program("export", "study.h5", "--csv", "--quiet")
        head, *rows = [line.split(",") for line in (self.folder / "study-csv/section-line.csv").read_text().splitlines()]
        self.assertTrue(np.array_equal([float(row[head.index("time_by_mu")]) for row in rows], first["sections/line/derivatives/mu/time"]))
        head = (self.folder / "study-csv/trajectories.csv").read_text().split("\n")[0].split(",")
        self.assertIn("final_time_by_e", head)

    def test_a_sum_that_few_trajectories_carry(self):
        """A chaotic cloud: at late times few derivatives are all of the sum, and the run says so."""
        text = HENON.replace("steps = 100\nsample_every = 10", "steps = 600\nsample_every = 150").replace('by = ["q0[0]", "q0[1]", "v0[0]", "v0[1]", "c"]', 'by = ["c"]')
        text = text.replace("[ensemble.initial]\nq = [0.1, 0.2]\nv = [0.3, -0.1]", '[ensemble]\naxes = [{ name = "y", distribution = "normal", mean = -0.2, std = 0.02, seed = 1, draws = 2000 }]\n'
                            '[ensemble.initial]\nq = [0, "y"]\nv = ["sqrt(1/4 - 0.04 - 0.016/3)", 0]')
        (self.folder / "study.toml").write_text(text)
        message = self.program("run", "study.toml", "--quiet", "-o", "study.h5").stderr
        result = self.read("study")
        squares = np.sort(result["observables/q[0]/values_by_c"][1:]**2, axis=1)
        share = squares[:, -20:].sum(axis=1) / squares.sum(axis=1)
        self.assertLess(share[0], 0.5)
        self.assertGreater(share[-1], 0.5)
        self.assertNear(result["observables/q[0]/concentration_by_c"][1:], share, 0.01)
        first = result["time"][1 + int(np.argmax(share > 0.5))]
        self.assertIn(f"the derivative of 'q[0]' by c rests on few trajectories from time {first:g} on", message)
        self.program("run", "study.toml", "-o", "parts.h5", "--quiet", "--parts", "2", "--worker")
        self.assertIn("rests on few trajectories", self.program("merge", "parts.h5", "--quiet").stderr)
        self.program("diff", "study.h5", "parts.h5")

    def test_constrained_starts(self):
        for system, method, parameters in PAIRS:
            text = f'[system]\nname = "{system}"\nparameters = {{{{ {{}} }}}}\n[method]\n{method}\n[time]\nstep = 0.02\nsteps = 20\n[ensemble]\nproject = {{}}\n'
            known = {entry["name"]: entry["default"] for entry in json.loads(self.program("describe", system, "--json").stdout)["instances"][0]["parameters"]}
            result = self.run_study(text.format("", "false") + "[derivatives]\nby = " + json.dumps([*parameters, "q0[0]", "v0[0]"]))
            for name in parameters:
                e = 1e-5 * known[name]
                sides = [self.run_study(text.format(f"{name} = {known[name] + sign * e!r}", "true"), name="other") for sign in (1, -1)]
                for part in [part for part in ("q", "v", "p", "lambda") if f"final/{part}" in result]:
                    self.assertNear(result[f"derivatives/{name}/{part}"], (sides[0][f"final/{part}"] - sides[1][f"final/{part}"]) / (2 * e),
                                    1e-6, f"{system}, {method}: {part} by {name}")
            q, v = result["initial/q"][0], result["initial/v"][0]
            for name in ("q0[0]", "v0[0]"):
                e, sides = 1e-5, []
                for sign in (1, -1):
                    moved = {"q": q.copy(), "v": v.copy()}
                    if name == "q0[0]" and len(q) >= 9:  # a turn about the first axis of the body
                        c, s = np.cos(e), sign * np.sin(e)
                        moved["q"][:9] = (q[:9].reshape(3, 3) @ [[1, 0, 0], [0, c, -s], [0, s, c]]).ravel()
                    else:
                        moved[name[0]][0] += sign * e
                    start = "".join(f"{part} = {json.dumps(list(x))}\n" for part, x in moved.items())
                    sides.append(self.run_study(text.format("", "true") + f"[ensemble.initial]\n{start}", name="other"))
                for part in "qvp":
                    self.assertNear(result[f"derivatives/{name}/{part}"], (sides[0][f"final/{part}"] - sides[1][f"final/{part}"]) / (2 * e),
                                    1e-6, f"{system}, {method}: {part} by {name}")

    def test_velocities_of_momenta_and_momenta_of_velocities(self):
        """The matrix [1, b; b, 2 + x^2] of the masses leads from one to the other, whichever the study gives."""
        values = dict(k="1", b=0.3, low=0.1, high=0.4, method="lobatto")
        by = {}
        for given in "vp":
            text = CLOUD.format(**values, more='[derivatives]\nby = ["v0[0]", "v0[1]", "p0[0]", "p0[1]"]\n')
            by[given] = self.run_study(text.replace('v = ["0.2 w", "a g"]', f'{given} = ["0.2 w", "a g"]'))
            x = by[given]["initial/q"][:, 0]
            for part in "qvp":
                of = {name: by[given][f"derivatives/{name}/{part}"].T for name in ("v0[0]", "v0[1]", "p0[0]", "p0[1]")}
                self.assertGreater(abs(of["v0[0]"]).max(), 0.01)
                self.assertNear(of["v0[0]"], of["p0[0]"] + 0.3 * of["p0[1]"], 1e-12, f"{part}, {given} given")
                self.assertNear(of["v0[1]"], 0.3 * of["p0[0]"] + (2 + x**2) * of["p0[1]"], 1e-12, f"{part}, {given} given")

    def test_derivatives_that_are_not_finite(self):
        text = CLOUD.format(k="g^2", b=0.3, low=0.0, high=0.4, method="lobatto", more='[derivatives]\nby = ["g"]\n').replace('"a + b"', '"a + sqrt(g - 0.9)"')
        (self.folder / "study.toml").write_text(text)
        message = self.program("run", "study.toml").stderr
        self.assertIn("derivative of observable 'own' by g was not finite", message)
        self.assertIn("mean_by_g is not the derivative of the mean", message)

    def test_series_are_compressed_and_exported(self):
        text = CLOUD.format(k="g^2", b=0.3, low=0.1, high=0.4, method="lobatto", more='[output]\ncompression = 1\n[derivatives]\nby = ["a"]\n')
        found = self.run_study(text)
        with h5py.File(self.folder / "study.h5") as file:
            self.assertEqual(file["observables/own/values_by_a"].compression, "gzip")
        self.program("export", "study.h5", "--csv", "--quiet")
        for table, column, values in (("trajectories", "final_x_by_a", found["derivatives/a/q"][:, 0]), ("values", "own_by_a", found["observables/own/values_by_a"].ravel())):
            head, *rows = [line.split(",") for line in (self.folder / f"study-csv/{table}.csv").read_text().splitlines()]
            self.assertTrue(np.array_equal([float(row[head.index(column)]) for row in rows], values))

    def test_bits_do_not_depend_on_how_a_run_is_made(self):
        text = CLOUD.format(k="g^2", b=0.3, low=0.1, high=0.4, method="lobatto", more='[derivatives]\nby = ["a", "b", "q0[1]"]\n')
        first = self.run_study(text, "--backend", "cpu:scalar")
        for name, words in {"packs": ["--backend", "cpu"], "tiles": ["--backend", "cpu", "--tile", "1", "--threads", "2"]}.items():
            other = self.run_study(text, *words, name=name)
            self.assertEqual({path for path in first if not np.array_equal(first[path], other[path], equal_nan=True)}, set(), name)
        self.assertNotIn("compiling", self.program("check", "study.toml").stderr)  # it measures the kernels of the run, which are compiled
        self.program("run", "study.toml", "-o", "parts.h5", "--quiet", "--parts", "2", "--worker")
        self.program("merge", "parts.h5", "--quiet")
        self.program("diff", "study.h5", "parts.h5")

    def test_what_is_refused(self):
        def refused(change, *words, of=HENON):
            (self.folder / "bad.toml").write_text(change(of))
            message = self.program("check", "bad.toml", code=2).stderr
            for word in ("bad.toml:", *words):
                self.assertIn(word, message)

        names = lambda *by: lambda text: text[:text.rindex("by = ")] + "by = " + json.dumps(by) + "\n"
        refused(names("d"), "'d'", "known: c, q0[i], v0[i], p0[i]")
        refused(names("c", "c"), "twice")
        refused(names(), "empty")
        refused(lambda text: names("u")(text).replace("[ensemble.initial]\nq = [0.1, 0.2]", '[ensemble]\naxes = [{ name = "u", dimension = 2, values = [0.1] }]\n[ensemble.initial]\nq = ["u[0]", "u[1]"]'),
                "'u[0]' to 'u[1]'")
        refused(names("q0[2]"), "q0[0] to q0[1]")
        refused(names("q0[00]"), "'q0[00]'", "known")
        refused(names(*(f"q0[{i}]" for i in range(9))), "9 names", "8")
        refused(lambda text: text.replace('name = "q[0]"', 'name = "lyapunov"'), "two studies")
        refused(lambda text: text.replace('name = "q[0]"', 'name = "f"\nformula = "x > 0 ? 1 : 0"'), "comparison", "'f'")
        refused(lambda text: text.replace('name = "cubic"', 'name = "planar-pendulum"').split("coordinates")[0]
                + '[method]\nname = "holonomic-lobatto"\n[time]\nstep = 0.1\nsteps = 10\n[ensemble]\nproject = true\n[derivatives]\nby = ["mass"]\n', "curved")


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[1:])
