"""The numbers behind the figures of `rattleback plot`."""

import pathlib
import sys
import unittest
from types import SimpleNamespace

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
from plotting import base, maps, results, timeseries  # noqa: E402


class Group(dict):
    name = "/made"


def result_with(**axes):
    """What `Cells` needs of a result."""
    arrays = Group({name: np.array(values, dtype=float) for name, values in axes.items()})
    return SimpleNamespace(path="made.h5", study={}, group=lambda name, hint: arrays, member=lambda name, group: group[name])


def series(time, values):
    return timeseries.Series(SimpleNamespace(path="made.h5"), "energy", "mse", "mse of energy", time, values)


class Fits(unittest.TestCase):
    time = np.linspace(1.0, 20.0, 77)
    noise = np.random.default_rng(1).normal(0.0, 0.05, 77)

    def compare(self, model, x, y, values):
        """With polyfit of y over x, whose covariance takes the residuals as independent too."""
        (b, a), covariance = np.polyfit(x, y, 1, cov=True)
        found = timeseries.fit(series(self.time, values), timeseries.MODELS[model], (1.0, np.inf))
        scale = np.exp(a) if found.model.log_values else 1.0
        self.assertAlmostEqual(found.b, b, places=10)
        self.assertAlmostEqual(found.a, np.exp(a) if found.model.log_values else a, places=10)
        self.assertAlmostEqual(found.b_error, np.sqrt(covariance[0, 0]), places=10)
        self.assertAlmostEqual(found.a_error, scale * np.sqrt(covariance[1, 1]), places=10)

    def test_agree_with_polyfit(self):
        line = 2.0 + 0.3 * self.time + self.noise
        self.compare("line", self.time, line, line)
        power = np.log(0.1) + 1.5 * np.log(self.time) + self.noise
        self.compare("power", np.log(self.time), power, np.exp(power))
        exponential = np.log(0.1) + 0.4 * self.time + self.noise
        self.compare("exponential", self.time, exponential, np.exp(exponential))

    def test_leave_out_what_has_no_logarithm(self):
        values = self.time**2
        values[::7], values[3] = -1.0, np.nan
        found = timeseries.fit(series(self.time, values), timeseries.MODELS["power"], (1.0, np.inf))
        self.assertAlmostEqual(found.b, 2.0, places=10)
        with self.assertRaisesRegex(base.InputError, "fewer than three samples above 0"):
            timeseries.fit(series(self.time, -values), timeseries.MODELS["exponential"], (1.0, 1.1))

    def test_keep_to_the_span(self):
        values = np.where(self.time > 10.0, 99.0, 3.0 * self.time)
        found = timeseries.fit(series(self.time, values), timeseries.MODELS["line"], (2.0, 10.0))
        self.assertAlmostEqual(found.b, 3.0, places=10)
        self.assertLessEqual(found.time[-1], 10.0)


class Maps(unittest.TestCase):
    def test_borders_lie_between_the_places(self):
        np.testing.assert_allclose(maps.edges(np.array([0.0, 1.0, 3.0])), [-0.5, 0.5, 2.0, 4.0])
        np.testing.assert_allclose(maps.edges(np.array([7.0])), [6.5, 7.5])

    def test_every_trajectory_has_its_cell(self):
        cells = maps.Cells(result_with(a=[1, 1, 1, 5, 5, 5], b=[3, 2, 4, 2, 3, 4]), ["b", "a"], [])
        x, y, rows, columns = cells.grid
        np.testing.assert_array_equal(x[columns], cells.places["b"])
        np.testing.assert_array_equal(y[rows], cells.places["a"])

    def test_scattered_places_are_no_grid(self):
        self.assertIsNone(maps.Cells(result_with(a=[1, 2, 3], b=[1, 5, 2]), None, []).grid)

    def test_a_third_axis_must_be_fixed(self):
        result = result_with(a=[1, 1, 2, 2], b=[1, 1, 1, 1], c=[0, 1, 0, 1])
        self.assertEqual(maps.Cells(result, None, []).axes, ["a", "c"])  # b does not vary
        with self.assertRaisesRegex(base.InputError, "--where c=0"):
            maps.Cells(result, ["a", "b"], []).grid
        cells = maps.Cells(result, ["a", "b"], [("c", 0.9)])
        np.testing.assert_array_equal(cells.used, [False, True, False, True])
        self.assertIsNotNone(cells.grid)

    def test_a_status_is_the_names_of_its_bits(self):
        bits = {1: "slow", 4: "broken"}
        self.assertEqual(maps.describe(0, bits), "good")
        self.assertEqual(maps.describe(5, bits), "slow and broken")
        self.assertEqual(maps.describe(2, bits), "bit 2")


class Columns(unittest.TestCase):
    states = {"q": np.arange(24.0).reshape(2, 4, 3), "residual": np.arange(8.0).reshape(2, 4)}

    def test_are_components_of_chosen_rows(self):
        q2 = results.column(self.states, results.parse_component("q[2]"), 2, "made.h5", [1, 3])
        np.testing.assert_array_equal(q2, self.states["q"][:, [1, 3], 2])
        residual = results.column(self.states, results.parse_component("residual"), 2, "made.h5")
        np.testing.assert_array_equal(residual, self.states["residual"])

    def test_must_exist(self):
        for text in ("q", "q[3]", "residual[0]", "u[0]"):
            with self.assertRaisesRegex(base.InputError, r"there are: q\[0\]..q\[2\], residual"):
                results.column(self.states, results.parse_component(text), 2, "made.h5")


if __name__ == "__main__":
    unittest.main()
