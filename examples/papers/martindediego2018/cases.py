"""Section 7. The figures have no numbers but for energies and powers of the step; the text has orders and conserved quantities."""

import math

from reproduce import Number


def power(lab, stages):
    """The power of h in the mean squared energy error of the chaotic system at t = 10."""
    errors = []
    for step in (0.2, 0.1, 0.05):
        r = lab.run("chaotic", "system.variant=contact", f"method.stages={stages}", f"time={{step={step}, end=10.0, samples=1}}",
                    "ensemble.axes[0].count=128")
        errors.append(r.statistic("energy", "mse")[-1])
    return math.log2(errors[1] / errors[2])


def numbers(lab, full):
    for stages in (2, 3, 4):
        slopes = lab.order("particle-order", "0.25,0.125,0.0625", "--set", f"method.stages={stages}")["variables"]
        table = "7.1, particle in a harmonic potential"
        yield Number(table, f"{stages} stages, order of q", str(2 * stages - 2), slopes["q"]["order_max"][-1], 2 * stages - 2, 0.03)
        order = stages if stages % 2 == 0 else stages - 1
        yield Number(table, f"{stages} stages, order of the multiplier", str(order), slopes["lambda"]["order_max"][-1], order, 0.05)
    for study, driver in (("cvt-low", 0.8), ("cvt-high", 3.0)):
        table = f"7.2, pendulum-driven CVT, {study}"
        long = lab.run(study, "time.end=1000.0", "method.stages=2")
        yield Number(table, "first energy of the driver", f"{driver:g}", long.statistic("driver_energy", "mean")[0], driver, 1e-12)
        yield Number(table, "first energy of the passenger", "1", long.statistic("passenger_energy", "mean")[0], 1.0, 1e-12)
        low = {"cvt-low": 0.98742, "cvt-high": 0.9751}[study]
        yield Number(table, "h = 0.1, least energy of the passenger up to t = 1000", "near 1",
                     long.statistic("passenger_energy", "min").min(), low, 2e-3)
        if full:
            longer = lab.run(study, "method.stages=2")
            yield Number(table, "h = 0.1, least energy of the passenger up to t = 10000", "near 1",
                         longer.statistic("passenger_energy", "min").min(), low, 2e-3)
    erratic = lab.run("cvt-erratic")
    yield Number("7.2, pendulum-driven CVT, cvt-low", "h = pi/10, least energy of the passenger", "erratic",
                 erratic.statistic("passenger_energy", "min").min(), 0.6133, 5e-2)
    r = lab.run("chaotic", "time={step=0.1, end=1.0, samples=1}")
    table = "7.3, chaotic system"
    yield Number(table, "first energy of all trajectories, minus 3.06", "0", r.statistic("energy", "maxabs")[0], 4e-15, below=True)
    yield Number(table, "2 stages, power of h in the mean squared energy error", "4", power(lab, 2), 4, 0.04)
    yield Number(table, "3 stages, power of h in the mean squared energy error", "10", power(lab, 3), 8, 0.02,
                 why="the order 4 of the method makes it 8 (errata)")
    yield Number(table, "printed constraint: change of x + |z|^2/2", "", lab.run("chaotic-hidden").statistic("hidden", "maxabs").max(), 1e-6,
                 below=True, why="the printed constraint is the derivative of this function (errata)")
    yield Number(table, "contact constraint: change of x + |z|^2/2", "",
                 lab.run("chaotic-hidden", "system.variant=contact").statistic("hidden", "maxabs").max(), 3.701, 1e-2)
    if full:
        # The rate of the mean squared energy error over h^4, by the least-squares lines of the study.
        fit = "fit=[{name='early', observable='energy', from=100.0, to=1000.0}, {name='late', observable='energy', from=3000.0}]"
        slopes = {"printed": (32768, 3.63e-5, 3.05e-5), "contact": (8192, 1.062e-3, 9.26e-4)}
        rates = {}
        for variant, (count, *expected) in slopes.items():
            r = lab.run("chaotic", f"system.variant={variant}", f"ensemble.axes[0].count={count}", "time.end=10000.0", "time.sample_every=1000", fit)
            for name, span, value in zip(("early", "late"), ("100 to 1000", "3000 to 10000"), expected):
                rates[variant, name] = r[f"/fits/{name}/slope"][0] / 0.1 ** 4
                yield Number(table, f"2 stages, {variant}, rate of the mean squared energy error over h^4, t = {span}", "grows",
                             rates[variant, name], value, 0.08)
        yield Number(table, "the rate of contact over that of printed, t = 100 to 1000", "", rates["contact", "early"] / rates["printed", "early"],
                     29.2, 0.12)
    for stages in (2, 3, 4):
        order = 2 * stages - 2
        slope = lab.slope("vertical-disc-order", "0.1,0.05,0.025", "q", "--set", f"method.stages={stages}")
        yield Number("7.4, vertical disc", f"{stages} stages, order of the configuration", str(order), slope, order, 0.05)
    ball = lab.run("turntable-ball", "method.stages=3")
    for i in (1, 2, 3):
        yield Number("7.5, ball on a turntable", f"integral {i}", "below 1e-12", ball.statistic(f"integral_{i}", "maxabs").max(), 5e-14, below=True)
    moving = ball.statistic("moving_energy", "maxabs")
    yield Number("7.5, ball on a turntable", "moving energy, largest error", "oscillates", moving.max(), 1.9078e-9, 1e-2)
