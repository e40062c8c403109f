"""Section 6: the dipole on a stick. The order plot and the plot of energies have no numbers but for their axes."""

import numpy as np

from reproduce import Number

METHODS = {"VRKMK2": ("vrkmk", "gauss1", 2), "VRKMK3": ("vrkmk", "kutta3", 3), "VRKMK4": ("vrkmk", "gauss2", 4),
           "VRKMK6": ("vrkmk", "gauss3", 6), "VCG2": ("vcg", "midpoint", 2), "VCG4": ("vcg", "triple-jump4", 4),
           "VCG6": ("vcg", "yoshida6", 6)}
SIGN = "with the printed sign of gravity; the figure shows the other one (errata)"


def options(name):
    method, tableau, _ = METHODS[name]
    return f"method.name={method}", f"method.tableau={tableau}"


def numbers(lab, full):
    for name, (_, _, order) in METHODS.items():
        words = [word for setting in options(name) for word in ("--set", setting)]
        steps = {2: "0.0125,0.00625,0.003125", 3: "0.00625,0.003125,0.0015625", 4: "0.025,0.0125,0.00625"}.get(order, "0.05,0.025,0.0125")
        slope = lab.slope("vrkmk-order", steps, "q", "--reference-step", "0.0001" if order < 4 else "0.001", *words)
        yield Number("Order plot", f"{name}, order", str(order), slope, order, 0.03)
    energies = {"VRKMK2": ("1e-3", 1.03e-3), "VCG2": ("1e-3", 1.03e-3), "VRKMK4": ("1e-7", 1.42e-7), "VCG4": ("1e-5", 1.14e-5)}
    for end in (100.0, 1000.0) if full else (100.0,):
        for name, (paper, expected) in energies.items():
            r = lab.run("vrkmk-energy", *options(name), "ensemble.axes=[{name='j', values=[0]}]", f"time.end={end}")
            energy = r.statistic("energy", "maxabs").max()
            # The motion is chaotic: the largest error has a size, and no digits that would last.
            yield Number(f"Plot of energies, h = 0.01, t up to {end:g}", f"{name}, largest error of the energy", "about " + paper, energy,
                         expected, 0.5)
    for name in energies:
        r = lab.run("vrkmk-energy", *options(name), "ensemble.axes=[{name='j', values=[0]}]", "time.end=5.0", "system.parameters.sigma=1",
                    "time.sample_every=1")
        other = {"VRKMK2": 8.849e-6, "VCG2": 8.849e-6, "VRKMK4": 2.578e-10, "VCG4": 4.228e-8}[name]
        yield Number("Energies up to t = 5", f"{name}, printed sign", "", r.statistic("energy", "maxabs").max(), other, 2e-3, why=SIGN)
    regular = {"VRKMK2": 6.208e-4, "VRKMK4": 5.247e-8, "VCG4": 4.843e-6}
    for name, expected in regular.items():
        r = lab.run("vrkmk-energy", *options(name), "ensemble.axes=[{name='j', values=[0]}]", "time.end=5.0", "time.sample_every=1")
        yield Number("Energies up to t = 5", f"{name}, gravity along -e3", "", r.statistic("energy", "maxabs").max(), expected, 2e-3)
        yield Number("Momentum about the vertical", name, "", r.statistic("spatial_momentum_3", "maxabs").max(), 1e-13, below=True)
    error = {}
    for name in ("VRKMK2", "VCG2", "VRKMK4", "VCG4"):
        words = [word for setting in options(name) for word in ("--set", setting)]
        report = lab.order("vrkmk-order", "0.05,0.025", "--reference-step", "0.001", *words)
        error[name] = report["variables"]["q"]["max"][0]
    yield Number("Error constants, h = 0.05", "VCG2 over VRKMK2", "above 1", error["VCG2"] / error["VRKMK2"], 1.0, 1e-6,
                 why="the two methods are one map at order 2")
    yield Number("Error constants, h = 0.05", "VCG4 over VRKMK4", "above 1", error["VCG4"] / error["VRKMK4"], 50.0, 0.3)
