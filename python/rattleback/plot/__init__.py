"""Figures of results: the home of all figures of rattleback. `rattleback plot` uses the same modules.

The functions take results of :mod:`rattleback` or names of result files, and return a ``matplotlib.figure.Figure``. They raise
:class:`rattleback.InputError` for what cannot be drawn. They need matplotlib and h5py.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pathlib
import re
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Union

from .base import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Names = Union[str, Sequence[str], None]
Times = Union[float, tuple[float, float], None]


class Drawn(Protocol):
    """A result of the package: :class:`rattleback.Result`."""

    _stored: Any

    @property
    def attributes(self) -> dict[str, Any]: ...

    @property
    def file(self) -> pathlib.Path | None: ...


class Report(Protocol):
    """A report of the package: :class:`rattleback.OrderReport` or :class:`rattleback.WorkReport`."""

    def content(self) -> dict[str, Any]: ...


__all__ = ["InputError", "animate", "basin", "groups", "histogram", "map", "order", "phase", "save", "section", "survival", "svg", "time",
           "work_precision"]


def _module(name: str) -> Any:
    """Returns a module of this package, which may need packages that are missing."""
    try:
        importlib.import_module("matplotlib")
        return importlib.import_module(f".{name}", __name__)
    except ImportError as error:
        raise ImportError(f"figures need matplotlib and h5py ({error}); install them: pip install 'rattleback-ensembles[plot]'") from error


@contextlib.contextmanager
def _named_arguments() -> Iterator[None]:
    """Messages that name arguments instead of the options of the program."""
    try:
        yield
    except InputError as error:
        text = re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), str(error).replace("--linear", "scale='linear'"))
        raise InputError(text.replace(" with -o", "")) from None


@contextlib.contextmanager
def _own_style() -> Iterator[None]:
    """The style of these figures, which leaves that of the caller as it is."""
    import matplotlib

    with _named_arguments(), matplotlib.rc_context():
        yield


def _given(results: tuple[Any, ...]) -> tuple[Any, ...]:
    if not results:
        raise InputError("there is nothing to draw; give a result, or the name of its file")
    return results


def _components(text: str) -> Any:
    from .results import parse_component

    try:
        return parse_component(text)
    except ValueError:
        raise InputError(f"'{text}' is not a component such as q[0]") from None


def _span(times: Times) -> tuple[float, float]:
    if times is None:
        return (-float("inf"), float("inf"))
    return (float(times[0]), float(times[1])) if isinstance(times, (tuple, list)) else (float(times), float("inf"))


def _texts(names: Names) -> list[str] | None:
    return None if names is None else [names] if isinstance(names, str) else list(names)


def time(*results: Drawn | str | os.PathLike[str], observable: Names = None, statistic: Names = None, scale: str | None = None,
         fit: Times = None, model: str | None = None, scale_by_order: bool = False) -> Figure:
    """Draws statistics of observables against time, with bands of one standard error.

    ``observable`` and ``statistic`` are names or lists of names. ``scale`` is ``linear``, ``semilog`` or ``loglog``. ``fit`` is a
    time T0 or a span (T0, T1), over which the growth is fitted; ``model`` is ``line``, ``power`` or ``exponential``.
    """
    timeseries = _module("timeseries")
    with _own_style():
        return timeseries.figure_of(Namespace(
            files=_given(results), observable=_texts(observable), statistic=_texts(statistic), scale=scale,
            fit=None if fit is None else _span(fit), model=model, scale_by_order=scale_by_order, table=None))[0]


def phase(*results: Drawn | str | os.PathLike[str], components: Sequence[str] = ("q[0]", "p[0]"),
          trajectories: Iterable[int] | None = None, times: Times = None, points: bool = False, equal: bool = False,
          angles: Sequence[str] = ()) -> Figure:
    """Draws two components of stored trajectories against each other: ``q[i]``, ``v[i]``, ``p[i]``, ``lambda[i]`` or ``t``.

    ``points`` does not join the samples. ``equal`` gives both axes the same scale. ``angles`` are components that are drawn modulo
    2 pi, from -pi to pi.
    """
    states = _module("states")
    with _own_style():
        return states.phase(Namespace(files=_given(results), components=tuple(_components(text) for text in components),
                                      trajectories=None if trajectories is None else sorted(trajectories), times=_span(times), points=points, equal=equal,
                                      angles=tuple(_components(text) for text in angles)))


def animate(result: Drawn | str | os.PathLike[str], path: str | os.PathLike[str], components: Sequence[str] = ("q[0]", "q[1]"),
            trajectories: Iterable[int] | None = None, times: Times = None, equal: bool = False, frames: int | None = None,
            rate: int = 25, trail: int | None = None) -> pathlib.Path:
    """Writes stored trajectories as they move into an animated GIF or, with the program ffmpeg, an MP4 video, and returns its path.

    The path ends with ``.gif`` or ``.mp4``.

    ``components`` are two or three. ``frames`` are even over the samples, by default up to 200, ``rate`` is their number per second, and
    ``trail`` the number of samples of the past that are drawn.
    """
    from . import base

    moving = _module("moving")
    with _own_style():
        content = moving.content_of(Namespace(
            files=[result], components=tuple(_components(text) for text in components), angles=(), equal=equal, points=False,
            trajectories=None if trajectories is None else sorted(trajectories), times=_span(times), frames=frames, rate=rate, trail=trail), pathlib.Path(path))
        base.write_bytes(content, pathlib.Path(path))
    return pathlib.Path(path)


def section(*results: Drawn | str | os.PathLike[str], name: str | None = None, components: Sequence[str] = ("q[0]", "p[0]"),
            trajectories: Iterable[int] | None = None, times: Times = None, equal: bool = False,
            angles: Sequence[str] = (), colour: str | None = None) -> Figure:
    """Draws a Poincare section: stored crossings. ``angles`` are components that are drawn modulo 2 pi, from -pi to pi.

    A component may be an axis: ``("a", "x")`` draws an orbit diagram. ``colour`` is a component, ``return_time`` or ``index`` of the
    crossings, an axis, an observable with values at the end, or a final quantity such as ``lyapunov``.
    """
    states = _module("states")
    with _own_style():
        return states.section(Namespace(files=_given(results), name=name, components=tuple(_components(text) for text in components),
                                        trajectories=None if trajectories is None else sorted(trajectories), times=_span(times), equal=equal,
                                        angles=tuple(_components(text) for text in angles),
                                        colour=None if colour is None else _components(colour)))


def histogram(*results: Drawn | str | os.PathLike[str], of: str | None = None, times: Sequence[float] | None = None,
              bins: int = 50, density: bool = False, logy: bool = False) -> Figure:
    """Draws histograms over the ensemble of an observable with a stored histogram, a component of the state, or an axis.

    ``times`` is a list of times; by default the end.
    """
    kind = _module("histograms")
    with _own_style():
        return kind.figure_of(Namespace(files=_given(results), quantity=of, times=times, bins=bins, density=density, logy=logy))


def map(result: Drawn | str | os.PathLike[str], of: str = "status", axes: Names = None,
        where: Mapping[str, float] | None = None, log: bool = False) -> Figure:
    """Draws the status, or another final quantity of each trajectory, over one or two axes of the ensemble.

    ``where`` has a value for each axis that is fixed.
    """
    maps = _module("maps")
    with _own_style():
        return maps.figure_of(Namespace(files=[result], quantity=_components(of), axes=_texts(axes),
                                        where=[(name, float(value)) for name, value in (where or {}).items()], log=log))


def groups(*results: Drawn | str | os.PathLike[str], of: str | None = None, statistic: str | None = None, axis: str | None = None,
           time: float | None = None, logx: bool = False, logy: bool = False) -> Figure:
    """Draws a statistic of the groups of ``ensemble.group_by`` against the axis in which they differ, with its standard errors.

    ``of`` is an observable or a fit; ``time`` chooses the nearest sample, by default the end. Further axes make curves.
    """
    kind = _module("grouped")
    with _own_style():
        return kind.figure_of(Namespace(files=_given(results), quantity=of, statistic=statistic, axis=axis, time=time, logx=logx, logy=logy))


def basin(result: Drawn | str | os.PathLike[str], map: str | None = None, scales: bool = False) -> Figure:
    """Draws the labels of a map of the study over its two axes, by default of the first map.

    ``scales`` draws the shares of boxes on the boundary and of uncertain cells against their size instead.
    """
    kind = _module("basins")
    with _own_style():
        return kind.figure_of(Namespace(files=[result], map=map, scales=scales))


def survival(*results: Drawn | str | os.PathLike[str], stops: bool = False, logy: bool = False) -> Figure:
    """Draws the share of the trajectories that no stop has ended, against time; ``stops`` adds the share that each has ended."""
    kind = _module("decay")
    with _own_style():
        return kind.figure_of(Namespace(files=_given(results), stops=stops, logy=logy))


def order(*reports: Report | str | os.PathLike[str], variable: Names = None, norm: str | None = None) -> Figure:
    """Draws errors against the step size, with lines of the rounded slopes; ``norm`` is ``max``, ``rms`` or None for both."""
    convergence = _module("convergence")
    with _own_style():
        return convergence.order(Namespace(files=[_content(report) for report in _given(reports)], variable=_texts(variable), norm=norm))


def work_precision(*reports: Report | str | os.PathLike[str], variable: str = "q") -> Figure:
    """Draws errors against the computing time, one curve per method."""
    convergence = _module("convergence")
    with _own_style():
        return convergence.work(Namespace(files=[_content(report) for report in _given(reports)], variable=variable))


def _content(report: Any) -> Any:
    return report if hasattr(report, "content") else pathlib.Path(report)


def svg(figure: Figure) -> str:
    """Returns a figure as SVG text for a page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg"):]


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a figure as .png, .svg or .pdf. It replaces nothing but an earlier figure of rattleback."""
    from . import base

    place = pathlib.Path(path)
    if place.suffix not in base.FORMATS:
        raise InputError(f"{path}: not a format of figures; the name must end with one of {', '.join(base.FORMATS)}")
    with _named_arguments():
        base.write(figure, place)
