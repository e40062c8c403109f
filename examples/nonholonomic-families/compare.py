#!/usr/bin/python3
"""Compares the methods for velocity constraints.  compare.py PROGRAM [TABLE...] [--full] [--markdown | --figures FOLDER]

The tables are growth, cvt, contracting, groups and cost. A line that is not what the README says is marked, and then the exit code is 1. Without --full
the growth is that of short runs, and cost is left out. --markdown prints the tables of the README instead, --figures draws its figures.
"""

import argparse
import itertools
import json
import math
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import tomllib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "papers"))
sys.dont_write_bytecode = True
from reproduce import Lab, draw_figures  # noqa: E402

# The schemes that the tables compare: the name of a row, and its settings.
SCHEMES = {
    "Lobatto, 2 stages": "name=nonholonomic-lobatto stages=2",
    "Lobatto, 2 stages, recomputed": "name=nonholonomic-lobatto stages=2 multiplier=recomputed",
    "SPARK, 2 stages": "name=nonholonomic-spark stages=2",
    "leapfrog": "name=nonholonomic-leapfrog",
    "DLA verlet": "name=nonholonomic-dla lagrangian=verlet",
    "DLA midpoint": "name=nonholonomic-dla lagrangian=midpoint",
    "energy": "name=nonholonomic-energy",
    "generalized-alpha, rho 1": "name=generalized-alpha rho=1.0",
    "generalized-alpha, rho 0.8": "name=generalized-alpha rho=0.8",
    "Lobatto, 3 stages": "name=nonholonomic-lobatto stages=3",
    "SPARK, 3 stages": "name=nonholonomic-spark stages=3",
    "leapfrog, suzuki4": "name=nonholonomic-leapfrog composition=suzuki4",
    "DLA midpoint, suzuki4": "name=nonholonomic-dla lagrangian=midpoint composition=suzuki4",
    "energy, suzuki4": "name=nonholonomic-energy composition=suzuki4",
    "Lobatto, 4 stages": "name=nonholonomic-lobatto stages=4",
    "SPARK, 4 stages": "name=nonholonomic-spark stages=4",
    "leapfrog, kahan-li6": "name=nonholonomic-leapfrog composition=kahan-li6",
}
LONG = ["energy, suzuki4", "DLA midpoint, suzuki4", "Lobatto, 4 stages", "SPARK, 4 stages", "leapfrog, kahan-li6"]  # too many seconds with 8192
ROUNDING = 1e-11  # smaller errors of energies are rounding errors, which differ between builds


def method(scheme, schemes=None):
    """[method] as one setting, which replaces that of the study."""
    words = [word.split("=") for word in (schemes or SCHEMES)[scheme].split()]
    quoted = [f'{key}={value if re.fullmatch(r"[0-9.]+", value) else json.dumps(value)}' for key, value in words]
    return f"method={{{', '.join(quoted)}}}"


def short(value):
    return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e+").replace("e+0", "") if math.isfinite(value) else "-"


def with_error(value, error):
    """1.030(66)e-7"""
    power = math.floor(math.log10(max(abs(value), error)))
    digits = min(max(1, power - math.floor(math.log10(error)) + 1), 6)
    return f"{value / 10 ** power:.{digits}f}({round(error / 10 ** (power - digits))})e{power}"


class Table:
    """A table: a head, and rows by their first cells."""

    def __init__(self, name, title, head, rounding=ROUNDING):
        self.name, self.title, self.head, self.rounding, self.rows = name, title, head, rounding, {}

    def agrees(self, row, stated):
        """Whether a row is that of a page (cells_of)."""
        cells, others = self.rows[row], stated.get(row, [])
        return len(cells) == len(others) and all(same(a, b, self.rounding) for a, b in zip(cells, others))

    def markdown(self):
        lines = [f"### {self.title}", "", "| | " + " | ".join(self.head) + " |", "| --- |" + " --- |" * len(self.head)]
        return "\n".join(lines + [f"| {row} | " + " | ".join(cells) + " |" for row, cells in self.rows.items()])


def growth(lab, full, schemes=tuple(SCHEMES)):
    """Mean squared energy errors of the chaotic system. The errors of rates are those of the scatter of the trajectories."""
    start = Table("growth", "Mean squared energy error at t = 10, h = 0.1, 1024 trajectories", ["contact", "printed"], ROUNDING ** 2)
    for scheme in schemes:
        cells = []
        for variant in ("contact", "printed"):
            r = lab.run("chaotic", method(scheme), f"system.variant={variant}", "time={step=0.1, end=10.0, samples=1}")
            cells.append(short(r.statistic("energy", "mse")[-1]))
        start.rows[scheme] = cells
    yield start
    if not full:
        return
    for count, which in ((1024, schemes), (8192, [scheme for scheme in schemes if scheme not in LONG])):
        table = Table("growth", f"Rates of growth from t = 100 to 1000, h = 0.1, {count} trajectories",
                      ["contact: rate", "at t = 1000", "printed: rate", "at t = 1000"], ROUNDING ** 2)
        for scheme in which:
            cells = []
            for variant in ("contact", "printed"):
                r = lab.run("chaotic", method(scheme), f"system.variant={variant}", f"ensemble.axes[0].count={count}",
                            "fit=[{name='growth', observable='energy', from=100}]")
                cells.append(with_error(r["/fits/growth/slope"][0], r["/fits/growth/slope_error"][0]))
                cells.append(short(r.statistic("energy", "mse")[-1]))
            table.rows[scheme] = cells
        yield table


def cvt(lab, full, schemes=tuple(SCHEMES)):
    """The energies of the pendulum-driven CVT up to t = 10000."""
    table = Table("cvt", "Passenger energy of the CVT, h = 0.1, up to t = 10000; it is 1, and so are its bounds where it is kept",
                  ["swinging: range", "rate", "rotating: range", "rate", "rotating, eps = 0: rate", "rotating: driver energy"])
    for scheme in schemes:
        cells = []
        for study, epsilon in (("cvt-low", 0.5), ("cvt-high", 0.5), ("cvt-high", 0.0)):
            r = lab.run(study, method(scheme), f"system.parameters.epsilon={epsilon}")
            passenger, driver, time = r.statistic("passenger_energy", "mean"), r.statistic("driver_energy", "mean"), r["/time"]
            rate = np.polyfit(time, passenger, 1)[0]
            if epsilon:
                cells.append(f"{passenger.min():.5f} to {passenger.max():.5f}")
            cells.append("0" if abs(rate) < 1e-13 else f"{rate:.1e}".replace("e-0", "e-"))
            if study == "cvt-high" and epsilon:
                drivers = f"{driver.min():.4f} to {driver.max():.4f}"
        table.rows[scheme] = [*cells, drivers]
    yield table


# Motions that contract: the study, its settings, the observable that shows the direction, and its value at the end, which is that of a fine run.
SINGLE = "ensemble={}", "output={}"  # the default state alone
CONTRACTING = {
    "sleigh, h = 0.05": ("sleigh", ["time.step=0.05"]),
    "sleigh, h = 0.02": ("sleigh", ["time.step=0.02"]),
    "roller racer, h = 0.05": ("roller-racer", ["time={step=0.05, end=100.0, sample_every=1}", *SINGLE]),
    "roller racer, h = 0.02": ("roller-racer", ["time={step=0.02, end=100.0, sample_every=1}", *SINGLE]),
    "snakeboard, h = 0.05": ("snakeboard", ["time={step=0.05, end=200.0, sample_every=1}", *SINGLE]),
}


def error_of_motion(result):
    """The largest energy error; or when the multiplier became parasitic, and the trajectory was stopped."""
    error, stopped = result.statistic("energy", "maxabs"), result.statistic("energy", "count") < result.statistic("energy", "count")[0]
    if stopped.any():
        return f"parasitic, t = {result['/time'][stopped.argmax()]:.0f}"
    return "rounding" if error.max() < ROUNDING else short(error.max())


def cell_of_motion(result, direction="forward"):
    error = error_of_motion(result)
    return error if error.startswith("parasitic") else f"{error}, {result.statistic(direction, 'mean')[-1]:+.4f}"


def contracting(lab, full, schemes=tuple(SCHEMES)):
    table = Table("contracting", "Motions that contract: largest energy error up to t = 100 (snakeboard: 200), and forward speed at the end", list(CONTRACTING))
    fine = []
    for study, words in CONTRACTING.values():
        r = lab.run(study, method("SPARK, 4 stages"), *words, *[re.sub(r"step=0.\d+", "step=0.005", word) for word in words if "time" in word])
        fine.append(f"{r.statistic('forward', 'mean')[-1]:+.4f}")
    table.rows["fine run"] = fine
    for scheme in schemes:
        table.rows[scheme] = [cell_of_motion(lab.run(study, method(scheme), *words, allow_failures=True)) for study, words in CONTRACTING.values()]
    yield table


GROUP_SCHEMES = {
    "Lobatto, 3 stages": "name=nonholonomic-lobatto stages=3",
    "Lobatto, 3 stages, recomputed": "name=nonholonomic-lobatto stages=3 multiplier=recomputed",
    "DLA": "name=nonholonomic-dla",
    "DLA, suzuki4": "name=nonholonomic-dla composition=suzuki4",
}


def groups(lab, full):
    """Suslov's problem and the rattleback, whose configurations are those of a group."""
    table = Table("groups", "Motions that contract, on groups: largest energy error up to t = 100 (rattleback: 20), and direction",
                  ["Suslov, h = 0.02; direction (exact: +0.4054)", "rattleback, h = 0.001; spins at t = 6 (exact: -5.2678 -3.8846)"])
    for scheme in GROUP_SCHEMES:
        suslov = lab.run("suslov", method(scheme, GROUP_SCHEMES), allow_failures=True)
        celt = lab.run("rattleback-reversal", method(scheme, GROUP_SCHEMES), "time={step=0.001, end=20.0, sample_every=20}", allow_failures=True)
        spins = [celt.trajectory("q", i)[300, 6:9] @ celt.trajectory("v", i)[300, :3] for i in (0, 1)]
        table.rows[scheme] = [cell_of_motion(suslov, "direction"), f"{error_of_motion(celt)}; {spins[0]:+.4f} {spins[1]:+.4f}"]
    yield table


def cost(lab, full):
    """Processor time of a step: that of a long run less that of a short one. The schemes take turns, so that what else the machine does meets all."""
    def seconds(scheme, end):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        words = [lab.program, "run", lab.path("chaotic"), "-o", lab.scratch / "cost.h5", "--quiet", "--threads", "1", "--backend", "cpu"]
        for setting in (method(scheme), "system.variant=contact", "ensemble.axes[0].count=8192", f"time={{step=0.1, end={end}, samples=1}}"):
            words += ["--set", setting]
        subprocess.run(words, check=True, capture_output=True)
        (lab.scratch / "cost.h5").unlink()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    if not full:
        return
    times = {scheme: [] for scheme in SCHEMES}
    for scheme in SCHEMES:
        seconds(scheme, 10.0)  # compiles the kernel
    for _, scheme in itertools.product(range(3), SCHEMES):
        times[scheme].append((seconds(scheme, 310.0) - seconds(scheme, 10.0)) / (3000 * 8192))
    table = Table("cost", "Processor time of a step of the chaotic system (contact), one thread", ["nanoseconds", "of Lobatto, 2 stages"])
    unit = statistics.median(times["Lobatto, 2 stages"])
    for scheme, each in times.items():
        table.rows[scheme] = [f"{1e9 * statistics.median(each):.0f}", f"{statistics.median(each) / unit:.2f}"]
    yield table


TABLES = {"growth": growth, "cvt": cvt, "contracting": contracting, "groups": groups, "cost": cost}


def tables_of(program, names, full):
    with tempfile.TemporaryDirectory() as scratch:
        lab = Lab(str(pathlib.Path(program).resolve()), HERE, pathlib.Path(scratch))
        for name in names:
            yield from TABLES[name](lab, full)


def cells_of(text, title, first=2):
    """{row: cells} of a table of a page; first = 0 for its head."""
    body = text[text.index(f"### {title}\n"):].split("\n\n")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
    return {row[0]: row[1:] for row in rows[first:]}


def same(cell, other, rounding):
    """Whether two cells say the same: their words, and their numbers but for rounding errors."""
    number = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
    if re.sub(number, "", cell) != re.sub(number, "", other):
        return False
    pairs = zip(map(float, re.findall(number, cell)), map(float, re.findall(number, other)))
    return all(abs(a - b) <= max(0.03 * abs(b), rounding) for a, b in pairs)


def draw(program, folder):
    """Draws the figures of figures.toml. Returns the captions by file."""
    return draw_figures(program, tomllib.loads((HERE / "figures.toml").read_text())["figure"], "families", folder, HERE)


def order(scheme):
    stages, composition = re.search(r"stages=(\d)", SCHEMES[scheme]), re.search(r"composition=\D+(\d)", SCHEMES[scheme])
    return 2 * int(stages[1]) - 2 if stages else int(composition[1]) if composition else 2


def summary(readme):
    """The table of docs/learn/nonholonomic.md, from the tables of the README."""
    titles = re.findall(r"^### (.*)$", readme, re.M)

    def column(beginning, head):
        title = next(title for title in titles if title.startswith(beginning))
        rows = cells_of(readme, title)
        heads = cells_of(readme, title, 0)[""]
        return {row: cells[heads.index(head)] for row, cells in rows.items()}

    heads = ["order", "chaotic: growth of the squared energy error", "CVT: energy of the passenger (exact: 1)", "sleigh: energy error, speed (exact: +0.9539)",
             "roller racer: the same (exact: +0.9672)", "time"]
    columns = [column("Rates of growth", "contact: rate"), column("Passenger energy", "rotating: range"), column("Motions that", "sleigh, h = 0.05"),
               column("Motions that", "roller racer, h = 0.05"), column("Processor time", "of Lobatto, 2 stages")]
    table = Table("summary", "", heads)
    for scheme in SCHEMES:
        table.rows[scheme] = [str(order(scheme)), *(each[scheme] for each in columns)]
    return table.markdown().partition("\n\n")[2]


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; default: all")
    parser.add_argument("--full", action="store_true", help="rates of growth and cost, too")
    parser.add_argument("--markdown", action="store_true", help="print the tables of the README")
    parser.add_argument("--figures", metavar="FOLDER", type=pathlib.Path, help="draw the figures instead")
    arguments = parser.parse_args(words)
    for name in arguments.tables:
        if name not in TABLES:
            parser.error(f"there is no table '{name}' (there are: {', '.join(TABLES)})")
    if arguments.figures:
        arguments.figures.mkdir(parents=True, exist_ok=True)
        print(*draw(str(pathlib.Path(arguments.program).resolve()), arguments.figures), sep="\n")
        return 0
    wrong, readme = 0, (HERE / "README.md").read_text() if not arguments.markdown else ""
    for table in tables_of(arguments.program, arguments.tables or TABLES, arguments.full):
        if arguments.markdown:
            print(table.markdown() + "\n", flush=True)
            continue
        stated = cells_of(readme, table.title)
        for row, cells in table.rows.items():
            good = table.agrees(row, stated)
            wrong += not good and table.name != "cost"
            print(f"  {'ok   ' if good else 'OTHER'} {table.title}: {row}: {', '.join(cells)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
