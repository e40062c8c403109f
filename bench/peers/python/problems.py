"""The problems that all peers solve, what they are asked on the command line, and what they answer.

A problem is an ODE y' = ode(y) of y = (q, v), its energy, and an ensemble of initial states, given by an angle theta. ode works
on anything that can be indexed and calculated with: rows of NumPy arrays, numbers under Numba and JAX, expressions of heyoka;
problem.ode(M) takes sin and cos from the module M. ../cpp/problems.hpp has the same in C++; `study` is the same for rattleback.

    PEER.py --system chaotic --method NAME (--step H | --tolerance TOL) [--end 1000] [--count 64]

prints one line of JSON: the seconds of the integration, compilation and warm-up excluded, and the largest energy error of the
ensemble at the end.
"""

import argparse
import json
import time
from types import SimpleNamespace

import numpy as np


def chaotic_ode(y):
    """Chaotic nonholonomic system, m = 3, constraint vx + z.vz = 0, with the multiplier from its derivative in time."""
    fx = -y[0]
    fy1, fy2, fy3 = -y[1] * (1 + y[4] * y[4]), -y[2] * (1 + y[5] * y[5]), -y[3] * (1 + y[6] * y[6])
    fz1 = -y[4] * (1 + y[1] * y[1] + y[5] * y[5])
    fz2 = -y[5] * (1 + y[2] * y[2] + y[4] * y[4])
    fz3 = -y[6] * (1 + y[3] * y[3])
    phi = fx + y[4] * fz1 + y[5] * fz2 + y[6] * fz3 + y[11] * y[11] + y[12] * y[12] + y[13] * y[13]
    multiplier = -phi / (1 + y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
    return (y[7], y[8], y[9], y[10], y[11], y[12], y[13],
            fx + multiplier, fy1, fy2, fy3, fz1 + multiplier * y[4], fz2 + multiplier * y[5], fz3 + multiplier * y[6])


def chaotic_energy(y):
    squares = sum(y[i] * y[i] for i in range(14))
    return 0.5 * (squares + y[4] ** 2 * y[5] ** 2 + y[1] ** 2 * y[4] ** 2 + y[2] ** 2 * y[5] ** 2 + y[3] ** 2 * y[6] ** 2)


def chaotic_initial(theta):
    one, zero = np.ones_like(theta), np.zeros_like(theta)
    return np.stack([np.cos(theta), 0.6 * one, 0.4 * one, 0.2 * one, one, one, one,
                     zero, np.sin(theta), zero, zero, zero, zero, zero])


def henon_heiles_ode(y):
    return y[2], y[3], -y[0] - 2 * y[0] * y[1], y[1] * y[1] - y[1] - y[0] * y[0]


def henon_heiles_energy(y):
    squares = y[0] ** 2 + y[1] ** 2 + y[2] ** 2 + y[3] ** 2
    return 0.5 * squares + y[0] ** 2 * y[1] - y[1] ** 3 / 3


def henon_heiles_initial(theta):
    return np.stack([0.15 * np.cos(theta), 0.15 * np.sin(theta), 0.42 * np.cos(3 * theta), 0.42 * np.sin(3 * theta)])


def double_pendulum_ode(module):
    """Two rods of length 1 with masses 1 at their ends, g = 1; the angles from the downward vertical."""
    sin, cos = module.sin, module.cos

    def ode(y):
        s, c = sin(y[0] - y[1]), cos(y[0] - y[1])
        first, second = -2 * sin(y[0]) - s * y[3] * y[3], -sin(y[1]) + s * y[2] * y[2]
        inverse = 1 / (2 - c * c)
        return y[2], y[3], inverse * (first - c * second), inverse * (2 * second - c * first)
    return ode


def double_pendulum_energy(y):
    return (y[2] ** 2 + np.cos(y[0] - y[1]) * y[2] * y[3] + 0.5 * y[3] ** 2 - 2 * np.cos(y[0]) - np.cos(y[1]))


def double_pendulum_initial(theta):
    zero = np.zeros_like(theta)
    return np.stack([0.8 * np.cos(theta), 0.8 * np.sin(theta), zero, zero])


def double_spherical_pendulum_ode(y):
    """The same in space, positions in R^6, with the multipliers from the second derivatives of the constraints:
    x" = l1 x - l2 d - g and d" = 2 l2 d - l1 x with the rods x and d fulfil x.x" + |x'|^2 = 0 and d.d" + |d'|^2 = 0."""
    x1, x2, x3, d1, d2, d3 = y[0], y[1], y[2], y[3] - y[0], y[4] - y[1], y[5] - y[2]
    w1, w2, w3 = y[9] - y[6], y[10] - y[7], y[11] - y[8]
    xx, xd, dd = x1 * x1 + x2 * x2 + x3 * x3, x1 * d1 + x2 * d2 + x3 * d3, d1 * d1 + d2 * d2 + d3 * d3
    first = x3 - (y[6] * y[6] + y[7] * y[7] + y[8] * y[8])
    second = -(w1 * w1 + w2 * w2 + w3 * w3)
    inverse = 1 / (2 * xx * dd - xd * xd)
    l1, l2 = inverse * (2 * dd * first + xd * second), inverse * (xd * first + xx * second)
    return (y[6], y[7], y[8], y[9], y[10], y[11],
            l1 * x1 - l2 * d1, l1 * x2 - l2 * d2, l1 * x3 - l2 * d3 - 1, l2 * d1, l2 * d2, l2 * d3 - 1)


def double_spherical_pendulum_energy(y):
    return 0.5 * sum(y[i] * y[i] for i in range(6, 12)) + y[2] + y[5]


def double_spherical_pendulum_initial(theta):
    one, zero, a, b = np.ones_like(theta), np.zeros_like(theta), 0.5 * np.cos(theta), 0.5 * np.sin(theta)
    return np.stack([0.8 * one, zero, -0.6 * one, 0.8 * one, 0.8 * one, -1.2 * one, zero, a, zero, b, a, zero])


def three_bodies_ode(y):
    """Three equal masses in the plane that attract each other, G = 1: x1, x2, x3, y1, y2, y3 and their velocities."""
    x, z = y[0:3], y[3:6]

    def pull(i, j):
        a, b = x[j] - x[i], z[j] - z[i]
        return a, b, (a * a + b * b) ** -1.5
    a12, b12, c12 = pull(0, 1)
    a13, b13, c13 = pull(0, 2)
    a23, b23, c23 = pull(1, 2)
    return (y[6], y[7], y[8], y[9], y[10], y[11],
            c12 * a12 + c13 * a13, c23 * a23 - c12 * a12, -c13 * a13 - c23 * a23,
            c12 * b12 + c13 * b13, c23 * b23 - c12 * b12, -c13 * b13 - c23 * b23)


def three_bodies_energy(y):
    distances = [((y[i] - y[j]) ** 2 + (y[3 + i] - y[3 + j]) ** 2) ** 0.5 for i, j in ((0, 1), (0, 2), (1, 2))]
    return 0.5 * sum(y[i] * y[i] for i in range(6, 12)) - sum(1 / distance for distance in distances)


EIGHT = (0.97000436, -0.24308753, 0.466203685, 0.43236573)  # A. Chenciner, R. Montgomery, Ann. Math. 152 (2000) 881


def three_bodies_initial(theta):
    """The figure eight, whose first body is moved along a small circle."""
    one, (x, y, u, v) = np.ones_like(theta), EIGHT
    return np.stack([x + 0.001 * np.cos(theta), -x * one, 0 * one, y + 0.001 * np.sin(theta), -y * one, 0 * one,
                     u * one, u * one, -2 * u * one, v * one, v * one, -2 * v * one])


def thetas(last):
    return lambda count: last / max(count - 1, 1) * np.arange(count)


PROBLEMS = {
    "chaotic": SimpleNamespace(
        dimension=14, ode=lambda module: chaotic_ode, energy=chaotic_energy,
        initial=lambda count: chaotic_initial(thetas(np.pi / 2)(count)),
        study={"method": "nonholonomic-lobatto", "system": "parameters = { m = 3 }", "to": "pi/2",
               "q": ["cos(theta)", "0.6", "0.4", "0.2", "1", "1", "1"],
               "v": ["0", "sin(theta)", "0", "0", "0", "0", "0"]}),
    "henon-heiles": SimpleNamespace(
        dimension=4, ode=lambda module: henon_heiles_ode, energy=henon_heiles_energy,
        initial=lambda count: henon_heiles_initial(thetas(2 * np.pi)(count)),
        study={"method": "lobatto", "system": "", "to": "2*pi",
               "q": ["0.15*cos(theta)", "0.15*sin(theta)"], "v": ["0.42*cos(3*theta)", "0.42*sin(3*theta)"]}),
    "double-pendulum": SimpleNamespace(
        dimension=4, ode=double_pendulum_ode, energy=double_pendulum_energy,
        initial=lambda count: double_pendulum_initial(thetas(2 * np.pi)(count)),
        study={"method": "lobatto", "system": """coordinates = ["a", "b"]
mass = [["2", "cos(a - b)"], ["cos(a - b)", "1"]]
potential = "-2 cos(a) - cos(b)"
""", "to": "2*pi", "q": ["0.8*cos(theta)", "0.8*sin(theta)"], "v": ["0", "0"]}),
    "double-spherical-pendulum": SimpleNamespace(
        dimension=12, ode=lambda module: double_spherical_pendulum_ode, energy=double_spherical_pendulum_energy,
        initial=lambda count: double_spherical_pendulum_initial(thetas(2 * np.pi)(count)),
        study={"method": "holonomic-lobatto", "system": "", "to": "2*pi",
               "q": ["0.8", "0", "-0.6", "0.8", "0.8", "-1.2"],
               "v": ["0", "0.5*cos(theta)", "0", "0.5*sin(theta)", "0.5*cos(theta)", "0"]}),
    "three-bodies": SimpleNamespace(
        dimension=12, ode=lambda module: three_bodies_ode, energy=three_bodies_energy,
        initial=lambda count: three_bodies_initial(thetas(2 * np.pi)(count)),
        study={"method": "lobatto", "system": """coordinates = ["x[1..3]", "y[1..3]"]
potential = "-sum(i in 1..2: sum(j in i+1..3: 1/sqrt((x[i] - x[j])^2 + (y[i] - y[j])^2)))"
""", "to": "2*pi", "q": [f"{EIGHT[0]} + 0.001*cos(theta)", f"{-EIGHT[0]}", "0", f"{EIGHT[1]} + 0.001*sin(theta)", f"{-EIGHT[1]}", "0"],
               "v": [f"{k * EIGHT[i]}" for i in (2, 3) for k in (1, 1, -2)]}),
}


COMPOSITIONS = ["suzuki4", "kahan-li6", "kahan-li8", "blanes-moan4", "blanes-moan6", "blanes-moan-rkn4", "blanes-moan-rkn6",
                "blanes-moan-rkn6-14"]


RUNGE_KUTTA = ["prince8", "prince9"]


def study(system, method, step, end, count):
    """The study file of rattleback for the same problem; the method is "s" and the number of stages, a composition, or an
    explicit Runge-Kutta method."""
    s = PROBLEMS[system].study
    name, options = s["method"], f"stages = {method[1:]}"
    if method in COMPOSITIONS:
        options = f'stages = 2\ncomposition = "{method}"'
    elif method in RUNGE_KUTTA:
        name, options = "runge-kutta", f'base = "{method}"'
    quoted = {key: ", ".join(f'"{x}"' for x in s[key]) for key in "qv"}
    return f"""[system]
name = "{system}"
{s["system"]}
[method]
name = "{name}"
{options}
[time]
step = {step}
end = {end}
[ensemble]
axes = [ {{ name = "theta", from = 0.0, to = "{s["to"]}", count = {count} }} ]
[ensemble.initial]
q = [{quoted["q"]}]
v = [{quoted["v"]}]
[[observable]]
name = "energy"
reference = "initial"
statistics = ["maxabs"]
"""


def arguments(methods, adaptive=True, fixed=True, program=None, systems=tuple(PROBLEMS)):
    """What a peer is asked to do. `methods` are the names it offers; `program` is the default of that option, if it has it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", choices=systems, default=systems[0])
    parser.add_argument("--method", choices=methods, default=methods[0])
    size = parser.add_mutually_exclusive_group(required=True)
    if fixed:
        size.add_argument("--step", type=float)
    if adaptive:
        size.add_argument("--tolerance", type=float)
    parser.add_argument("--end", type=float, default=1000.0)
    parser.add_argument("--count", type=int, default=64, help="trajectories")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    if program:
        parser.add_argument("--program", default=program)
        parser.add_argument("--threads", type=int, default=1)
    task = parser.parse_args()
    task.problem = PROBLEMS[task.system]
    task.step, task.tolerance = getattr(task, "step", None), getattr(task, "tolerance", None)
    task.steps = round(task.end / task.step) if task.step else None
    return task


def timed(work):
    """The result of work() and its seconds."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def answer(task, peer, version, final, seconds, steps=None):
    """Prints the outcome; final has one column per trajectory, steps is the total over the ensemble."""
    final, initial = np.asarray(final), task.problem.initial(task.count)
    error = np.max(np.abs(task.problem.energy(final) - task.problem.energy(initial)))
    if task.steps:
        steps = task.steps * task.count
    print(json.dumps({
        "peer": peer, "version": version, "system": task.system, "method": task.method, "device": task.device,
        "step": task.step, "tolerance": task.tolerance, "end": task.end, "trajectories": task.count,
        "seconds": seconds, "steps": steps, "energy_error": float(error) if np.isfinite(error) else None,
        "final": [float(x) for x in final[:, 0]]}))


def skip(task, peer, reason):
    """Says why there is no figure."""
    print(json.dumps({"peer": peer, "system": task.system, "method": task.method, "device": task.device, "skipped": reason}))
