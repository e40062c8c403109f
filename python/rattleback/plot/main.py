"""The command line."""

import argparse
import contextlib
import os
import pathlib
import re
import sys
import warnings
from dataclasses import dataclass
from typing import Callable

from . import basins, convergence, decay, export, grouped, histograms, importing, maps, moving, report, states, timeseries
from .base import FORMATS, InputError, OutputError, did_you_mean, figure_place, printable, shortened, tell, told


@dataclass
class Kind:
    summary: str
    add_options: Callable
    run: Callable
    files: str = "RESULT.h5"
    formats: tuple[str, ...] = FORMATS


KINDS = {
    "time": Kind(timeseries.SUMMARY, timeseries.add_options, timeseries.run),
    "phase": Kind("two or three components of stored trajectories against each other", states.add_phase_options, states.run_phase),
    "animate": Kind(moving.SUMMARY, moving.add_options, moving.run, formats=moving.FORMATS),
    "section": Kind("Poincare section: stored crossings", states.add_section_options, states.run_section),
    "histogram": Kind(histograms.SUMMARY, histograms.add_options, histograms.run),
    "map": Kind(maps.SUMMARY, maps.add_options, maps.run),
    "groups": Kind(grouped.SUMMARY, grouped.add_options, grouped.run),
    "basin": Kind(basins.SUMMARY, basins.add_options, basins.run),
    "survival": Kind(decay.SUMMARY, decay.add_options, decay.run),
    "order": Kind("errors against the step size, with their slopes", convergence.add_order_options, convergence.run_order,
                  "ORDER.json"),
    "work-precision": Kind("errors against the computing time, one curve per method", convergence.add_work_options,
                           convergence.run_work, "WORK.json"),
}
PROGRAM = "rattleback plot"
HELP = f"""usage: {PROGRAM} [KIND] FILE... [-o FIGURE] [OPTION]...

Draws a figure from results. Kinds:

{{kinds}}

The options of a kind: {PROGRAM} KIND --help. The figure is a .png, .svg or .pdf file,
of animate a .gif or .mp4.

  {PROGRAM} chaotic.h5
  {PROGRAM} time a.h5 b.h5 --observable energy --statistic mse,maxabs --loglog --fit 100 --model power
  {PROGRAM} phase sleigh.h5 --components "q[0],q[1]" --equal -o path.svg
  {PROGRAM} map sweep.h5 --of "q[2]"
"""


def place(program):
    """Where a message is from; every message starts with the name of the program already."""
    return program.removeprefix("rattleback ")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise InputError(f"{place(self.prog)}: {message}; see '{self.prog} --help'")


def split_kind(arguments):
    """The kind and the other arguments; a kind may stand before or after the files."""
    for i, word in enumerate(arguments):
        if word.startswith("-"):
            break
        if word in KINDS and (i == 0 or not pathlib.Path(word).exists()):
            return word, arguments[:i] + arguments[i + 1:]
        if not pathlib.Path(word).suffix and not pathlib.Path(word).exists():
            raise InputError(f"{place(PROGRAM)}: '{word}' is neither a file nor a kind of figure (there are: {', '.join(KINDS)})"
                             + did_you_mean(word, KINDS))
    return "time", arguments


def parse(name, words):
    kind = KINDS[name]
    parser = Parser(prog=f"{PROGRAM} {name}", description=f"Draws {kind.summary}.", allow_abbrev=False)
    parser.add_argument("files", nargs="+", metavar=kind.files, type=pathlib.Path)
    parser.add_argument("-o", "--output", metavar="FIGURE", type=pathlib.Path,
                        help=f"{', '.join(kind.formats)}; default: beside the first file, named after it")
    kind.add_options(parser)
    unknown = parser.parse_known_intermixed_args(words)[1]
    if unknown:
        options = re.findall(r"--[a-z][a-z-]*", parser.format_help())
        raise InputError(f"{place(parser.prog)}: unknown option '{unknown[0]}'{did_you_mean(unknown[0], options)}")
    return parser.parse_intermixed_args(words)


def figure_path(name, arguments):
    formats = KINDS[name].formats
    if arguments.output is None:
        first = arguments.files[0]
        return first.parent / (first.stem + ("" if name == "time" else f"-{name}") + formats[0])
    if arguments.output.suffix not in formats:
        what = "figures" if formats == FORMATS else f"'{name}'"
        raise InputError(f"{arguments.output}: not a format of {what}; the name must end with {'one of ' * (len(formats) > 1)}{', '.join(formats)}")
    return arguments.output


def command(words):
    """Does what the words say; returns the exit code."""
    if not words or words[0] in ("-h", "--help"):
        width = max(len(name) for name in KINDS) + 2
        kinds = "\n".join(f"  {name:<{width}}{kind.summary}" for name, kind in KINDS.items())
        tell(HELP.format(kinds=kinds), file=sys.stdout if words else sys.stderr, end="")
        return 0 if words else 2
    if words[0] == "--report":  # for `rattleback report`: FOLDER FIGURES FILE...
        with whole(words[3:], "reported"):
            report.write_page(words[1], words[2], words[3:])
        return 0
    if words[0] == "--export":  # for `rattleback export`: FORM PLACE FILE TABLE...
        with whole(words[3:4], "exported"):
            place = export.export(words[1], words[2], words[3], words[4:])
        tell(f"exported: {place}\n", end="")
        return 0
    if words[0] == "--import":  # for `rattleback import`: PLACE MODEL
        left_out = importing.import_model(words[2], words[1])
        tell("".join(f"left out: {line}\n" for line in left_out), end="")
        return 0
    name, words = split_kind(words)
    with told():  # parse may print the help of a kind
        arguments = parse(name, words)
    output = figure_path(name, arguments)
    figure_place(output)  # a bad place must be found before any work
    with whole(arguments.files, "drawn"):
        KINDS[name].run(arguments, output)
    return 0


def main(words):
    """Returns the exit code."""
    warnings.simplefilter("ignore")  # warnings would add lines to a message
    try:
        try:
            code = command(words)
        except SystemExit as end:  # argparse exits after a help
            code = end.code
        if sys.stdout is None:
            raise OutputError("it is closed")
        with told():
            sys.stdout.flush()
        return code
    except InputError as error:
        complain(error)
        return 2
    except OutputError as error:
        complain(f"standard output: cannot be written ({error})")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # output may still be in a buffer
        return 1
    except KeyboardInterrupt:
        return 130


@contextlib.contextmanager
def whole(files, done):
    """Around what reads files: whatever a damaged one makes h5py, numpy or matplotlib raise is one message."""
    try:
        yield
    except (InputError, OutputError, ImportError):
        raise
    except Exception as error:
        why = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 300)
        raise InputError(f"{', '.join(map(str, files))}: cannot be {done} ({why}); the file is damaged or was not written by "
                         "rattleback") from error


def complain(message):
    """One line on stderr, if there is one."""
    with contextlib.suppress(OSError):
        print(f"rattleback: {shortened(printable(message), 2000)}", file=sys.stderr)
