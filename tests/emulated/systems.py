#!/usr/bin/python3
"""Systems that studies write themselves, on an emulated GPU and on the processor: with forces and the time, with several bodies, with a
Hamiltonian, and with constraints of both kinds. Each must give the same bits on both.

    systems.py PROGRAM
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# The balances of work, samples of the drive's period, and a tangent vector, in a study that goes through the multiples of a step.
DRIVEN = """
[system]
name = "driven"
coordinates = ["x"]
parameters = { a = "amplitude" }
mass = "1 + sin(t)/4"
potential = "-cos(x - t/8)"
force = ["a cos(t) - v_x^3/8"]
dissipation = "v_x^2/4"
[method]
name = "lobatto"
stages = 2
[time]
start = 0.5
step = "pi/20"
steps = 40
sample_every = 8
[ensemble]
axes = [ { name = "amplitude", from = 0, to = 2, count = 37 } ]
[ensemble.initial]
q = [0.25]
v = ["amplitude/4"]
[[section]]
name = "stroboscope"
every = "pi/2"
[[observable]]
name = "energy_balance"
statistics = ["maxabs"]
[[observable]]
name = "power"
statistics = ["mean"]
[[observable]]
name = "lyapunov"
statistics = ["mean"]
"""
# Averages over the time, which every kernel of steps has besides what it has anyway.
AVERAGES = """
[[average]]
name = "square"
formula = "q[0]^2 + t/8"
[[average]]
name = "turns"
formula = "atan2(q[0], p[0])"
kind = "frequency"
"""
# Several tangent vectors, with all that they tell.
TANGENTS = """
[[observable]]
name = "lyapunov[2]"
values = true
[[observable]]
name = "ln_gali[3]"
values = true
[[observable]]
name = "megno_mean"
values = true
[[observable]]
name = "lyapunov_window[1]"
values = true
"""
BODIES = """
[system]
name = "bodies"
group = "SO(3) x SE(2)"
bodies = ["top", "cart"]
inertia = { top = [[1.0, 0.125, 0], [0.125, 1.25, -0.25], [0, -0.25, 0.5]], cart = 0.75 }
mass = { cart = 1.5 }
potential = "top_R33 (1 + cart_x/4)"
force = ["-top_w1/8", "0", "top_R33 cos(t)/4", "-cart_w/8", "0", "0"]
[method]
name = "lobatto"
stages = 2
[time]
step = 0.125
steps = 8
[ensemble]
axes = [ { name = "spin", from = 0, to = 2, count = 5 } ]
[ensemble.initial]
q = [0.3, -0.4, 0.2, 0.5, 0.25, 0]
v = [0.75, 0.5, "spin", 0.25, 0, 0.5]
[[observable]]
name = "energy"
statistics = ["mean"]
[[observable]]
name = "lyapunov"
values = true
[lyapunov]
metric = "mass"
"""
HAMILTONIAN = """
[system]
name = "hamiltonian"
coordinates = ["x", "y"]
hamiltonian = "(p_x^2 + p_y^2)/2 - 1/sqrt(1 + x^2 + y^2) + (x p_y - y p_x)/8 + cos(t) x/16"
[method]
name = "lobatto"
stages = 2
[time]
step = 0.125
steps = 16
[ensemble]
axes = [ { name = "push", from = 0.5, to = 1, count = 9 } ]
[ensemble.initial]
q = [1, 0]
p = [0, "push"]
[[observable]]
name = "energy"
statistics = ["mean"]
"""
# The same with a parameter, steps that follow a density, crossings, and derivatives by all that there may be derivatives by.
DERIVATIVES = HAMILTONIAN.replace('name = "hamiltonian"', 'name = "derivatives"\nparameters = { k = "push^2" }').replace("cos(t) x/16", "cos(t) k x/16").replace(
    "steps = 16", 'control = "density"\ndensity = "(1 + k)/(1 + x^2 + y^2)"\nend = 2\nsamples = 2') + """
values = true
[[section]]
surface = "x - y - k t/4"
[[observable]]
name = "own"
formula = "x p_y + k sin(t)"
statistics = ["mean", "std", "mse"]
reference = "initial"
[derivatives]
by = ["push", "k", "q0[1]", "p0[0]"]
"""
MIXED = """
[system]
name = "mixed"
coordinates = ["x", "y", "s"]
potential = "x^2/4 + y + s^2/2 + y s/8"
force = ["cos(1.75 t)/2 - v_x^3/16", "1/8", "sin(t)/2"]
constraints = ["x^2 + y^2 - 1 - sin(1.25 t)/4"]
velocity_constraints = ["v_s - x v_y - (3/8) cos(0.75 t)"]
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.125
steps = 8
sample_every = 4
[ensemble]
project = true
axes = [ { name = "push", from = 0.25, to = 0.5, count = 5 } ]
[ensemble.initial]
q = [0.6, -0.8, 0.25]
v = [0.5, "push", 0.375]
[[observable]]
name = "work"
statistics = ["mean"]
[[observable]]
name = "hidden_constraint"
statistics = ["maxabs"]
""" + TANGENTS + """
[lyapunov]
transient = 0.5
"""
STUDIES = {"driven": DRIVEN + AVERAGES, "bodies": BODIES, "hamiltonian": HAMILTONIAN + AVERAGES, "derivatives": DERIVATIVES + AVERAGES,
           "mixed": MIXED + AVERAGES.replace("q[0]^2", "work")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    program = parser.parse_args().program.resolve()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="rattleback-systems-") as name:
        def run(*words):
            done = subprocess.run([program, *words], cwd=name, env=dict(os.environ, RATTLEBACK_CUDA_IMAGE="ptx"), capture_output=True,
                                  text=True, timeout=300, check=False)
            return "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stdout}{done.stderr}"

        for kind, text in STUDIES.items():
            pathlib.Path(name, "s.toml").write_text(text + "[output]\nfinal_state = true\ninitial_state = true\ntrajectories = [0, 4]\n",
                                                    encoding="utf-8")
            begin = time.monotonic()
            said = (run("run", "s.toml", "-o", f"{kind}.h5", "--backend", "cpu:scalar", "--quiet")
                    or run("run", "s.toml", "-o", f"{kind}-cuda.h5", "--backend", "cuda", "--quiet") or run("diff", f"{kind}.h5", f"{kind}-cuda.h5"))
            faults += said != ""
            print(f"{'FAIL' if said else 'ok  '} {kind}, {time.monotonic() - begin:.1f} s\n{said}".rstrip(), flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
