"""Studies: keys, messages, arrays, pickling."""

import copy
import inspect
import json
import pickle
import unittest
import warnings

import numpy as np

import rattleback as rb
from common import PENDULUM, Case, program


class Studies(Case):
    def message(self, action):
        with self.assertRaises(rb.InputError) as caught:
            action()
        self.assertIsInstance(caught.exception, ValueError)
        return str(caught.exception)

    def test_messages_are_those_of_the_program(self):
        self.write("bad.toml", PENDULUM.replace("stages = 2", "stages = 99"))
        told = program("check", "bad.toml", check=False).stderr
        self.assertEqual(f"rattleback: {self.message(lambda: rb.Study.load('bad.toml'))}\n", told)
        self.assertTrue(told.startswith("rattleback: bad.toml:7: method.stages = 99 is out of range"))
        study = rb.Study.parse(PENDULUM)
        without_place = told.split(": ", 2)[2].strip()
        self.assertEqual(self.message(lambda: study.__setitem__("method.stages", 99)), without_place)
        self.assertEqual(study["method.stages"], 2)  # the study stays as it was
        self.assertIn("did you mean 'stages'", self.message(lambda: study.__setitem__("method.stagse", 2)))
        self.assertIn("did you mean 'chaotic'", self.message(lambda: rb.describe("chaotik")))
        self.assertIn("cannot be read", self.message(lambda: rb.open("missing.h5")))
        self.assertIn("is not a key", self.message(lambda: study.__setitem__("method..stages", 2)))
        self.assertIn("cannot be written", self.message(lambda: study.save("no/study.toml")))

    def test_keywords_are_the_tables_of_a_study(self):
        tables = {key.split(".")[0].split("[")[0] for key in rb.list_keys()}
        self.assertEqual(tables - set(inspect.signature(rb.Study).parameters), {"study"})  # which has the name alone
        study = rb.Study({"name": "bar", "gravity": [0, -1]}, "holonomic-lobatto", {"step": 0.1, "steps": 1},
                         body={"name": "bar", "mass": 1, "inertia": 1, "position": [1, 0]},
                         joint=[{"name": "pin", "type": "revolute", "between": ["ground", "bar"], "at": [0, 0]}],
                         derivatives={"by": ["q0[0]"]})
        self.assertEqual((study["derivatives.by"], rb.describe(study)["instances"][0]["coordinates"]),
                         (["q0[0]"], ["bar_x", "bar_y", "bar_theta"]))

    def test_a_system_names_its_multipliers(self):
        rod = rb.System("rod", coordinates="x y", constraints=["x^2 + y^2 - 1"], initial={"q": [1, 0], "v": [0, 0]},
                        multipliers=[{"name": "pull", "unit": "N/m", "text": "half the pull over the length"}])
        study = rb.Study(rod, "holonomic-lobatto", {"step": 0.1, "steps": 1}, observable="pull")
        told = rb.describe(study)
        self.assertEqual(told["instances"][0]["multipliers"][0]["constraint"], "x^2 + y^2 - 1")
        self.assertIn("multiplier lambda[0] pull half the pull over the length [N/m]", str(told))
        self.assertIn("one for each constraint", self.message(lambda: study.__setitem__("system.multipliers", ["a", "b"])))
        self.assertIn("names an observable of 'rod'", self.message(lambda: study.update(
            {"observable": [{"name": "pull", "formula": "x"}]})))

    def test_keys(self):
        study = rb.Study.parse(PENDULUM)
        self.assertEqual(study["ensemble.axes[0].count"], 600)
        self.assertEqual(study["time.samples"] if "samples" in study["time"] else study["time.sample_every"], 4)
        study["time.steps"] = 40  # takes the place of the end
        self.assertEqual(study["time.end"], 4.0)
        other = study.replace({"method": {"name": "hbvm", "k": 4, "s": 2}})
        self.assertEqual((study["method.name"], other["method.name"]), ("holonomic-lobatto", "hbvm"))
        del study["observable[0].quantiles"]
        with self.assertRaises(KeyError):
            study["observable[0].quantiles"]
        with self.assertRaises(KeyError):
            del study["nothing"]
        self.assertEqual(list(study.axes), ["a"])
        study.update({"output.trajectories": None, "nothing.at.all": None})
        study.axes["a"] = {"from": 0.9, "to": 1.0, "count": 5}
        self.assertEqual(study.trajectories, 5)
        study.axes["b"] = [1, 2, 3]
        self.assertEqual(study.trajectories, 15)
        np.testing.assert_array_equal(study.axes["b"], [1.0, 2.0, 3.0])
        del study.axes["b"]
        self.assertIn("one-dimensional", self.message(lambda: study.axes.__setitem__("b", np.ones((2, 2)))))
        self.assertIn("no form in a study", str(self.raises(TypeError, lambda: study.__setitem__("time.end", 1j))))

    def raises(self, kind, action):
        with self.assertRaises(kind) as caught:
            action()
        return caught.exception

    def test_a_change_has_the_consequences_of_set(self):
        """Keys of a study get values as with --set: what follows for other keys is the same."""
        self.write("study.toml", PENDULUM.replace("step = 0.1", 'step = "h"').replace(
            "axes = [", 'axes = [ { name = "h", values = [0.1, 0.05] },').replace("sample_every = 4", "samples = 4"))
        rows = [({"time.step": 0.1}, ["h"]), ({"time.step": "h"}, None), ({"time.step": 0.1, "ensemble.unused": ["h"]}, ["h"]),
                ({"method.name": "runge-kutta"}, None), ({"time.sample_every": 5, "time.step": 0.1}, ["h"])]
        for values, unused in rows:
            with self.subTest(values):
                study = rb.Study.load("study.toml")
                study.update(values)
                words = [word for key, value in values.items() for word in
                         ("--set", f"{key}={json.dumps(value)}")]
                told = rb.Study.parse(program("check", "study.toml", "--kernels", "builtin", *words).stdout)
                self.assertEqual(study.toml, told.toml)
                self.assertEqual(study["ensemble"].get("unused"), unused)
        self.assertIn("time.step", rb.list_keys())
        masked = np.ma.masked_array([0.5, 1.0], mask=[True, False])
        self.assertIn("axis h has masked numbers", self.message(lambda: study.axes.__setitem__("h", masked)))

    def test_a_study_is_text(self):
        study = rb.Study.parse(PENDULUM)
        for twin in (copy.copy(study), copy.deepcopy(study), pickle.loads(pickle.dumps(study)), rb.Study.parse(study.toml)):
            self.assertEqual(twin, study)
        twin["time.end"] = 4.0
        self.assertNotEqual(twin, study)
        study.save("saved.toml")
        self.assertEqual(rb.Study.load("saved.toml"), study)
        self.assertIn("spherical-pendulum", study._repr_html_())
        self.assertIn("600", repr(study))

    def test_states(self):
        study = rb.Study.parse(PENDULUM.replace("trajectories = [0, 5]", ""))
        q = np.tile([0.0, 0.0, -1.0], (5, 1))
        v = np.zeros((5, 3))
        for arrays, words in (
            ({"q": q.astype("f4"), "v": v}, "must be a float64 array of shape (N, n) (got dtype float32)"),
            ({"q": q[0], "v": v}, "(got shape (3,))"),
            ({"q": q[:4], "v": v}, "q has 4, v has 5"),
            ({"q": q[:, :2].copy(), "v": v}, "the array has 2 components of q, 'spherical-pendulum' needs 3"),
            ({"q": "text", "v": v}, "got str"),
            ({"v": v}, "there is no array q"),
            ({"q": q}, "give v or p"),
            ({}, "there is no array q"),
            ({"q": q * np.nan, "v": v}, "is not finite in row 0"),
            ({"q": np.ma.masked_less(q, 0.0), "v": v}, "q has masked numbers"),
            ({"q": np.empty((0, 3)), "v": v}, "has no rows"),
        ):
            with self.subTest(words):
                self.assertIn(words, self.message(lambda: study.states(**arrays)))
        resolve = rb._core.resolve  # the extension itself also refuses what it cannot read
        for arrays, words in (({"q": np.array(1.0)}, "q' has 0 dimensions"), ({"q": q, "a": np.array(1.0)}, "a' has 0 dimensions"),
                              ({"q": q, "a": q}, "a' has 2 dimensions"), ({"q": np.zeros((2, 2, 2))}, "q' has 3 dimensions"),
                              ({"q": q, "v": v[:4]}, "has 4 rows where others have 5")):
            with self.subTest(words):
                self.assertIn(words, self.message(lambda: resolve(PENDULUM, "study", "", arrays)))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(2):
                study.states(q=np.asfortranarray(q), v=v)
        self.assertEqual(["q is not contiguous" in str(w.message) for w in seen], [True])
        study.states(q=q.tolist(), v=v.tolist())
        self.assertEqual(study.trajectories, 5)
        study.states(q=q, v=v, scale=np.arange(1.0, 6.0))
        study["system.parameters"] = {"mass": "scale"}
        result = rb.run(study)
        np.testing.assert_array_equal(result.axes["scale"], np.arange(1.0, 6.0))
        twin = pickle.loads(pickle.dumps(study))
        self.assertTrue(rb.diff(rb.run(twin), result).identical)

    def test_formulas_in_a_file(self):
        self.write("well.toml", 'name = "well"\ncoordinates = ["x"]\npotential = "x^4/4"\ninitial = { q = [1], v = [0] }\n')
        self.write("study.toml", '[system]\nfile = "well.toml"\n[method]\nname = "lobatto"\nstages = 2\n[time]\nstep = 0.1\nsteps = 2\n')
        study = rb.Study.load("study.toml")
        study["time.steps"] = 4
        self.assertEqual(study["system.name"], "well")

    def test_a_new_parameter_is_named_somewhere(self):
        well = rb.System("well", coordinates="x y", potential="b x^4/4 + sum(i in 1..2: k[i]) y^2", parameters={"b": 1, "k1": 2, "k2": 3},
                         initial={"q": [1, 0], "v": [0, 0]})
        study = rb.Study(system=well, method="lobatto", time={"step": 0.1, "steps": 2})
        self.assertIn("nothing uses a parameter 'bb' (known: b, k1, k2); did you mean 'b'?",
                      self.message(lambda: study.update({"system.parameters.bb": 2})))
        study.update({"system.parameters": {"k3": 1, "c": 2}, "system.potential": "c x^2 + sum(i in 1..3: k[i]) y^2"})
        study.update({"system.parameters.rate": 2, "time.step": "rate/10"})
        study.save("rates.toml")
        self.assertIn("--set system.parameters.brate: nothing uses a parameter 'brate' (known: b, c, k1, k2, k3, rate); did you mean",
                      program("check", "rates.toml", "--set", "system.parameters.brate=1", check=False).stderr)


if __name__ == "__main__":
    unittest.main()
