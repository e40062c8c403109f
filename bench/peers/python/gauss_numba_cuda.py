"""Numba CUDA: what one writes by hand in Python for a GPU. One thread per trajectory integrates Henon-Heiles by a Gauss method
(implicit midpoint, or two stages), with functional iteration to round-off, the state in registers."""

import math
import os

os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"
import numba  # noqa: E402  (reads its settings when imported)
import numpy as np  # noqa: E402
from numba import cuda  # noqa: E402

from problems import answer, arguments, skip, timed  # noqa: E402

task = arguments(["midpoint", "gauss2"], adaptive=False,
                 systems=("henon-heiles",))
task.device = "gpu"
if task.system != "henon-heiles":
    skip(task, "Numba CUDA", "Henon-Heiles only")
    raise SystemExit
if not cuda.is_available():
    skip(task, "Numba CUDA", "Numba finds no CUDA device")
    raise SystemExit

third = math.sqrt(3) / 6
A12, A21 = 0.25 - third, 0.25 + third  # and a_ii = 1/4, b = 1/2


@cuda.jit(device=True)
def force(x, y):
    return -x - 2.0 * x * y, y * y - y - x * x


@cuda.jit(fastmath=False)
def midpoint(state, steps, h):
    k = cuda.grid(1)
    if k >= state.shape[1]:
        return
    x, y, u, v = state[0, k], state[1, k], state[2, k], state[3, k]
    for _ in range(steps):
        fx, fy = force(x, y)
        before = math.inf
        small = 1e-16 * (max(abs(x), abs(y)) + h * max(abs(u), abs(v)))
        for _ in range(50):  # on the force at the middle; q_mid = q + h/2 v + h^2/4 f
            gx, gy = force(x + 0.5 * h * (u + 0.5 * h * fx), y + 0.5 * h * (v + 0.5 * h * fy))
            change = h * h * max(abs(gx - fx), abs(gy - fy))
            fx, fy = gx, gy
            if change <= small or (change >= before and change <= 1e5 * small):
                break
            before = change
        x += h * (u + 0.5 * h * fx)
        y += h * (v + 0.5 * h * fy)
        u += h * fx
        v += h * fy
    state[0, k], state[1, k], state[2, k], state[3, k] = x, y, u, v


@cuda.jit(fastmath=False)
def gauss2(state, steps, h):
    k = cuda.grid(1)
    if k >= state.shape[1]:
        return
    # A and A^2 of the two stages: Q_i = q + c_i h v + h^2 sum_j (A^2)_ij F_j
    c1, c2 = 0.25 + A12, 0.25 + A21
    s11, s12 = 0.0625 + A12 * A21, 0.5 * A12
    s21, s22 = 0.5 * A21, 0.0625 + A12 * A21
    x, y, u, v = state[0, k], state[1, k], state[2, k], state[3, k]
    for _ in range(steps):
        fx1, fy1 = force(x, y)
        fx2, fy2 = fx1, fy1
        before = math.inf
        small = 1e-16 * (max(abs(x), abs(y)) + h * max(abs(u), abs(v)))
        for _ in range(50):
            gx1, gy1 = force(x + h * (c1 * u + h * (s11 * fx1 + s12 * fx2)), y + h * (c1 * v + h * (s11 * fy1 + s12 * fy2)))
            gx2, gy2 = force(x + h * (c2 * u + h * (s21 * fx1 + s22 * fx2)), y + h * (c2 * v + h * (s21 * fy1 + s22 * fy2)))
            change = h * h * max(max(abs(gx1 - fx1), abs(gy1 - fy1)), max(abs(gx2 - fx2), abs(gy2 - fy2)))
            fx1, fy1, fx2, fy2 = gx1, gy1, gx2, gy2
            if change <= small or (change >= before and change <= 1e5 * small):
                break
            before = change
        x += h * (u + 0.5 * h * ((1.0 - c1) * fx1 + (1.0 - c2) * fx2))
        y += h * (v + 0.5 * h * ((1.0 - c1) * fy1 + (1.0 - c2) * fy2))
        u += 0.5 * h * (fx1 + fx2)
        v += 0.5 * h * (fy1 + fy2)
    state[0, k], state[1, k], state[2, k], state[3, k] = x, y, u, v


kernel = {"midpoint": midpoint, "gauss2": gauss2}[task.method]
threads = 128
blocks = (task.count + threads - 1) // threads
kernel[blocks, threads](cuda.to_device(task.problem.initial(task.count)), 1, task.step)  # compiles
state = cuda.to_device(task.problem.initial(task.count))
cuda.synchronize()


def run():
    kernel[blocks, threads](state, task.steps, task.step)
    cuda.synchronize()


_, seconds = timed(run)
try:
    from importlib.metadata import version
    release = version("numba-cuda")
except ImportError:
    release = numba.__version__
answer(task, "Numba CUDA", release, np.asarray(state.copy_to_host()), seconds)
