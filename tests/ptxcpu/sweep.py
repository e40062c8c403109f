#!/usr/bin/python3
"""Runs every system with every method of a build on cpu:scalar and on cuda, and compares the bits of the results.

    sweep.py PROGRAM [--match REGEX] [--draws N] [--steps N] [--flavours plain,...] [--keep FOLDER]
                     [--jobs N] [--seconds S] [--skip FILE]

Flavours of a study:
    plain      no sections
    sections   two surfaces of section
    tangent    Lyapunov exponents
    uneven     step sizes from small to hopeless: trajectories fail, and end at different steps
    all        uneven, sections and tangent

Prints a line per study: verdict, seconds, system, variant (with the numbers that choose the compiled system), method,
options, flavour, detail, with tabs between.
Verdicts:
    identical   all datasets have the same bits
    refused     `check` does not take the study: such a combination does not exist
    different   some datasets differ; the detail names them
    error       a run failed; the detail is what the program said
    timeout     a run took too long
With --seconds the studies come in random order, plain ones and those with all first, and those that have not begun by
then are left out. With --skip so are those that a line of the file names: system, variant, method, options and flavour, with
blanks between.
The last line, on stderr, has the number of studies with each verdict. The exit code is 0 where studies were compared
and all were identical, else 1. Options of the emulator (PTXCPU_...) go through: PTXCPU_RACES=1 with --draws 6 --steps 5
finds races.
"""

import argparse
import collections
import concurrent.futures
import functools
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

Study = collections.namedtuple("Study", "system variant method options flavour text")

FLAVOURS = ("plain", "sections", "tangent", "uneven", "all")
NUMBERS = ("stages", "k", "s")  # options that are whole numbers and choose the compiled step
UNEVEN_STEPS = "[0.05, 8.0, 0.1, 2.0, 0.025, 4.0]"  # in units of the system's time scale
STATISTICS = '["mean", "std", "mse", "rms", "min", "max", "maxabs"]'


@functools.cache
def ask(program, *arguments):
    """What a command of the program says of the catalogue."""
    return json.loads(subprocess.run([program, *arguments, "--json"], check=True, capture_output=True).stdout)


def combinations(method):
    """All values of a method's options that are choices or whole numbers."""
    lists = []
    for option in method["options"]:
        name = option["name"]
        if option.get("kind") == "choice":
            lists.append([(name, f'"{choice}"') for choice in option["choices"]])
        elif option.get("kind") == "integer" and name in NUMBERS:
            lists.append([(name, str(i)) for i in range(int(option["minimum"]), int(option["maximum"]) + 1)])
    return itertools.product(*lists)


def expressions(values, first):
    """Initial values, each with an axis of its own added, counted from `first`."""
    return "[" + ", ".join(f'"{value!r} + x{first + i}"' for i, value in enumerate(values)) + "]"


def write_study(name, instance, method, options, flavour, draws, steps):
    """A study file. Initial states are random in a box around the default state, and projected onto the constraints."""
    uneven, sections, tangent = (flavour in (part, "all") for part in ("uneven", "sections", "tangent"))
    scale, q, v = instance["time_scale"], instance["default_q"], instance["default_v"]
    width = 0.1 if scale >= 1 or instance["constraints"] == 0 else 0.005
    axes = [f'{{ name = "x{i}", distribution = "uniform", from = {-width}, to = {width}, seed = 7 }}'
            for i in range(len(q) + len(v))]
    lines = ["[system]", f'name = "{name}"']
    if instance.get("variant"):
        lines.append(f'variant = "{instance["variant"]}"')
    structure = ", ".join(f"{key} = {int(value)}" for key, value in instance.get("structure", {}).items())
    lines += [f"parameters = {{{structure}}}", "[method]", f'name = "{method}"']
    lines += [f"{key} = {value}" for key, value in options]
    if uneven:
        lines += ["[time]", f'step = "{scale} * h"', f"end = {40 * scale}", "samples = 5"]
        axes.insert(0, f'{{ name = "h", values = {UNEVEN_STEPS} }}')
        draws = max(1, draws // 60)
    else:
        lines += ["[time]", f"step = {0.05 * scale}", f"steps = {steps}", "samples = 5"]
    lines += ["[ensemble]", "project = true", f"draws = {draws}", f"axes = [{', '.join(axes)}]", "[ensemble.initial]",
              f"q = {expressions(q, 0)}", f"v = {expressions(v, len(q))}"]
    for observable in instance["observables"]:
        lines += ["[[observable]]", f'name = "{observable["name"]}"', f"statistics = {STATISTICS}",
                  "quantiles = [0.1, 0.5]"]
    lines += ['correlation = ["q[0]"]', "histogram = { from = -1, to = 1, bins = 5 }"]
    lines += ["[[observable]]", 'name = "iterations"', 'statistics = ["mean", "max"]']
    if tangent:
        lines += ["[[observable]]", 'name = "lyapunov"', 'statistics = ["mean", "std", "min", "max"]',
                  "quantiles = [0.5]"]
    if sections:
        lines += ["[[section]]", f'surface = "q[0] + v[0] - {q[0]!r} - p[0]^2/9"', 'direction = "both"',
                  "[[section]]", 'name = "nowhere"', 'surface = "cos(q[0]) - 2"']
    lines += ["[output]", "trajectories = [0, 3]"]
    return "\n".join(lines) + "\n"


def studies(program, flavours, draws, steps):
    """All studies of the build's catalogue."""
    for entry in ask(program, "list")["systems"]:
        name = entry["name"]
        for instance in ask(program, "describe", name)["instances"]:
            for method in instance["methods"]:
                for options in combinations(ask(program, "describe", method)):
                    for flavour in flavours:
                        text = write_study(name, instance, method, options, flavour, draws, steps)
                        numbers = [f"{key}={int(value)}" for key, value in instance.get("structure", {}).items()]
                        variant = " ".join(filter(None, [instance.get("variant"), *numbers]))
                        yield Study(name, variant or "-", method,
                                    " ".join(f"{key}={value}" for key, value in options) or "-", flavour, text)


def compare(program, path, timeout):
    """(verdict, detail) of a study."""
    check = subprocess.run([program, "check", path], capture_output=True, text=True, check=False)
    if check.returncode != 0:
        return "refused", check.stderr.strip()[-160:]
    try:
        result = subprocess.run([program, "compare", path, "--backends", "cpu:scalar,cuda", "--json"],
                                capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    if not result.stdout.startswith("{"):
        return "error", f"exit code {result.returncode}: {result.stderr.strip()[-600:]}"
    answer = json.loads(result.stdout)
    if result.returncode == 0:
        host, device = answer["runs"]
        return "identical", (f'{device["failed"]}/{device["trajectories"]} failed, '
                             f'{host["wall_seconds"]:.2f} and {device["wall_seconds"]:.2f} s')
    datasets = answer["comparisons"][0]["datasets"]
    return "different", " ".join(d["path"] for d in datasets if d["status"] != "identical")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--match", default="", help="of a line's system, variant, method, options and flavour")
    parser.add_argument("--draws", type=int, default=300, help="trajectories")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--flavours", default=",".join(FLAVOURS))
    parser.add_argument("--timeout", type=float, default=300, help="seconds per study")
    parser.add_argument("--jobs", type=int, default=1, help="studies at a time")
    parser.add_argument("--seconds", type=float, default=0.0, help="no study begins later; 0: no limit")
    parser.add_argument("--skip", type=pathlib.Path, help="a file that names studies to leave out")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the studies that are not identical")
    arguments = parser.parse_args()
    flavours = arguments.flavours.split(",")
    if not set(flavours) <= set(FLAVOURS):
        parser.error(f"flavours are {', '.join(FLAVOURS)}")
    program = arguments.program.resolve()
    counts = collections.Counter()
    begin = time.monotonic()

    def judge(study):
        """(study, seconds, verdict, detail); None: there was no time left."""
        start = time.monotonic()
        if arguments.seconds and start - begin > arguments.seconds:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "study.toml")
            pathlib.Path(path).write_text(study.text, encoding="utf-8")
            verdict, detail = compare(program, path, arguments.timeout)
        return study, time.monotonic() - start, verdict, re.sub(r"\s+", " ", detail)

    skipped = set(arguments.skip.read_text(encoding="utf-8").splitlines()) if arguments.skip else set()
    wanted = [study for study in studies(program, flavours, arguments.draws, arguments.steps)
              if re.search(arguments.match, " ".join(study[:-1])) and " ".join(study[:-1]) not in skipped]
    if arguments.seconds:
        random.Random(1).shuffle(wanted)
        wanted.sort(key=lambda study: study.flavour not in ("plain", "all"))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for judged in pool.map(judge, wanted):
            if judged is None:
                counts["left out"] += 1
                continue
            study, seconds, verdict, detail = judged
            counts[verdict] += 1
            print("\t".join([verdict, f"{seconds:.1f}", *study[:-1], detail]), flush=True)
            if arguments.keep and verdict not in ("identical", "refused"):
                arguments.keep.mkdir(parents=True, exist_ok=True)
                kept = arguments.keep / (re.sub(r"\W+", "-", " ".join(study[:-1])) + ".toml")
                kept.write_text(study.text, encoding="utf-8")
    summary = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(summary or "nothing matches", file=sys.stderr)
    return 0 if counts["identical"] and not set(counts) - {"identical", "refused", "left out"} else 1


if __name__ == "__main__":
    sys.exit(main())
