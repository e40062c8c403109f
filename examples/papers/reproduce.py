#!/usr/bin/python3
"""Reproduces the numbers of the papers.  reproduce.py PROGRAM [KEY...] [--full] [--markdown | --figures FOLDER]

Each folder KEY has the studies and a file cases.py, which lists the numbers: what the paper prints, what rattleback gives, and where the
two differ, why. Without --full long runs are left out. The exit code is 1 when a number is not what cases.py expects.
"""

import argparse
import hashlib
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass

import h5py
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent


@dataclass
class Number:
    """One number of a paper."""

    table: str  # "Table 1, HBVM(2,2)"
    what: str  # "n = 3, error of the solution"
    paper: str  # as it is printed; "" where the paper has a figure without numbers, or a statement in words
    ours: float
    expected: float = math.nan  # what rattleback has given, or a bound
    tolerance: float = 1e-3  # relative; of a bound: 0
    below: bool = False  # expected is an upper bound
    why: str = ""  # the reason, where ours differs from the paper

    def holds(self):
        if not math.isfinite(self.ours):
            return False
        if self.below:
            return abs(self.ours) <= self.expected
        return abs(self.ours - self.expected) <= self.tolerance * abs(self.expected)

    def differs(self):
        """Whether ours differs from the printed digits by more than two units of the last one."""
        try:
            printed = float(self.paper)
        except ValueError:
            return False
        digits = self.paper.lower().split("e")
        places = len(digits[0].partition(".")[2])
        unit = 10.0 ** (int(digits[1] if len(digits) > 1 else 0) - places)
        return abs(self.ours - printed) > 2 * unit

    def row(self):
        bound = f"below {self.expected:.0e}" if self.below else f"{self.ours:.5g}"
        return f"| {self.what} | {self.paper} | {bound} | {self.why} |"


class Result:
    def __init__(self, file):
        with h5py.File(file) as stored:
            self.data = {}
            stored.visititems(lambda path, item: self.data.__setitem__("/" + path, item[...])
                              if isinstance(item, h5py.Dataset) else None)

    def __getitem__(self, path):
        return self.data[path]

    def statistic(self, observable, statistic):
        return self.data[f"/observables/{observable}/{statistic}"]

    def trajectory(self, part, index=0):
        """[samples, width]"""
        return self.data[f"/trajectories/{part}"][:, index]


class Lab:
    """Runs studies. A study is a name below the folder of the paper or in examples/."""

    def __init__(self, program, folder, scratch):
        self.program, self.folder, self.scratch, self.results = program, folder, scratch, {}

    def path(self, study):
        own = self.folder / f"{study}.toml"
        return own if own.exists() else EXAMPLES / f"{study}.toml"

    def run(self, study, *settings, allow_failures=False):
        key = (study, settings)
        if key not in self.results:
            name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
            file = self.scratch / f"{name}.h5"
            words = [self.program, "run", self.path(study), "-o", file, "--quiet"]
            for setting in settings:
                words += ["--set", setting]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode not in ((0, 3) if allow_failures else (0,)):
                raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
            self.results[key] = Result(file)
            file.unlink()
        return self.results[key]

    def order(self, study, steps, *options):
        """The report of `rattleback order`."""
        words = [self.program, "order", self.path(study), "--steps", steps, "--json", "--quiet", *options]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
        return json.loads(done.stdout)

    def slope(self, study, steps, variable, *options):
        """The observed order between the two finest steps."""
        return self.order(study, steps, *options)["variables"][variable]["order_max"][-1]


def jacobi(u, m):
    """sn, cn, dn by the arithmetic-geometric mean."""
    a, c, b = [1.0], [math.sqrt(m)], math.sqrt(1 - m)
    while abs(c[-1]) > 1e-17 and len(a) < 12:
        a, c, b = a + [0.5 * (a[-1] + b)], c + [0.5 * (a[-1] - b)], math.sqrt(a[-1] * b)
    n = len(a) - 1
    phi = np.ldexp(a[n] * np.asarray(u, float), n)
    before = phi
    for k in range(n, 0, -1):
        before, phi = phi, 0.5 * (phi + np.arcsin(np.clip(c[k] * np.sin(phi) / a[k], -1, 1)))
    sn, cn = np.sin(phi), np.cos(phi)
    return sn, cn, cn / np.cos(before - phi)


def numbers_of(program, key, full):
    folder = HERE / key
    specification = importlib.util.spec_from_file_location(f"cases_{key}", folder / "cases.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules.setdefault("reproduce", sys.modules[__name__])
    specification.loader.exec_module(module)
    with tempfile.TemporaryDirectory() as scratch:
        yield from module.numbers(Lab(program, folder, pathlib.Path(scratch)), full)


def keys():
    return sorted(path.parent.name for path in HERE.glob("*/cases.py"))


def markdown(numbers):
    """The tables of a README."""
    tables = {}
    for number in numbers:
        tables.setdefault(number.table, []).append(number.row())
    lines = []
    for table, rows in tables.items():
        lines += ["", f"### {table}", "", "| | paper | rattleback | where they differ, why |", "| --- | --- | --- | --- |", *rows]
    return "\n".join(lines).strip() + "\n"


def figures_of(key):
    """The figures of a paper, from figures.toml: name, caption and commands."""
    return tomllib.loads((HERE / "figures.toml").read_text())[key]


def draw_figures(program, figures, key, folder, own):
    """Draws figures as KEY-NAME.svg; $PAPER of their commands is the folder `own`. Returns the captions by file."""
    captions = {}
    for figure in figures:
        file = folder / f"{key}-{figure['name']}.svg"
        with tempfile.TemporaryDirectory() as scratch:
            for command in figure["commands"]:
                text = f'"$PROGRAM" {command}' + (f' -o "{file.resolve()}"' if command.startswith("plot ") else "")
                environment = os.environ | {"PROGRAM": program, "EXAMPLES": str(EXAMPLES), "PAPER": str(own)}
                done = subprocess.run(["bash", "-c", text], cwd=scratch, capture_output=True, text=True, env=environment)
                if done.returncode not in (0, 3):
                    raise SystemExit(f"{key}: {text}\n{done.stderr}")
        captions[file] = figure["caption"]
    return captions


def draw(program, key, folder):
    """Draws the figures of a paper."""
    return draw_figures(program, figures_of(key), key, folder, HERE / key)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("keys", nargs="*", help=f"of {', '.join(keys())}; default: all")
    parser.add_argument("--full", action="store_true", help="long runs, too")
    parser.add_argument("--markdown", action="store_true", help="print the tables of the README")
    parser.add_argument("--figures", metavar="FOLDER", type=pathlib.Path, help="draw the figures instead")
    arguments = parser.parse_args(words)
    for key in arguments.keys:
        if key not in keys():
            parser.error(f"there is no paper '{key}' (there are: {', '.join(keys())})")
    wrong = 0
    for key in arguments.keys or keys():
        if arguments.figures:
            arguments.figures.mkdir(parents=True, exist_ok=True)
            for file in draw(str(pathlib.Path(arguments.program).resolve()), key, arguments.figures):
                print(file)
            continue
        numbers = list(numbers_of(str(pathlib.Path(arguments.program).resolve()), key, arguments.full))
        if arguments.markdown:
            print(markdown(numbers))
            continue
        print(key)
        for n in numbers:
            good = n.holds() and (not n.differs() or bool(n.why))
            wrong += not good
            print(f"  {'ok   ' if good else 'WRONG'} {n.table}: {n.what}: paper {n.paper or '-'}, ours {n.ours:.6g}"
                  f"{'' if n.holds() else f', expected {n.expected:.6g}'}{f' ({n.why})' if n.why else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
