"""The sketch of the interface, line by line, and the same bits as the program."""

import hashlib
import shutil
import unittest

import numpy as np

import rattleback as rb
from common import ROOT, Case, program

SHORT = {"time.end": 20.0, "time.sample_every": 10}


class Sketch(Case):
    def test_runs_line_by_line(self):
        shutil.copy(ROOT / "examples/chaotic.toml", ".")
        study = rb.Study.load("chaotic.toml")
        study["method.stages"] = 3
        study.axes["theta"] = np.linspace(0, np.pi / 2, 1024)
        study.update(SHORT)
        result = rb.run(study, backend="auto", progress=True)
        t, mse, err = result.time, result["energy"].mse, result["energy"].mse_error
        self.assertEqual((t.shape, mse.shape, err.shape), ((21,), (21,), (21,)))
        self.assertTrue((err[1:] > 0).all() and not mse.flags.writeable)
        rate = result.fit("energy", "mse", start=10)
        self.assertTrue(rate.slope > 0 and rate.error > 0)
        q = result.final.q
        self.assertEqual(q.shape, (1024, 7))
        np.testing.assert_array_equal(np.from_dlpack(q), q)
        ds = result.to_xarray()
        np.testing.assert_array_equal(ds["energy_mse"], mse)
        result.save("chaotic.h5")
        same = rb.open("chaotic.h5")
        assert rb.diff(result, same).identical

        # The study runs in the program with the same bits.
        study.save("saved.toml")
        program("run", "saved.toml", "-o", "program.h5", "--quiet")
        self.assertTrue(rb.diff(result, "program.h5").identical)
        digest = hashlib.sha256()
        for path in sorted(result.paths):
            array = result[path]
            digest.update(f"{path} {array.dtype} {','.join(map(str, array.shape))}\n".encode() + array.tobytes())
        self.assertEqual({result.fingerprint, same.fingerprint, result._stored.fingerprint()}, {digest.hexdigest()})
        self.assertEqual(rb.cite(study), program("cite", "saved.toml").stdout)
        self.assertEqual(rb.cite(same), program("cite", "chaotic.h5").stdout)
        self.assertEqual(rb.cite("hbvm"), program("cite", "hbvm").stdout)
        self.assertEqual(rb.cite(), program("cite").stdout)

        study["ensemble.axes[0].values"] = [0.1, 0.7, 1.3]
        study["time.end"] = 1.0
        report = rb.order(study, steps=[0.1, 0.05, 0.025])
        self.assertAlmostEqual(report.slopes["q"], 4.0, delta=0.2)

        study.axes["theta"] = np.linspace(0, np.pi / 2, 1024)
        whole = rb.run(study)
        for part in rb.parts(study, 4, "chaotic.h5"):
            part.run()
        merged = rb.merge("chaotic.h5")
        self.assertTrue(rb.diff(whole, merged).identical)
        self.assertIn("chaotic", rb.list_systems())
        self.assertEqual(rb.describe("chaotic")["kind"], "system")
        for shown in (result.study, rb.describe("chaotic"), result):
            self.assertIn("chaotic", repr(shown))

    def test_states_are_borrowed(self):
        study = rb.Study(system="spherical-pendulum", method={"name": "holonomic-lobatto", "stages": 2},
                         time={"step": 0.1, "steps": 10}, observable="energy")
        angle = np.linspace(0.5, 1.0, 300)
        q0 = np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
        v0 = np.tile([0.0, 0.8, 0.0], (300, 1))
        study.states(q=q0, v=v0)
        self.assertEqual(study._problem.address("q"), q0.ctypes.data)
        self.assertEqual(study._problem.address("v"), v0.ctypes.data)
        result = rb.run(study)
        self.assertEqual(result.final.q.ctypes.data, result.final.q.ctypes.data)
        np.testing.assert_array_equal(result.initial.q, q0)
        self.assertIn("300", repr(result))
        self.assertIn("<table>", result._repr_html_())
        study.save("states.toml")
        program("run", "states.toml", "-o", "program.h5", "--quiet")
        self.assertTrue(rb.diff(result, "program.h5").identical)

    def test_systems_as_formulas(self):
        import sympy

        well = rb.System("double-well", coordinates="x y z", potential="b (x^2 - 1)^2 + y^2/2",
                         velocity_constraints=["v_z - y v_x"], parameters={"b": 0.25},
                         initial={"q": [-1, 0.5, 0], "v": [0.8, 0.6, 0.4]})
        x, y, b, v_x, v_z = sympy.symbols("x y b v_x v_z")
        same = rb.System("double-well", coordinates=sympy.symbols("x y z"), potential=b * (x**2 - 1)**2 + y**2 / 2,
                         velocity_constraints=[v_z - y * v_x], parameters={"b": 0.25},
                         initial={"q": [-1, 0.5, 0], "v": [0.8, 0.6, 0.4]})
        results = []
        for number, system in enumerate((well, same)):
            study = rb.Study(system=system, method={"name": "nonholonomic-lobatto", "stages": 2}, time={"step": 0.1, "steps": 20},
                             observable={"name": "energy", "statistics": ["maxabs"]})
            results.append(rb.run(study))
            study.save(f"{number}.toml")
        program("run", "0.toml", "--quiet")
        self.assertTrue(rb.diff(results[0], "0.h5").identical)
        np.testing.assert_allclose(results[1].final.q, results[0].final.q, rtol=1e-12)


class Formulas(unittest.TestCase):
    def test_print_what_sympy_means(self):
        import sympy

        from rattleback.formula import text_of_formula

        x, y = sympy.symbols("x y", positive=True)
        expressions = [
            -x / y, (x + y)**2 / (x - y), -(x - 1)**3, x**(-2), x**sympy.Rational(1, 3), 2 * x**-1 * y, sympy.sqrt(x) / 3,
            1 / sympy.sqrt(x + 1), sympy.exp(-x * y), sympy.E * x, sympy.pi - x / 2, sympy.atan2(y, x) + sympy.Abs(x - y),
            x**y, (-x)**3, -x**2 * y, sympy.Rational(-3, 7) * x, sympy.log(x) * sympy.tanh(y), 1.5 * x - 2.5e-17, x * (y - x) / (x * y + 1),
        ]
        functions = {"sqrt": np.sqrt, "exp": np.exp, "pi": np.pi, "atan2": np.arctan2, "atan": np.arctan, "abs": abs, "log": np.log, "tanh": np.tanh}
        for expression in expressions:
            text = text_of_formula(expression)
            for values in ((1.3, 0.7), (0.4, 2.9)):
                found = eval(text.replace("^", "**"), functions, dict(zip("xy", values)))
                self.assertAlmostEqual(found, complex(expression.subs(dict(zip((x, y), values)))).real, places=12, msg=text)

    def test_take_functions_of_the_time_and_matrices(self):
        import sympy
        from sympy.physics.mechanics import dynamicsymbols

        x, y = dynamicsymbols("x y")
        q, m = sympy.Matrix([x, y]), sympy.symbols("m")
        mass = sympy.Matrix([[m, sympy.cos(x)], [sympy.cos(x), 2]])
        for given, (v, w) in ({}, ("v_x", "v_y")), ({"velocities": "u w"}, ("u", "w")):
            system = rb.System("skate", coordinates=q, parameters={m: 2}, mass=mass, potential=x**2, force=-q.diff(),
                               velocity_constraints=sympy.Matrix([[x, -1]]) * q.diff(), **given).document()
            self.assertEqual(system["coordinates"], ["x", "y"])
            self.assertEqual(system["mass"], [["m", "cos(x)"], ["cos(x)", "2"]])
            self.assertEqual(system["force"], [f"-{v}", f"-{w}"])
            values = {"x": 0.3, v: 0.7, w: -0.2}
            self.assertAlmostEqual(eval(system["velocity_constraints"][0], {}, values), 0.3 * 0.7 + 0.2)
        with self.assertRaisesRegex(TypeError, r"force\[0\].*velocity v_x"):
            rb.System("second", coordinates=[x], force=[x.diff(dynamicsymbols._t, 2)])

    def test_refuse_what_formulas_cannot_write(self):
        import sympy

        from rattleback.formula import text_of_formula

        x = sympy.symbols("x")
        for expression in (sympy.gamma(x), sympy.Derivative(sympy.Function("f")(x), x), sympy.Piecewise((x, x > 0), (0, True)), True):
            with self.assertRaisesRegex(TypeError, "potential"):
                text_of_formula(expression, "potential")


if __name__ == "__main__":
    unittest.main()
