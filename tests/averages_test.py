#!/usr/bin/python3
"""Weighted averages over the time of trajectories and frequencies ([[average]]), against numbers of other programs, the sums of stored
values, and what a stop, parts, an interruption and steps that vary make of them. averages_test.py PROGRAM"""
import json, pathlib, signal, subprocess, sys, tempfile, time, unittest

import h5py
import numpy as np

PROGRAM = ""

# Orbits of Henon and Heiles at three energies, all with the kernels of one study.
STUDY = """
[system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 4
[time]
step = {step}
end = {end}
{samples}
[ensemble]
where = "2 E - Y^2 + 2 Y^3/3 > 0"
axes = [ {{ name = "E", values = {energies} }}, {{ name = "Y", from = -0.3, to = 0.6, count = 19 }} ]
[ensemble.initial]
q = [0, "Y"]
v = ["sqrt(2 E - Y^2 + 2 Y^3/3)", 0]
[[average]]
name = "square"
formula = "x^2"
statistics = ["mean", "std", "max"]
quantiles = [0.25]
histogram = {{ from = 0, to = 0.2, bins = 8 }}
[[average]]
name = "omega"
formula = "atan2(-v[0], x)"
kind = "frequency"
"""
VALUES = """
[[observable]]
name = "square"
formula = "x^2"
values = true
[[observable]]
name = "angle"
formula = "atan2(-v[0], x)"
values = true
"""
KEPLER = """
[system]
name = "kepler"
[method]
name = "lobatto"
stages = 3
[time]
control = "density"
density = "(x^2 + y^2)^(-3/4)"
step = {step}
end = {end}
samples = {samples}
[ensemble]
axes = [ {{ name = "e", values = [0.1, 0.5, 0.8] }} ]
[ensemble.initial]
q = ["-1 - e", 0]
v = [0, "-sqrt((1 - e)/(1 + e))"]
[[average]]
name = "turns"
formula = "atan2(y, x)"
kind = "frequency"
[[average]]
name = "radius"
formula = "sqrt(x^2 + y^2)"
[[average]]
name = "growth"
formula = "x v[0] + y v[1]"
[[average]]
name = "in_time"
formula = "x cos(t)"
"""


def study(step=0.1, end=300, samples="samples = 1", energies="[0.125]", more=""):
    return STUDY.format(step=step, end=end, samples=samples, energies=energies) + more


def weighted(terms):
    u = (np.arange(len(terms)) + 0.5) / len(terms)
    weight = np.exp(-1 / (u * (1 - u)))
    return weight @ terms / weight.sum()


class Averages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, *words, code=0):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def run_study(self, name, text, *more, code=0):
        (self.folder / f"{name}.toml").write_text(text)
        self.command("run", f"{name}.toml", "--quiet", *more, code=code)
        result = h5py.File(self.folder / f"{name}.h5")
        self.addCleanup(result.close)
        return result

    def test_numbers_of_other_programs(self):
        """Digits tell chaotic orbits (exponents above 0.03) from regular ones; frequencies are those of a NAFF."""
        result = self.run_study("orbits", study(end=3000, energies='[0.1, 0.125, "1/6"]'))
        energy, y = result["axes/E"][:], result["axes/Y"][:]
        digits, omega = result["averages/square/digits"][:], result["averages/omega/value"][:]
        at = np.abs(energy - 0.125) < 1e-12
        chaotic = np.isin(np.round(y, 2), [-0.25, -0.2, -0.15, -0.1, -0.05, 0.6])
        self.assertGreater(digits[at & chaotic].min(), 1.6)
        self.assertLess(digits[at & chaotic].max(), 3.3)
        self.assertGreater(digits[at & ~chaotic].min(), 4.25)
        self.assertLess(digits[at & ~chaotic].max(), 12.5)
        for e, start, expected in ((0.125, 0.25, 1.0324046817), (0.1, 0.25, 1.0277900495), (1 / 6, 0.1, 0.98860051)):
            k = np.flatnonzero((np.abs(energy - e) < 1e-9) & (np.abs(y - start) < 1e-9))[0]
            self.assertAlmostEqual(omega[k], expected, delta=2e-10 if e < 0.15 else 1e-8)
        # the statistics are over the trajectories that there are
        left_out, value = result["final/status"][:] == 32, result["averages/square/value"][:]
        self.assertTrue(left_out.any())
        np.testing.assert_array_equal(np.isnan(value), left_out)
        value, group = value[~left_out], result["averages/square"]
        self.assertEqual(group["count"][0], len(value))
        np.testing.assert_allclose([group["mean"][0], group["std"][0], group["max"][0]], [value.mean(), value.std(), value.max()], rtol=1e-14)
        np.testing.assert_array_equal(group["histogram"][:], np.histogram(value, 8, (0, 0.2))[0])
        self.assertGreater(group["mean_error"][0], 0)

    def test_sums_of_stored_values(self):
        """Also back in time, with a number of steps that is odd, and whatever the samples are."""
        for step, end in ((0.1, 30.1), (-0.1, -30.1)):
            result = self.run_study("values", study(step, end, "sample_every = 1", more=VALUES))
            square, angle = (result[f"observables/{name}/values"][:] for name in ("square", "angle"))
            increments = np.diff(angle, axis=0)
            rates = (increments - 2 * np.pi * np.ceil(increments / (2 * np.pi) - 0.5)) / step
            self.assertEqual(len(rates), 301)
            for name, terms in (("square", square[1:]), ("omega", rates)):
                group = result[f"averages/{name}"]
                np.testing.assert_allclose(group["value"][:], weighted(terms), rtol=1e-13)
                np.testing.assert_allclose(group["digits"][:], -np.log10(np.abs(weighted(terms[:150]) - weighted(terms[150:]))), atol=1e-9)
            few = self.run_study("few", study(step, end))
            np.testing.assert_array_equal(few["averages/omega/value"][:], result["averages/omega/value"][:])
            result.close()
            few.close()

    def test_the_same_bits_in_packs_parts_and_after_an_interruption(self):
        text = study(end=3000)
        whole = self.run_study("whole", text)
        scalar = self.run_study("scalar", text, "--backend", "cpu:scalar")
        self.assertEqual(scalar.attrs["fingerprint"], whole.attrs["fingerprint"])
        many = study(energies='{ from = 0.1, to = 0.125, count = 60 }').replace("values = { from", "from").replace("count = 60 }", "count = 60")
        (self.folder / "many.toml").write_text(many)
        self.command("run", "many.toml", "--quiet")
        for part in ("1/3", "2/3", "3/3"):
            self.command("run", "many.toml", "--quiet", "--part", part, "-o", "joined.h5")
        self.command("merge", "joined.h5", "--quiet")
        self.command("diff", "--quiet", "many.h5", "joined.h5")
        # an interruption in the middle of the averages
        long = study(end=120000, samples="samples = 4000")
        (self.folder / "long.toml").write_text(long)
        self.command("run", "long.toml", "--quiet", "-o", "once.h5")
        process = subprocess.Popen([PROGRAM, "run", "long.toml", "--quiet"], cwd=self.folder, stderr=subprocess.DEVNULL)
        while not list(self.folder.glob("long.h5*")) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 1, "the run was not interrupted")
        self.command("resume", "long.h5", "--quiet")
        self.command("diff", "--quiet", "once.h5", "long.h5")

    def test_stops_and_steps_that_vary(self):
        """A trajectory that was stopped has no average; the others are those of a study without stops. Each step has its own number of steps."""
        text = study('"s"', 30, energies="[0.18]").replace("axes = [", 'axes = [ { name = "s", values = [0.05, 0.1] },')
        free, stopped = self.run_study("free", text), self.run_study("stopped", text + '[[stop]]\nname = "up"\nwhen = "y - 0.9"\n')
        ended = stopped["final/stop"][:] > 0
        self.assertTrue(ended.any() and not ended.all())
        for name in ("square", "omega"):
            for part in ("value", "digits"):
                np.testing.assert_array_equal(stopped[f"averages/{name}/{part}"][:], np.where(ended, np.nan, free[f"averages/{name}/{part}"][:]))
            self.assertEqual(stopped[f"averages/{name}/count"][0], (~ended).sum())
        half = study(0.05, 30, energies="[0.18]")
        np.testing.assert_array_equal(self.run_study("half", half)["averages/omega/value"][:], free["averages/omega/value"][:19])

    def test_steps_that_follow_a_density(self):
        """Kepler's angle turns once in a period, and the mean of the radius over the time is 1 + e^2/2."""
        e, errors = np.array([0.1, 0.5, 0.8]), []
        for step in (0.1, 0.05):
            result = self.run_study("kepler", KEPLER.format(step=step, end=300.0, samples=1))
            np.testing.assert_allclose(result["averages/turns/value"][:], 1.0, atol=2e-6 * (step / 0.1)**4)
            errors.append(np.abs(result["averages/radius/value"][:] - 1 - e**2 / 2))
            self.assertLess(np.abs(result["averages/growth/value"][:]).max(), 2e-6)  # of odd terms, 0 by reversal
        self.assertLess(errors[0].max(), 1e-3)
        np.testing.assert_allclose(errors[0] / errors[1], 4.0, rtol=0.05)
        once = {name: result[f"averages/{name}/value"][:] for name in result["averages"]}
        result.close()
        many = self.run_study("kepler", KEPLER.format(step=0.05, end=300.0, samples=100))
        for name, values in once.items():  # whatever the samples are
            np.testing.assert_array_equal(many[f"averages/{name}/value"][:], values, name)
        many.close()
        back = self.run_study("kepler", KEPLER.format(step=-0.05, end=-300.0, samples=1))
        np.testing.assert_allclose(back["averages/turns/value"][:], 1.0, atol=1e-6)

    def test_what_is_refused(self):
        def refused(*settings):
            (self.folder / "s.toml").write_text(study())
            return self.command("check", "s.toml", *(word for setting in settings for word in ("--set", setting)), code=2).stderr

        for settings, words in ((["average[0].formula=\"2\""], "neither on the state nor on the time"), (["average[0].formula=\"x +\""], "average[0].formula"),
                                (["average[1].kind=\"rate\""], "frequency"), (["average[1].name=\"square\""], "twice"),
                                (["average[0].statistics=[\"mse\"]"], "unknown statistic"), (["average=[{name=\"a\"}]"], "average[0].formula is missing"),
                                (["average=[{formula=\"x\"}]"], "average[0].name is missing")):
            with self.subTest(words):
                self.assertIn(words, refused(*settings))

    def test_other_commands(self):
        (self.folder / "s.toml").write_text(study(end=20))
        json_of = json.loads(self.command("run", "s.toml", "--json").stdout)["averages"]
        self.assertEqual(json_of["square"]["count"], 19)
        self.assertNotIn("value", json_of["square"])
        self.assertIn("average omega mean", self.command("run", "s.toml", "-o", "again.h5").stdout)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
