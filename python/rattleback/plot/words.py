"""Symbols and words for figures, in place of the names in studies and results. What comes from a file is no mathematics."""

import re

from .base import plain

GREEK = ("alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau upsilon phi chi psi omega "
         "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega").split()
STATISTICS = {
    "mse": "mean squared error of {}", "rms": "root mean squared error of {}", "maxabs": "largest error of {}",
    "mean": "mean of {}", "std": "standard deviation of {}", "min": "least {}", "max": "largest {}",
    "count": "trajectories that count for {}", "missing": "values of {} that are missing",
    "effective_number": "effective number of errors of {}", "quantile_0.5": "median of {}",
}
NAMES = {
    "hbvm": "HBVM", "vrkmk": "VRKMK", "vcg": "VCG", "vrkmk-pade": "Padé VRKMK", "lobatto": "Lobatto",
    "holonomic-lobatto": "holonomic Lobatto", "nonholonomic-lobatto": "nonholonomic Lobatto", "ggl-theta": "GGL theta method",
    "ggl-vi-s": "GGL integrator S", "ggl-vi-a": "GGL integrator A", "ggl-vi-b": "GGL integrator B", "ggl-vi-bs": "GGL integrator BS",
    "classical-ggl": "classical GGL", "energy-momentum": "energy-momentum", "energy-momentum-index3": "energy-momentum, index 3",
    "bobenko-suris": "Bobenko-Suris", "generalized-alpha": "generalized-alpha", "variational-conversion": "variational conversion", "runge-kutta": "Runge-Kutta",
}
BASES = {"euler": "Euler", "heun2": "Heun", "rk3": "RK3", "rk4": "RK4", "dp5": "DP5", "rk6": "RK6", "prince8": "Prince 8",
         "prince9": "Prince 9"}


def letter(name):
    """A name as mathematics, without dollar signs: theta becomes a Greek letter, x1 has an index. None for a word."""
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d*)", name)
    if not match:
        return None
    base, index = match[1], match[2]
    if base in GREEK:
        text = "\\" + base
    elif len(base) == 1:
        text = base
    elif len(base) <= 3:
        text = rf"\mathrm{{{base}}}"
    else:
        return None
    return f"{text}_{{{index}}}" if index else text


def symbol(name, index=None, coordinates=()):
    """A component of a state as mathematics: q[1] with coordinates x, y is y, and p[1] is p_y."""
    if index is None:
        text = letter(name)
        return f"${text}$" if text else plain(name)
    known = letter(coordinates[index]) if index < len(coordinates) else None
    if name == "q" and known:
        return f"${known}$"
    base = {"lambda": r"\lambda", "gamma": r"\gamma"}.get(name) or letter(name)
    if base is None:
        return plain(f"{name}[{index}]")
    return f"${base}_{{{known if known and name in ('v', 'p') else index}}}$"


def quantity(name, coordinates=()):
    """An observable or an axis for a figure: "energy", or the symbol of q[1]."""
    match = re.fullmatch(r"([A-Za-z]+)\[(\d+)\]", name)
    if match:
        return symbol(match[1], int(match[2]), coordinates)
    if len(name) <= 3 or name in GREEK:
        return symbol(name)
    return plain(name.replace("_", " "))


def statistic(name, observable, coordinates=()):
    """A statistic of an observable in words."""
    of = quantity(observable, coordinates)
    if name.startswith("quantile_") and name not in STATISTICS:
        return plain(f"quantile {name[len('quantile_'):]}") + f" of {of}"
    if name.startswith("correlation_"):
        return f"correlation of {of} and {quantity(name[len('correlation_'):], coordinates)}"
    return STATISTICS.get(name, plain(name.replace("_", " ")) + " of {}").replace("{}", of)


MAIN = ("stages", "k", "s", "base", "tableau", "cutoff", "theta", "vartheta", "composition")


def main_options(options):
    """The options that tell a method from others of its family."""
    return {key: value for key, value in options.items() if key in MAIN and value not in ("none", -1, "given")}


def method(name, options=None):
    """A method with its options in words: "holonomic Lobatto, 3 stages"."""
    options = dict(options or {})
    words = [NAMES.get(name, name.replace("-", " "))]
    if name == "hbvm" and {"k", "s"} <= set(options):
        words = [f"HBVM({options.pop('k')}, {options.pop('s')})"]
    if name in ("variational-conversion", "runge-kutta") and "base" in options:
        base = options.pop("base")
        words[0] += f" of {BASES.get(base, base)}" if name == "variational-conversion" else f" {BASES.get(base, base)}"
    for key, value in options.items():
        words.append(f"{value} stages" if key == "stages" else f"{key.replace('_', ' ')} = {value}")
    return ", ".join(words)


def label(text):
    """A label of the program: "method.name=hbvm method.k=2 method.s=2" becomes words."""
    parts = re.findall(r"method\.([\w.]+)=(\S+)", text)
    if not parts or re.sub(r"method\.[\w.]+=\S+", "", text).strip():
        return text
    options = dict(parts)
    name = options.pop("name", None)
    return method(name, options) if name else ", ".join(f"{key} = {value}" for key, value in options.items())
