"""The share of the trajectories that no stop has ended yet, against time."""

import numpy as np

from .base import InputError, legend, new_figure, plain, save, title
from .results import open_all

SUMMARY = "the share of the trajectories that no stop has ended, against time"


def add_options(parser):
    parser.add_argument("--stops", action="store_true", help="also the share that each stop has ended")
    parser.add_argument("--logy", action="store_true", help="vertical axis logarithmic: a steady rate of escape is a line")


def run(arguments, output):
    save(figure_of(arguments), output)


def _draw(axes, time, group, name, label):
    share, error = group[name][:], np.nan_to_num(group[f"{name}_error"][:])
    line, = axes.plot(time, share, label=plain(label))
    axes.fill_between(time, share - error, share + error, color=line.get_color(), alpha=0.25, linewidth=0)


def figure_of(arguments):
    results = open_all(arguments.files)
    figure, axes = new_figure()
    drawn = 0
    for result in results:
        stops = result.group("stops", "the study has no [[stop]]")
        of_file = f"{result.label}: " if len(results) > 1 else ""
        curves = [(stops, "survival", "inside")]
        if arguments.stops:
            curves += [(group, "fraction", name) for name, group in stops.items() if hasattr(group, "items")]
        for group, name, label in curves:
            _draw(axes, result.time, group, name, of_file + label)
        drawn += len(curves)
        if arguments.logy and not (stops["survival"][:] > 0).any():
            raise InputError(f"{result.path}: no share above 0 for --logy")
    axes.set_xlabel("t")
    axes.set_ylabel("share of the trajectories")
    if arguments.logy:
        axes.set_yscale("log")
    if drawn > 1:
        legend(axes, drawn)
    if len(results) == 1:
        title(axes, results[0].label)
    return figure
