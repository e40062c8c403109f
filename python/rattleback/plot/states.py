"""Two components of states against each other: stored trajectories and Poincare sections."""

from dataclasses import dataclass

import numpy as np

from .base import (COLOURS, InputError, choose, indices, legend, listing, new_figure, option_type, plain, save, title, window,
                   window_text)
from .results import Component, column, component_list, component_pair, component_point, open_all, parse_component
from .words import quantity

FEW = 10  # largest number of curves with a separate colour and legend entry


@dataclass
class Curve:
    result: object
    trajectory: int
    x: np.ndarray
    y: np.ndarray
    colour: np.ndarray | None = None
    z: np.ndarray | None = None

    @property
    def point(self):
        return (self.x, self.y) if self.z is None else (self.x, self.y, self.z)


def add_phase_options(parser):
    _add_common(parser, component_point, "; three components are drawn in space")
    parser.add_argument("--points", action="store_true", help="the samples as points, not joined: a stroboscopic portrait")


def add_section_options(parser):
    parser.add_argument("--name", help="of the section; default: the first of the file")
    _add_common(parser, component_pair, "; also an axis, so that --components a,x is an orbit diagram")
    parser.add_argument("--colour", metavar="NAME", type=option_type(parse_component, "a name such as lyapunov or q[0]"),
                        help="what the colours show: a component, return_time or index of the crossing, an axis, an observable with "
                             "values at the end, or a final quantity such as lyapunov")


def _add_common(parser, components, more):
    parser.add_argument("--components", metavar="X,Y", type=components, default=(Component("q", 0), Component("p", 0)),
                        help="what is drawn against what: q[i], v[i], p[i], lambda[i], the name of a coordinate, v_NAME, p_NAME or t"
                             f"{more} (default: q[0],p[0])")
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
    if arguments.angles and len(arguments.components) > 2:
        raise InputError("--angles is for two components, not for three")
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
    return Curve(curve.result, curve.trajectory, x, y, curve.colour)


def _of_crossings(result, group, wanted, trajectory):
    """A number of each crossing: its own, or one of its trajectory."""
    wanted = Component("time") if wanted == Component("t") else wanted
    if wanted.name in group and wanted.index is not None or str(wanted) in group:
        return column(group, wanted, 1, result.path)
    axes, observables = result.file.get("axes", {}), result.file.get("observables", {})
    if str(wanted) in axes or str(wanted) in observables or wanted.index is None and wanted.name in result.final:
        return result.values(wanted)[trajectory.astype(np.intp)]
    return column(group, wanted, 1, result.path)


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
    x, y, *rest = (np.repeat(time[:, None], len(trajectories), axis=1) if wanted == Component("t")
                   else column(group, wanted, 2, result.path, rows) for wanted in arguments.components)
    return [Curve(result, trajectory, x[used, i], y[used, i], z=rest[0][used, i] if rest else None)
            for i, trajectory in enumerate(trajectories)]


def load_crossings(result, arguments):
    sections = result.group("sections", "the study asks for none")
    name = choose(arguments.name or list(sections)[0], list(sections), "section", result.path)
    group = sections[name]
    trajectory, time = result.member("trajectory", group), result.member("time", group)
    if len(trajectory) == 0:
        raise InputError(f"{result.path}: section '{name}' has no crossing")
    x, y = (_of_crossings(result, group, wanted, trajectory) for wanted in arguments.components)
    colour = None if arguments.colour is None else _of_crossings(result, group, result.named(arguments.colour), trajectory)
    wanted = _stored(result, arguments.trajectories, np.unique(trajectory))
    used = (time >= arguments.times[0]) & (time <= arguments.times[1]) & np.isin(trajectory, wanted)
    if not used.any():
        raise InputError(f"{result.path}: section '{name}' has no crossing at {window_text(arguments.times)}")
    # The points are sorted by trajectory.
    order = np.argsort(trajectory[used], kind="stable")
    trajectory, x, y = trajectory[used][order], x[used][order], y[used][order]
    starts = np.flatnonzero(np.diff(trajectory, prepend=trajectory[0] + 1))
    colours = [None] * len(starts) if colour is None else np.split(colour[used][order], starts[1:])
    return [Curve(result, int(trajectory[s]), *part) for s, *part in
            zip(starts, np.split(x, starts[1:]), np.split(y, starts[1:]), colours)]


def _draw_few(axes, curves, points, size, several_files):
    for curve in curves:
        label = f"trajectory {curve.trajectory}"
        if several_files:
            label = plain(f"{curve.result.label}: {label}")
        style = {"linestyle": "", "marker": "o", "markersize": size, "markeredgewidth": 0} if points else {"linewidth": 0.8}
        axes.plot(*curve.point, label=label, rasterized=len(curve.x) > 20000, **style)
    legend(axes, len(curves))


def _draw_many(figure, axes, curves, points, size, several_files):
    """Coloured by file or, where there is one, by the index of the trajectory."""
    from matplotlib.collections import LineCollection

    space = curves[0].z is not None
    if space:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection as LineCollection  # noqa: F811

    for i, result in enumerate(dict.fromkeys(curve.result for curve in curves)):
        mine = [curve for curve in curves if curve.result is result]
        numbers = [curve.trajectory for curve in mine]
        if points:
            colour = np.repeat(numbers, [len(curve.x) for curve in mine])
            drawn = axes.scatter(*(np.concatenate(parts) for parts in zip(*(curve.point for curve in mine))),
                                 c=None if several_files else colour, s=size**2, linewidths=0, rasterized=True)
        else:
            drawn = axes.add_collection(LineCollection([np.column_stack(curve.point) for curve in mine],
                                                       array=None if several_files else numbers, linewidths=0.6))
        if several_files:
            drawn.set_color(COLOURS[i % len(COLOURS)])
            drawn.set_label(plain(result.label))
        else:
            figure.colorbar(drawn, ax=axes, label="trajectory")
    if space and not points:
        axes.auto_scale_xyz(*(np.concatenate(parts) for parts in zip(*(curve.point for curve in curves))))
    axes.autoscale_view()
    if several_files:
        legend(axes, i + 1)


def _draw_coloured(figure, axes, curves, size, label):
    """Points in the colours of their numbers; those without one are grey."""
    x, y, colour = (np.concatenate([getattr(curve, name) for curve in curves]) for name in ("x", "y", "colour"))
    known = np.isfinite(colour)
    if not known.any():
        raise InputError(f"{curves[0].result.path}: no crossing has a finite {label} for --colour")
    axes.scatter(x[~known], y[~known], color="0.8", s=size**2, linewidths=0, rasterized=True)
    figure.colorbar(axes.scatter(x[known], y[known], c=colour[known], s=size**2, linewidths=0, rasterized=True), ax=axes, label=label)


def label(axes, arguments, result):
    """The names of the components at the axes, and the same scale on all of them where that is asked for."""
    for name, component in zip("xyz", arguments.components):
        getattr(axes, f"set_{name}label")(component.typeset(result.coordinates))
    if arguments.equal:
        axes.set_aspect("equal", adjustable="datalim")


def draw(curves, arguments, points):
    if arguments.angles:
        curves = [_folded(curve, arguments, not points) for curve in curves]
    figure, axes = new_figure(height=6.0, space=curves[0].z is not None)
    results = list(dict.fromkeys(curve.result for curve in curves))
    total = sum(len(curve.x) for curve in curves)
    size = 3.0 if total < 2000 else 1.5 if total < 50000 else 0.7  # points must not merge
    if curves[0].colour is not None:
        _draw_coloured(figure, axes, curves, size, quantity(str(arguments.colour), results[0].coordinates))
    elif len(curves) <= FEW:
        _draw_few(axes, curves, points, size, len(results) > 1)
    else:
        _draw_many(figure, axes, curves, points, size, len(results) > 1)
    label(axes, arguments, results[0])
    return figure, axes, results


def opened(arguments):
    """The results, with names of coordinates in the arguments replaced by components."""
    results = open_all(arguments.files)
    arguments.components = tuple(results[0].named(component) for component in arguments.components)
    arguments.angles = tuple(results[0].named(component) for component in arguments.angles)
    check_angles(arguments)
    return results


def phase(arguments):
    curves = [curve for result in opened(arguments) for curve in load_trajectories(result, arguments)]
    figure, axes, results = draw(curves, arguments, arguments.points)
    if len(results) == 1:
        title(axes, results[0].label)
    return figure


def section(arguments):
    curves = [curve for result in opened(arguments) for curve in load_crossings(result, arguments)]
    figure, axes, results = draw(curves, arguments, True)
    name = f"section {arguments.name or list(results[0].file['sections'])[0]}"
    title(axes, f"{results[0].label}: {name}" if len(results) == 1 else name)
    return figure


def run_phase(arguments, output):
    save(phase(arguments), output)


def run_section(arguments, output):
    save(section(arguments), output)
