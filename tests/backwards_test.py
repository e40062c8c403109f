#!/usr/bin/python3
"""Runs back in time: symmetric methods return to their start, sections collect the same points, orders and requests work as forwards.
backwards_test.py PROGRAM"""
import json, pathlib, subprocess, sys, tempfile, unittest

import h5py
import numpy as np

PROGRAM = ""

STUDY = """
[system]
name = "{name}"
{system}
[method]
name = "{method}"
{options}
[time]
start = {start}
end = {end}
step = {step}
sample_every = 4
[ensemble]
{points}
[[observable]]
name = "energy"
statistics = ["mean"]
[output]
final_state = true
initial_state = true
"""
HENON = ('coordinates = ["x", "y"]\npotential = "x^2/2 + y^2/2 + x^2 y - y^3/3"',
         'axes = [ { name = "a", from = 0.05, to = 0.2, count = 5 } ]\n[ensemble.initial]\nq = ["a", 0.1]\nv = [0.1, "0.3 - a"]')
SPHERE = ('coordinates = ["x", "y", "z"]\npotential = "z + x^2/4"\nforce = ["y/4", "cos(1.5 t)/4 - v_y/8", "0"]\n'
          'constraints = ["x^2 + y^2 + (z - sin(t)/8)^2 - 1"]',
          'project = true\n[ensemble.initial]\nq = [0.6, 0, -0.8]\nv = [0.1, 0.4, 0.2]')
TOP = ('group = "SO(3)"\ninertia = [1, 1.25, 0.5]\npotential = "R33/2 + R12/4"',
       '[ensemble.initial]\nq = [1, 0, 0, 0, 1, 0, 0, 0, 1]\nv = [0.3, 0.5, 1]')
# method, options, system, how far from the start a symmetric method may return
RETURNS = [("lobatto", "stages = 3", HENON), ("lobatto", 'composition = "kahan-li6"', HENON), 
           ("holonomic-lobatto", "stages = 2", SPHERE), ("ggl-vi-a", "", SPHERE), ("energy-momentum", "", SPHERE),
           ("hbvm", "", HENON), ("vrkmk", 'tableau = "gauss1"', TOP), ("ggl-vi-bs", "", SPHERE), ("variational-conversion", 'base = "rk4"', HENON)]
SECTION = """
[[section]]
name = "cut"
surface = "x"
direction = "{direction}"
"""


class Backwards(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, command, name, text, *more):
        (self.folder / f"{name}.toml").write_text(text)
        return subprocess.run([PROGRAM, command, f"{name}.toml", *more], cwd=self.folder, capture_output=True, text=True)

    def run_study(self, name, text, *more):
        done = self.program("run", name, text, "--quiet", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return h5py.File(self.folder / f"{name}.h5")

    def study(self, method, options, of, start, end, step, points=None):
        return STUDY.format(name="back", system=of[0], method=method, options=options,
                            start=start, end=end, step=step, points=points or of[1])

    def back(self, method, options, of, more=""):
        """There and back again: the initial states and the final ones."""
        there = self.run_study("there", self.study(method, options, of, 0, 2, 0.05) + more)
        points = 'file = "there.h5"\ngroup = "/final"'
        again = self.run_study("again", self.study(method, options, of, 2, 0, -0.05, points) + more)
        return there, again

    def test_symmetric_methods_return(self):
        for method, options, of in RETURNS:
            with self.subTest(method=method, options=options):
                there, again = self.back(method, options, of)
                for part in ("q", "p"):
                    np.testing.assert_allclose(again[f"/final/{part}"][:], there[f"/initial/{part}"][:], atol=2e-13)
                np.testing.assert_allclose(again["time"][:], there["time"][:][::-1], atol=1e-15)
                np.testing.assert_allclose(again["observables/energy/mean"][:], there["observables/energy/mean"][:][::-1], atol=1e-12)

    def test_final_states_continue_with_the_same_bits(self):
        for method in ("hbvm", "ggl-vi-a", "ggl-vi-b", "ggl-vi-bs", "ggl-theta", "ggl-vi-s", "energy-momentum-index3"):
            whole = self.run_study("whole", self.study(method, "", SPHERE, 0, 2, 0.0625))
            self.run_study("there", self.study(method, "", SPHERE, 0, 1, 0.0625))
            points = 'file = "there.h5"\ngroup = "/final"'
            rest = self.run_study("rest", self.study(method, "", SPHERE, 1, 2, 0.0625, points))
            for part in ("q", "p", "lambda"):
                np.testing.assert_array_equal(rest[f"/final/{part}"][:], whole[f"/final/{part}"][:], err_msg=method)
            if method == "ggl-vi-s":
                continue
            for other in (self.study("holonomic-lobatto", "", SPHERE, 1, 2, 0.0625, points), self.study(method, "", SPHERE, 0, 1, 0.0625, points)):
                done = self.program("check", "other", other)
                self.assertEqual(done.returncode, 2, method)
                self.assertIn("is off the constraint", done.stderr)

    def test_sections_collect_the_same_points(self):
        for direction in ("+", "-", "both"):
            of, more = HENON, SECTION.format(direction=direction)
            points = 'file = "there.h5"\ngroup = "/final"'
            there = self.run_study("there", self.study("lobatto", "stages = 4", of, 0, 20, 0.05) + more)
            again = self.run_study("again", self.study("lobatto", "stages = 4", of, 20, 0, -0.05, points) + more)
            for name in ("trajectory", "direction", "time", "q", "p"):
                found, expected = again[f"sections/cut/{name}"][:], there[f"sections/cut/{name}"][:]
                self.assertGreater(len(expected), 5)
                np.testing.assert_allclose(found, expected, atol=1e-10, err_msg=name)

    def test_lyapunov_is_growth_in_the_direction_of_the_run(self):
        saddle = ('coordinates = ["x"]\npotential = "-x^2/2"', "[ensemble.initial]\nq = [0.01]\nv = [0.02]")
        study = self.study("lobatto", "stages = 4", saddle, 0, -20, -0.05) + '[[observable]]\nname = "lyapunov"\n'
        self.assertAlmostEqual(float(self.run_study("saddle", study)["/final/lyapunov"][0]), 1.0, delta=0.05)

    def test_parts(self):
        text = self.study("lobatto", "stages = 3", HENON, 0, -4, -0.05).replace("count = 5", "count = 400")
        whole = self.run_study("whole", text)
        for part in ("1/2", "2/2"):
            done = self.program("run", "part", text, "--quiet", "--part", part, "-o", "parted.h5")
            self.assertEqual(done.returncode, 0, done.stderr)
        merged = subprocess.run([PROGRAM, "merge", "parted.h5"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(merged.returncode, 0, merged.stderr)
        self.assertEqual(h5py.File(self.folder / "parted.h5").attrs["fingerprint"], whole.attrs["fingerprint"])

    def test_orders(self):
        text = self.study("lobatto", "stages = 3", HENON, 0, -2, -0.1)
        done = self.program("order", "order", text, "--steps", "0.1,0.05,0.025", "-o", "order.json", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads((self.folder / "order.json").read_text())
        self.assertAlmostEqual(found["variables"]["q"]["order_max"][-1], 4.0, delta=0.1)

    def test_signs_that_contradict(self):
        for start, end, step, words in ((0, -1, 0.1, "lead away from it"), (0, 1, -0.1, "lead away from it"), (0, 1, 0, "must be positive"),
                                        (1, 1, 0.1, "other than time.start")):
            done = self.program("check", "bad", self.study("lobatto", "", HENON, start, end, step))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
