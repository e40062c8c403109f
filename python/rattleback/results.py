"""Results: time, statistics with errors, fits, states."""

from __future__ import annotations

import html
import keyword
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, plot
from .errors import UnknownNameError
from .fitting import Fit, fit
from .labelled import to_xarray
from .study import Study, html_table


class Array(np.ndarray[Any, Any]):
    """A read-only view of numbers of a result, which it keeps.

    DLPack of NumPy 2 tells other libraries that the numbers are read-only. A library that asks for an older DLPack gets the same
    memory without that word, and must not write.
    """

    _lend: Any

    def __array_finalize__(self, other: Any) -> None:
        self._lend = None

    def __dlpack__(self, **options: Any) -> Any:
        version = options.get("max_version")
        if self._lend is None or (version is not None and version[0] >= 1 and not options.get("copy")):
            return super().__dlpack__(**options)
        return self._lend().__dlpack__(**{key: value for key, value in options.items() if key == "stream"})

    def __reduce__(self) -> Any:
        return np.array(self).__reduce__()


def _array(stored: "_core.Stored", path: str) -> Array:
    array: Array = stored.array(path).view(Array)
    array._lend = lambda: stored.array(path, writable=True)
    return array


def _attribute(name: str) -> str:
    """Returns the attribute for a dataset: its name, with ``_`` behind keywords and names of methods (``lambda_``, ``values_``)."""
    return f"{name}_" if keyword.iskeyword(name) or name in dir(Mapping) else name


class _Group(Mapping[str, Array]):
    """Datasets of a group by name, and as attributes: ``group["values"]`` is ``group.values_``."""

    _kind = "group"

    def __init__(self, stored: "_core.Stored", path: str) -> None:
        self._stored, self._path = stored, path
        names = [name[len(path) + 1:] for name in stored.shapes() if name.startswith(path + "/")]
        self._names = [name for name in names if "/" not in name]

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise UnknownNameError(f"{self._path} has no '{name}' (it has {', '.join(self._names) or 'nothing'})")
        return _array(self._stored, f"{self._path}/{name}")

    def __getattr__(self, name: str) -> Array:
        if name.startswith("__"):
            raise AttributeError(name)
        found = next((own for own in self._names if _attribute(own) == name), None)
        if found is None:
            raise AttributeError(f"{self._path} has no '{name}' (it has {', '.join(self._attributes()) or 'nothing'})")
        return self[found]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._attributes()]

    def _attributes(self) -> list[str]:
        return [_attribute(name) for name in self._names if name.isidentifier()]

    def _ipython_key_completions_(self) -> list[str]:
        return self._names

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._path}: {', '.join(self._names)})"


class Statistics(_Group):
    """Statistics of an observable at the sample times, each of shape (K,): ``mse``, ``mse_error`` and so on.

    The values of single trajectories, if the study keeps them, are ``["values"]`` or ``values_``, of shape (K, N). Quantiles are
    items: ``["quantile_0.5"]``.
    """


class State(_Group):
    """Parts of states: ``q``, ``v``, ``p`` of shape (N, n), ``lambda_`` (N, m), and what else the group has."""


class Crossings(State):
    """The crossings of a surface of section, a row for each: ``time``, ``trajectory``, ``q`` and so on."""

    @property
    def returns(self) -> Statistics:
        """Statistics of the times between crossings, each of shape (1,), where the section asks for ``returns``."""
        return Statistics(self._stored, f"{self._path}/returns")

    @property
    def derivatives(self) -> Mapping[str, State]:
        """Their derivatives by each name of ``[derivatives] by``: ``derivatives["gravity"].time`` and ``.q``, a row for each crossing."""
        return _derivatives(self._stored, f"{self._path}/derivatives/")


def _derivatives(stored: "_core.Stored", path: str) -> Mapping[str, State]:
    names = dict.fromkeys(name[len(path):].split("/")[0] for name in stored.shapes() if name.startswith(path))
    return {name: State(stored, path + name) for name in names}


class Result:
    """A result in memory or in a file. Datasets of a file are read when they are asked for.

    The keys are the observables, and the paths of all datasets:

    >>> result = rb.run(rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10}, observable="energy"))
    >>> list(result)
    ['energy']
    >>> result["energy"].mean.shape, result["/final/q"].shape
    ((2,), (1, 2))
    """

    def __init__(self, stored: "_core.Stored") -> None:
        self._stored = stored

    # arrays

    @property
    def paths(self) -> list[str]:
        """The paths of all datasets."""
        return list(self._stored.shapes())

    @property
    def time(self) -> Array:
        """The sample times, of shape (K,), in the units of the system."""
        return _array(self._stored, "/time")

    @property
    def observables(self) -> list[str]:
        """The names of the observables."""
        return list(dict.fromkeys(path.split("/")[2] for path in self.paths if path.startswith("/observables/")))

    def __getitem__(self, name: str) -> Any:
        """Returns the statistics of an observable, or the dataset of a path that begins with ``/``. Raises UnknownNameError."""
        if not isinstance(name, str):
            raise UnknownNameError(f"the key of a result is the name of an observable or the path of a dataset (got {name!r})")
        if name.startswith("/"):
            if name not in self._stored.shapes():
                raise UnknownNameError(f"the result has no dataset '{name}' (it has {', '.join(self.paths)})")
            return _array(self._stored, name)
        return self.observable(name)

    def observable(self, name: str) -> Statistics:
        """Returns the statistics of an observable, as ``result[name]`` does, with a type that editors know. Raises UnknownNameError."""
        return Statistics(self._stored, self._group("observables", "observable", name))

    def _group(self, group: str, kind: str, name: str) -> str:
        """Returns the path of a group by its name. Raises UnknownNameError with the names that there are."""
        names = dict.fromkeys(path.split("/")[2] for path in self.paths if path.startswith(f"/{group}/") and path.count("/") > 2)
        if name not in names:
            raise UnknownNameError(f"the result has no {kind} '{name}' (it has {', '.join(names) or 'none'})")
        return f"/{group}/{name}"

    def __contains__(self, name: object) -> bool:
        return name in self.observables or name in self.paths

    def __iter__(self) -> Iterator[str]:
        return iter(self.observables)

    def keys(self) -> list[str]:
        """Returns the names of the observables."""
        return self.observables

    def values(self) -> list[Statistics]:
        """Returns the statistics of all observables."""
        return [self.observable(name) for name in self.observables]

    def items(self) -> list[tuple[str, Statistics]]:
        """Returns the names of the observables, each with its statistics."""
        return [(name, self.observable(name)) for name in self.observables]

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.observables, *self.paths]

    @property
    def initial(self) -> State:
        """The initial states of all trajectories."""
        return State(self._stored, "/initial")

    @property
    def final(self) -> State:
        """The states of all trajectories at the end, with ``status``, ``steps``, ``iterations`` and ``residual``."""
        return State(self._stored, "/final")

    @property
    def trajectories(self) -> State:
        """The states of the trajectories that were kept, ``q`` of shape (K, S, n), with their ``index``."""
        return State(self._stored, "/trajectories")

    @property
    def axes(self) -> Mapping[str, Array]:
        """The value of each axis per trajectory, of shape (N,)."""
        return _Group(self._stored, "/axes")

    def section(self, name: str) -> Crossings:
        """Returns the crossings of a surface of section: ``time``, ``q`` and so on, a row for each crossing."""
        return Crossings(self._stored, self._group("sections", "section", name))

    def stop(self, name: str) -> Statistics:
        """Returns what became of trajectories at a stop: ``count`` and ``fraction`` at the sample times, and ``time_mean``."""
        return Statistics(self._stored, self._group("stops", "stop", name))

    @property
    def fates(self) -> Statistics:
        """How many trajectories have no fate and each fate, in this order: ``count``, and ``fraction`` with its error."""
        if "/fates/count" not in self._stored.shapes():
            raise AttributeError("the result has no fates, because its study has no [[fate]]")
        return Statistics(self._stored, "/fates")

    def map(self, name: str) -> State:
        """Returns a map over two axes: ``labels`` of shape (A, B), the values ``row`` and ``column`` of the axes, and the numbers of
        the boundary, such as ``uncertainty_exponent``."""
        return State(self._stored, self._group("maps", "map", name))

    def average(self, name: str) -> Statistics:
        """Returns an average over the time of each trajectory, of an ``[[average]]``: ``value`` and ``digits`` of shape (N,), and the
        statistics over the ensemble, such as ``mean`` and ``mean_error``, of shape (1,). Raises UnknownNameError.

        ``digits`` is minus the decimal logarithm of the difference between the averages of the two halves of the time. Both are NaN for a
        trajectory that failed or was stopped. :func:`average` computes the same from stored values.
        """
        return Statistics(self._stored, self._group("averages", "average", name))

    @property
    def derivatives(self) -> Mapping[str, State]:
        """The derivatives of the final states by each name of ``[derivatives] by``: ``derivatives["gravity"].q`` of shape (N, n). Beside
        a ``[[stop]]`` there are those of the times at which trajectories end, ``derivatives["gravity"].time``."""
        return _derivatives(self._stored, "/derivatives/")

    @property
    def survival(self) -> Array:
        """The share of the trajectories that no stop has ended, at the sample times, of shape (K,)."""
        if "/stops/survival" not in self._stored.shapes():
            raise AttributeError("the result has no survival, because its study has no [[stop]]")
        return _array(self._stored, "/stops/survival")

    # facts

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the result file: study, version, device and so on."""
        return dict(self._stored.attributes("/"))

    @property
    def toml(self) -> str:
        """The complete study as TOML."""
        return str(self._stored.attributes("/")["study"])

    @cached_property
    def study(self) -> Study:
        """The study of the result."""
        return Study.parse(self.toml)

    @property
    def file(self) -> Path | None:
        """The file of the result; None for a result in memory."""
        return None if self._stored.file is None else Path(self._stored.file)

    @property
    def failed(self) -> int:
        """The number of trajectories that failed."""
        return int(self._stored.summary["failed"])

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of all datasets, as 64 hexadecimal digits. The way to the numbers and the file have no part in it."""
        return str(self._stored.attributes("/").get("fingerprint") or self._stored.fingerprint())

    @property
    def summary(self) -> dict[str, Any]:
        """Backend, device, threads, trajectories, trajectory_steps, left_out, failed, iterations, wall_seconds, missing."""
        return dict(self._stored.summary)

    # fits

    def fit(self, observable: str, statistic: str = "mse", *, start: float | None = None, stop: float | None = None,
            model: str = "line") -> Fit:
        """Fits a curve to a statistic over the samples with start <= t <= stop.

        A [[fit]] of the study with the same samples is taken where there is one. ``model`` is ``line``, ``power`` or
        ``exponential``. Raises UnknownNameError for an unknown observable or statistic, and InputError for fewer than three samples.

        >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10, "sample_every": 1}, observable="energy")
        >>> fit = rb.run(study).fit("energy", "mean")
        >>> abs(fit.slope) < 0.01, fit.source
        (True, 'bound')
        """
        return fit(self._stored, self[observable], observable, statistic, start, stop, model)

    # files

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the result file. Raises InputError or RunError."""
        self._stored.save(Path(file))
        return Path(file)

    def to_xarray(self) -> Any:
        """Returns an ``xarray.Dataset`` of all datasets, with named dimensions and coordinates. Nothing is copied, and of a result in a
        file numbers are read when they are used: a part of a variable takes the memory of this part."""
        return to_xarray(self._stored)

    def __reduce__(self) -> Any:
        datasets = {path: np.array(self._stored.array(path)) for path in self.paths}
        attributes = {path: self._stored.attributes(path) for path in ["/", *self.paths]}
        return _restore, (datasets, {path: entries for path, entries in attributes.items() if entries})

    # notebooks

    def _facts(self) -> list[tuple[str, str]]:
        summary = self._stored.summary
        facts = self.study._facts(summary["trajectories"])
        if summary["left_out"]:
            facts.append(("left out", f"{summary['left_out']} of {summary['trajectories']} points"))
        facts.append(("failed", f"{summary['failed']} of {summary['trajectories'] - summary['left_out']} trajectories"))
        facts += [("missing", f"{count} values of {name}") for name, count in summary["missing"].items()]
        facts.append(("run", f"{summary['trajectory_steps']:,} trajectory-steps in {summary['wall_seconds']:.3g} s on "
                             f"{summary['device']}, {summary['threads']} threads"))
        return facts

    def __repr__(self) -> str:
        return "Result(" + ", ".join(f"{key}: {value}" for key, value in self._facts()) + ")"

    def _repr_html_(self) -> str:
        figure = ""
        if self.observables:
            try:
                figure = plot.svg(plot.time(self))
            except ImportError:
                figure = "<p>With matplotlib and h5py there is a figure here.</p>"
            except (plot.InputError, KeyError) as error:
                figure = f"<p>{html.escape(str(error))}</p>"
        return html_table(self._facts()) + figure


def _restore(datasets: dict[str, Any], attributes: dict[str, Any]) -> Result:
    return Result(_core.build(datasets, attributes))


def open(file: str | os.PathLike[str]) -> Result:
    """Opens a result file. Raises InputError when the file is missing, damaged, or not a result.

    >>> import tempfile
    >>> result = rb.run(rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10}, observable="energy"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rb.diff(rb.open(result.save(folder + "/pendulum.h5")), result)
    DiffReport(identical: 17 datasets)
    """
    return Result(_core.open(Path(file)))


@dataclass(frozen=True)
class DiffReport:
    """How two results differ, bit by bit.

    ``datasets`` has a table per dataset: path, status, number of values, of differing values, largest distance in ulps and
    absolute. ``study`` has the keys with different values in the studies, which ``identical`` does not regard.
    """

    identical: bool
    datasets: list[dict[str, Any]]
    study: list[dict[str, Any]]

    @property
    def differing(self) -> list[str]:
        """The paths of the datasets that are not identical."""
        return [entry["path"] for entry in self.datasets if entry["status"] != "identical"]

    def __bool__(self) -> bool:
        return not self.identical

    def __repr__(self) -> str:
        if self.identical:
            return f"DiffReport(identical: {len(self.datasets)} datasets)"
        parts = [f"{entry['path']}: {entry['status']}" + (f", {entry['differing']} of {entry['values']}" if entry["values"] else "")
                 for entry in self.datasets if entry["status"] != "identical"]
        return f"DiffReport({'; '.join(parts)})"


def _opened(result: Result | str | os.PathLike[str]) -> "_core.Stored":
    return result._stored if isinstance(result, Result) else _core.open(Path(result))


def diff(first: Result | str | os.PathLike[str], second: Result | str | os.PathLike[str]) -> DiffReport:
    """Compares two results or result files bit by bit. Raises InputError for a damaged file.

    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10}, observable="energy")
    >>> rb.diff(rb.run(study), rb.run(study, threads=1)).identical
    True
    >>> rb.diff(rb.run(study), rb.run(study.replace({"time.step": 0.05}))).differing[-1]
    '/time'
    """
    return DiffReport(**_core.diff(_opened(first), _opened(second)))
