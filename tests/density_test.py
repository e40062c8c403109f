#!/usr/bin/python3
"""Steps that follow a density: numbers of an independent program, reversal, the naive rule as the test that fails, constraints of both kinds,
samples, sections and stops, failures, bits over processors, parts and continued runs. density_test.py PROGRAM"""
import json, math, pathlib, subprocess, sys, tempfile, unittest

import h5py
import numpy as np

PROGRAM = ""

KEPLER = """
[system]
name = "kepler"
coordinates = ["x", "y"]
potential = "-1/sqrt(x^2 + y^2)"
[method]
name = "lobatto"
stages = {stages}
[time]
control = "density"
density = "(x^2 + y^2)^(-3/4)"
step = {step}
end = {end}
samples = {samples}
{time}
[ensemble]
axes = [{{ name = "e", values = {e} }}]
[ensemble.initial]
q = ["-1 - e", 0]
v = [0, "-sqrt((1 - e)/(1 + e))"]
[[observable]]
name = "energy"
statistics = ["maxabs"]
values = true
[[observable]]
name = "step_size"
values = true
[[observable]]
name = "density_error"
statistics = ["maxabs"]
[output]
trajectories = "all"
"""
PI = math.pi


def kepler(stages=2, step="pi/100", end=f"{20 * PI!r}", samples=1, time="", e="[0.9]", more=""):
    return KEPLER.format(stages=stages, step=json.dumps(step), end=end, samples=samples, time=time, e=e) + more


def verlet(e, eps, end):
    """Velocity Verlet with the steps of Hairer and Soderlind: the sizes of the steps, and the position at the end."""
    x, y, u, v, t, sizes = -1 - e, 0.0, 0.0, -math.sqrt((1 - e) / (1 + e)), 0.0, []
    rho = (1 + e) ** -1.5  # at the apocentre G is 0

    def step(h, x, y, u, v):
        r = math.hypot(x, y)
        u, v = u - h / 2 * x / r**3, v - h / 2 * y / r**3
        x, y = x + h * u, y + h * v
        r = math.hypot(x, y)
        return x, y, u - h / 2 * x / r**3, v - h / 2 * y / r**3

    while t + eps / rho <= end:
        sizes.append(eps / rho)
        x, y, u, v = step(sizes[-1], x, y, u, v)
        t += sizes[-1]
        rho += eps * -1.5 * (x * u + y * v) / (x * x + y * y)
    return sizes, step(end - t, x, y, u, v)[:2]


def naive(e, eps, end):
    """Velocity Verlet with h = eps/Q(q): the largest energy error in the first and in the last tenth."""
    x, y, u, v, t = -1 - e, 0.0, 0.0, -math.sqrt((1 - e) / (1 + e)), 0.0
    first = last = 0.0
    energy = lambda: (u * u + v * v) / 2 - 1 / math.hypot(x, y)
    start = energy()
    while t < end:
        r = math.hypot(x, y)
        h = eps * r**1.5
        u, v = u - h / 2 * x / r**3, v - h / 2 * y / r**3
        x, y = x + h * u, y + h * v
        r = math.hypot(x, y)
        u, v = u - h / 2 * x / r**3, v - h / 2 * y / r**3
        t += h
        error = abs(energy() - start)
        if t < end / 10:
            first = max(first, error)
        elif t > 0.9 * end:
            last = max(last, error)
    return first, last


class Density(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, command, name, text, *more):
        (self.folder / f"{name}.toml").write_text(text)
        return subprocess.run([PROGRAM, command, f"{name}.toml", *more], cwd=self.folder, capture_output=True, text=True)

    def run_study(self, name, text, *more, code=0):
        done = self.program("run", name, text, "--quiet", *more)
        self.assertEqual(done.returncode, code, done.stderr)
        return h5py.File(self.folder / f"{name}.h5")

    def assert_same_bits(self, one, other, paths):
        for path in paths:
            np.testing.assert_array_equal(one[path][:], other[path][:], err_msg=path)

    def test_kepler_has_the_numbers_of_another_program(self):
        result = self.run_study("k2", kepler())
        sizes, expected = verlet(0.9, PI / 100, 20 * PI)
        self.assertEqual(result["final/steps"][0], len(sizes))
        np.testing.assert_allclose(result["final/q"][0], expected, atol=1e-11)
        np.testing.assert_allclose(result["final/q"][0], [-1.89999771169597, -0.00292413864096], atol=2e-11)
        self.assertEqual(result["final/status"][0], 0)
        # the first steps: from the density of the start, and from the orbit after one step
        self.assertAlmostEqual(float(np.ravel(result["observables/step_size/values"][:])[0]), 0.08227734596295, delta=1e-14)
        one = self.run_study("k1", kepler(end="0.0822773459630"))
        self.assertEqual(one["final/steps"][0], 1)
        self.assertAlmostEqual(float(np.ravel(one["observables/step_size/values"][:])[-1]), sizes[1], delta=1e-14)
        fine = self.run_study("k4", kepler(4, "pi/50"))
        self.assertEqual(fine["final/steps"][0], 1330)
        np.testing.assert_allclose(fine["final/q"][0], [-1.9000000000002, -1.21498573e-8], atol=2e-12)
        one = self.run_study("kone", kepler(4, "pi/50", end="1.0"))
        np.testing.assert_allclose(one["final/q"][0], [-1.758497425726717, -0.223532128141858], atol=2e-14)
        steep = self.run_study("ksteep", kepler(4, "pi/50", e="[0.99]"))
        np.testing.assert_allclose(steep["final/q"][0], [-1.9900000000002, 7.7484e-9], atol=2e-11)

    def test_samples_leave_the_orbit_alone(self):
        one, many = self.run_study("one", kepler()), self.run_study("many", kepler(samples=40))
        self.assert_same_bits(one, many, ["final/q", "final/p", "final/steps", "final/orbit/q", "final/orbit/time", "final/orbit/density"])
        short = self.run_study("short", kepler(end=f"{PI / 2!r}"))
        np.testing.assert_array_equal(short["final/q"][0], many["trajectories/q"][1, 0])

    def test_the_energy_does_not_drift_and_does_by_the_naive_rule(self):
        end = 400 * PI
        result = self.run_study("long", kepler(end=repr(end), samples=2000))
        errors = np.abs(np.ravel(result["observables/energy/values"][:]) + 0.5)
        first, last = errors[:200].max(), errors[-200:].max()
        self.assertLess(max(first, last), 2.75e-3)
        first, last = naive(0.9, PI / 100, end)
        self.assertGreater(last, 4 * first)
        self.assertGreater(last, 0.02)

    def test_there_and_back(self):
        """The orbit turned round, with the number rho of its last step, returns to its start."""
        for e, off in (("[0.9]", 2e-12), ("[0.99]", 2e-11)):
            there = self.run_study("there", kepler(4, "pi/50", end="40.0", e=e))
            start, q, p = (there[path][:] for path in ("initial/q", "final/orbit/q", "final/orbit/p"))
            time, steps = there["final/orbit/time"][0], there["final/steps"][0]
            there.close()
            with h5py.File(self.folder / "there.h5", "r+") as file:
                file["final/q"][...] = q
                for path in ("final/p", "final/v", "final/orbit/p"):
                    file[path][...] = -p
                growth = -1.5 * (q * p).sum() / (q * q).sum()
                file["final/orbit/density"][...] -= PI / 50 * growth
                file["final/orbit/time"][...] = 40.0
                file["final/orbit/time_rounding"][...] = 0.0
            back = kepler(4, "pi/50", end=repr(40.0 + float(time))).replace("[time]", "[time]\nstart = 40.0")
            back = back[:back.index("[ensemble]")] + '[ensemble]\nfile = "there.h5"\ngroup = "/final"\n' + back[back.index("[[observable]]"):]
            again = self.run_study("again", back)
            self.assertLess(abs(int(again["final/steps"][0]) - int(steps)), 2)
            np.testing.assert_allclose(again["final/q"][:], start, atol=off)

    def test_continued_runs_have_the_same_bits(self):
        whole = self.run_study("whole", kepler(samples=2))
        self.run_study("half", kepler(end=f"{10 * PI!r}"))
        rest = kepler().replace("[time]", f"[time]\nstart = {10 * PI!r}")
        rest = rest[:rest.index("[ensemble]")] + '[ensemble]\nfile = "half.h5"\ngroup = "/final"\n' + rest[rest.index("[[observable]]"):]
        rest = self.run_study("rest", rest)
        self.assert_same_bits(rest, whole, ["final/q", "final/p"] + [f"final/orbit/{name}" for name in ("q", "p", "time", "time_rounding", "density")])

    def test_bits_of_packs_parts_and_the_loop(self):
        ensemble = dict(e="[0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.98, 0.985, 0.99, 0.2, 0.4]", end="30.0", samples=7)
        text = kepler(3, "pi/30", **ensemble)
        scalar = self.run_study("scalar", text, "--backend", "cpu:scalar", "-o", "scalar.h5")
        other = self.run_study("packs", text, "-o", "packs.h5")
        self.assertEqual(scalar.attrs["fingerprint"], other.attrs["fingerprint"])

    def test_sections_and_stops(self):
        section = '[[section]]\nname = "axis"\nsurface = "y"\ndirection = "-"\n'
        few = self.run_study("few", kepler(4, "pi/50", more=section))
        many = self.run_study("many", kepler(4, "pi/50", samples=1000, more=section))
        times = few["sections/axis/time"][:]
        # y falls through 0 at the apocentres, of which the last one is at the end
        np.testing.assert_allclose(times[:9], 2 * PI * np.arange(1, 10), atol=1e-6)
        np.testing.assert_allclose(many["sections/axis/time"][:9], times[:9], atol=1e-12)
        np.testing.assert_allclose(many["sections/axis/q"][:9], few["sections/axis/q"][:9], atol=1e-12)
        stop = '[[stop]]\nname = "near"\nwhen = "0.5 - x^2 - y^2"\n'
        for samples in (1, 50):
            stopped = self.run_study(f"stop{samples}", kepler(4, "pi/50", samples=samples, more=stop))
            self.assertEqual(stopped["final/stop"][0], 1)
            self.assertAlmostEqual(float((stopped["final/q"][0]**2).sum()), 0.5, delta=1e-13)
            count = stopped["observables/energy/count"][:] if "observables/energy/count" in stopped else None
            if count is not None:
                self.assertEqual(int(count[stopped["time"][:] < stopped["final/time"][0]].min()), 1)
                self.assertEqual(int(count[-1]), 0)

    def test_trajectories_that_wait_are_told(self):
        """Neighbours of very different eccentricity and fifty samples a period: the lanes of a pack wait for the slowest."""
        text = kepler(end=f"{2 * PI!r}", samples=50, e=json.dumps([0.0, 0.99] * 16))
        done = self.program("run", "waits", text, "--quiet", "--backend", "cpu:scalar")
        self.assertNotIn("waited", done.stderr)  # each is a pack of its own
        done = self.program("run", "waits", text, "--quiet", "-o", "packs.h5")
        with h5py.File(self.folder / "packs.h5") as file:
            packs = "scalar" not in str(file.attrs["device"])
        if packs:
            self.assertRegex(done.stderr, r"in \d\d % of the computing time trajectories waited for others .* take fewer samples")

    def test_failures(self):
        few = self.run_study("few", kepler(time="max_steps = 100"), code=3)
        self.assertEqual(few["final/status"][0], 128)
        self.assertEqual(few["final/steps"][0], 100)
        np.testing.assert_array_equal(few["final/q"][:], few["final/orbit/q"][:])
        fall = kepler(e="[1.0]", step="pi/20").replace('"-sqrt((1 - e)/(1 + e))"', '"0 e"')
        fell = self.run_study("fall", fall, code=3)
        self.assertNotEqual(fell["final/status"][0], 0)

    def test_constraints(self):
        sphere = """
[system]
name = "sphere"
coordinates = ["x", "y", "z"]
potential = "z - 0.2/sqrt(x^2 + (y - 0.612)^2 + (z + 0.816)^2)"
constraints = ["x^2 + y^2 + z^2 - 1"]
[method]
name = "holonomic-lobatto"
[time]
control = "density"
density = "sqrt(1 + 0.2/(x^2 + (y - 0.612)^2 + (z + 0.816)^2)^(3/2))"
step = {}
end = 4.0
[ensemble.initial]
q = [0.6, 0, -0.8]
v = [0, 0.5, 0]
"""
        exact = [-0.187925987, 0.655236863, -0.731675100]
        errors = []
        for step in (0.05, 0.025, 0.0125):
            result = self.run_study("sphere", sphere.format(step))
            q = result["final/q"][0]
            self.assertLess(abs((q**2).sum() - 1), 1e-14)
            errors.append(np.abs(q - exact).max())
        self.assertLess(errors[2], 4e-3)
        self.assertGreater(errors[0] / errors[1], 2.5)
        self.assertGreater(errors[1] / errors[2], 3)

    def test_nonholonomic_orders(self):
        text = """
[system]
name = "chaotic"
variant = "contact"
parameters = { m = 3 }
[method]
name = "nonholonomic-lobatto"
stages = {stages}
[time]
control = "density"
density = "1.5 + q[0] + q[1]^2"
step = {step}
end = 2.0
[ensemble.initial]
q = ["cos(0.7)", 0.6, 0.4, 0.2, 1, 1, 1]
v = [0, "sin(0.7)", 0, 0, 0, 0, 0]
"""
        reference = self.run_study("ref", text.replace("{stages}", "6").replace("{step}", "0.04"))["final/q"][0]
        for stages, steps in ((2, (0.02, 0.01)), (3, (0.08, 0.04)), (4, (0.3, 0.15))):
            errors = [np.abs(self.run_study("n", text.replace("{stages}", str(stages)).replace("{step}", str(h)))["final/q"][0] - reference).max() for h in steps]
            order = math.log2(errors[0] / errors[1])
            self.assertAlmostEqual(order, 2 * stages - 2, delta=0.5, msg=f"{stages}: {errors}")

    def test_what_is_refused(self):
        def refused(text, *words):
            done = self.program("check", "bad", text)
            self.assertEqual(done.returncode, 2, done.stdout)
            for word in words:
                self.assertIn(word, done.stderr)

        text = kepler()
        refused(text.replace('name = "lobatto"\nstages = 2', 'name = "runge-kutta"'), "symmetric", "lobatto", "hbvm")
        refused(text.replace("samples = 1\n", "sample_every = 3\n"), "sample_every", "time.samples")
        refused(text.replace("samples = 1\n", "steps = 300\n").replace(f"end = {20 * PI!r}\n", ""), "time.steps")
        refused(text.replace('density = "(x^2', 'density = "v[0]^2 + (x^2'), "coordinates and parameters")
        refused(text.replace('control = "density"\n', ""), "control")
        refused(text.replace('control = "density"', 'control = "densities"'), "densities")
        refused(text + '[[section]]\nevery = 1.0\n', "stroboscope")

    def test_which_methods_take_a_density(self):
        """Those that are symmetric with their default options; on a group few are. The refusal of another method lists them."""
        symmetric = {("kepler", "runge-kutta"): ["lobatto", "hbvm", "variational-conversion", "vrkmk", "vrkmk-pade", "vcg"],
                     ("spherical-pendulum", "runge-kutta"): ["holonomic-lobatto", "hbvm", "variational-conversion", "ggl-vi-a", "ggl-vi-bs", "ggl-theta",
                                                             "energy-momentum", "energy-momentum-index3", "classical-ggl"],
                     ("chaotic", "generalized-alpha"): ["nonholonomic-lobatto", "nonholonomic-spark", "nonholonomic-leapfrog", "nonholonomic-dla",
                                                        "nonholonomic-energy"],
                     ("heavy-top", "vrkmk"): ["vcg"]}
        for (system, method), taken in symmetric.items():
            done = self.program("check", "table", f'[system]\nname = "{system}"\n[method]\nname = "{method}"\n[time]\ncontrol = "density"\n'
                                                  'density = "1.5 + q[0]"\nstep = 0.01\nend = 1\n')
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertEqual(done.stderr.strip().split("; take one of ")[1].split(", "), taken)

    def test_other_commands(self):
        text = kepler(4, "pi/50", end="10.0")
        done = self.program("check", "check", text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("max_steps", done.stdout)
        effective = self.folder / "effective.toml"
        effective.write_text(done.stdout)
        again = subprocess.run([PROGRAM, "check", str(effective)], capture_output=True, text=True)
        self.assertEqual(again.stdout, done.stdout, again.stderr)
        done = self.program("order", "order", text.replace("stages = 4", "stages = 2"), "--steps", "0.02,0.01", "--reference-stages", "5")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
