"""The paper has no numerical experiment. Its claims are the order, and that a conversion is a variational integrator."""

from reproduce import Number


def numbers(lab, full):
    for base, order in (("heun2", 2), ("rk4", 4), ("rk6", 6)):
        steps = "0.1,0.05,0.025" if order < 6 else "0.2,0.1,0.05"
        slope = lab.slope("conversion-order", steps, "q", "--reference-step", "0.003125", "--set", f"method.base={base}")
        yield Number("Order", f"conversion of {base}, symmetric bias", f"{order}, that of the method", slope, order, 0.05)
    slope = lab.slope("conversion-order", "0.1,0.05,0.025", "q", "--reference-step", "0.003125", "--set", "method.base=rk3")
    yield Number("Order", "conversion of rk3, symmetric bias", "3, that of the method", slope, 4, 0.05,
                 why="the symmetric bias makes the conversion symmetric, and its order even")
    table = "Structure, 10^4 steps of the spherical pendulum"
    observables = ("observable=[{name='constraint', statistics=['max']}, {name='hidden_constraint', statistics=['max']}, "
                   "{name='angular_momentum', reference='initial', statistics=['maxabs']}, "
                   "{name='energy', reference='initial', statistics=['maxabs']}]")
    r = lab.run("conversion-pendulum", observables)
    yield Number(table, "constraint", "exact", r.statistic("constraint", "max").max(), 1e-13, below=True)
    yield Number(table, "hidden constraint", "exact", r.statistic("hidden_constraint", "max").max(), 1e-13, below=True)
    yield Number(table, "angular momentum, states are nodes", "conserved", r.statistic("angular_momentum", "maxabs").max(), 1e-12, below=True)
    segments = lab.run("conversion-pendulum", observables, "method.state=segment")
    yield Number(table, "angular momentum, states are segments", "", segments.statistic("angular_momentum", "maxabs").max(), 4e-7, 0.2,
                 why="it oscillates: the momentum that is conserved belongs to the ends of the segments")
    base = lab.run("runge-kutta-pendulum")
    for name, result, size, growth in (("conversion of rk4", r, 2.2144e-7, 1.0), ("rk4 with projection", base, 1.1222e-3, 2.0)):
        energy = result.statistic("energy", "maxabs")
        half = len(energy) // 2
        yield Number(table, f"{name}, largest error of the energy", "", energy.max(), size, 0.05)
        yield Number(table, f"{name}, the same over that of the first half", "bounded" if result is r else "", energy.max() / energy[:half].max(),
                     growth, 0.05)
