"""What became of each trajectory, over one or two axes of the ensemble."""

from functools import cached_property

import numpy as np

from .base import COLOURS, InputError, choose, chosen, new_figure, option_type, plain, save, title
from .results import LEFT_OUT, Result, parse_component, text_of
from .words import quantity

SUMMARY = "the status or another final quantity of each trajectory over one or two axes"
GOOD = "#a9cde2"
ABSENT = "#d9d9d9"
NO_END = -1  # in place of a stop, of what failed or was left out
STRIPS = 400  # largest number of bars along one axis


def _place(text):
    name, value = text.rsplit("=", 1)
    return name, float(value)


def add_options(parser):
    parser.add_argument("--of", metavar="NAME", type=option_type(parse_component, "a quantity such as residual or q[0]"),
                        dest="quantity", default=parse_component("status"),
                        help="status (the default), stop, fate, time, lyapunov, iterations, residual, steps, a component of the "
                             "final state, q[0] or the name of a coordinate, an average (NAME, NAME_digits), or an observable with values, at the end")
    parser.add_argument("--axes", metavar="A[,B]", help="default: the first two that vary")
    parser.add_argument("--where", metavar="NAME=VALUE", type=option_type(_place, "NAME=VALUE"), action="append", default=[],
                        help="only trajectories with the nearest value of this axis; repeatable")
    parser.add_argument("--log", action="store_true", help="logarithmic colours, or vertical axis")


class Cells:
    """The trajectories that are drawn and their places along the axes."""

    def __init__(self, result, wanted, where):
        self.result = result
        group = result.group("axes", "the ensemble of the study has none")
        # The names are in the order of the study, not of the alphabet.
        axes = result.study.get("ensemble", {}).get("axes", [])
        named = [name for axis in axes for name in ([f"{axis['name']}[{i}]" for i in range(axis["dimension"])] if "dimension" in axis
                                                    else [axis["name"]])]
        known = [name for name in named if name in group]
        known += [name for name in group if name not in known]
        every = {name: result.member(name, group) for name in known}
        used = np.ones(len(every[known[0]]), dtype=bool)
        for name, value in where:
            places = every[choose(name, known, "axis", result.path)]
            used &= places == places[np.argmin(np.abs(places - value))]
        if not used.any():
            raise InputError(f"{result.path}: no trajectory is at {', '.join(f'{n} = {v:g}' for n, v in where)} at once")
        self.used = used
        self.places = {name: values[used] for name, values in every.items()}
        varying = [name for name in known if len(np.unique(self.places[name])) > 1]
        self.axes = chosen(wanted, known) or varying[:2] or known[:1]
        if len(self.axes) > 2 or len(set(self.axes)) < len(self.axes):
            raise InputError(f"{result.path}: a map has one axis or two different ones, not {', '.join(self.axes)}")
        for name in self.axes:
            choose(name, known, "axis", result.path)
        self.others = [name for name in varying if name not in self.axes]

    def along(self, i):
        return self.places[self.axes[i]]

    @cached_property
    def grid(self):
        """Places of rows and columns, and the row and the column of each trajectory; None when they are scattered."""
        (x, column_of), (y, row_of) = (np.unique(self.along(i), return_inverse=True) for i in (0, 1))
        if np.unique(np.stack([self.along(0), self.along(1)]), axis=1).shape[1] < len(row_of):
            hints = [f"--where {name}={self.places[name][0]:g}" for name in self.others]
            raise InputError(f"{self.result.path}: several trajectories have the same {self.axes[0]} and {self.axes[1]}"
                             + (f"; choose among them, for example with {' '.join(hints)}" if hints else ""))
        return (x, y, row_of, column_of) if len(x) * len(y) == len(row_of) else None


def status_names(dataset):
    """{bit: text}, from the attributes "bit N" of the dataset."""
    bits = {}
    for name, text in dataset.attrs.items():
        if name.startswith("bit "):
            bits[int(name[4:])] = text_of(text)
    return bits


def describe(status, bits):
    """A status in words."""
    if status == 0:
        return "good"
    found = [bits.get(bit, f"bit {bit}") for bit in (1 << k for k in range(32)) if status & bit]
    return " and ".join(found)


def describe_end(kind, number, names):
    """Which stop ended a trajectory, or which fate it has."""
    words = {0: "to the end" if kind == "stop" else "none", NO_END: "failed or left out"}
    return words.get(number) or names.get(number, f"{kind} {number}")


def end_names(kind, dataset):
    """{number: name}, from the attributes "stop N" or "fate N" of the dataset."""
    return {int(name.split()[1]): text_of(text) for name, text in dataset.attrs.items() if name.startswith(f"{kind} ")}


def edges(places):
    """Borders of the cells around increasing places."""
    if len(places) == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    middle = (places[1:] + places[:-1]) / 2
    return np.concatenate([[2 * places[0] - middle[0]], middle, [2 * places[-1] - middle[-1]]])


def draw_cells(axes, cells, values, **style):
    """The values at their places: cells of a grid, or points."""
    if cells.grid is None:
        return axes.scatter(cells.along(0), cells.along(1), c=values, s=8, linewidths=0, rasterized=True, **style)
    x, y, rows, columns = cells.grid
    image = np.empty((len(y), len(x)))
    image[rows, columns] = values
    axes.grid(False)
    return axes.pcolormesh(edges(x), edges(y), np.ma.masked_invalid(image), rasterized=True, **style)


def draw_categories(cells, values, describe, absent=None):
    """Each number that occurs has a colour, and `describe` says what it means; `absent` is that of no trajectory."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    figure, axes = new_figure()
    found, category = np.unique(values, return_inverse=True)
    others = iter(COLOURS[1:])
    colours = [GOOD if value == 0 else ABSENT if value == absent else next(others, COLOURS[-1]) for value in found]
    if len(cells.axes) == 2:
        draw_cells(axes, cells, category, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(found) - 0.5)
        axes.set_ylabel(quantity(cells.axes[1]))
    else:
        draw_strip(axes, cells.along(0), category, colours)
        axes.set_ylabel("trajectories")
    labels = [f"{describe(int(value))} ({np.count_nonzero(values == value)})" for value in found]
    axes.legend(handles=[Patch(color=colour, label=plain(label)) for colour, label in zip(colours, labels)],
                loc="upper left", bbox_to_anchor=(0.0, -0.13), borderaxespad=0.0, frameon=False, fontsize="small")
    return figure, axes


def draw_strip(axes, places, category, colours):
    """How many trajectories of each category there are along the axis, stacked."""
    unique = np.unique(places)
    borders = edges(unique) if len(unique) <= STRIPS else np.linspace(unique[0], unique[-1], STRIPS + 1)
    bottom = np.zeros(len(borders) - 1)
    for i, colour in enumerate(colours):
        top = bottom + np.histogram(places[category == i], borders)[0]
        axes.stairs(top, borders, baseline=bottom, fill=True, color=colour)
        bottom = top
    axes.set_xlim(borders[0], borders[-1])
    axes.set_ylim(0, 1.05 * bottom.max())
    axes.yaxis.get_major_locator().set_params(integer=True)


def draw_quantity(cells, values, name, log, failed):
    from matplotlib.colors import LogNorm

    figure, axes = new_figure()
    if len(cells.axes) == 2:
        image = draw_cells(axes, cells, values, cmap="viridis", norm=LogNorm() if log else None)
        if failed and cells.grid is not None:
            axes.set_facecolor("0.8")
        figure.colorbar(image, ax=axes, label=name)
        axes.set_ylabel(quantity(cells.axes[1]))
    else:
        axes.plot(cells.along(0), values, linestyle="", marker="o", markersize=3, markeredgewidth=0)
        axes.set_ylabel(name)
        if log:
            axes.set_yscale("log")
    if failed:
        figure.supxlabel(f"without the {failed} that failed", fontsize="small")
    return figure, axes


def run(arguments, output):
    save(figure_of(arguments), output)


def figure_of(arguments):
    if len(arguments.files) > 1:
        raise InputError(f"a map is of one result, not of {len(arguments.files)}")
    result = Result.of(arguments.files[0])
    cells = Cells(result, arguments.axes, arguments.where)
    quantity_of = result.named(arguments.quantity) if arguments.quantity.name not in result.final else arguments.quantity
    name = str(arguments.quantity)
    of_end = quantity_of.index is not None or name in result.file.get("observables", {}) or result.average(name) is not None
    values = result.values(quantity_of)[cells.used]
    if name == "status":
        bits = status_names(result.final[name])
        figure, axes = draw_categories(cells, values.astype(np.int64), lambda value: describe(value, bits), LEFT_OUT)
    elif name in ("stop", "fate"):
        names, values = end_names(name, result.final[name]), values.astype(np.int64)
        values[(result.failed() | result.left_out())[cells.used]] = NO_END
        figure, axes = draw_categories(cells, values, lambda value: describe_end(name, value, names), NO_END)
    else:
        # The final state of a failed trajectory is not at the end time.
        failed = result.failed()[cells.used] & of_end
        values[failed | result.left_out()[cells.used]] = np.nan
        if arguments.log:
            values[~(values > 0)] = np.nan
        if not np.isfinite(values).any():
            what = "no value above 0 for --log" if arguments.log else "no finite value"
            raise InputError(f"{result.path}: {name} has {what}")
        label = (f"final {quantity_of.typeset(result.coordinates)}" if quantity_of.index is not None
                 else quantity(name, result.coordinates))
        figure, axes = draw_quantity(cells, values, label, arguments.log, np.count_nonzero(failed))
    axes.set_xlabel(quantity(cells.axes[0]))
    where = "".join(f", {axis} = {cells.places[axis][0]:g}" for axis, _ in arguments.where)
    title(axes, result.label + where)
    return figure
