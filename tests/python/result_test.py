"""Results: views, DLPack, pickling, xarray, fits, notebooks, figures."""

import gc
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

import numpy as np

import rattleback as rb
from common import PENDULUM, Case, program


class Results(Case):
    @classmethod
    def setUpClass(cls):
        cls.study = rb.Study.parse(PENDULUM)
        cls.result = rb.run(cls.study)

    def test_views_keep_the_result(self):
        result = rb.run(self.study)
        q, expected = result.final.q, np.array(self.result.final.q)
        with self.assertRaises(ValueError):
            q[0, 0] = 1.0
        self.assertEqual(q.ctypes.data, result["/final/q"].ctypes.data)
        self.assertEqual(q[3:].base is None, False)
        del result
        gc.collect()
        np.testing.assert_array_equal(q, expected)

    def test_dlpack(self):
        q = self.result.final.q

        class Old:  # a library that knows DLPack 0
            def __dlpack__(self, **_):
                return q.__dlpack__()

            def __dlpack_device__(self):
                return q.__dlpack_device__()

        for source in (q, Old()):
            taken = np.from_dlpack(source)
            self.assertEqual(taken.ctypes.data, q.ctypes.data)
            np.testing.assert_array_equal(taken, q)

    def test_keys_and_completion(self):
        study = self.study.replace({"observable[0].values": True})
        result = rb.run(study)
        self.assertEqual((list(result), list(result.keys())), (["energy"], ["energy"]))
        self.assertLessEqual({"energy", "/final/q"}, set(result._ipython_key_completions_()))
        energy = result["energy"]
        self.assertEqual(energy.values_.shape, (6, 600))
        self.assertIn("quantile_0.5", energy._ipython_key_completions_())
        attributes = set(dir(energy)) | set(dir(result.final))
        self.assertLessEqual({"mse", "values_", "lambda_", "q"}, attributes)
        self.assertFalse({"lambda", "quantile_0.5"} & attributes)
        with self.assertRaisesRegex(KeyError, "got 0"):
            result[0]
        self.assertEqual([(name, list(each)) for name, each in result.items()], [("energy", list(energy))])
        self.assertEqual(len(result.values()), 1)
        for kind in (result.observable, result.section, result.stop, result.map, result.average):
            with self.assertRaisesRegex(KeyError, "^the result has no .* 'nothing'.*it has") as caught:
                kind("nothing")
            self.assertIsInstance(caught.exception, rb.Error)
        self.assertFalse(hasattr(result, "survival") or hasattr(result, "fates"))
        self.assertLessEqual(set(rb.plot.__all__) - {"InputError"}, {name for name, thing in vars(rb.plot).items() if callable(thing)})

    def test_errors_have_one_base(self):
        for error, builtin in ((rb.InputError, ValueError), (rb.RunError, RuntimeError)):
            self.assertTrue(issubclass(error, rb.Error) and issubclass(error, builtin))
        self.assertIs(rb.plot.InputError, rb.InputError)

    def test_messages_name_arguments(self):
        with self.assertRaisesRegex(rb.InputError, "use backend='cpu'"):
            rb.run(self.study, backend="cuda:99")
        with self.assertRaisesRegex(rb.InputError, "choose another output$"):
            rb.run(self.study, output="no/folder.h5")
        with self.assertRaisesRegex(rb.InputError, r"list_methods\(\) returns all"):
            self.study.replace({"method.name": "zzzzzz"})
        with self.assertRaisesRegex(rb.Error, "model: there is nothing to fit.*fit T0"):
            rb.plot.time(self.result, model="power")
        with self.assertRaisesRegex(rb.Error, "there is nothing to draw; give a result"):
            rb.plot.time()
        with self.assertRaisesRegex(rb.Error, "choose another name$"):
            rb.plot.save(rb.plot.time(self.result), "no/figure.png")
        for call in (rb.run, rb.compile, rb.parts, rb.order):
            with self.assertRaisesRegex(TypeError, r"Study.load\(file\)"):
                call("study.toml", *({rb.parts: [2], rb.order: [[0.1]]}.get(call, [])))
        with self.assertRaisesRegex(rb.InputError, "threads must not be negative"):
            rb.run(self.study, threads=-1)
        with self.assertRaisesRegex(rb.InputError, "threads must be at most 1000000 "):
            rb.run(self.study, threads=2**32)
        with self.assertRaisesRegex(TypeError, r"threads must be a whole number \(got 2.5\)"):
            rb.run(self.study, threads=2.5)
        with self.assertRaisesRegex(TypeError, "steps must be a list of numbers.*got '0.1'"):
            rb.order(self.study, "0.1")
        with self.assertRaisesRegex(rb.InputError, r"take one of rattleback.list_methods\(\)$"):
            rb.Study.parse("[system]\nname = 'kepler'\n[time]\nstep = 0.1\nsteps = 1\n[method]\nstages = 2")

    def test_names(self):
        result = self.result
        self.assertEqual(result.observables, ["energy"])
        self.assertEqual(sorted(result["energy"])[:2], ["count", "effective_number"])
        np.testing.assert_array_equal(result["energy"]["quantile_0.5"], result["/observables/energy/quantile_0.5"])
        for name in ("energi", "/final/x"):
            with self.assertRaisesRegex(KeyError, "it has"):
                result[name]
        with self.assertRaisesRegex(AttributeError, "it has"):
            result["energy"].rms
        self.assertEqual(result.trajectories.q.shape, (6, 2, 3))
        self.assertEqual(result.axes["a"].shape, (600,))
        self.assertEqual((result.failed, result.summary["trajectories"]), (0, 600))
        self.assertEqual(result.final.lambda_.shape, (600, 1))

    def test_files(self):
        self.result.save("a.h5")
        stored = rb.open("a.h5")
        time = stored.time
        pathlib.Path("a.h5").unlink()
        # An open file stays until its last user closes it.
        np.testing.assert_array_equal(stored.final.q, self.result.final.q)
        np.testing.assert_array_equal(time, self.result.time)
        self.result.save("b.h5")
        cut = rb.open("b.h5")
        os.truncate("b.h5", 3000)
        with self.assertRaisesRegex(rb.InputError, "b.h5: .*cannot be read"):
            cut.final.q
        with self.assertRaisesRegex(rb.InputError, "b.h5: cannot be read"):
            rb.open("b.h5")
        self.write("text.h5", "text")
        with self.assertRaisesRegex(rb.InputError, "text.h5"):
            rb.open("text.h5")
        with self.assertRaisesRegex(rb.InputError, "would be lost"):
            self.result.save("text.h5")

    def test_pickling(self):
        twin = pickle.loads(pickle.dumps(self.result))
        report = rb.diff(twin, self.result)
        self.assertTrue(report.identical and not report.differing)
        self.assertEqual(twin.attributes, self.result.attributes)
        self.assertEqual(twin.summary, self.result.summary)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(self.result.time)), self.result.time)
        other = rb.run(self.study.replace({"system.parameters": {"mass": 1.5}}))
        report = rb.diff(other, self.result)
        self.assertFalse(report.identical)
        self.assertIn("/final/p", report.differing)
        self.assertIn("system.parameters.mass", [entry["key"] for entry in report.study])
        self.assertIn("/final/p: values", repr(report))

    def test_labels(self):
        import xarray

        ds = self.result.to_xarray()
        self.assertEqual(ds["final_q"].dims, ("trajectory", "q_component"))
        self.assertEqual(ds["trajectories_q"].dims, ("time", "trajectories_index", "q_component"))
        self.assertEqual(list(ds["q_component"].values), self.result.study._problem.describe()["instances"][0]["coordinates"])
        self.assertEqual(float(ds["a"][7]), self.result.axes["a"][7])
        self.assertEqual(ds["final_q"].values.ctypes.data, self.result.final.q.ctypes.data)
        # The file is a netCDF-4 file for others, without this package.
        study = self.study.replace({"ensemble.axes": [{"name": "a", "values": [0.9, 1.1]}, {"name": "b", "values": [1, 2, 3]}],
                                    "ensemble.group_by": ["b", "a"], "output.trajectories": [0, 5], "output.covariance": ["q"],
                                    "section": [{"surface": "sin(12 q[1])", "direction": "both", "returns": {}},
                                                {"surface": "q[0] - 99", "name": "never"}],
                                    "fit": [{"name": "growth", "observable": "energy"}],
                                    "observable": [{"name": "energy", "statistics": ["mse"], "values": True,
                                                    "histogram": {"from": -1, "to": 1, "bins": 4}}, {"name": "q[1]"}]})
        result = rb.run(study, "all.h5")
        times = result.section("0").return_time
        self.assertGreater(np.isfinite(times).sum(), 1)
        np.testing.assert_allclose(result.section("0").returns.mean, np.nanmean(times))
        groups = xarray.open_groups("all.h5", engine="h5netcdf", phony_dims=None)
        self.assertEqual(groups["/final"]["q"].dims, ("trajectory", "q_component"))
        self.assertEqual(groups["/observables/energy"]["mse"].dims, ("time",))
        self.assertEqual(groups["/observables/energy"]["histogram"].dims, ("time", "bin"))
        self.assertEqual(groups["/groups/observables/energy"]["mse"].dims, ("group_0", "group_1", "time"))
        self.assertEqual(groups["/groups/axes"]["b"].dims, ("group_0",))
        self.assertEqual(groups["/state"]["covariance"].dims, ("time", "component", "other_component"))
        # Dimensions are no variables: a dimension without numbers has no coordinate, which would be full of zeros.
        coordinates = {f"{group}/{name}" for group, ds in groups.items() for name in ds.coords}
        self.assertEqual({name.rsplit("/", 1)[1] for name in coordinates}, {"time", "index"})
        self.assertNotIn("trajectory", groups["/final"].variables)
        energy = xarray.open_dataset("all.h5", group="observables/energy", engine="h5netcdf")
        np.testing.assert_array_equal(energy["mse"], result["energy"].mse)
        np.testing.assert_array_equal(groups["/"]["time"], result.time)
        datasets = {f"{'' if group == '/' else group}/{name}" for group, ds in groups.items() for name in ds.variables}
        self.assertEqual(set(result.paths) - datasets, set())
        again = rb.open("all.h5").to_xarray()
        self.assertTrue(again.equals(rb.run(study).to_xarray()))
        rb.open("all.h5").save("copy.h5")
        self.assertTrue(rb.diff("copy.h5", "all.h5").identical)
        self.assertEqual(set(xarray.open_groups("copy.h5", engine="h5netcdf", phony_dims=None)), set(groups))

    def test_fates_and_maps(self):
        import xarray

        study = self.study.replace({
            "ensemble.axes": [{"name": "a", "from": 0.9, "to": 1.1, "count": 12}, {"name": "c", "from": 0.1, "to": 0.8, "count": 10}],
            "ensemble.initial.v": [0, "c", 0], "output.trajectories": [], "stop": [{"name": "far", "when": "q[1] - 0.3"}],
            "fate": [{"name": "soon", "where": "t < 0.8 && z < 0"}, {"name": "far", "stop": "far"}],
            "map": [{"name": "m", "axes": ["a", "c"]}, {"name": "n", "of": "stop", "axes": ["c", "a"]}],
            "average": [{"name": "height", "formula": "z", "statistics": ["mean", "std"], "quantiles": [0.5]},
                        {"name": "one", "formula": "z > 5 ? z : 1"}]})
        result = rb.run(study, "fates.h5")
        for part in rb.parts(study, 1, "parted.h5"):
            part.run()
        self.assertTrue(rb.diff(rb.merge("parted.h5"), result).identical)
        height = result.average("height")
        self.assertEqual(height.digits.shape, (120,))
        np.testing.assert_array_equal(np.isnan(height.value), result.final.stop > 0)
        np.testing.assert_allclose(height.mean[0], np.nanmean(height.value), rtol=1e-13)
        self.assertLessEqual({"value", "digits", "mean", "mean_error", "std"}, set(dir(height)))
        labels = result.map("m").labels
        np.testing.assert_array_equal(labels, result.final.fate.reshape(12, 10))
        np.testing.assert_array_equal(result.map("n").labels, result.final.stop.reshape(12, 10).T)
        np.testing.assert_array_equal(result.fates.count, np.bincount(labels.ravel(), minlength=3))
        self.assertEqual(len(np.unique(labels)), 3)
        self.assertEqual(result.stop("far").count[-1], np.count_nonzero(result.final.stop))
        ds = result.to_xarray()
        self.assertEqual(ds["maps_m_labels"].dims, ("maps_m_row", "maps_m_column"))
        np.testing.assert_array_equal(ds["maps_m_row"], np.unique(result.axes["a"]))
        self.assertEqual(ds["stops_survival"].dims, ("time",))
        self.assertEqual(ds["averages_height_value"].dims, ("trajectory",))
        groups = xarray.open_groups("fates.h5", engine="h5netcdf", phony_dims=None)
        self.assertEqual(groups["/maps/m"]["labels"].dims, ("row", "column"))
        self.assertEqual(groups["/fates"]["count"].dims, ("fate",))
        for figure in (rb.plot.basin(result), rb.plot.basin(result, "n", scales=True), rb.plot.survival(result, stops=True),
                       rb.plot.map(result, "fate"), rb.plot.map(result, "height_digits"), rb.plot.histogram(result, of="height")):
            self.assertIn("<svg", rb.plot.svg(figure))
        infinite = np.count_nonzero(np.isinf(result.average("one").digits))
        self.assertGreater(infinite, 0)
        with self.assertRaisesRegex(rb.InputError, f"no finite value to count .{infinite} are infinite"):
            rb.plot.histogram(result, of="one_digits")

    def test_xarray_reads_parts_of_a_file(self):
        import pickle

        study = self.study.replace({"output.trajectories": list(range(0, 40, 3))})
        result = rb.run(study, "lazy.h5")
        whole = rb.run(study).to_xarray()["trajectories_q"].values
        lazy = result.to_xarray()["trajectories_q"]
        self.assertEqual((lazy.shape, lazy.dtype), (whole.shape, whole.dtype))
        blocks = []
        array = lazy.variable._data.array.array.array
        read = array._stored.block

        class Watched:
            file = array._stored.file

            def block(self, path, offset, count):
                blocks.append(tuple(count))
                return read(path, offset, count)

        for path, offset, count in (("/nothing", [0], [1]), ("/time", [0], [10**12]), ("/time", [2**64 - 1], [2]), ("/time", [0, 0], [1, 1]), ("/time", [], [])):
            with self.assertRaises(rb.InputError):
                read(path, offset, count)
        array._stored = Watched()
        for key in ((3, 5, 0), (slice(2, 9, 3), slice(None, None, -2), 0), (slice(4, 4), 1, slice(None)), (-1, slice(-3, None), -1),
                    ([5, 1, 5], slice(1, 3), 0)):
            np.testing.assert_array_equal(lazy[key].values, whole[key], err_msg=str(key))
        self.assertIn((1, 1, 1), blocks)
        self.assertLess(max(np.prod(count) for count in blocks), whole.size)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(result.to_xarray()[["trajectories_q"]]))["trajectories_q"].values, whole)

    def test_names_of_velocities_in_xarray(self):
        """On SE(2) they are in the body, and not those of the coordinates."""
        from rattleback.labelled import _names

        def about(system):
            return {"coordinates": "x y a", "study": "[system]\n" + system}

        self.assertEqual(_names(about('group = "SE(2)"')), {"q": ["x", "y", "a"], "v": [], "p": [], "lambda": []})
        self.assertEqual(_names(about('group = "SE(2)"\nvelocities = ["u", "w", "b"]'))["v"], ["u", "w", "b"])
        self.assertEqual(_names(about('coordinates = ["x", "y", "a"]')), {"q": ["x", "y", "a"], "v": ["v_x", "v_y", "v_a"], "p": ["p_x", "p_y", "p_a"], "lambda": []})
        self.assertEqual(_names(about('group = "S^1 x R^2"'))["v"], ["v_x", "v_y", "v_a"])

    def test_initial_states_of_xarray(self):
        import importlib.util

        import xarray

        q, v = np.array([[0.6, 0.0, -0.8], [0.0, 0.8, -0.6], [0.8, 0.0, -0.6]]), np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.3, 0.0]])
        dims, names = ("trajectory", "component"), ["x", "y", "z"]
        label = {"trajectory": [5, 7, 9]}
        whole = xarray.Dataset({"q": (dims, q), "v": (dims, v)})
        labelled = whole.assign_coords(component=names, **label)
        parts = {name: (("trajectory",), q[:, i]) for i, name in enumerate(names)}
        parts |= {f"v_{name}": (("trajectory",), v[:, i]) for i, name in enumerate(names)}
        numbers = {f"q{i}": (("run",), q[:, i]) for i in range(3)} | {f"v_{i}": (("run",), v[:, i]) for i in range(3)}
        forms = {"whole": whole, "labelled": labelled, "names": xarray.Dataset(parts, label), "numbers": xarray.Dataset(numbers)}
        base = self.study.replace({"ensemble.axes": None, "ensemble.initial": None, "output.trajectories": [0]})

        def started(file, group=None):
            study = base.replace({"ensemble.file": str(self.folder / file), **({"ensemble.group": group} if group else {})})
            initial = rb.run(study).initial
            np.testing.assert_array_equal(initial.q, q)
            np.testing.assert_array_equal(initial.v, v)

        engines = ["h5netcdf", *(["netcdf4"] if importlib.util.find_spec("netCDF4") else [])]
        for engine in engines:
            for name, form in forms.items():
                with self.subTest(engine=engine, form=name):
                    form.to_netcdf(f"{name}-{engine}.h5", engine=engine)
                    started(f"{name}-{engine}.h5")
                    form.to_netcdf(f"{name}-{engine}-initial.nc", engine=engine, group="initial")
                    started(f"{name}-{engine}-initial.nc")
                    form.to_netcdf(f"{name}-{engine}-final.nc", engine=engine, group="final")
                    started(f"{name}-{engine}-final.nc", "/final")
                    with self.assertRaisesRegex(rb.InputError, "give ensemble.group"):
                        started(f"{name}-{engine}-final.nc")
        encoding = {"q": {"scale_factor": 0.5, "zlib": True}}
        whole.to_netcdf("scaled.h5", engine="h5netcdf", encoding=encoding)
        with self.assertRaisesRegex(rb.InputError, "packed numbers in dataset 'q'"):
            started("scaled.h5")

    def test_averages_and_frequencies(self):
        """Frequencies of regular orbits of Henon and Heiles agree with those of an independent program; chaotic orbits have few digits."""
        study = rb.Study.parse("""
[system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 5
[time]
step = 0.1
end = 2000.0
sample_every = 1
[ensemble]
axes = [ { name = "E", values = [0.1, 0.125] }, { name = "Y", values = [0.25, -0.2] } ]
[ensemble.initial]
q = [0, "Y"]
v = ["sqrt(2 E - Y^2 + 2 Y^3/3)", 0]
""" + "".join(f'[[observable]]\nname = "{name}"\n{more}values = true\n' for name, more in
              {"q[0]": "", "v[0]": "", "angle": 'formula = "atan2(-v[0], x)"\n', "square": 'formula = "x^2"\n', }.items()))
        result = rb.run(study)
        angle = rb.average(result, "angle", kind="frequency")
        np.testing.assert_allclose(angle.value[[0, 2]], [1.0277900495, 1.0324046817], atol=2e-10)
        digits = rb.average(result, "square").digits
        self.assertTrue((digits[[0, 2]] > 7).all() and digits[3] < 3, digits)
        omega, amplitude = rb.frequencies(result, "q[0]", "v[0]", count=2)
        self.assertEqual((omega.shape, amplitude.shape), ((4, 2), (4, 2)))
        np.testing.assert_allclose(omega[[0, 2], 0], angle.value[[0, 2]], atol=1e-10)
        np.testing.assert_allclose(omega[[0, 2], 1], 2 * omega[[0, 2], 0], atol=1e-6)
        self.assertTrue((amplitude[:, 0] > amplitude[:, 1]).all())
        alone = rb.frequencies(result, "q[0]")[0]
        np.testing.assert_allclose(abs(alone[[0, 2], 0]), omega[[0, 2], 0], atol=1e-10)
        for call, message in ((lambda: rb.average(result, "energy"), "no values of 'energy'.*angle.*values = true"), (lambda: rb.average(result, "square", kind="median"), "known: mean, frequency"),
                              (lambda: rb.frequencies(result, "q[0]", count=0), "at least 1"), (lambda: rb.average(self.result, "energy"), "no values of 'energy'")):
            with self.assertRaisesRegex(rb.InputError, message):
                call()

    def test_fits(self):
        study = self.study.replace({"time.end": 20.0, "observable": [{"name": "energy", "statistics": ["mse", "mean"], "values": True}],
                                    "fit": [{"name": "growth", "observable": "energy", "from": 4.0}]})
        result = rb.run(study)
        given = result.fit("energy", "mse", start=4.0)
        self.assertEqual(given.source, "study")
        self.assertEqual((given.slope, given.error), (result["/fits/growth/slope"][0], result["/fits/growth/slope_error"][0]))
        # From the values of the trajectories the same numbers follow.
        without = rb.run(study.replace({"fit": []}))
        own = without.fit("energy", "mse", start=4.0)
        self.assertEqual(own.source, "values")
        np.testing.assert_allclose([own.slope, own.error, own.intercept, own.intercept_error],
                                   [given.slope, given.error, given.intercept, given.intercept_error], rtol=1e-9)
        # The bound from the errors of the samples is above the error, and has the same slope.
        bound = rb.run(study.replace({"fit": [], "observable[0].values": False})).fit("energy", "mse", start=4.0)
        self.assertEqual(bound.source, "bound")
        self.assertAlmostEqual(bound.slope, given.slope, delta=1e-9 * abs(given.slope))
        self.assertGreaterEqual(bound.error, given.error)
        power = without.fit("energy", "mse", start=4.0, model="power")
        np.testing.assert_allclose(power([5.0]), power.intercept * 5.0**power.slope)
        for fault in ({"start": 19.9}, {"model": "cubic"}):
            with self.assertRaises(rb.InputError):
                without.fit("energy", "mse", **fault)

    def test_notebooks_show_results(self):
        page = self.result._repr_html_()
        self.assertIn("<svg", page)
        self.assertIn("0 of 600 trajectories", page)
        for thing in (rb.describe("chaotic"), rb.describe("hbvm"), self.study, rb.order(self.study.replace(
                {"ensemble.axes[0].count": 1, "output.trajectories": []}), [0.1, 0.05])):
            self.assertIn("<table>", thing._repr_html_())

    def test_figures(self):
        self.result.save("a.h5")
        other = rb.run(self.study.replace({"method.stages": 3}))
        figures = {
            "time": rb.plot.time(self.result, other, scale="semilog", fit=0.4, model="power"),
            "phase": rb.plot.phase("a.h5", components=("q[0]", "p[1]")),
            "histogram": rb.plot.histogram(self.result, of="q[2]"),
            "map": rb.plot.map(self.result, of="q[2]"),
        }
        self.assertEqual(figures["phase"].axes[0].get_xlabel(), "$x$")
        self.assertEqual(figures["phase"].axes[0].get_ylabel(), "$p_{y}$")
        self.assertEqual(figures["time"].axes[0].get_ylabel(), "mean squared error of energy")
        for suffix in (".png", ".svg", ".pdf"):
            rb.plot.save(figures["time"], f"figure{suffix}")
            rb.plot.save(figures["time"], f"figure{suffix}")  # replaces its own
            self.assertGreater(pathlib.Path(f"figure{suffix}").stat().st_size, 4000)
        with self.assertRaisesRegex(ValueError, "there are: count|no statistic"):
            rb.plot.time(self.result, statistic="rmse")
        # The program draws the same figure from the file.
        program("plot", "phase", "a.h5", "--components", "q[0],p[1]", "-o", "program.svg")
        self.assertIn("<!-- $p_{y}$ -->", pathlib.Path("program.svg").read_text())


class Imports(Case):
    def test_import_is_quick_and_needs_no_matplotlib(self):
        # The time of the processor, beside that of NumPy, so that a slow or busy machine changes nothing.
        script = ("import sys, time\nstart = time.process_time()\nimport numpy\nnumpys = time.process_time()\n"
                  "import rattleback as rb\nrb.Study, rb.run, rb.open\nprint(numpys - start, time.process_time() - numpys)\n"
                  "assert not {'matplotlib', 'h5py', 'xarray', 'sympy', 'distributed'} & set(sys.modules), sys.modules")
        runs = [subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split() for _ in range(7)]
        numpys, own = ([float(run[column]) for run in runs] for column in (0, 1))
        self.assertLess(min(own), min(numpys))

    def test_both_hdf5_live_together(self):
        """The HDF5 of the extension and that of h5py do not mix, in either order."""
        for order in ("import h5py\nimport rattleback as rb\nrb.run", "import rattleback as rb\nrb.run\nimport h5py"):
            script = f"""{order}
import numpy as np
result = rb.run(rb.Study.parse('''{PENDULUM}'''))
result.save("a.h5")
with h5py.File("a.h5") as file:
    assert np.array_equal(file["final/q"][:], result.final.q)
with h5py.File("b.h5", "w") as file:
    file["q"], file["v"] = result.final.q, result.final.v
try:
    h5py.File("missing.h5")
except OSError:
    pass
study = rb.Study.parse('''{PENDULUM}''')
study.update({{"ensemble": {{"file": "b.h5", "project": True}}}})
assert rb.run(study).failed == 0 and rb.diff("a.h5", result).identical
print(h5py.version.hdf5_version)
"""
            subprocess.run([sys.executable, "-c", script], check=True, cwd=self.folder)

    def test_hdf5_is_hidden(self):
        extension = rb._core.__file__ if hasattr(rb, "_core") else __import__("rattleback._core")._core.__file__
        symbols = subprocess.run(["nm", "-D", "--defined-only", extension], check=True, capture_output=True, text=True).stdout
        self.assertIn("PyInit__core", symbols)
        self.assertNotIn(" H5", symbols)
        needed = subprocess.run(["readelf", "-d", extension], check=True, capture_output=True, text=True).stdout
        self.assertNotIn("libhdf5", needed)


if __name__ == "__main__":
    unittest.main()
