"""Statistics and fits of groups of trajectories against the parameter that the groups differ in."""

import numpy as np

from .base import InputError, choose, legend, new_figure, number, plain, save, title
from .results import open_all
from .words import quantity
from .words import statistic as words_of_statistic

SUMMARY = "statistics or fits of groups (group_by) against the parameter in which the groups differ"
MOST = 12  # curves


def add_options(parser):
    parser.add_argument("--of", metavar="NAME", dest="quantity", help="an observable or a fit (default: the first observable)")
    parser.add_argument("--statistic", metavar="STAT", help="of the observable, or a parameter of the fit; default: the first one")
    parser.add_argument("--axis", metavar="NAME", help="the parameter; default: the first of group_by. The others make curves")
    parser.add_argument("--time", metavar="T", type=number, help="the sample nearest to this time; default: the end")
    parser.add_argument("--logx", action="store_true", help="horizontal axis logarithmic")
    parser.add_argument("--logy", action="store_true", help="vertical axis logarithmic")


def run(arguments, output):
    save(figure_of(arguments), output)


def _of_groups(result, wanted, statistic):
    """The group of datasets of an observable or a fit, the name of one of them, and whether it has samples."""
    groups = result.group("groups", "the study has no ensemble.group_by")
    known = {name: (kind, entry) for kind in ("fits", "observables") for name, entry in groups.get(kind, {}).items()
             if hasattr(entry, "items")}
    if not known:
        raise InputError(f"{result.path}: the groups have no statistics; add an [[observable]]")
    first = next((name for name, (kind, _) in known.items() if kind == "observables"), next(iter(known)))
    name = choose(wanted or first, list(known), "observable or fit of groups", result.path)
    kind, entry = known[name]
    names = [key for key in entry if not key.endswith("_error") and key not in ("count", "missing", "effective_number")] or list(entry)
    return name, entry, choose(statistic or names[0], list(entry), "statistic of groups", result.path), kind == "observables"


def _draw(axes, result, arguments, several):
    name, entry, statistic, sampled = _of_groups(result, arguments.quantity, arguments.statistic)
    names, places = result.axes_of_groups()
    axis = names.index(choose(arguments.axis or names[0], names, "axis of groups", result.path))
    sample = len(result.time) - 1 if arguments.time is None else result.sample(arguments.time)

    def numbers(key):
        values = np.asarray(entry[key][..., sample] if sampled else entry[key][:], dtype=float)
        return np.moveaxis(values, axis, -1).reshape(-1, len(places[axis]))
    values = numbers(statistic)
    errors = numbers(f"{statistic}_error") if f"{statistic}_error" in entry else np.zeros_like(values)
    others = [i for i in range(len(names)) if i != axis]
    combinations = np.stack(np.meshgrid(*(places[i] for i in others), indexing="ij"), -1).reshape(-1, len(others)) if others else np.zeros((1, 0))
    if len(values) > MOST:
        raise InputError(f"{result.path}: {len(values)} curves are too many for a figure; choose the axis with --axis")
    if arguments.logy and not (values > 0).any():
        raise InputError(f"{result.path}: no value above 0 for --logy")
    for curve, error, combination in zip(values, errors, combinations):
        parts = ([result.label] if several else []) + [f"{names[i]} = {value:g}" for i, value in zip(others, combination)]
        axes.errorbar(places[axis], curve, np.nan_to_num(error), marker="o", markersize=3, capsize=2, label=plain(", ".join(parts)))
    words = words_of_statistic(statistic, name, result.coordinates) if sampled else plain(f"{statistic} of {name}")
    return names[axis], words, result.time[sample] if sampled else None, len(values)


def figure_of(arguments):
    results = open_all(arguments.files)
    figure, axes = new_figure()
    drawn = 0
    for result in results:
        axis, words, time, curves = _draw(axes, result, arguments, len(results) > 1)
        drawn += curves
    axes.set_xlabel(quantity(axis))
    axes.set_ylabel(words)
    if arguments.logx:
        axes.set_xscale("log")
    if arguments.logy:
        axes.set_yscale("log")
    if drawn > 1:
        legend(axes, drawn)
    at = "" if time is None else f"t = {time:g}"
    title(axes, ", ".join(part for part in ([results[0].label] if len(results) == 1 else []) + [at] if part))
    return figure
