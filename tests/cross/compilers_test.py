#!/usr/bin/env python3
"""g++ and clang++ compile kernels of every kind, and give the same bits.  compilers_test.py PROGRAM

One small study for each family of methods, each way to state a system, and each further part of a kernel. Both compilers make its
kernels, and the results have the same fingerprint. Kernels stay in the cache of the tests, so later runs compile nothing. Where a
compiler is not installed the test is skipped."""
import os, pathlib, re, shutil, subprocess, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ""
COMPILERS = ["g++", "clang++"]

SKEW = """name = "skew"
coordinates = ["x", "y", "z"]
lagrangian = "(v_x^2 + v_y^2 + v_z^2)/2 + 0.1 v_x^4 + 0.2 v_y^4 + 0.3 x v_y - z"
constraints = ["x^2 + 2 y^2 + z^2 - 1"]
initial = { q = [0.6, 0, -0.8], v = [0.4, 0.7, 0.3] }"""
SKATE = """name = "skate"
coordinates = ["x", "y", "phi"]
mass = [1, 1, "1 + sin(phi)^2"]
potential = "-x"
velocity_constraints = ["sin(phi) v_x - cos(phi) v_y"]
initial = { q = [0, 0, 0], v = [0, 0, 1] }"""
BODY = """name = "body"
group = "SO(3)"
inertia = [1.0, 2.0, 3.0]
potential = "R33"
initial = { q = [1, 0, 0, 0, 1, 0, 0, 0, 1], v = [0.2, 1.0, 0.1] }"""
FUNCTIONS = """name = "functions"
coordinates = ["x", "y"]
potential = "sqrt(1 + x^2) + exp(-y^2) + log(2 + cos(x y)) + atan2(x, 2 + y^2) + tanh(x)/3 + (1 + x^2)^0.3"
initial = { q = [0.5, -0.3], v = [0.1, 0.2] }"""
CHAOTIC, PENDULUM, HENON, TOP = (f'name = "{name}"' for name in ("chaotic", "spherical-pendulum", "henon-heiles", "heavy-top"))
DIRECTORS = 'name = "heavy-top-directors"'
HEADER = f"file = '{ROOT}/examples/cpp/double_well.hpp'\ntype = \"example::DoubleWell<T>\""
LYAPUNOV = '[[observable]]\nname = "lyapunov"'
SECTION = '[[section]]\nsurface = "x - 0.1*sin(y)"\ndirection = "both"'
FORMULA = '[[observable]]\nname = "r"\nformula = "sqrt(x^2 + y^2) + asin(tanh(v[0])) + max(x, y, 0.1) + rint(8*x) + (x > y ? x : cosh(y))"'
# name: (system, method, further tables)
STUDIES = {
    "nonholonomic Lobatto pair": (CHAOTIC, 'name = "nonholonomic-lobatto"\nstages = 3', ""),
    "on a group": ('name = "vertical-disc"', 'name = "nonholonomic-lobatto"', ""),
    "holonomic Lobatto pair, formulas": (SKEW, 'name = "holonomic-lobatto"\nstages = 3', ""),
    "varying mass, velocity constraint": (SKATE, 'name = "nonholonomic-lobatto"\nstages = 2', ""),
    "SPARK": (CHAOTIC, 'name = "nonholonomic-spark"\nstages = 3', LYAPUNOV),
    "SPARK, varying mass": (SKATE, 'name = "nonholonomic-spark"\nstages = 2', SECTION),
    "nonholonomic leapfrog": (CHAOTIC, 'name = "nonholonomic-leapfrog"\ncomposition = "suzuki4"', ""),
    "discrete Lagrange-d'Alembert": (CHAOTIC, 'name = "nonholonomic-dla"\nconstraint = "trap"', ""),
    "discrete Lagrange-d'Alembert, varying mass": (SKATE, 'name = "nonholonomic-dla"', ""),
    "discrete Lagrange-d'Alembert on a group": ('name = "suslov"', 'name = "nonholonomic-dla"', LYAPUNOV),
    "turns of momenta": (CHAOTIC, 'name = "nonholonomic-energy"\ncomposition = "suzuki4"', LYAPUNOV),
    "composition": (HENON, 'name = "lobatto"\nstages = 2\ncomposition = "suzuki4"', SECTION + "\n" + FORMULA),
    "tangent": (HENON, 'name = "lobatto"\nstages = 2', LYAPUNOV),
    "functions": (FUNCTIONS, 'name = "lobatto"\nstages = 3', FORMULA),
    "formulas on a group": (BODY, 'name = "lobatto"\nstages = 2', ""),
    "header": (HEADER, 'name = "nonholonomic-lobatto"\nstages = 2', ""),
    "line integrals": (PENDULUM, 'name = "hbvm"\nk = 3\ns = 2', ""),
    "Runge-Kutta": (PENDULUM, 'name = "runge-kutta"', ""),
    "conversion": (SKEW, 'name = "variational-conversion"\nstate = "node"', ""),
    "conversion with a tangent": (PENDULUM, 'name = "variational-conversion"', LYAPUNOV),
    "Munthe-Kaas": (TOP, 'name = "vrkmk"', ""),
    "Crouch-Grossman": (TOP, 'name = "vcg"', ""),
    "GGL": (PENDULUM, 'name = "ggl-vi-s"', ""),
    "condensed GGL": (DIRECTORS, 'name = "ggl-vi-a"', ""),
    "energy and momentum": (DIRECTORS, 'name = "energy-momentum"', ""),
    "generalized-alpha": (CHAOTIC, 'name = "generalized-alpha"', LYAPUNOV),
    "generalized-alpha, holonomic": (PENDULUM, 'name = "generalized-alpha"', SECTION),
    "Bobenko and Suris": (DIRECTORS, 'name = "bobenko-suris"', ""),
}


class Compilers(unittest.TestCase):
    maxDiff = None

    def fingerprint(self, folder, study, compiler):
        done = subprocess.run([PROGRAM, "run", study, "--backend", "cpu:scalar", "-o", folder / f"{study.stem}-{compiler}.h5"],
                              env={**os.environ, "RATTLEBACK_CXX": compiler}, capture_output=True, text=True, timeout=600)
        found = re.search(r"^fingerprint: (\w+)", done.stdout + done.stderr, re.M)
        return found[1] if found and done.returncode == 0 else done.stderr

    def test_give_the_same_bits(self):
        for compiler in COMPILERS:
            if not shutil.which(compiler):
                self.skipTest(f"{compiler} is not installed; tools/setup installs it")
        with tempfile.TemporaryDirectory() as folder:
            for number, (name, (system, method, more)) in enumerate(STUDIES.items()):
                with self.subTest(name):
                    study = pathlib.Path(folder, f"s{number}.toml")
                    study.write_text(f"[system]\n{system}\n[method]\n{method}\n[time]\nstep = 0.01\nsteps = 5\n{more}\n")
                    first, *others = (self.fingerprint(pathlib.Path(folder), study, compiler) for compiler in COMPILERS)
                    self.assertRegex(first, r"^[0-9a-f]{64}$")
                    self.assertEqual([first] * len(others), others)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
