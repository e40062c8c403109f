#!/usr/bin/python3
"""Lyapunov spectra, GALI, SALI, MEGNO and the fast Lyapunov indicator, against numbers of independent programs (SciPy's DOP853, a
method of order eight with the complex step) and closed forms. exponents_test.py PROGRAM"""
import json, math, pathlib, subprocess, sys, tempfile, unittest

import h5py
import numpy as np

PROGRAM = ""

HENON = """
[system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 5
[time]
step = 0.1
end = {end}
samples = {samples}
[ensemble]
axes = [ {{ name = "E", values = [0.1, 0.125, "1/6"] }}, {{ name = "Y", values = [0.25, -0.15, -0.2, 0.1] }} ]
[ensemble.initial]
q = [0, "Y"]
v = ["sqrt(2 E - Y^2 + 2 Y^3/3)", 0]
"""
# orbit (E, y), time, S_1 to S_4, ln GALI_2 to ln GALI_4, MEGNO, its mean, FLI, how near
HENON_NUMBERS = [
    ((0, 0), 100, (0.555763035, 0.839546521, -1.247870507, -0.147439049), (-0.1052209, -2.2704618, -3.9968722), (0.922494, 0.358876, 0.652834), 1e-8),
    ((0, 1), 100, (2.608144704, 4.090516021, -3.702458548, -2.996202177), (-0.0020004, -6.6297908, -14.2424692), (1.712133, 1.365381, 2.715373), 1e-8),
    ((1, 0), 10, (-0.478140822, 0.513318223, -0.217188409, 0.182011008), (-0.0793624, -0.3680078, -1.4488958), (-0.398283, -0.310051, 0), 1e-8),
    ((1, 2), 10, (0.811974973, 1.083428530, -2.008130649, 0.112727146), (-0.2542547, -2.5868655, -4.3841361), (0.875194, 0.277965, 0.816084), 1e-8),
    ((1, 2), 100, (7.241227903, 4.527877032, -5.248094798, -6.521010138), (-3.9924331, -16.6812421, -32.2003934), (7.003750, 3.757315, 7.241228), 1e-7),
    ((2, 3), 100, (4.128674298, 0.281922854, -2.239957554, -2.170639598), (-2.4404554, -8.5940442, -14.6451122), (1.835088, 1.880722, 4.288483), 1e-8),
    ((2, 2), 100, (17.5017473, 2.0931071, -2.7085651, -16.8862893), (-13.7624994, -32.5006910, -66.5363677), (18.804224, 7.555633, 17.501747), 2e-6)]
NONHOLONOMIC = """
[system]
name = "chaotic"
variant = "{variant}"
parameters = {{ m = 3 }}
[method]
name = "nonholonomic-lobatto"
stages = {stages}
[time]
step = 0.05
end = {end}
samples = 1
[ensemble.initial]
q = ["cos(0.7)", 0.6, 0.4, 0.2, 1, 1, 1]
v = [0, "sin(0.7)", 0, 0, 0, 0, 0]
"""
CONTACT = (1.138080788, 1.126211991, 1.106897102, 0.603776912, 0.115511434, 0.213979271, -0.057637113, -0.182454581, -0.517296566, -0.685429734,
           -0.446769719, -0.725062086, -1.584833763)
PRINTED = (2.245813532, 1.666217007, 0.667999899, 1.132903950, 1.183178376, 0.344826775, 0.510271685, -1.126646207, -0.664086864, -0.583721336,
           -0.595223989, -0.421121496, -4.395247474)
# Masses that vary with the position, and a constraint on velocities.
SKATE = """
[system]
name = "heavy-skate"
coordinates = ["x", "y", "z"]
mass = [["2 + x^2/2", "0.3", "0"], ["0.3", "1.5", "0"], ["0", "0", "0.7"]]
potential = "x^2/2 - y^2 + z^2/3 + x y"
velocity_constraints = ["v_z - y v_x"]
[method]
name = "nonholonomic-spark"
[ensemble.initial]
q = [0.3, 0.2, 0.1]
v = [0.4, -0.2, 0.08]
"""
TOP = """
[system]
name = "top"
group = "SO(3)"
inertia = [1, 1.25, 0.5]
potential = "R33/2 + R12/4"
[method]
name = "vrkmk"
tableau = "gauss1"
[ensemble]
frame = "body"
[ensemble.initial]
q = [1, 0, 0, 0, 1, 0, 0, 0, 1]
v = [0.3, 0.5, 1]
"""
BY_MASS = '[lyapunov]\nmetric = "mass"\n'


def directions(count, n):
    """The directions (dq, dv) from which tangent vectors start, as the documentation has them."""
    found, x = [[(i + 1) * (math.sqrt(5) - 1) / 2 % 1 - 0.5 for i in range(2 * n)]], 0
    for _ in range(count - 1):
        found.append([])
        for _ in range(2 * n):
            x = (6364136223846793005 * x + 1442695040888963407) % 2**64
            found[-1].append((x >> 11) * 2.0**-53 - 0.5)
    return np.array(found).T


def observables(*names, more=""):
    return "".join(f'[[observable]]\nname = "{name}"\nvalues = true\n{more}' for name in names)


class Exponents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, *words, code=0):
        outcome = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(outcome.returncode, code, outcome.stderr + outcome.stdout[:1000])
        return outcome

    def run_study(self, text, *words, name="study"):
        (self.folder / f"{name}.toml").write_text(text)
        self.program("run", f"{name}.toml", "--quiet", *words)
        with h5py.File(self.folder / f"{name}.h5") as file:
            found = {}
            file.visititems(lambda path, item: found.__setitem__(path, item[()]) if isinstance(item, h5py.Dataset) else None)
        return found

    def assertClose(self, x, y, delta):
        self.assertLess(np.abs(np.asarray(x) - np.asarray(y)).max(), delta, f"{x} and {y}")

    def test_henon_heiles_has_the_numbers_of_dop853(self):
        result = self.run_study(HENON.format(end=100.0, samples=10) + observables(
            *(f"lyapunov[{j}]" for j in range(4)), *(f"ln_gali[{k}]" for k in (2, 3, 4)), "gali[2]", "sali", "megno", "megno_mean", "fli",
            *(f"lyapunov_window[{j}]" for j in range(4))))
        time = result["time"]
        values = lambda name: result[f"observables/{name}/values"]
        for (e, y), at, growth, gali, megno, delta in HENON_NUMBERS:
            k, s = 4 * e + y, int(at // 10)
            with self.subTest(e=e, y=y, at=at):
                self.assertClose([at * values(f"lyapunov[{j}]")[s, k] for j in range(4)], growth, delta)
                self.assertClose([values(f"ln_gali[{j}]")[s, k] for j in (2, 3, 4)], gali, 5 * delta + 2e-7)
                self.assertClose([values(name)[s, k] for name in ("megno", "megno_mean", "fli")], megno, 1e-5)
        spectrum = result["final/lyapunov_spectrum"]
        self.assertEqual(spectrum.shape, (12, 4))
        self.assertTrue(np.array_equal(spectrum[:, 0], result["final/lyapunov"]))
        for j in range(4):
            exponent, window = values(f"lyapunov[{j}]"), values(f"lyapunov_window[{j}]")
            self.assertTrue(np.array_equal(exponent[-1], spectrum[:, j]))
            self.assertEqual(abs(exponent[0]).max() + abs(window[0]).max(), 0.0)
            self.assertClose(window[1:], np.diff(exponent * time[:, None], axis=0) / 10, 1e-12)
        self.assertLess(abs(spectrum.sum(axis=1) * 100).max(), 3e-12)  # a symplectic map keeps the volume
        sine = values("gali[2]")
        self.assertClose(sine, np.exp(values("ln_gali[2]")), 1e-15)
        angle = np.arcsin(sine)
        self.assertClose(values("sali"), 2 * np.sin(angle / 2), 2e-8)  # the root of 1 - sine^2 at 1
        self.assertEqual([float(values(name)[0, 0]) for name in ("gali[2]", "megno", "megno_mean", "fli")], [1.0, 0.0, 0.0, 0.0])
        # the largest alone has these bits, too
        alone = self.run_study(HENON.format(end=100.0, samples=2) + observables("lyapunov"))
        self.assertTrue(np.array_equal(alone["final/lyapunov"], result["final/lyapunov"]))
        self.assertNotIn("final/lyapunov_spectrum", alone)

    def test_bits_do_not_depend_on_how_a_run_is_made(self):
        text = HENON.format(end=40.0, samples=4).replace("values = [0.25, -0.15, -0.2, 0.1]", "from = -0.25, to = 0.3, count = 200") + observables("lyapunov[3]", "ln_gali[4]", "megno_mean", "fli", "lyapunov_window[2]",
                                                              more='statistics = ["mean", "std"]\n') + "[lyapunov]\ntransient = 10\n"
        first = self.run_study(text, "--backend", "cpu:scalar")
        for name, words in {"packs": ["--backend", "cpu"], "tiles": ["--backend", "cpu", "--tile", "1"]}.items():
            other = self.run_study(text, *words)
            for path, array in first.items():
                self.assertTrue(np.array_equal(array, other[path], equal_nan=array.dtype.kind == "f"), f"{name}: {path}")
        for part in ("1/2", "2/2"):
            self.program("run", "study.toml", "--quiet", "--part", part, "-o", "merged.h5")
        self.program("merge", "merged.h5", "--quiet")
        with h5py.File(self.folder / "merged.h5") as file:
            for path, array in first.items():
                if path.split("/")[0] in ("final", "observables", "time"):
                    self.assertTrue(np.array_equal(array, file[path][()], equal_nan=True), path)

    def test_constrained_spectra_have_their_order_and_length(self):
        for variant, numbers in {"contact": CONTACT, "printed": PRINTED}.items():
            study = NONHOLONOMIC.format(variant=variant, stages=4, end=10.0) + observables("lyapunov[12]")
            self.assertClose(10 * self.run_study(study)["final/lyapunov_spectrum"][0], numbers, 2e-8)

    def test_closed_forms(self):
        saddle = """
[system]
name = "line"
coordinates = ["x"]
potential = "-x^2/2"
[method]
name = "lobatto"
stages = 2
[time]
step = 0.1
end = 100.0
[ensemble.initial]
q = [0]
v = [0]
"""
        spectrum = self.run_study(saddle + observables("lyapunov[1]"))["final/lyapunov_spectrum"][0]
        exact = math.acosh(1 + 0.1**2 / 2) / 0.1  # of the map
        self.assertClose(spectrum, [exact, -exact], 0.02)
        self.assertClose(spectrum.sum(), 0, 1e-14)
        knife = """
[system]
name = "skate"
coordinates = ["x", "y", "z"]
potential = "-x^2 + 3 y^2/2 + z^2/2"
velocity_constraints = ["v_z - v_x"]
[method]
name = "nonholonomic-lobatto"
stages = 3
[time]
step = 0.1
end = 400.0
[ensemble.initial]
q = [0, 0, 0]
v = [0, 0, 0]
"""
        spectrum = self.run_study(knife + observables("lyapunov[4]"))["final/lyapunov_spectrum"][0]
        self.assertClose(spectrum, [math.sqrt(0.5), 0, 0, 0, -math.sqrt(0.5)], 0.02)
        pendulum = """
[system]
name = "driven"
coordinates = ["x"]
parameters = { a = "drive" }
potential = "1 - cos(x)"
force = ["a cos(2 t/3) - v_x/2"]
[method]
name = "lobatto"
stages = 5
[time]
step = "pi/60"
end = "6 pi"
samples = 1
[ensemble]
axes = [ { name = "drive", values = [0.9, 1.15] } ]
[ensemble.initial]
q = [0.2]
v = [0]
"""
        growth = 6 * math.pi * self.run_study(pendulum + observables("lyapunov[1]"))["final/lyapunov_spectrum"]
        self.assertClose(growth, [[-2.239286721, -7.185491240], [2.765914640, -12.190692601]], 1e-7)

    def test_double_pendulum_has_the_numbers_of_dop853(self):
        text = (pathlib.Path(__file__).resolve().parents[1] / "examples/double-pendulum.toml").read_text()
        text = text.replace("stages = 3", "stages = 5").replace('from = 0.1, to = 2.0, count = 256', "values = [0.3, 2.0]").replace("0.005", "0.01")
        growth = 10 * self.run_study(text + observables("lyapunov[3]"))["final/lyapunov_spectrum"]
        self.assertClose(growth, [[1.655181546, 1.111708007, -0.510963156, -2.255926396], [12.01086282, 3.83097442, -3.11382352, -12.72801372]], 2e-7)

    def test_vectors_stay_on_constraints_and_groups(self):
        # Without this, after a time of 36 a contracting vector would be nothing but the round-off across the constraint.
        sphere = """
[system]
name = "upright"
coordinates = ["x", "y", "z"]
potential = "z"
constraints = ["x^2 + y^2 + z^2 - 1"]
[method]
{method}
[time]
step = 0.05
end = 100.0
[ensemble.initial]
q = [0, 0, 1]
v = [0, 0, 0]
"""
        for method in ('name = "holonomic-lobatto"\nstages = 3', 'name = "ggl-vi-a"', 'name = "hbvm"'):
            with self.subTest(method):
                spectrum = self.run_study(sphere.format(method=method) + observables("lyapunov[3]"))["final/lyapunov_spectrum"][0]
                self.assertClose(spectrum, [1, 1, -1, -1], 0.03)
        spectrum = self.run_study(TOP + "[time]\nstep = 0.05\nend = 50.0\n" + observables("lyapunov[5]"))["final/lyapunov_spectrum"][0]
        self.assertGreater(spectrum[0], 0)
        self.assertClose(50 * spectrum.sum(), 0, 1e-11)  # of (xi, p), in which the volume is kept

    def test_metric_of_the_mass_matrix(self):
        """The exponents are those of the derivatives of the state by its start: the triangular factors of the matrices of derivatives at the
        start and at the end, with the metric of the mass matrix there, have their growth on the diagonal."""
        time = "[time]\nstep = 0.05\nend = 3.0\nsamples = 3\n"

        def triangle(w, metric):
            return abs(np.diag(np.linalg.qr(np.linalg.cholesky(metric).T @ w)[1]))

        def masses(m):
            return np.block([[m, np.zeros((3, 3))], [np.zeros((3, 3)), np.linalg.inv(m)]])

        def of_skate(q, p):
            x = q[0]
            return np.eye(6), masses(np.array([[2 + x**2 / 2, 0.3, 0], [0.3, 1.5, 0], [0, 0, 0.7]]))

        def of_top(q, p):  # (R^T dR, d(R^T p)) of (dR, dp)
            turn, chart = q.reshape(3, 3), np.zeros((6, 12))
            for row, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
                for k in range(3):
                    chart[row, 3 * k + j] = turn[k, i]
            for i in range(3):
                for k in range(3):
                    chart[3 + i, 3 * k + i], chart[3 + i, 9 + k] = p[k], turn[k, i]
            return chart, masses(np.diag([1, 1.25, 0.5]))
        for study, elements, count, chart_and_metric in ((SKATE, 3, 5, of_skate), (TOP, 9, 6, of_top)):
            with self.subTest(study.split('"')[1]):
                names = [f"q[{i}]" for i in range(elements)] + [f"p[{i}]" for i in range(3)]
                by = [f"{letter}0[{i}]" for letter in "qv" for i in range(3)]
                derivatives = self.run_study(study + time + observables(*names) + f"[derivatives]\nby = {json.dumps(by)}\n")
                growths = []
                for sample in (0, 3):
                    state = np.array([derivatives[f"observables/{name}/values"][sample, 0] for name in names])
                    matrix = np.array([[derivatives[f"observables/{name}/values_by_{of}"][sample, 0] for of in by] for name in names])
                    chart, metric = chart_and_metric(state[:elements], state[elements:])
                    growths.append(triangle(chart @ matrix @ directions(count, 3), metric))
                study += time + observables(*(f"lyapunov[{j}]" for j in range(count)), f"ln_gali[{count}]", "fli") + BY_MASS
                result = self.run_study(study)
                found = 3 * result["final/lyapunov_spectrum"][0]
                self.assertClose(found, np.log(growths[1] / growths[0]), 1e-9)
                self.assertGreater(abs(found - 3 * self.run_study(study.replace(BY_MASS, ""))["final/lyapunov_spectrum"][0]).max(), 1e-3)
                self.assertEqual(result[f"observables/ln_gali[{count}]/values"][0, 0], 0.0)
        scalar = self.run_study(study, "--backend", "cpu:scalar")
        for path in result:
            self.assertTrue(np.array_equal(result[path], scalar[path], equal_nan=result[path].dtype.kind == "f"), path)

    def test_a_transient_does_not_count(self):
        names = [*(f"lyapunov[{j}]" for j in range(4)), *(f"lyapunov_window[{j}]" for j in range(4)), "ln_gali[4]", "megno", "megno_mean", "fli"]
        text = HENON.format(end=100.0, samples=10) + observables(*names)
        whole, after = self.run_study(text), self.run_study(text + "[lyapunov]\ntransient = 40\n")
        time = whole["time"]
        of = lambda result, name: result[f"observables/{name}/values"]
        for name in names:
            self.assertTrue(np.array_equal(of(whole, name)[:5], of(after, name)[:5]), name)  # up to it all counts from the start
        for j in range(4):
            growth = of(whole, f"lyapunov[{j}]") * time[:, None]
            self.assertClose(of(after, f"lyapunov[{j}]")[5:] * (time[5:, None] - 40), growth[5:] - growth[4], 1e-8)
            self.assertClose(of(after, f"lyapunov_window[{j}]"), of(whole, f"lyapunov_window[{j}]"), 1e-9)
            self.assertTrue(np.array_equal(of(after, f"lyapunov[{j}]")[-1], after["final/lyapunov_spectrum"][:, j]))
        self.assertGreater(of(after, "ln_gali[4]")[5:].max(), of(whole, "ln_gali[4]")[5:].max())
        growth = of(after, "lyapunov[0]")[5:] * (time[5:, None] - 40)
        self.assertTrue((of(after, "fli")[5:] >= growth - 1e-12).all())
        # MEGNO anew, from the growth at each of the next 100 steps
        steps = self.run_study(HENON.format(end=50.0, samples=500) + observables("lyapunov[3]", "lyapunov[0]"))
        growth = (steps["observables/lyapunov[0]/values"] * steps["time"][:, None])[400:]
        growth = growth - growth[0]
        h, t = 0.1, 0.1 * np.arange(101)[:, None]
        mean = lambda y: np.concatenate([0 * y[:1], np.cumsum(y[1:] + y[:-1], axis=0) * h / 2 / t[1:]])
        y = 2 * (growth - mean(growth))
        self.assertClose(of(after, "megno")[5], y[-1], 1e-8)
        self.assertClose(of(after, "megno_mean")[5], mean(y)[-1], 1e-8)
        self.assertClose(of(after, "fli")[5], growth.max(axis=0), 1e-8)

    def test_what_is_asked_besides_observables(self):
        text = HENON.format(end=10.0, samples=2)
        spectrum = self.run_study("lyapunov = { exponents = 3 }\n" + text)
        self.assertEqual(spectrum["final/lyapunov_spectrum"].shape, (12, 3))
        alone = self.run_study(text + "[lyapunov]\nexponents = 1\n")
        self.assertTrue(np.array_equal(alone["final/lyapunov"], spectrum["final/lyapunov"]))
        for table, words in {"exponents = 5": "have 4 tangent vectors", "exponents = 0": "at least 1", "transient = 5": "give lyapunov.exponents", "metric = \"mass\"": "give lyapunov.exponents", "": "give lyapunov.exponents",
                             "metric = \"max\"\nexponents = 1": "euclidean", "transient = 3\nexponents = 1": "samples are 5 apart",
                             "transient = 10\nexponents = 1": "not shorter than the time of the run", "transient = -5\nexponents = 1": "above 0"}.items():
            with self.subTest(table):
                (self.folder / "wrong.toml").write_text(text + f"[lyapunov]\n{table}\n")
                message = self.program("check", "wrong.toml", code=2).stderr
                self.assertIn(words, message)
                self.assertIn("wrong.toml:", message)

    def test_steps_that_follow_a_density(self):
        study = HENON.format(end=20.0, samples=2).replace("[time]", '[time]\ncontrol = "density"\ndensity = "1 + x^2/4"')
        result = self.run_study(study + observables("lyapunov[3]", "ln_gali[2]", "fli"))
        self.assertLess(abs(result["final/lyapunov_spectrum"].sum(axis=1) * 20).max(), 1e-12)
        same = self.run_study(HENON.format(end=20.0, samples=2) + observables("lyapunov[3]"))["final/lyapunov_spectrum"]
        self.assertClose(result["final/lyapunov_spectrum"], same, 2e-2)
        (self.folder / "study.toml").write_text(study + observables("megno_mean"))
        self.assertIn("steps of one size", self.program("check", "study.toml", code=2).stderr)

    def test_more_vectors_than_there_are_is_an_error(self):
        for name, words in {"lyapunov[13]": "lyapunov[0] to lyapunov[12]", "gali[14]": "gali[2] to gali[13]", "gali[1]": "gali[2] to gali[13]",
                            "lyapunov_window[13]": "13 tangent vectors"}.items():
            (self.folder / "wrong.toml").write_text(NONHOLONOMIC.format(variant="contact", stages=2, end=1.0) + observables(name))
            outcome = self.program("check", "wrong.toml", code=2)
            self.assertIn(words, outcome.stderr)
            self.assertIn("wrong.toml:", outcome.stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
