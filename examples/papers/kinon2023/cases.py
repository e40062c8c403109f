"""Section 6: the pendulum, the top and the four particles. The figures have no numbers; the text has orders, bounds and times."""

import numpy as np

from reproduce import Number

METHODS = {"VI-S": "ggl-vi-s", "VI-A": "ggl-vi-a", "VI-B": "ggl-vi-b", "EM": "energy-momentum"}


def largest(result, observable, statistic="maxabs"):
    return result.statistic(observable, statistic).max()


def end_of(lab, step, method, limit):
    """The time at which a run of the four particles ends, or `limit`."""
    r = lab.run("ggl-four-particle-stability", f"method.name={method}", f"time.step={step}", f"time.steps={round(limit / step)}",
                "time.sample_every=1", "observable=[{name='energy', statistics=['maxabs'], values=true}]", allow_failures=True)
    energy = r.statistic("energy", "maxabs")
    steps = int(r["/final/steps"][0])
    beyond = np.flatnonzero(~(energy <= 10 * 1.17647058823529))
    return min(beyond[0] if len(beyond) else len(energy), steps + 1, round(limit / step)) * step


def numbers(lab, full):
    # 6.1, the pendulum: 200 steps of 0.05
    ranges = {"VI-S": (-0.6978, 0.6427), "VI-A": (-0.09791, 1.5e-5), "VI-B": (-0.6802, 0.6553)}
    for name, method in METHODS.items():
        r = lab.run("ggl-pendulum", f"method.name={method}",
                    "observable=[{name='energy', statistics=['maxabs', 'min', 'max']}, {name='angular_momentum', statistics=['maxabs']}, "
                    "{name='constraint', statistics=['max']}, {name='hidden_constraint', statistics=['max']}]")
        table = f"6.1, pendulum, {name}"
        yield Number(table, "angular momentum about the vertical", "round-off", largest(r, "angular_momentum"), 1e-13, below=True)
        if name == "EM":
            yield Number(table, "energy", "round-off", largest(r, "energy"), 1e-12, below=True)
            yield Number(table, "hidden constraint", "round-off", largest(r, "hidden_constraint", "max"), 1e-12, below=True)
        else:
            start = r.statistic("energy", "min")[0]
            yield Number(table, "least energy, minus the first", "", r.statistic("energy", "min").min() - start, ranges[name][0], 1e-3)
            yield Number(table, "largest energy, minus the first", "", r.statistic("energy", "max").max() - start, ranges[name][1], 5e-2)
        if name == "VI-A":
            yield Number(table, "constraint", "", largest(r, "constraint", "max"), 6.472e-3, 1e-2)
        else:
            yield Number(table, "constraint", "round-off", largest(r, "constraint", "max"), 1e-13, below=True)
        if name == "VI-B":
            yield Number(table, "hidden constraint of the momentum", "round-off", largest(r, "hidden_constraint", "max"), 0.3161, 1e-2,
                         why="the velocity of the step satisfies it, and the momentum does not")
            own = lab.run("ggl-pendulum", f"method.name={method}", "observable=[{name='step_hidden_constraint[0]', statistics=['maxabs']}]")
            yield Number(table, "hidden constraint of the velocity of the step", "round-off",
                         largest(own, "step_hidden_constraint[0]"), 1e-12, below=True)
    # 6.2, the top
    orders = {"VI-S": 1, "VI-B": 1, "VI-A": 2, "EM": 2}
    heights = {"VI-S": (0.0372487, 0.0389367), "VI-A": (0.0369921, 0.0375036), "VI-B": (0.0372409, 0.0388930), "EM": (0.0373788, 0.0375)}
    height_errors = {"VI-S": 8.6539e-6, "VI-B": 8.6579e-6, "VI-A": 5.0587e-9, "EM": 2.4267e-10}
    for name, method in METHODS.items():
        table = f"6.2, top, {name}"
        # The error of the height of the centre of mass, which is 0.0375 all the time.
        error = [abs(lab.run("ggl-top-order", f"method.name={method}", f"time.step={step}")["/final/q"][0, 2] / 0.0375 - 1)
                 for step in ("1e-4", "5e-5", "2.5e-5")]
        yield Number(table, "h = 1e-4, error of the height", "", error[0], height_errors[name], 1e-3)
        yield Number(table, "order of the height", str(orders[name]), np.log2(error[1] / error[2]), orders[name], 0.05)
        r = lab.run("ggl-top", f"method.name={method}")
        yield Number(table, "least height of the centre of mass", "", r.statistic("q[2]", "min").min(), heights[name][0], 1e-5)
        yield Number(table, "largest height of the centre of mass", "", r.statistic("q[2]", "max").max(), heights[name][1], 1e-5)
    # 6.3, four particles
    for name, method in METHODS.items():
        r = lab.run("ggl-four-particle", f"method.name={method}")
        table = f"6.3, four particles, {name}"
        yield Number(table, "angular momentum", "round-off", largest(r, "angular_momentum_1"), 1e-12, below=True)
        yield Number(table, "linear momentum", "round-off", largest(r, "linear_momentum_3"), 1e-12, below=True)
    for variable, order in (("q", 2), ("p", 2), ("lambda", 1)):
        slope = lab.slope("ggl-four-particle-order", "1e-3,5e-4,2.5e-4", variable, "--reference-step", "1e-5")
        yield Number("6.3, four particles, EM", f"order of {variable}", str(order), slope, order, 0.1)
    table = "6.3, stability of large steps"
    yield Number(table, "VI-S, h = 0.04, time reached", "", end_of(lab, 0.04, "ggl-vi-s", 100), 100, 1e-9)
    yield Number(table, "VI-S, h = 0.05, time at which the energy is ten times the first", "", end_of(lab, 0.05, "ggl-vi-s", 100), 0.40, 0.2)
    yield Number(table, "VI-B, h = 0.05, the same", "", end_of(lab, 0.05, "ggl-vi-b", 100), 0.35, 0.2)
    yield Number(table, "VI-A, h = 0.25, the same", "55", end_of(lab, 0.25, "ggl-vi-a", 100), 53.0, 0.05,
                 why="read off a figure; late times depend on round-off")
    yield Number(table, "EM, h = 0.675, energy", "round-off",
                 largest(lab.run("ggl-four-particle-stability", "time.steps=80"), "energy"), 1e-10, below=True)
