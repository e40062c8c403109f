"""The numbers behind the figures of `rattleback plot`."""

import contextlib
import io
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parent / "fuzz"))
import files  # noqa: E402
import studies  # noqa: E402
from rattleback.plot import base, export, grouped, main, maps, report, results, states, timeseries  # noqa: E402


class Group(dict):
    name = "/made"


def result_with(**axes):
    """What `Cells` needs of a result."""
    arrays = Group({name: np.array(values, dtype=float) for name, values in axes.items()})
    return SimpleNamespace(path="made.h5", study={}, group=lambda name, hint: arrays, member=lambda name, group: group[name])


class AnglesTest(unittest.TestCase):
    def folded(self, x, angles, joined):
        arguments = SimpleNamespace(components=(results.Component("q", 0), results.Component("v", 0)), angles=angles)
        states.check_angles(arguments)
        curve = states._folded(states.Curve(None, 0, np.array(x), np.arange(len(x), dtype=float)), arguments, joined)
        return curve.x, curve.y

    def test_angles_are_modulo_a_turn(self):
        x, y = self.folded([0.0, 3.0, 3.5, 10.0, -4.0], (results.Component("q", 0),), False)
        np.testing.assert_allclose(x, [0, 3, 3.5 - 2 * np.pi, 10 - 4 * np.pi, 2 * np.pi - 4], atol=1e-14)
        self.assertEqual(list(y), [0, 1, 2, 3, 4])

    def test_curves_are_interrupted_where_they_go_round(self):
        x, y = self.folded([2.5, 3.0, 3.5, 4.0], (results.Component("q", 0),), True)
        self.assertEqual(list(np.isnan(x)), [False, False, True, False, False])
        self.assertEqual(list(np.isnan(y)), list(np.isnan(x)))

    def test_only_what_is_drawn_is_an_angle(self):
        with self.assertRaisesRegex(base.InputError, r"no drawn component 'q\[1\]' \(there are: q\[0\], v\[0\]\)"):
            self.folded([0.0], (results.Component("q", 1),), False)


def series(time, values):
    return timeseries.Series(SimpleNamespace(path="made.h5", file={}), "energy", "mse", "mse of energy", time, values, np.full(len(values), np.nan))


class Reports(unittest.TestCase):
    def test_values_with_errors_are_those_of_the_program(self):
        text = (pathlib.Path(__file__).parent / "host/study/with_error_test.cpp").read_text()
        rows = re.findall(r'with_error\(([^,()]+), ([^,()]+)\), "([^"]*)"\)', text)
        self.assertGreater(len(rows), 40)
        limits = {"most": sys.float_info.max, "least": 5e-324}
        for value, error, expected in rows:
            number = {name: sign * float(limits.get(x, x)) for x in ("nan", "inf", "most", "least") for sign, name in ((1, x), (-1, f"-{x}"))}
            self.assertEqual(report.with_error(*(number.get(x) or float(x) for x in (value, error))), expected)

    def test_texts_have_no_meaning_in_html(self):
        self.assertEqual(report.escaped("<a href=\"x\">&\x1b\udcff\n'"), "&lt;a href=&quot;x&quot;&gt;&amp;\\x1b\\udcff\n'")
        address = report.figure("<svg>\n\"#%é</svg>", "<a>")
        self.assertIn('src="data:image/svg+xml,%3Csvg%3E %22%23%25%C3%A9%3C/svg%3E"', address)
        self.assertIn('alt="&lt;a&gt;"', address)


class Marks(unittest.TestCase):
    def test_of_long_curves_are_few_and_even(self):
        for log in (False, True):
            x = np.geomspace(1.0, 1e4, 100_000) if log else np.linspace(0.0, 1e4, 100_000)
            places = timeseries.marks(1, x, log)["markevery"]
            self.assertIn(len(places), (6, 7))
            along = np.log(x[places]) if log else x[places]
            np.testing.assert_allclose(np.diff(along), 0.15 * np.ptp(np.log(x) if log else x), rtol=1e-3)
        self.assertEqual(timeseries.marks(0, np.arange(12.0))["markevery"], 1)


class Fits(unittest.TestCase):
    time = np.linspace(1.0, 20.0, 77)
    noise = np.random.default_rng(1).normal(0.0, 0.05, 77)

    def compare(self, model, x, y, values):
        """With polyfit of y over x, whose covariance takes the residuals as independent too."""
        (b, a), covariance = np.polyfit(x, y, 1, cov=True)
        found = timeseries.fit(series(self.time, values), model, (1.0, np.inf))
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
        found = timeseries.fit(series(self.time, values), "power", (1.0, np.inf))
        self.assertAlmostEqual(found.b, 2.0, places=10)
        with self.assertRaisesRegex(base.InputError, "fewer than three samples above 0"):
            timeseries.fit(series(self.time, -values), "exponential", (1.0, 1.1))

    def test_keep_to_the_span(self):
        values = np.where(self.time > 10.0, 99.0, 3.0 * self.time)
        found = timeseries.fit(series(self.time, values), "line", (2.0, 10.0))
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


class Tool(unittest.TestCase):
    """The whole tool, in a directory of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)
        self.make("good.h5", "made")

    def make(self, path, name):
        quoted = name.encode("unicode_escape").decode().replace("\\x", "\\u00").replace('"', '\\"')
        with h5py.File(path, "w") as file:
            file.attrs["study"] = f'[study]\nname = "{quoted}"\n[system]\nname = "x"\n[method]\nname = "y"\n[time]\nstep = 0.1\n'
            file["time"] = np.arange(5.0)
            file["observables/energy/mse"] = np.arange(1.0, 6.0)
            file["final/q"], file["final/status"] = np.ones((4, 2)), np.zeros(4, dtype="u4")
            file["axes/a"] = np.arange(4.0)
            file["trajectories/index"], file["trajectories/q"] = np.arange(2, dtype="u8"), np.ones((5, 2, 2))
            for part, shape in {"q": (3, 2), "p": (3, 2), "time": (3,), "trajectory": (3,)}.items():
                file[f"sections/x/{part}"] = np.zeros(shape)

    def call(self, *words):
        """Exit code and stderr."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
            code = main.main([str(word) for word in words])
        return code, err.getvalue()

    def expect_refused(self, message, *words):
        code, err = self.call(*words)
        self.assertEqual((code, err.count("\n")), (2, 1), err)
        self.assertTrue(err.startswith("rattleback: ") and err[:-1].isprintable(), err)
        self.assertIn(message, err)

    def test_takes_any_name(self):
        for name in ("\x1b[31m\0\x7f", "$x_1$ %s {} \\frac -->", "_", "long " * 500, "\u202e\U0001f600"):
            self.make("named.h5", name)
            for suffix in base.FORMATS if name.startswith("\x1b") else [".svg"]:
                self.assertEqual(self.call("named.h5", "-o", f"a{suffix}"), (0, ""), (name, suffix))

    def test_takes_any_observable(self):
        hostile = ("a,b", ",", "-x", "--help", "$$", "$\\frac{1}$", "$", "\\", "{}", "{0}", "_x", "h^(\\frac)", "^_", "s = 3", "a=b", "\u202e", "%s",
                   "energy,a", "long " * 20)
        with h5py.File("good.h5", "a") as file:
            for name in hostile:
                for statistic in ("mse", f"correlation_{name}"):
                    file[f"observables/{name}/{statistic}"] = np.arange(1.0, 6.0)
                file[f"axes/{name}"] = np.arange(4.0)
        for name in hostile:
            self.assertEqual(self.call("time", "good.h5", f"--observable={name}", f"--statistic=mse,correlation_{name}", "-o", "a.svg"),
                             (0, ""), name)
        for name in ("a,b", "$\\frac{1}$", "-x"):
            self.assertEqual(self.call("map", "good.h5", f"--axes={name}", "-o", "a.svg"), (0, ""), name)
        self.assertEqual(self.call("time", "good.h5", "--observable=energy,a,b,$$", "-o", "a.svg"), (0, ""))

    def test_crossings_take_numbers_of_their_trajectories(self):
        with h5py.File("good.h5", "a") as file:
            file.attrs["coordinates"] = "x y"
            file["observables/energy/values"] = np.outer(np.arange(5.0), np.arange(4.0))
            file["sections/x/trajectory"][:] = (0, 2, 2)
            file["sections/x/q"][:] = np.arange(6.0).reshape(3, 2)
        result = results.Result.of("good.h5")
        crossings = states.load_crossings(result, SimpleNamespace(
            name=None, components=(results.Component("a"), result.named(results.Component("y"))), trajectories=None,
            times=(-np.inf, np.inf), colour=results.Component("energy")))
        self.assertEqual([[list(part) for part in (curve.x, curve.y, curve.colour)] for curve in crossings],
                         [[[0], [1], [0]], [[2, 2], [3, 5], [8, 8]]])
        self.assertEqual([str(result.named(results.Component(name))) for name in ("x", "v_y", "p_x", "p", "t", "z")],
                         ["q[0]", "v[1]", "p[0]", "p", "t", "z"])
        for words in (("section", "good.h5", "--components=a,y", "--colour=a"), ("histogram", "good.h5", "--of=energy"),
                      ("map", "good.h5", "--of=energy"), ("map", "good.h5", "--of=y")):
            self.assertEqual(self.call(*words, "-o", "a.svg"), (0, ""), words)
        self.expect_refused("no component 'zz'", "section", "good.h5", "--colour=zz", "-o", "a.svg")

    def test_labels_say_what_differs(self):
        for path, tolerance in (("other.h5", 1e-9), ("third.h5", 1e-8)):
            self.make(path, "made")
            with h5py.File(path, "a") as file:
                file.attrs["study"] += f"[method.solver]\ntolerance = {tolerance}\n"
        shutil.copy("other.h5", "same.h5")
        self.assertEqual([result.label for result in results.open_all(["other.h5", "third.h5"])],
                         ["made, h = 0.1, tolerance = 1e-09", "made, h = 0.1, tolerance = 1e-08"])
        self.assertEqual([result.label for result in results.open_all(["other.h5", "same.h5"])],
                         ["made, h = 0.1 (other)", "made, h = 0.1 (same)"])

    def test_draws_in_space_and_as_it_moves(self):
        from PIL import Image

        with h5py.File("good.h5", "a") as file:
            file.attrs["coordinates"] = "x y"
            file["trajectories/p"] = np.random.default_rng(1).normal(size=(5, 2, 2))
        for words in (("phase", "-o", "a.svg"), ("animate", "-o", "a.gif", "--frames=3"), ("animate", "-o", "a.gif", "--frames=3", "--times=1")):
            self.assertEqual(self.call(words[0], "good.h5", "--components=x,p_x,p_y", *words[1:]), (0, ""), words)
        with Image.open("a.gif") as image:
            self.assertEqual((image.n_frames, image.info["comment"]), (3, b"rattleback"))
        self.assertEqual(self.call("animate", "good.h5", "-o", "a.gif", "--components=x,p_x"), (0, ""))
        self.assertEqual(self.call("animate", "good.h5", "-o", "wide.gif", "--components=t,p_x", "--equal", "--frames=2", "--times=0:1000"), (0, ""))
        with Image.open("wide.gif") as image:  # all of the plane, in a figure of its shape
            self.assertLess(image.size[1], 600)
        self.expect_refused("must end with one of .gif, .mp4", "animate", "good.h5", "-o", "a.png")
        pathlib.Path("ffmpeg").write_text("#!/bin/sh\nfor last; do :; done\nwc -c > sizes\n"
                                          "printf '\\000\\000\\000\\040ftypisom rattleback' > $last\n")
        pathlib.Path("ffmpeg").chmod(0o755)
        path = os.environ["PATH"]
        try:
            os.environ["PATH"] = "nowhere"
            self.expect_refused("needs the program ffmpeg", "animate", "good.h5", "--components=x,p_x", "-o", "a.mp4")
            os.environ["PATH"] = f"{pathlib.Path().resolve()}:{path}"
            for _ in range(2):  # the second one replaces the first
                self.assertEqual(self.call("animate", "good.h5", "--components=x,p_x", "--frames=3", "-o", "a.mp4"), (0, ""))
            self.assertEqual(int(pathlib.Path("sizes").read_text()), 3 * 800 * 600 * 3)  # three frames of RGB
            pathlib.Path("ffmpeg").write_text("#!/bin/sh\necho no encoder >&2\nexit 1\n")
            self.expect_refused("ffmpeg cannot write it (no encoder)", "animate", "good.h5", "--components=x,p_x", "-o", "b.mp4")
        finally:
            os.environ["PATH"] = path
        self.expect_refused("two components, not for three", "phase", "good.h5", "--components=x,y,t", "--angles=x", "-o", "a.svg")
        pathlib.Path("mine.gif").write_bytes(b"GIF89a")
        self.expect_refused("is not a figure of rattleback", "animate", "good.h5", "--components=x,p_x", "-o", "mine.gif")

    def test_draws_groups_against_their_parameter(self):
        self.expect_refused("no groups (the study has no ensemble.group_by)", "groups", "good.h5", "-o", "a.svg")
        with h5py.File("good.h5", "a") as file:
            for i, (name, size) in enumerate((("b", 3), ("a", 2))):
                file[f"groups/axes/{name}"] = np.arange(1.0, 1.0 + size)
                file[f"groups/axes/{name}"].attrs["group_dimension"] = np.uint64(i)
            for name in ("mean", "mean_error"):
                file[f"groups/observables/energy/{name}"] = np.arange(30.0).reshape(3, 2, 5)
            file["groups/fits/growth/rate"] = np.arange(6.0).reshape(3, 2)
        result = results.Result.of("good.h5")
        figure = grouped.figure_of(SimpleNamespace(files=["good.h5"], quantity=None, statistic=None, axis="a", time=1.0, logx=False, logy=False))
        self.assertEqual([list(line.get_ydata()) for line in figure.axes[0].containers[2].lines[:1]], [[21, 26]])
        self.assertEqual(figure.axes[0].get_legend_handles_labels()[1][2], "b = 3")
        self.assertEqual(result.label, "made, h = 0.1")
        for words in ((), ("--of=growth",), ("--axis=b", "--logx", "--logy")):
            self.assertEqual(self.call("groups", "good.h5", *words, "-o", "a.svg"), (0, ""), words)
        read = self.exported("groups"), self.exported("group-fits")
        self.assertEqual([(lines[0], len(lines), lines[-4]) for lines in read],
                         [("b,a,time,energy_mean,energy_mean_error", 31, "3.0,2.0,1.0,26.0,26.0"), ("b,a,growth_rate", 7, "2.0,1.0,2.0")])
        self.expect_refused("no axis of groups 'c' (there are: b, a)", "groups", "good.h5", "--axis=c", "-o", "a.svg")

    def test_draws_basins_and_their_scales(self):
        self.expect_refused("no maps (the study has no [[map]])", "basin", "good.h5", "-o", "a.svg")
        labels = np.add.outer(np.arange(9), np.arange(8)).astype("u4") // 8
        labels[3, 4] = 2**32 - 1
        with h5py.File("good.h5", "a") as file:
            file["maps/m/labels"] = labels
            file["maps/m/labels"].attrs.update({"of": "fate", "fate 1": "in_$"})
            for name, size in (("row", 9), ("column", 8)):
                file[f"maps/m/{name}"] = np.arange(float(size))
                file[f"maps/m/{name}"].attrs["axis"] = {"row": "a", "column": "b,c"}[name]
            for name in ("boundary", "uncertain"):
                file[f"maps/m/{name}"] = np.array([[1, 2, 50], [2, 3, 20]], dtype="u8")
            for name in ("boundary_dimension", "uncertainty_exponent"):
                file[f"maps/m/{name}"] = np.array([np.nan])
        for options in ((), ("--scales",), ("--map=m",)):
            self.assertEqual(self.call("basin", "good.h5", *options, "-o", "a.svg"), (0, ""), options)
        lines = self.exported("map-m")
        self.assertEqual((lines[0], len(lines), lines[1 + 3 * 8 + 4]), ('a,"b,c",label', 73, "3.0,4.0,4294967295"))
        with h5py.File("good.h5", "a") as file:
            file["fits/growth/slope"], file["fits/growth/slope_error"], file["sections/x/returns/mean"] = [2.0], [0.5], [3.0]
            for name, numbers in (("count", (1, 3)), ("fraction", (0.25, 0.75)), ("fraction_error", (0.1, 0.2))):
                file[f"fates/{name}"] = numbers
            file["fates/count"].attrs["fate 1"] = "in"
        self.assertEqual(self.exported("numbers"), [
            "name,value,error", "fits/growth/slope,2.0,0.5", "maps/m/boundary_dimension,nan,nan", "maps/m/uncertainty_exponent,nan,nan",
            "sections/x/returns/mean,3.0,nan", "fates/none/count,1.0,nan", "fates/none/fraction,0.25,0.1", "fates/in/count,3.0,nan", "fates/in/fraction,0.75,0.2"])
        self.expect_refused("no map 'n' (there are: m)", "basin", "good.h5", "--map=n", "-o", "a.svg")

    def test_names_in_a_list_may_have_commas(self):
        for text, known, names in (("a,b", ["a", "b", "a,b"], ["a,b"]), ("a,b,c", ["a", "b,c"], ["a", "b,c"]), ("a,a", ["a"], ["a", "a"]),
                                   ("x,y", ["a"], ["x", "y"]), ("a,", ["a"], ["a", ""]), (",", [","], [","]), (["a,b"], [], ["a,b"])):
            self.assertEqual(base.chosen(text, known), names)

    def test_opens_no_other_files(self):
        os.mkfifo("pipe.h5")
        layout = h5py.VirtualLayout((4,), "f8")
        layout[:] = h5py.VirtualSource("pipe.h5", "x", (4,))
        absolute = h5py.VirtualLayout((4,), "f8")
        absolute[:] = h5py.VirtualSource(os.path.abspath("good.h5"), "axes/a", (4,))
        for message, link in (("is a link to another file", lambda file: file.__setitem__("axes/a", h5py.ExternalLink("pipe.h5", "/x"))),
                              ("takes data from another file", lambda file: file.create_dataset("axes/a", (4,), "f8", external=[("pipe.h5", 0, 32)])),
                              ("part 'pipe.h5' is needed", lambda file: file.create_virtual_dataset("axes/a", layout)),
                              ("is not a part beside it", lambda file: file.create_virtual_dataset("axes/a", absolute))):
            self.make("other.h5", "made")
            with h5py.File("other.h5", "a") as file:
                del file["axes/a"]
                link(file)
            self.expect_refused(message, "map", "other.h5", "-o", "a.svg")
        self.expect_refused("is a FIFO", "order", "pipe.h5", "-o", "a.svg")

    def exported(self, table):
        """The lines of a table of good.h5."""
        self.assertEqual(self.call("--export", "csv", f"{table}.csv", "good.h5", table), (0, ""))
        return pathlib.Path(f"{table}.csv").read_text().splitlines()

    def test_exports_tables(self):
        self.assertEqual(self.call("--export", "csv", "", "good.h5"), (0, ""))
        read = {path.name: path.read_text().splitlines() for path in pathlib.Path("good-csv").iterdir()}
        self.assertEqual({name: (lines[0], len(lines)) for name, lines in read.items()},
                         {"statistics.csv": ("time,energy_mse", 6), "trajectories.csv": ("trajectory,a,final_q_0,final_q_1,status", 5),
                          "states.csv": ("time,trajectory,q_0,q_1", 11), "section-x.csv": ("trajectory,time,q_0,q_1,p_0,p_1", 4)})
        self.assertEqual(read["states.csv"][4], "1.0,1,1.0,1.0")
        self.make("stopped.h5", "made")
        with h5py.File("stopped.h5", "a") as file:
            file["stops/survival"], file["stops/up/fraction"], file["stops/up/time_mean"] = np.ones(5), np.zeros(5), [2.0]
        self.assertEqual(self.call("--export", "csv", "stopped.csv", "stopped.h5", "statistics"), (0, ""))
        self.assertEqual(pathlib.Path("stopped.csv").read_text().splitlines()[1:3], ["0.0,1.0,1.0,0.0", "1.0,2.0,1.0,0.0"])
        pathlib.Path("stopped.csv").unlink()
        pathlib.Path("stopped.h5").unlink()
        self.assertEqual(self.call("--export", "csv", "one.csv", "good.h5", "statistics"), (0, ""))
        self.assertEqual(pathlib.Path("one.csv").read_text().splitlines()[1:3], ["0.0,1.0", "1.0,2.0"])
        self.expect_refused("is there already", "--export", "csv", "one.csv", "good.h5", "states")
        self.expect_refused("did you mean 'states'?", "--export", "csv", "two.csv", "good.h5", "state")
        self.expect_refused("there is no such directory", "--export", "csv", "no/two.csv", "good.h5", "states")
        with mock.patch.dict(sys.modules, {"pyarrow": None, "zarr": None}):
            self.expect_refused("needs the Python package pyarrow", "--export", "parquet", "", "good.h5")
            self.expect_refused("needs the Python package zarr", "--export", "zarr", "", "good.h5")
        self.assertEqual(sorted(path.name for path in pathlib.Path().iterdir()), ["good-csv", "good.h5", "one.csv"])

    def test_exports_blocks_of_rows(self):
        rows, export.ROWS = export.ROWS, 3
        try:
            self.assertEqual(self.call("--export", "csv", "", "good.h5"), (0, ""))
        finally:
            export.ROWS = rows
        self.assertEqual(pathlib.Path("good-csv/trajectories.csv").read_text().splitlines()[1:],
                         [f"{k},{k}.0,1.0,1.0,0" for k in range(4)])
        self.assertEqual(len(pathlib.Path("good-csv/states.csv").read_text().splitlines()), 11)

    def test_points_that_are_left_out_have_not_failed(self):
        with h5py.File("good.h5", "a") as file:
            file["final/status"][:] = [0, results.LEFT_OUT, 4, 0]
            file["final/q"][1] = np.nan
        result = results.Result.of("good.h5")
        self.assertEqual(result.failed().tolist(), [False, False, True, False])
        self.assertEqual(result.left_out().tolist(), [False, True, False, False])
        for kind in ("map", "map --of q[0]", "histogram --of q[0]"):
            self.assertEqual(self.call(*kind.split(), "good.h5", "-o", "a.svg"), (0, ""), kind)

    def test_replaces_figures_of_its_own_only(self):
        for suffix in base.FORMATS:
            own, theirs = pathlib.Path(f"own{suffix}"), pathlib.Path(f"theirs{suffix}")
            self.assertEqual(self.call("good.h5", "-o", own)[0], 0)
            self.assertEqual(self.call("good.h5", "-o", own)[0], 0)
            pathlib.Path(f"link{suffix}").symlink_to(own)
            own.write_bytes(own.read_bytes() + b"\n")
            self.assertEqual(self.call("good.h5", "-o", f"link{suffix}")[0], 0)
            self.assertFalse(own.read_bytes().endswith(b"\n\n"))
            self.assertTrue(pathlib.Path(f"link{suffix}").is_symlink())
            for content in (own.read_bytes().replace(b"rattleback", b"rattlesnak"), pathlib.Path("good.h5").read_bytes(), b""):
                theirs.write_bytes(content)
                self.expect_refused("is not a figure of rattleback", "good.h5", "-o", theirs)
                self.assertEqual(theirs.read_bytes(), content)
        os.mkfifo("pipe.png")
        os.mkdir("directory.png")
        self.expect_refused("it is not a regular file", "good.h5", "-o", "pipe.png")
        self.expect_refused("it is a directory", "good.h5", "-o", "directory.png")
        self.expect_refused("pipe.png: is not a regular file", "pipe.png", "-o", "a.png")
        self.expect_refused("is not a list of numbers", "good.h5", "--table", "nan")
        self.assertEqual(sorted(name for name in os.listdir() if "part" in name), [])

    def test_says_one_line_about_a_damaged_result(self):
        good, rng, codes = pathlib.Path("good.h5").read_bytes(), random.Random(1), []
        kinds = [[], ["phase"], ["section"], ["histogram"], ["map"]]
        self.assertEqual(self.call("good.h5", "-o", "a.png")[0], 0)  # matplotlib is loaded once
        for number in range(100):
            place = pathlib.Path("damaged.h5")
            place.write_bytes(good)
            files.change_hdf5(rng, place)
            child = os.fork()  # HDF5 may crash; the program says so for the tool
            if child == 0:
                with open("err", "w") as err, contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
                    code = main.main([*kinds[number % len(kinds)], "damaged.h5", "-o", "a.png"])
                os._exit(code)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            self.assertIn(code, (0, 2, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS), number)
            if code == 2:
                err = pathlib.Path("err").read_text()
                self.assertEqual(err.count("\n"), 1, err)
                self.assertTrue(err.startswith("rattleback: damaged.h5: ") and err[:-1].isprintable(), err)
            codes.append(code)
        self.assertGreater(codes.count(0), 10)
        self.assertGreater(codes.count(2), 30)

    @unittest.skipUnless("RATTLEBACK_PROGRAM" in os.environ, "no program is given")
    def test_draws_every_example(self):
        examples = pathlib.Path(__file__).parent.parent / "examples"
        for file in examples.glob("*.csv"):
            shutil.copy(file, ".")
        drawn = 0
        for example in sorted(examples.glob("*.toml")):
            pathlib.Path(example.name).write_text(studies.write(studies.shrink(studies.read(example.read_text()))))
            ran = subprocess.run([os.environ["RATTLEBACK_PROGRAM"], "run", example.name, "-o", "a.h5", "--quiet"], text=True,
                                 stderr=subprocess.PIPE)
            self.assertEqual(ran.returncode, 0, f"{example.name}: {ran.stderr}")
            self.assertEqual(self.call("a.h5", "-o", "a.png"), (0, ""), example.name)
            drawn += pathlib.Path("a.png").read_bytes().startswith(b"\x89PNG")
        self.assertGreater(drawn, 15)


if __name__ == "__main__":
    unittest.main()
