#!/usr/bin/python3
"""Derivatives of results, against 50-digit numbers of an independent program, and against differences of whole runs.
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
        refused(lambda text: text + '[[stop]]\nwhen = "x"\n', "[[stop]]")
        refused(lambda text: text.replace("steps = 100\nsample_every = 10", 'control = "density"\ndensity = "2 + x^2"\nend = 1.0\nsamples = 2'), "density")
        refused(lambda text: text.replace('name = "cubic"', 'name = "planar-pendulum"').split("coordinates")[0]
                + '[method]\nname = "holonomic-lobatto"\n[time]\nstep = 0.1\nsteps = 10\n[ensemble]\nproject = true\n[derivatives]\nby = ["mass"]\n', "curved")


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[1:])
