"""What the tests of the package share. The program is in RATTLEBACK_PROGRAM, the package on PYTHONPATH."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RATTLEBACK_PROGRAM", "")

# A pendulum of many trajectories, whose kernel other tests use, too.
PENDULUM = """[study]
name = "pendulum"
[system]
name = "spherical-pendulum"
[method]
name = "holonomic-lobatto"
stages = 2
[time]
step = 0.1
end = 2.0
sample_every = 4
[ensemble]
axes = [ { name = "a", from = 0.9, to = 1.1, count = 600 } ]
[ensemble.initial]
q = ["sin(a)", 0, "-cos(a)"]
v = [0, 0.8, 0]
[[observable]]
name = "energy"
statistics = ["mse", "mean", "maxabs"]
quantiles = [0.5]
[output]
trajectories = [0, 5]
"""


def program(*words, check=True):
    """Runs the program."""
    return subprocess.run([PROGRAM, *map(str, words)], check=check, capture_output=True, text=True)


class Case(unittest.TestCase):
    """A test in a folder of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)
        return self.folder / name
