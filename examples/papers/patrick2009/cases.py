"""The paper has no numerical experiment. Its claims are the order, and what a conversion conserves."""

from reproduce import Number


def numbers(lab, full):
    for base, order in (("heun2", 2), ("rk4", 4), ("rk6", 6)):
        steps = "0.1,0.05,0.025" if order < 6 else "0.2,0.1,0.05"
        slope = lab.slope("conversion-order", steps, "q", "--reference-step", "0.003125", "--set", f"method.base={base}")
        yield Number("Order", f"conversion of {base}, symmetric bias", f"{order}, that of the method", slope, order, 0.05)
    slope = lab.slope("conversion-order", "0.1,0.05,0.025", "q", "--reference-step", "0.003125", "--set", "method.base=rk3")
    yield Number("Order", "conversion of rk3, symmetric bias", "3, that of the method", slope, 4, 0.05,
                 why="the symmetric bias makes the conversion symmetric, and its order even")
    r = lab.run("conversion-pendulum")
    yield Number("Structure", "constraint", "round-off", r.statistic("constraint", "max").max(), 1e-13, below=True)
