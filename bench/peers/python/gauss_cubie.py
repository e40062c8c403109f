"""CuBIE: Henon-Heiles by its Gauss methods (implicit midpoint, or two stages) with fixed steps in double precision, on a GPU.
Its Newton-Krylov iteration is asked for 1e-13; the seconds are those of a solve whose results stay on the device."""

import importlib.util
import os
import tempfile

import numpy as np

from problems import answer, arguments, skip, timed

task = arguments(["midpoint", "gauss2"], adaptive=False,
                 systems=("henon-heiles",))
task.device = "gpu"
if task.system != "henon-heiles":
    skip(task, "CuBIE", "Henon-Heiles only")
    raise SystemExit
if importlib.util.find_spec("cubie") is None:
    skip(task, "CuBIE", "cubie is not installed")
    raise SystemExit
os.environ.setdefault("CUBIE_CACHE_DIR", tempfile.mkdtemp())
from importlib.metadata import version  # noqa: E402

try:
    import cubie
    import numba.cuda as cuda
    if not cuda.is_available():
        raise RuntimeError("no CUDA device")
except Exception as error:
    skip(task, "CuBIE", f"{type(error).__name__}: {str(error).splitlines()[0]}")
    raise SystemExit

system = cubie.create_ODE_system(["dx = u", "dy = v", "du = -x - 2*x*y", "dv = y*y - y - x*x"],
                                 states={"x": 0.0, "y": 0.0, "u": 0.0, "v": 0.0}, precision=np.float64)
solver = cubie.Solver(system, algorithm={"midpoint": "implicit_midpoint", "gauss2": "firk_gauss_legendre_2"}[task.method],
                      dt=task.step, step_controller="fixed", newton_atol=1e-13, newton_rtol=1e-13,
                      output_types=["state"])
initial = dict(zip("xyuv", task.problem.initial(task.count)))
solver.solve(initial, duration=task.step)  # compiles


def solve():
    solver.solve(initial, duration=task.end, on_device=True)
    cuda.synchronize()


solve()
_, seconds = timed(solve)
result = solver.solve(initial, duration=task.end).as_numpy
rows = {name: row for row, name in result["time_domain_legend"].items()}
final = [result["time_domain_array"][-1, rows[name]] for name in "xyuv"]
answer(task, "CuBIE", version("cubie"), final, seconds)
