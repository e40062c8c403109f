#!/usr/bin/python3
"""The examples of driven systems against what is known of them: attractors by DOP853 at tolerances of 1e-13, the threshold of Kapitza's
pendulum, a basin of attraction.  driven_examples_test.py PROGRAM"""
import pathlib, sys, unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from program import ROOT, StudyTest

# x'' = -sin x - x'/2 + a cos(2 t/3): (x mod 2 pi, v) at multiples of the period of the drive, of a start at (0.25, 0).
PENDULUM = {0.9: [(-.560228329, 1.933585513)], 1.07: [(-.320177649, 1.991174328), (-.146721499, 1.924566637)],
            1.35: [(-.048146538, .762648581)], 1.45: [(-.062210545, 1.224408225), (.117917872, .476840874)]}
# x'' = x - x^3 - x'/4 + 0.2 cos t
DUFFING = {(1.19706536, .08447250): [(-1.5, .125), (-.75, -1.0), (.125, .125), (.75, .125)],
           (-.79005063, .04357967): [(-.75, .125), (.125, -1.0)]}
# Starts of examples/cart-pole.toml with angles of -1, -0.9, .. 0 and rates of -4, -3.5, .. 4 that come to rest upright, by DOP853.
BASIN = ["00000000000011111", "00000000000111111", "00000000001111111", "00000000011111111", "00000000111111111",
         "00000001111111111", "00000111111111111", "00001111111111111", "00011111111111111", "00111111111111111",
         "01111111111111110"]
# Of examples/hyperion.toml: the rate at the start and the state after 100 orbits, by DOP853.
HYPERION = {0.25: (628.12280843, .76733313), 0.5: (628.358718, .4948495), 1.875: (1256.28784643, 1.83749592), 2.25: (1570.90489466, 2.17910107)}
# The last state of examples/satellite-wheels.toml at the time 4: rotation and angles of the wheels, by DOP853.
WHEELS = [.76613048768, -.64069711714, .050510196454, .62752713269, .7287788021, -.27402765435, .13875796769, .24163745921, .9603944839,
          14.481252354, 70.855819328, 19.553071582]


class DrivenExamples(StudyTest):
    def test_a_driven_pendulum_comes_to_its_attractors(self):
        for amplitude, points in PENDULUM.items():
            result = self.run_study(ROOT / "examples/driven-pendulum.toml", f"system.parameters.a={amplitude}",
                                    "ensemble.axes=[]", "output.trajectories=[0]", "time.end=300 pi")
            x, v = result["trajectories/q"][-1, 0, 0], result["trajectories/v"][-1, 0, 0]
            distance = min(np.hypot((x - a + np.pi) % (2 * np.pi) - np.pi, v - b) for a, b in points)
            self.assertLess(distance, 1e-4, f"a = {amplitude}")

    def test_duffing_starts_come_to_the_attractor_of_their_basin(self):
        for attractor, starts in DUFFING.items():
            for x, v in starts:
                result = self.run_study(ROOT / "examples/duffing.toml", "ensemble.axes=[]", f"ensemble.initial.q=[{x}]",
                                        f"ensemble.initial.v=[{v}]")
                found = result["final/q"][0, 0], result["final/v"][0, 0]
                self.assertLess(np.hypot(*np.subtract(found, attractor)), 1e-6, f"from {x}, {v}")

    def test_an_upright_pendulum_stands_beyond_the_threshold(self):
        result = self.run_study(ROOT / "examples/kapitza.toml")
        amplitude, up = result["axes/amplitude"][:], result["final/q"][:, 1] > 0.5
        self.assertTrue(up[amplitude > 0.075].all())  # sqrt(2)/20 is 0.0707
        self.assertFalse(up[amplitude < 0.067].any())
        self.assertLess(result["observables/constraint/maxabs"][-1], 1e-15)

    def test_a_pendulum_of_foucault_turns_with_the_sine_of_the_latitude(self):
        """The axis of a swing of amplitude a turns by -w sin(latitude) t (1 - 3 a^2/8 + ..)."""
        result = self.run_study(ROOT / "examples/foucault.toml")
        (x, y), (v_x, v_y) = result["final/q"][:, :2].T, result["final/v"][:, :2].T
        rate = 0.025 * np.sin(result["axes/where"][:])
        v_x, v_y = v_x - rate * y, v_y + rate * x  # without the rotation of the earth
        axis = np.arctan2(2 * (v_x * v_y + x * y), v_x**2 + x**2 - v_y**2 - y**2) / 2
        self.assertLess(np.abs(axis + rate * 20 * np.pi * (1 - 3 / 800)).max(), 1e-4)
        # by DOP853
        self.assertLess(np.abs(result["final/q"][9] - [.04471399988474, -.08939750175774, -.99499183157136]).max(), 1e-7)

    def test_a_controlled_pole_stands_from_the_basin_of_attraction(self):
        result = self.run_study(ROOT / "examples/cart-pole.toml")
        upright = (np.abs(result["final/q"][:, 1]) < 0.01).reshape(21, 17)
        self.assertEqual(["".join("01"[x] for x in row) for row in upright[:11].astype(int)], BASIN)
        self.assertTrue((upright == upright[::-1, ::-1]).all())  # (x, a) -> (-x, -a)
        # a small swing decays like the slow eigenvalue of the linear equations, -0.78621
        ends = [np.hypot(*self.run_study(ROOT / "examples/cart-pole.toml", "ensemble.axes=[]", "ensemble.initial.q=[0, 0.001]",
                                         "ensemble.initial.v=[0, 0]", "output.trajectories=[0]", f"time.end={end}")["final/q"][0])
                for end in (8, 20)]  # one period of the slow mode, 2 pi/0.52365708, is 12 but for 1e-3
        self.assertAlmostEqual(np.log(ends[1] / ends[0]) / 12, -0.78621027, delta=2e-3)

    def test_hyperion_tumbles(self):
        result = self.run_study(ROOT / "examples/hyperion.toml")
        for rate, state in HYPERION.items():
            row = np.argmin(np.abs(result["axes/rate"][:] - rate))
            found = result["final/q"][row, 0], result["final/v"][row, 0]
            self.assertLess(np.abs(np.subtract(found, state)).max(), 1e-3, f"from {rate}")
        exponents = [result[f"observables/lyapunov/{statistic}"][-1] for statistic in ("min", "max")]
        self.assertLess(exponents[0], 0.01)  # resonant rotation
        self.assertTrue(0.1 < exponents[1] < 0.25, exponents)  # by DOP853 up to 0.18
        crossings = result["sections/nearest"]  # at ends of steps, where sin(t) is round-off
        self.assertEqual(len(crossings["time"]), 23 * 100)
        self.assertLess(np.abs(np.sin(crossings["time"][:])).max(), 1e-12)
        self.assertTrue((crossings["direction"][:] == 1).all())

    def test_wheels_turn_a_satellite_and_keep_its_momentum(self):
        result = self.run_study(ROOT / "examples/satellite-wheels.toml")
        for axis in "xyz":
            self.assertLess(result[f"observables/momentum_{axis}/maxabs"][:].max(), 1e-13)
        # at rest with R = 1 the wheels have the momentum
        self.assertLess(np.abs(result["final/q"][:, :9] - np.eye(3).ravel()).max(), 5e-3)
        self.assertLess(np.abs(result["final/v"][:, :3]).max(), 1e-3)
        at_4 = self.run_study(ROOT / "examples/satellite-wheels.toml", "time.end=4")["final/q"][15]
        self.assertLess(np.abs(at_4 - WHEELS).max(), 5e-5)


if __name__ == "__main__":
    unittest.main()
