#!/usr/bin/python3
"""Systems that a study gives by their Hamiltonian: the Lagrangian twin, solutions by DOP853 of the
equations written out, and what is refused.
hamiltonian_test.py PROGRAM"""
import pathlib, subprocess, sys, tempfile, unittest

import h5py
import numpy as np

PROGRAM = ""

STUDY = """
[system]
name = "{name}"
{system}
[method]
{method}
[time]
step = {step}
steps = {steps}
[[observable]]
name = "energy"
[output]
initial_state = true
final_state = true
"""
OSCILLATOR = """coordinates = ["x", "y"]
parameters = { m = 2.0, k = 1.5, b = 0.25 }
"""
BY_H = OSCILLATOR + """hamiltonian = "((p_x + b y)^2 + (p_y - b x)^2)/(2 m) + k (x^2 + 2 y^2)/2 + x^2 y/3"
initial = { q = [0.5, 0.25], v = [0.125, -0.25] }"""
BY_L = OSCILLATOR + """mass = "m"
vector_potential = ["-b y", "b x"]
potential = "k (x^2 + 2 y^2)/2 + x^2 y/3"
initial = { q = [0.5, 0.25], v = [0.125, -0.25] }"""
TOP = """group = "SO(3)"
parameters = { w = 0.5 }
hamiltonian = "p_w1^2/2 + p_w2^2/(2*1.25) + p_w3^2 + w R33"
initial = { q = [0.3, -0.4, 0.2], p = [0.75, 0.625, 0.5] }"""
TOP_BY_L = """group = "SO(3)"
parameters = { w = 0.5 }
inertia = [1, 1.25, 0.5]
potential = "w R33"
initial = { q = [0.3, -0.4, 0.2], v = [0.75, 0.5, 1] }"""
RELATIVISTIC = """coordinates = ["x", "y"]
hamiltonian = "sqrt(1 + p_x^2 + p_y^2) + x^2/2 + y^2 + x^2 y/4 + x sin(t)/4"
force = ["-p_x/8", "-v_y/8"]
observables = { angular = "x p_y - y p_x" }
initial = { q = [0.5, 0.25], p = [0.25, -0.5] }"""
# H = (x^2 + 1)(p^2 + 1)/2 and its Lagrangian
PRODUCT = """coordinates = ["x"]
hamiltonian = "(x^2 + 1) (p_x^2 + 1)/2"
initial = { q = [0.5], p = [-0.25] }"""
VORTICES = """coordinates = ["x[1..3]"]
momenta = ["y1", "y2", "y3"]
hamiltonian = "-(log((x1 - x2)^2 + (y1 - y2)^2) + log((x1 - x3)^2 + (y1 - y3)^2) + log((x2 - x3)^2 + (y2 - y3)^2))/2"
observables = { angular = "x1^2 + x2^2 + x3^2 + y1^2 + y2^2 + y3^2" }
conserved = ["angular"]
initial = { q = [0, 1, 0.25], p = [0, 0.25, 1] }"""


# States (q, p) at the time 2, by DOP853 at a tolerance of 3e-14 (two passes agree to 1e-13).
AT_2 = {RELATIVISTIC: [-0.045687278437733, -0.38238366152451, -0.72406023500819, 0.23455317239407],
        PRODUCT: [-0.49072486747075, -0.26527077291609],
        VORTICES: [-0.17548258757968, 0.74193119733195, 0.68355139024774, 0.39908027186716, -0.10141972441462, 0.95233945254746]}


class Hamiltonians(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def program(self, command, text, *arguments):
        (self.folder / "study.toml").write_text(text)
        return subprocess.run([PROGRAM, command, self.folder / "study.toml", *arguments], text=True, capture_output=True)

    def run_study(self, system, method, step, steps):
        result = self.folder / f"{len(list(self.folder.iterdir()))}.h5"
        done = self.program("run", STUDY.format(name="given", system=system, method=method, step=step, steps=steps), "-o", result, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        return h5py.File(result)

    def state(self, *study):
        result = self.run_study(*study)
        return np.concatenate([result["final/q"][0], result["final/p"][0]])

    def orders(self, system, methods, time=2.0):
        """The order of a method is that of its errors with n and 2n steps."""
        for method, order, steps in methods:
            errors = [np.abs(self.state(system, method, time / n, n) - AT_2[system]).max() for n in (steps, 2 * steps)]
            self.assertAlmostEqual(np.log2(errors[0] / errors[1]), order, delta=0.1, msg=f"{method}: {errors}")

    def test_a_quadratic_hamiltonian_is_the_mechanical_system(self):
        for by_h, by_l, method in ((BY_H, BY_L, 'name = "lobatto"\nstages = 3'), (BY_H, BY_L, 'name = "vrkmk"'),
                                   (TOP, TOP_BY_L, 'name = "lobatto"')):
            self.assertTrue((self.state(by_h, method, 0.125, 8) == self.state(by_l, method, 0.125, 8)).all(), method)
        without_field = [text.replace("b = 0.25", "b = 0.0").replace("p_x + b y", "p_x").replace("p_y - b x", "p_y")
                         .replace('vector_potential = ["-b y", "b x"]\n', "") for text in (BY_H, BY_L)]
        one, other = (self.state(text, 'name = "hbvm"\nk = 4\ns = 2', 0.125, 8) for text in without_field)
        self.assertTrue((one == other).all())

    def test_a_regular_hamiltonian_has_the_orders_of_its_lagrangian(self):
        self.orders(RELATIVISTIC, [('name = "lobatto"\nstages = 3', 4, 16), ('name = "lobatto"', 2, 64),
                                          ('name = "vrkmk"', 4, 16), ('name = "runge-kutta"\nbase = "rk4"', 4, 32),
                                          ('name = "variational-conversion"\nbase = "rk4"', 4, 32)])

    def test_a_hamiltonian_that_is_no_sum(self):
        self.orders(PRODUCT, [('name = "lobatto"\nstages = 3', 4, 16), ('name = "vrkmk"', 4, 16), ('name = "vcg"', 2, 32)])

    def test_a_degenerate_hamiltonian_runs_with_methods_that_need_it_alone(self):
        self.orders(VORTICES, [('name = "vrkmk"', 4, 32), ('name = "vrkmk"\nstages = 1', 2, 64), ('name = "vcg"', 2, 64)])
        result = self.run_study(VORTICES, 'name = "vrkmk"\n[[observable]]\nname = "angular"\n[[observable]]\nname = "lyapunov"\n'
                                '[[observable]]\nname = "moment"\nformula = "y1 + y2 + y3"', 0.125, 64)
        # linear and quadratic integrals of a symplectic method
        self.assertLess(np.abs(result["observables/moment/mean"][:] - 1.25).max(), 1e-13)
        self.assertLess(np.abs(result["observables/angular/mean"][:] - 2.125).max(), 1e-13)
        self.assertTrue(np.isfinite(result["observables/lyapunov/mean"][:]).all())
        done = self.program("check", STUDY.format(name="given", system=VORTICES, method='name = "lobatto"', step=0.1, steps=1))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"study.toml:\d+: method 'lobatto' cannot treat system 'given' .*degenerate.*use vrkmk, vrkmk-pade, vcg")

    def test_initial_velocities(self):
        """v gives p by v = H_p where H is regular."""
        with_v = RELATIVISTIC.replace("p = [0.25, -0.5]", "v = [0.3, -0.4]")
        result = self.run_study(with_v, 'name = "lobatto"', 0.125, 1)
        self.assertLess(np.abs(result["initial/p"][0] - np.array([.3, -.4]) / np.sqrt(.75)).max(), 1e-15)
        for change, message in ((VORTICES.replace("p = [", "v = ["), r"system.initial: the Hamiltonian is degenerate, so v does not .*give p"),
                                (VORTICES + "\n[ensemble.initial]\nq = [0, 1, 2]\nv = [0, 0, 0]", r"initial v is given, and does not determine"),
                                (RELATIVISTIC.replace("^2/2 +", "^2/2 + v_x +"), r"depends on the velocity 'v_x'; write it in the momenta"),
                                (RELATIVISTIC + '\npotential = "x"', r"system.potential: hamiltonian is given too"),
                                (VORTICES + '\nforce = ["y1", "0", "0"]', r"depends on the momentum 'y1', and velocities do not"),
                                (RELATIVISTIC + '\nvelocity_constraints = ["p_x"]', r"depends on the momentum 'p_x', and the Hamil.* not quadratic")):
            done = self.program("check", STUDY.format(name="given", system=change, method='name = "vrkmk"', step=0.1, steps=1))
            self.assertEqual(done.returncode, 2, change)
            self.assertRegex(done.stderr, message)

    def test_a_header_of_a_hamiltonian_gives_the_same_bits(self):
        for system in (RELATIVISTIC, VORTICES):
            text = STUDY.format(name="given", system=system, method='name = "vrkmk"', step=0.125, steps=8)
            header = self.program("describe", text, "--header")
            (self.folder / "own.hpp").write_text(header.stdout)
            by_formulas = self.state(system, 'name = "vrkmk"', 0.125, 8)
            done = self.program("run", '[system]\nfile = "own.hpp"\ntype = "formulas::GivenSystem<T>"\n' + text[text.index("[method]"):], "-o",
                                self.folder / "own.h5")
            self.assertEqual(done.returncode, 0, done.stderr)
            own = h5py.File(self.folder / "own.h5")
            self.assertTrue((np.concatenate([own["final/q"][0], own["final/p"][0]]) == by_formulas).all())


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
