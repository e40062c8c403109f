"""Studies: the system, the method, the initial states and the statistics."""

from __future__ import annotations

import copy
import html
import operator
import os
import re
import warnings
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from .environment import name_nvrtc
from .errors import UnknownNameError
from .system import System
from .toml import dumps, plain, tomllib

name_nvrtc()

Table = Mapping[str, Any]
_copied: set[str] = set()  # parts of the state that a warning named


def _named(table: str | Table | System | None) -> Any:
    return {"name": table} if isinstance(table, str) else table


def _tables(entries: str | Table | Sequence[str | Table] | None) -> Any:
    if entries is None:
        return None
    return [_named(entry) for entry in ([entries] if isinstance(entries, (str, Mapping)) else entries)]


def _steps(key: str) -> list[str | int]:
    """Returns the parts of a key such as ``ensemble.axes[0].count``."""
    if not re.fullmatch(r"[\w-]+(\[\d+\])*(\.[\w-]+(\[\d+\])*)*", key):
        raise _core.InputError(f"'{key}' is not a key of a study; write for example time.step or ensemble.axes[0].count")
    return [int(index) if index else name for name, index in re.findall(r"([\w-]+)|\[(\d+)\]", key) for name, index in
            [("", index) if index else (name, "")]]


def _require_study(path: Path) -> None:
    """Raises InputError where a file is that is no study: it would be lost."""
    try:
        if not path.exists():
            return
        with path.open("rb") as file:
            document = tomllib.load(file) if path.is_file() else {}
    except (OSError, ValueError):
        document = {}
    if not {"system", "method", "time"} <= set(document):
        raise _core.InputError(f"{path}: cannot be written (the existing file is not a study, and would be lost); choose another name")


def _without_mask(what: str, array: Any) -> Any:
    """Refuses an array of which numbers are masked: the library would take what stands behind the mask."""
    if np.ma.is_masked(array):
        raise _core.InputError(f"{what} has masked numbers, and a mask would be lost; take rows without them, or array.filled(number)")
    return array


def _contiguous(name: str, array: Any, rank: int) -> NDArray[np.float64]:
    """Returns an array of states as the library borrows it."""
    wanted = "a float64 array of shape (N, n)" if rank == 2 else "a float64 array of shape (N,)"
    given = isinstance(_without_mask(f"states: {name}", array), np.ndarray)
    if not given and hasattr(array, "__dlpack__"):
        array = np.from_dlpack(array)
    elif not given:
        try:
            array = np.asarray(array, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise _core.InputError(f"states: {name} must be {wanted} (got {type(array).__name__}: {error})") from None
    if array.dtype != np.float64:
        raise _core.InputError(f"states: {name} must be {wanted} (got dtype {array.dtype}); convert it with {name}.astype(float)")
    if array.ndim != rank:
        raise _core.InputError(f"states: {name} must be {wanted}, one row per trajectory (got shape {array.shape})")
    if array.shape[0] == 0:
        raise _core.InputError(f"states: {name} has no rows; give at least one trajectory")
    if not array.flags.c_contiguous:
        if name not in _copied:
            _copied.add(name)
            warnings.warn(f"states: {name} is not contiguous in C order and is copied; np.ascontiguousarray({name}) is borrowed",
                          stacklevel=4)
        array = np.ascontiguousarray(array)
    return array  # type: ignore[no-any-return]


class Axes(MutableMapping[str, Any]):
    """The axes of the ensemble by name. The trajectories are their product, the last axis fastest.

    A value is an array of numbers, or a table with the keys of an axis in a study file.
    """

    def __init__(self, study: "Study") -> None:
        self._study = study

    def _list(self) -> list[dict[str, Any]]:
        return list(self._study._document.get("ensemble", {}).get("axes", []))

    def __getitem__(self, name: str) -> Any:
        for axis in self._list():
            if axis.get("name") == name:
                return np.array(axis["values"], dtype=float) if "values" in axis else {k: v for k, v in axis.items() if k != "name"}
        raise UnknownNameError(f"the ensemble has no axis '{name}' (it has {', '.join(self) or 'none'})")

    def __setitem__(self, name: str, value: Any) -> None:
        if isinstance(value, Mapping):
            axis = {"name": name, **plain(value, name)}
        else:
            numbers = np.asarray(_without_mask(f"axis {name}", value))
            if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iuf":
                raise _core.InputError(f"axis {name} must be a one-dimensional array of numbers (got shape {numbers.shape}, dtype "
                                       f"{numbers.dtype})")
            axis = {"name": name, "values": numbers.astype(float).tolist()}
        axes = self._list()
        places = [i for i, other in enumerate(axes) if other.get("name") == name]
        if places:
            axes[places[0]] = axis
        else:
            axes.append(axis)
        self._study.update({"ensemble.axes": axes})

    def __delitem__(self, name: str) -> None:
        self[name]
        self._study.update({"ensemble.axes": [axis for axis in self._list() if axis.get("name") != name]})

    def __iter__(self) -> Iterator[str]:
        return iter([axis["name"] for axis in self._list()])

    def __len__(self) -> int:
        return len(self._list())

    def __repr__(self) -> str:
        return f"Axes({', '.join(self)})"


class Study:
    """A study. The keywords are the tables of a study file.

    Parameters
    ----------
    system, method:
        a name, or a table with ``name`` and more; ``system`` is also a :class:`System`
    time:
        a table with ``step`` and ``end`` or ``steps``
    ensemble, output:
        tables
    body, joint, observable, section, stop, fate, map, average, fit:
        a table, or a list of tables; an observable may be a name alone
    lyapunov:
        a table with ``exponents``, ``metric`` or ``transient``
    derivatives:
        a table with ``by``
    name:
        name of the study

    Raises InputError for an invalid study.

    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "end": 10}, observable="energy")
    >>> study["method.stages"]
    2
    >>> study["method.stages"] = 3
    >>> study.replace({"time.step": 0.05})["time.step"]
    0.05
    """

    def __init__(self, system: str | Table | System, method: str | Table, time: Table, *, ensemble: Table | None = None,
                 observable: str | Table | Sequence[str | Table] | None = None,
                 section: Table | Sequence[Table] | None = None, stop: Table | Sequence[Table] | None = None,
                 fate: Table | Sequence[Table] | None = None, map: Table | Sequence[Table] | None = None,
                 average: Table | Sequence[Table] | None = None, fit: Table | Sequence[Table] | None = None, lyapunov: Table | None = None, derivatives: Table | None = None,
                 body: Table | Sequence[Table] | None = None, joint: Table | Sequence[Table] | None = None,
                 output: Table | None = None, name: str | None = None) -> None:
        given = {"study": {"name": name} if name else None, "system": _named(system), "body": _tables(body), "joint": _tables(joint),
                 "method": _named(method), "time": time, "ensemble": ensemble, "observable": _tables(observable), "section": _tables(section), "stop": _tables(stop),
                 "fate": _tables(fate), "map": _tables(map), "average": _tables(average), "fit": _tables(fit), "lyapunov": lyapunov,
                 "derivatives": derivatives, "output": output}
        self._start({key: plain(value, key) for key, value in given.items() if value is not None}, Path.cwd(), None, None)

    def _start(self, document: dict[str, Any], directory: Path, file: Path | None, problem: "_core.Problem | None") -> None:
        """Takes a document, and what it resolves to where that is known already."""
        self._directory, self._file = directory, file
        self._arrays: dict[str, NDArray[np.float64]] = {}
        self._document, self._problem = document, problem or self._resolved(document, self._arrays)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> "Study":
        """Reads a study file. Raises InputError with FILE:LINE."""
        path = Path(file)
        problem = _core.load(path)
        study = cls.__new__(cls)
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        folder = path.absolute().parent
        system_file = document.get("system", {}).get("file", "")
        if system_file.endswith(".toml"):
            document["system"]["file"] = str(folder / system_file)
        study._start(document, folder, path, problem)
        return study

    @classmethod
    def parse(cls, text: str, directory: str | os.PathLike[str] = ".") -> "Study":
        """Reads a study from TOML text. Relative paths begin in ``directory``. Raises InputError."""
        folder = Path(directory).absolute()
        problem = _core.resolve(text, "study", str(folder), {})
        study = cls.__new__(cls)
        study._start(tomllib.loads(text), folder, None, problem)
        return study

    def _resolved(self, document: dict[str, Any], arrays: Mapping[str, NDArray[np.float64]]) -> "_core.Problem":
        return _core.resolve(dumps(document), "", str(self._directory), dict(arrays))

    def _change(self, document: dict[str, Any], arrays: dict[str, NDArray[np.float64]]) -> None:
        """Takes a changed document and arrays, if they are a valid study."""
        self._problem = self._resolved(document, arrays)
        self._document, self._arrays = document, arrays

    # keys

    def __getitem__(self, key: str) -> Any:
        """Returns the value of a key of the complete study, defaults included. Raises UnknownNameError."""
        node: Any = tomllib.loads(self._problem.toml)
        for step in _steps(key):
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                raise UnknownNameError(f"the study has no key '{key}'; list_keys() returns those that a study may have") from None
        return node

    def _ipython_key_completions_(self) -> list[str]:
        return [entry["name"].replace("[]", "[0]") for entry in _core.list_entries("keys")["keys"]]

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        if not _remove(copy.deepcopy(self._document), key):
            raise UnknownNameError(f"the study does not give the key '{key}', so there is nothing to delete")
        self.update({key: None})

    def update(self, values: Mapping[str, Any]) -> None:
        """Sets several keys at once; None removes a key. The study stays as it was when the new one is not valid.

        What follows for other keys is as with ``--set`` of the program: a table ``system.parameters`` leaves the other parameters
        as they are, another ``method.name`` drops the options that this method lacks, ``time.end`` drops ``time.steps`` and so on,
        and axes that only the replaced values used are named in ``ensemble.unused``.

        Raises InputError.
        """
        document = copy.deepcopy(self._document)
        for key, value in values.items():
            if value is None:
                _remove(document, key)
            elif key == "system.parameters" and isinstance(value, Mapping):  # the other parameters keep their values
                for name, parameter in value.items():
                    _set(document, f"{key}.{name}", plain(parameter, f"{key}.{name}"))
            else:
                _set(document, key, plain(value, key))
        dropped, unused = _core.consequences(dumps(self._document), dumps(document), list(values), bool(self._arrays))
        for key in dropped:
            _remove(document, key)
        if unused:
            document["ensemble"].setdefault("unused", []).extend(unused)
        self._change(document, self._arrays)

    def replace(self, values: Mapping[str, Any]) -> "Study":
        """Returns a copy with other values of some keys. Raises InputError."""
        study = copy.copy(self)
        study.update(values)
        return study

    @property
    def axes(self) -> Axes:
        """The axes of the ensemble by name.

        >>> ensemble = {"axes": [{"name": "a", "values": [0.5, 1.0]}], "initial": {"q": ["sin(a)", "-cos(a)"], "v": [0, 0]}}
        >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10}, ensemble=ensemble)
        >>> study.axes["a"] = np.linspace(0.5, 1.5, 1000)
        >>> study.trajectories
        1000
        """
        return Axes(self)

    def states(self, q: Any = None, v: Any = None, p: Any = None, lambda_: Any = None, **columns: Any) -> None:
        """Sets the initial states of all trajectories, in place of axes and expressions.

        Parameters
        ----------
        q, v, p, lambda_:
            float64 arrays of shape (N, n) or (N, m) in C order, in the units of the system. ``v`` or ``p`` goes with ``q``.
        columns:
            float64 arrays of shape (N,), which expressions use like axes

        The arrays are borrowed: the study keeps a reference, and copies nothing. They must not change during a run. An array
        that is not contiguous is copied, and a warning says so once. Raises InputError.

        >>> angle = np.linspace(0.5, 1.5, 100)
        >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10})
        >>> study.states(q=np.stack([np.sin(angle), -np.cos(angle)], axis=1), v=np.zeros((100, 2)))
        >>> study.trajectories
        100
        """
        parts = {"q": q, "v": v, "p": p, "lambda": lambda_}
        arrays = {name: _contiguous(name, array, 2) for name, array in parts.items() if array is not None}
        arrays.update({name: _contiguous(name, array, 1) for name, array in columns.items()})
        if "q" not in arrays:
            raise _core.InputError("states: there is no array q; give q, and v or p")
        rows = {name: array.shape[0] for name, array in arrays.items()}
        if len(set(rows.values())) > 1:
            raise _core.InputError("states: the arrays differ in the number of rows ("
                                   + ", ".join(f"{name} has {count}" for name, count in rows.items())
                                   + "); give one row per trajectory in each")
        document = copy.deepcopy(self._document)
        ensemble = document.setdefault("ensemble", {})
        for key in ("axes", "draws", "file", "group", "randomisations", "group_by"):
            ensemble.pop(key, None)
        initial = ensemble.get("initial", {})
        for key in ("q", "v", "p", *(("lambda",) if "lambda" in arrays else ())):
            initial.pop(key, None)
        self._change(document, arrays)

    # meaning

    @property
    def name(self) -> str:
        return self._problem.name

    @property
    def directory(self) -> Path:
        """The folder in which relative paths begin."""
        return self._directory

    @property
    def file(self) -> Path | None:
        return self._file

    @property
    def trajectories(self) -> int:
        """The number of trajectories."""
        return self._problem.trajectories

    @property
    def order(self) -> int | None:
        """The order of q of the method; None where it is unknown."""
        return self._problem.order or None

    @property
    def toml(self) -> str:
        """The complete study as TOML, with every default."""
        return self._problem.toml

    def default_output(self) -> Path:
        """Returns the name of the result that the program takes: that of the study file, or of the study."""
        return Path(self._file.with_suffix(".h5").name if self._file else self.name.replace("/", "-") + ".h5")

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the study as a file of the program, and replaces nothing but a study. Arrays of states go into an HDF5 file
        beside it. Raises InputError."""
        path = Path(file)
        _require_study(path)
        document = copy.deepcopy(self._document)
        for table in ("system", "ensemble"):
            given = document.get(table, {}).get("file")
            if given:
                document[table]["file"] = str(self._directory / given)
        states = self._problem.states_file
        if states is not None:
            self._problem.write_states(path.absolute().parent / states)
            document.setdefault("ensemble", {})["file"] = states
        try:
            path.write_text(dumps(document), encoding="utf-8")
        except OSError as error:
            raise _core.InputError(f"{path}: cannot be written ({error.strerror}); choose another name") from None
        return path

    def on_disk(self, folder: str | os.PathLike[str]) -> "Study":
        """Returns the study with its arrays of states in a file of the folder; the study itself when there are none."""
        states = self._problem.states_file
        if states is None:
            return self
        path = Path(folder).absolute() / states
        self._problem.write_states(path)
        document = copy.deepcopy(self._document)
        document.setdefault("ensemble", {})["file"] = str(path)
        study = copy.copy(self)
        study._change(document, {})
        return study

    # protocols

    def __copy__(self) -> "Study":
        study = type(self).__new__(type(self))
        study.__dict__.update(self.__dict__)
        study._document = copy.deepcopy(self._document)
        return study

    def __deepcopy__(self, memo: Any) -> "Study":
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_problem"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._problem = self._resolved(self._document, self._arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self.toml == other.toml

    __hash__ = None  # type: ignore[assignment]

    def _facts(self, trajectories: int | None = None) -> list[tuple[str, str]]:
        time = self["time"]
        options = self._problem.method_options
        return [("study", self.name), ("system", self._problem.system),
                ("method", self._problem.method + (f" ({options})" if options else "")),
                ("time", f"{time['start']:g} to {time['end']:g}, step {time['step']}" if "end" in time else f"step {time['step']}"),
                ("trajectories", str(self.trajectories if trajectories is None else trajectories)),
                ("observables", ", ".join(entry["name"] for entry in self._document.get("observable", [])) or "none")]

    def __repr__(self) -> str:
        return "Study(" + ", ".join(f"{key}: {value}" for key, value in self._facts()) + ")"

    def _repr_html_(self) -> str:
        return html_table(self._facts())


def problem_of(study: Study) -> "_core.Problem":
    """Returns what the library runs. Raises TypeError for what is not a study, such as the name of its file."""
    if not isinstance(study, Study):
        raise TypeError(f"a Study is needed, and this is a {type(study).__name__}; rattleback.Study.load(file) reads a study file")
    return study._problem


def count_of(name: str, number: int) -> int:
    """Returns a number of threads, trajectories and the like.

    Raises InputError where it is negative or too large, and TypeError where it is not whole.
    """
    try:
        count = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} must be a whole number (got {number!r})") from None
    if count < 0:
        raise _core.InputError(f"{name} must not be negative (got {count}); 0 leaves the choice to the library")
    most = 10**6 if name == "threads" else 2**63 - 1
    if count > most:
        raise _core.InputError(f"{name} must be at most {most} (got {count}); 0 leaves the choice to the library")
    return count


def html_table(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(key)}</th><td style='text-align:left'>{html.escape(value)}</td>"
                   "</tr>" for key, value in facts)
    return f"<table>{rows}</table>"


def _remove(document: dict[str, Any], key: str) -> bool:
    """Removes a key of a document. Returns whether it was there."""
    node: Any = document
    *steps, last = _steps(key)
    try:
        for step in steps:
            node = node[step]
        del node[last]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _set(document: dict[str, Any], key: str, value: Any) -> None:
    """Sets a key of a document. Tables and elements on the way are made."""
    steps = _steps(key)
    node: Any = document
    for step, following in zip(steps, [*steps[1:], None]):
        last = following is None
        fresh: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            if not isinstance(node, list) or step > len(node):
                raise _core.InputError(f"{key}: index {step} is out of range")
            if step == len(node):
                node.append(value if last else fresh)
            elif last:
                node[step] = value
            node = node[step]
        else:
            if not isinstance(node, dict):
                raise _core.InputError(f"{key}: '{step}' is inside {type(node).__name__}, which is not a table")
            if last:
                node[step] = value
            node = node.setdefault(step, fresh)
