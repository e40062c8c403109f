"""The problems that all peers solve, what they are asked on the command line, and what they answer.

A problem is an ODE y' = ode(y) of y = (q, v), its energy, and an ensemble of initial states, given by an angle theta. ode and
energy work on anything that can be indexed and calculated with: rows of NumPy arrays, numbers under Numba and JAX, expressions
of heyoka. ../cpp/problems.hpp has the same in C++; `study` is the same for rattleback.

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


def thetas(last):
    return lambda count: last / max(count - 1, 1) * np.arange(count)


PROBLEMS = {
    "chaotic": SimpleNamespace(
        dimension=14, ode=chaotic_ode, energy=chaotic_energy,
        initial=lambda count: chaotic_initial(thetas(np.pi / 2)(count)),
        study={"method": "nonholonomic-lobatto", "parameters": "{ m = 3 }", "to": "pi/2",
               "q": ["cos(theta)", "0.6", "0.4", "0.2", "1", "1", "1"],
               "v": ["0", "sin(theta)", "0", "0", "0", "0", "0"]}),
    "henon-heiles": SimpleNamespace(
        dimension=4, ode=henon_heiles_ode, energy=henon_heiles_energy,
        initial=lambda count: henon_heiles_initial(thetas(2 * np.pi)(count)),
        study={"method": "lobatto", "parameters": "{}", "to": "2*pi",
               "q": ["0.15*cos(theta)", "0.15*sin(theta)"], "v": ["0.42*cos(3*theta)", "0.42*sin(3*theta)"]}),
}


COMPOSITIONS = ["suzuki4", "kahan-li6", "kahan-li8", "blanes-moan4", "blanes-moan6", "blanes-moan-rkn4", "blanes-moan-rkn6",
                "blanes-moan-rkn6-14"]


def study(system, method, step, end, count):
    """The study file of rattleback for the same problem; the method is "s" and the number of stages, or a composition."""
    options = f'stages = 2\ncomposition = "{method}"' if method in COMPOSITIONS else f"stages = {method[1:]}"
    s = PROBLEMS[system].study
    quoted = {key: ", ".join(f'"{x}"' for x in s[key]) for key in "qv"}
    return f"""[system]
name = "{system}"
parameters = {s["parameters"]}
[method]
name = "{s["method"]}"
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


def arguments(methods, adaptive=True, fixed=True, program=None):
    """What a peer is asked to do. `methods` are the names it offers; `program` is the default of that option, if it has it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", choices=PROBLEMS, default="chaotic")
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
