#!/usr/bin/env python3
"""What the Python package costs beside the program: import, runs, arrays in and out. Prints the tables of bench/results/python.md.

    PYTHONPATH=build/release/python build/python/bin/python bench/python/overheads.py build/release/rattleback
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import rattleback as rb

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/python"))
from common import PENDULUM  # noqa: E402

STUDY = PENDULUM.replace("count = 600", "count = 256")


def spread(seconds):
    low, middle, high = statistics.quantiles(seconds, n=4)
    return f"{1e3 * middle:.2f} ms ({1e3 * low:.2f} to {1e3 * high:.2f})"


def timed(action, repetitions):
    found = []
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return found


def imports(names, before=""):
    script = f"import time\n{before}\nstart = time.perf_counter()\nimport rattleback as rb\n{names}\nprint(time.perf_counter() - start)"
    return [float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout) for _ in range(15)]


def main():
    program = os.path.abspath(sys.argv[1])
    print("median (quartiles)\n")
    print("| import | |\n| --- | --- |")
    print(f"| `import rattleback` with `Study`, `run`, `open`, after numpy | {spread(imports('rb.Study, rb.run, rb.open', 'import numpy'))} |")
    print(f"| the same with numpy | {spread(imports('rb.Study, rb.run, rb.open'))} |")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        open("pendulum.toml", "w").write(STUDY)
        study = rb.Study.load("pendulum.toml")
        command = [program, "run", "pendulum.toml", "-o", "program.h5", "--quiet", "--json"]

        def by_program():
            return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["total_seconds"]

        by_program(), rb.run(study, "package.h5")
        program_seconds, file_seconds, memory_seconds = [], [], []
        for _ in range(40):  # in turns, so that all see the same load of the machine
            program_seconds.append(by_program())
            file_seconds += timed(lambda: rb.run(study, "package.h5"), 1)
            memory_seconds += timed(lambda: rb.run(study), 1)
        difference = 1e3 * (statistics.median(file_seconds) - statistics.median(program_seconds))
        print("\n| 256 trajectories, 20 steps | |\n| --- | --- |")
        print(f"| the program, into a file, without the start of the process (`total_seconds`) | {spread(program_seconds)} |")
        print(f"| `rb.run` into a file | {spread(file_seconds)} |")
        print(f"| `rb.run` in memory | {spread(memory_seconds)} |")
        print(f"| `rb.run` into a file over the program | {difference:+.2f} ms |")
        print(f"| `study[\"method.stages\"] = 2`, which checks the study | {spread(timed(lambda: study.__setitem__('method.stages', 2), 50))} |")

        rows = 1_000_000
        angle = np.linspace(0.5, 1.0, rows)
        q = np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
        v = np.tile([0.0, 0.8, 0.0], (rows, 1))
        study["output.trajectories"] = []
        print("\n| 10^6 trajectories, 48 MB of states | |\n| --- | --- |")
        print(f"| `study.states(q=q, v=v)`: checks the numbers, copies nothing | {spread(timed(lambda: study.states(q=q, v=v), 9))} |")
        print(f"| a copy of both arrays by NumPy | {spread(timed(lambda: (q.copy(), v.copy()), 9))} |")
        assert study._problem.address("q") == q.ctypes.data
        result = rb.run(study.replace({"time.end": 0.1}))
        print(f"| `result.final.q` | {spread(timed(lambda: result.final.q, 99))} |")
        print(f"| `result.to_xarray()` | {spread(timed(result.to_xarray, 9))} |")


if __name__ == "__main__":
    main()
