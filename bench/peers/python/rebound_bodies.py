"""REBOUND: three bodies, one simulation after the other, each integrated in C by one call. ias15: 15th order, adaptive, where
--tolerance is its epsilon; bs: Bulirsch-Stoer; leapfrog, leapfrog6, leapfrog8: of order 2, 6 and 8, with --step."""

import rebound

from problems import answer, arguments, timed

task = arguments(["ias15", "bs", "leapfrog", "leapfrog6", "leapfrog8"], systems=("three-bodies",))
initial = task.problem.initial(task.count)


def simulation(y):
    sim = rebound.Simulation()
    for i in range(3):
        sim.add(m=1.0, x=y[i], y=y[3 + i], vx=y[6 + i], vy=y[9 + i])
    sim.integrator, order = task.method.rstrip("68") if task.step else task.method, task.method[len("leapfrog"):]
    if task.step:
        sim.dt = task.step
        if order:
            sim.integrator.order = int(order)
    elif task.method == "ias15":
        sim.integrator.epsilon = task.tolerance
    else:
        sim.integrator.eps_rel = sim.integrator.eps_abs = task.tolerance
    return sim


def solve():
    final, steps = initial.copy(), 0
    for k in range(task.count):
        sim = simulation(initial[:, k])
        sim.integrate(task.end)
        particles = [sim.particles[i] for i in range(3)]
        final[:, k] = [getattr(p, name) for name in ("x", "y", "vx", "vy") for p in particles]
        steps += sim.steps_done
    return final, steps


(final, steps), seconds = timed(solve)
answer(task, "REBOUND", rebound.__version__, final, seconds, steps)
