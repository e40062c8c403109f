"""The labels of a map over its two axes, and how their boundary changes with the scale."""

import numpy as np

from .base import COLOURS, InputError, choose, legend, new_figure, plain, save, title
from .maps import ABSENT, GOOD, edges
from .results import Result, text_of
from .words import quantity

SUMMARY = "basins: the labels of a [[map]] over its two axes, or their boundary against the scale"
NO_LABEL = 2**32 - 1  # of what failed or is left out


def add_options(parser):
    parser.add_argument("--map", metavar="NAME", help="default: the first of the study")
    parser.add_argument("--scales", action="store_true",
                        help="shares of boxes on the boundary and of uncertain cells against their size, with slopes")


def run(arguments, output):
    save(figure_of(arguments), output)


def _map_of(result, wanted):
    maps = result.group("maps", "the study has no [[map]]")
    names = [entry["name"] for entry in result.study.get("map", []) if entry.get("name") in maps] or list(maps)
    return (name := choose(wanted, names, "map", result.path) if wanted else names[0]), maps[name]


def _words(labels):
    """{label: its meaning}, from the attributes "fate N" or "stop N"."""
    of = text_of(labels.attrs["of"])
    words = {int(name.split()[1]): text_of(text) for name, text in labels.attrs.items() if name.startswith(f"{of} ")}
    return words | {0: "to the end" if of == "stop" else "none", NO_LABEL: "failed or left out"}


def _draw_labels(group):
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    labels, words = group["labels"][:], _words(group["labels"])
    found, counts = np.unique(labels, return_counts=True)
    others = iter(COLOURS[1:])
    colours = {label: GOOD if label == 0 else ABSENT if label == NO_LABEL else next(others, COLOURS[-1]) for label in found}
    image = np.searchsorted(found, labels).astype(np.uint8).T
    figure, axes = new_figure()
    axes.grid(False)
    style = {"cmap": ListedColormap(list(colours.values())), "vmin": -0.5, "vmax": len(found) - 0.5}
    x, y = edges(group["row"][:]), edges(group["column"][:])
    if all(np.allclose(np.diff(places), places[1] - places[0]) for places in (x, y)):
        axes.imshow(image, origin="lower", aspect="auto", interpolation="nearest", extent=(x[0], x[-1], y[0], y[-1]), **style)
    else:
        axes.pcolormesh(x, y, image, rasterized=True, **style)
    axes.set_xlabel(quantity(text_of(group["row"].attrs["axis"])))
    axes.set_ylabel(quantity(text_of(group["column"].attrs["axis"])))
    handles = [Patch(color=colours[label], label=plain(f"{words.get(int(label), int(label))} ({count})"))
               for label, count in zip(found, counts)]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, -0.13), borderaxespad=0.0, frameon=False,
                fontsize="small", ncols=2)
    return figure, axes


def _draw_scales(group, path):
    figure, axes = new_figure()
    drawn = 0
    for name, what, number, exponent in (("boundary", "boxes on the boundary", "boundary_dimension", "dimension"),
                                         ("uncertain", "uncertain cells", "uncertainty_exponent", "exponent")):
        scale, mixed, every = group[name][:].T if len(group[name]) else np.zeros((3, 0))
        used = (mixed > 0) & (every > 0)
        if not used.any():
            continue
        slope = group[number][0]
        label = what if np.isnan(slope) else f"{what}: {exponent} {slope:.3g}"
        axes.plot(scale[used], mixed[used] / every[used], marker="o", label=plain(label))
        drawn += 1
    if not drawn:
        raise InputError(f"{path}: the map has one label, or is too small for scales")
    axes.axhline(0.5, color="0.6", linewidth=0.8, linestyle="--")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("size in cells")
    axes.set_ylabel("share")
    legend(axes, drawn)
    return figure, axes


def figure_of(arguments):
    if len(arguments.files) > 1:
        raise InputError(f"a map is of one result, not of {len(arguments.files)}")
    result = Result.of(arguments.files[0])
    name, group = _map_of(result, arguments.map)
    figure, axes = _draw_scales(group, result.path) if arguments.scales else _draw_labels(group)
    title(axes, f"{result.label}: {name}" if len(result.group("maps", "")) > 1 else result.label)
    return figure
