"""Histograms over the ensemble at chosen times."""

from dataclasses import dataclass

import numpy as np

from .base import InputError, did_you_mean, legend, listing, new_figure, numbers, plain, positive, save, title
from .results import column, components, open_all, parse_component
from .words import quantity

SUMMARY = "histograms over the ensemble of an observable, a component of the state, or an axis"


@dataclass
class Histogram:
    """Counts over bins, or values still to be counted."""

    result: object
    quantity: str
    time: float | None
    values: np.ndarray | None = None
    counts: np.ndarray | None = None
    edges: np.ndarray | None = None
    infinite: int = 0  # values that no bin can have, such as the digits of two equal averages


def add_options(parser):
    parser.add_argument("--of", metavar="NAME", dest="quantity",
                        help="an observable with a stored histogram or with values, an average (NAME, NAME_digits), a component such as q[0] or x, "
                             "or an axis "
                             "(default: the first stored histogram, or else q[0])")
    parser.add_argument("--times", metavar="T1,T2,...", type=numbers,
                        help="the samples nearest to these times; default: the end. States come from /trajectories where "
                             "all are stored, at the start and the end also from /initial and /final")
    parser.add_argument("--bins", metavar="N", type=positive, default=50,
                        help="number of bins, where the histogram is not a stored one (default: 50)")
    parser.add_argument("--density", action="store_true", help="areas of 1 instead of counts")
    parser.add_argument("--logy", action="store_true", help="vertical axis logarithmic")


def stored_histograms(result):
    return [name for name, group in result.file.get("observables", {}).items() if "histogram" in group]


def state_at(result, wanted, sample):
    """A component of all trajectories at a sample; those that failed or were stopped before are left out."""
    file, last, absent = result.file, len(result.time) - 1, result.absent(result.time[sample])
    end = {0: "initial", last: "final"}.get(sample)
    if end and "q" in file.get(end, []):
        values = column(file[end], wanted, 1, result.path)
    elif "trajectories" in file and len(result.member("index", file["trajectories"])) == len(absent):
        states = {name: data[sample] for name, data in file["trajectories"].items() if data.ndim == 3}
        values = column(states, wanted, 1, result.path)
    else:
        raise InputError(f"{result.path}: no states of all trajectories at t = {result.time[sample]:g}; set "
                         'output.trajectories = "all" in the study, or choose the start or the end')
    return values[~absent]


def load(result, quantity, times):
    stored, axes = stored_histograms(result), list(result.file.get("axes", []))
    if quantity is None:
        quantity = stored[0] if stored else "q[0]"
    if quantity in axes:
        return [Histogram(result, quantity, None, values=result.member(quantity, result.file["axes"]))]
    if quantity not in stored and (average := result.average(quantity)) is not None:
        return [Histogram(result, quantity, None, values=average)]
    samples = [result.sample(time) for time in times or result.time[-1:]]
    if quantity in stored:
        group = result.file["observables"][quantity]
        return [Histogram(result, quantity, result.time[k], counts=group["histogram"][k].astype(float),
                          edges=result.member("histogram_edges", group)) for k in samples]
    if "values" in result.file.get("observables", {}).get(quantity, {}):
        kept = result.file["observables"][quantity]["values"]
        return [Histogram(result, quantity, result.time[k], values=np.asarray(kept[k], dtype=float)) for k in samples]
    try:
        wanted = parse_component(quantity)
        wanted = wanted if wanted.name in result.final else result.named(wanted)
        known_state = wanted.index is not None or wanted.name in result.final
    except ValueError:
        known_state = False
    if not known_state:
        known = [*stored, "q[0]", *axes]
        why = "an observable without histogram and values" if quantity in result.file.get("observables", []) else "unknown"
        raise InputError(f"{result.path}: no histogram of '{quantity}' ({why}; there are stored histograms: {listing(stored)}; "
                         f"components: {listing(components(result.file['final'], 1))}; axes: {listing(axes)})"
                         + did_you_mean(quantity, known))
    shown = quantity if wanted.index is None else f"{wanted.name}[{wanted.index}]"  # v_x is a component of v
    return [Histogram(result, shown, result.time[k], values=state_at(result, wanted, k)) for k in samples]


def count(histograms, bins):
    """Counts what is not counted yet, all with the same bins."""
    values = [h.values[np.isfinite(h.values)] for h in histograms if h.values is not None]
    if not values:
        return
    together = np.concatenate(values)
    for histogram in histograms:
        if histogram.values is not None:
            histogram.infinite = np.count_nonzero(np.isinf(histogram.values))
    if len(together) == 0:
        infinite = sum(histogram.infinite for histogram in histograms)
        raise InputError(f"{histograms[0].result.path}: no finite value to count" + (f" ({infinite} are infinite)" if infinite else ""))
    edges = np.histogram_bin_edges(together, bins)
    for histogram in histograms:
        if histogram.values is not None:
            histogram.counts, histogram.edges = np.histogram(histogram.values, edges)[0].astype(float), edges


def draw(histograms, density, logy):
    figure, axes = new_figure()
    files = len({id(h.result) for h in histograms})
    for histogram in histograms:
        parts = [histogram.result.label] if files > 1 else []
        if histogram.time is not None:
            parts.append(f"t = {histogram.time:g}")
        parts.append(f"{histogram.counts.sum():.0f} trajectories" + (f" and {histogram.infinite} with infinity" if histogram.infinite else ""))
        heights = histogram.counts
        if density:
            heights = heights / (np.diff(histogram.edges) * max(heights.sum(), 1.0))
        colour = axes.stairs(heights, histogram.edges, linewidth=1.5, label=plain(", ".join(parts))).get_edgecolor()
        axes.stairs(heights, histogram.edges, fill=True, alpha=0.2, color=colour)
    if logy:
        axes.set_yscale("log")
    axes.set_xlabel("; ".join(dict.fromkeys(quantity(h.quantity, h.result.coordinates) for h in histograms)))
    axes.set_ylabel("density" if density else "trajectories per bin")
    if files == 1:
        title(axes, histograms[0].result.label)
    legend(axes, len(histograms))
    return figure


def figure_of(arguments):
    histograms = [h for result in open_all(arguments.files) for h in load(result, arguments.quantity, arguments.times)]
    count(histograms, arguments.bins)
    return draw(histograms, arguments.density, arguments.logy)


def run(arguments, output):
    save(figure_of(arguments), output)
