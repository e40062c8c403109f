"""Two components of states against each other: stored trajectories and Poincare sections."""

from dataclasses import dataclass

import numpy as np

from .base import COLOURS, InputError, choose, indices, legend, listing, new_figure, plain, save, title, window, window_text
from .results import Component, column, component_list, component_pair, open_all

FEW = 10  # largest number of curves with a separate colour and legend entry


@dataclass
class Curve:
    result: object
    trajectory: int
    x: np.ndarray
    y: np.ndarray


def add_phase_options(parser):
    _add_common(parser)
    parser.add_argument("--points", action="store_true", help="the samples as points, not joined: a stroboscopic portrait")


def add_section_options(parser):
    parser.add_argument("--name", help="of the section; default: the first of the file")
    _add_common(parser)


def _add_common(parser):
    parser.add_argument("--components", metavar="X,Y", type=component_pair,
                        default=(Component("q", 0), Component("p", 0)),
                        help="what is drawn against what: q[i], v[i], p[i], lambda[i] or t (default: q[0],p[0])")
    parser.add_argument("--trajectories", metavar="A,B,...", type=indices, help="their indices; default: all that are stored")
    parser.add_argument("--times", metavar="T0[:T1]", type=window, default=(-np.inf, np.inf), help="only this span of time")
    parser.add_argument("--angles", metavar="X[,Y]", type=component_list, default=(),
                        help="components that are angles: they are drawn modulo 2 pi, from -pi to pi")
    parser.add_argument("--equal", action="store_true", help="the same scale on both axes")


def _stored(result, wanted, stored):
    """The trajectories to draw."""
    for index in wanted or []:
        if index not in stored:
            raise InputError(f"{result.path}: trajectory {index} is not stored (there are: {listing(stored)})")
    return wanted or [int(index) for index in stored]


def check_angles(arguments):
    drawn = [str(component) for component in arguments.components]
    for angle in arguments.angles:
        choose(str(angle), drawn, "drawn component", "--angles")


def _folded(curve, arguments, joined):
    """A curve with its angles modulo 2 pi. A joined one is interrupted where it goes round."""
    x, y = ((values + np.pi) % (2 * np.pi) - np.pi if component in arguments.angles else values
            for component, values in zip(arguments.components, (curve.x, curve.y)))
    if joined:
        leaps = np.zeros(max(len(x) - 1, 0), dtype=bool)
        for component, values in zip(arguments.components, (x, y)):
            if component in arguments.angles:
                leaps |= np.abs(np.diff(values)) > np.pi
        x, y = (np.insert(values, np.flatnonzero(leaps) + 1, np.nan) for values in (x, y))
    return Curve(curve.result, curve.trajectory, x, y)


def load_trajectories(result, arguments):
    group = result.group("trajectories", 'none were stored; set output.trajectories = [0] or "all" in the study')
    stored = result.member("index", group)
    trajectories = _stored(result, arguments.trajectories, stored)
    rows = np.searchsorted(stored, trajectories)
    if len(rows) == len(stored):
        rows = slice(None)  # a slice is much faster than a list
    time = result.time
    used = (time >= arguments.times[0]) & (time <= arguments.times[1])
    if not used.any():
        raise InputError(f"{result.path}: no sample at {window_text(arguments.times)} "
                         f"(they are from {time[0]:g} to {time[-1]:g})")
    x, y = (np.repeat(time[:, None], len(trajectories), axis=1) if wanted == Component("t")
            else column(group, wanted, 2, result.path, rows) for wanted in arguments.components)
    return [Curve(result, trajectory, x[used, i], y[used, i]) for i, trajectory in enumerate(trajectories)]


def load_crossings(result, arguments):
    sections = result.group("sections", "the study asks for none")
    name = choose(arguments.name or list(sections)[0], list(sections), "section", result.path)
    group = sections[name]
    trajectory, time = result.member("trajectory", group), result.member("time", group)
    if len(trajectory) == 0:
        raise InputError(f"{result.path}: section '{name}' has no crossing")
    x, y = (column(group, Component("time") if wanted == Component("t") else wanted, 1, result.path)
            for wanted in arguments.components)
    wanted = _stored(result, arguments.trajectories, np.unique(trajectory))
    used = (time >= arguments.times[0]) & (time <= arguments.times[1]) & np.isin(trajectory, wanted)
    if not used.any():
        raise InputError(f"{result.path}: section '{name}' has no crossing at {window_text(arguments.times)}")
    # The points are sorted by trajectory.
    order = np.argsort(trajectory[used], kind="stable")
    trajectory, x, y = trajectory[used][order], x[used][order], y[used][order]
    starts = np.flatnonzero(np.diff(trajectory, prepend=trajectory[0] + 1))
    return [Curve(result, int(trajectory[s]), *part) for s, *part in
            zip(starts, np.split(x, starts[1:]), np.split(y, starts[1:]))]


def _draw_few(axes, curves, points, size, several_files):
    for curve in curves:
        label = f"trajectory {curve.trajectory}"
        if several_files:
            label = plain(f"{curve.result.label}: {label}")
        style = {"linestyle": "", "marker": "o", "markersize": size, "markeredgewidth": 0} if points else {"linewidth": 0.8}
        axes.plot(curve.x, curve.y, label=label, rasterized=len(curve.x) > 20000, **style)
    legend(axes, len(curves))


def _draw_many(figure, axes, curves, points, size, several_files):
    """Coloured by file or, where there is one, by the index of the trajectory."""
    from matplotlib.collections import LineCollection

    for i, result in enumerate(dict.fromkeys(curve.result for curve in curves)):
        mine = [curve for curve in curves if curve.result is result]
        numbers = [curve.trajectory for curve in mine]
        if points:
            colour = np.repeat(numbers, [len(curve.x) for curve in mine])
            drawn = axes.scatter(np.concatenate([curve.x for curve in mine]), np.concatenate([curve.y for curve in mine]),
                                 c=None if several_files else colour, s=size**2, linewidths=0, rasterized=True)
        else:
            drawn = axes.add_collection(LineCollection([np.column_stack([curve.x, curve.y]) for curve in mine],
                                                       array=None if several_files else numbers, linewidths=0.6))
        if several_files:
            drawn.set_color(COLOURS[i % len(COLOURS)])
            drawn.set_label(plain(result.label))
        else:
            figure.colorbar(drawn, ax=axes, label="trajectory")
    axes.autoscale_view()
    if several_files:
        legend(axes, i + 1)


def draw(curves, arguments, points):
    if arguments.angles:
        curves = [_folded(curve, arguments, not points) for curve in curves]
    figure, axes = new_figure(height=6.0)
    results = list(dict.fromkeys(curve.result for curve in curves))
    total = sum(len(curve.x) for curve in curves)
    size = 3.0 if total < 2000 else 1.5 if total < 50000 else 0.7  # points must not merge
    if len(curves) <= FEW:
        _draw_few(axes, curves, points, size, len(results) > 1)
    else:
        _draw_many(figure, axes, curves, points, size, len(results) > 1)
    x, y = arguments.components
    axes.set_xlabel(x.typeset(results[0].coordinates))
    axes.set_ylabel(y.typeset(results[0].coordinates))
    if arguments.equal:
        axes.set_aspect("equal", adjustable="datalim")
    return figure, axes, results


def phase(arguments):
    check_angles(arguments)
    curves = [curve for result in open_all(arguments.files) for curve in load_trajectories(result, arguments)]
    figure, axes, results = draw(curves, arguments, arguments.points)
    if len(results) == 1:
        title(axes, results[0].label)
    return figure


def section(arguments):
    check_angles(arguments)
    curves = [curve for result in open_all(arguments.files) for curve in load_crossings(result, arguments)]
    figure, axes, results = draw(curves, arguments, True)
    name = f"section {arguments.name or list(results[0].file['sections'])[0]}"
    title(axes, f"{results[0].label}: {name}" if len(results) == 1 else name)
    return figure


def run_phase(arguments, output):
    save(phase(arguments), output)


def run_section(arguments, output):
    save(section(arguments), output)
