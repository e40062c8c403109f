"""Runs of studies, with progress and Ctrl-C."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _core
from .results import Result
from .study import Study

if TYPE_CHECKING:
    from .executors import Client

Show = Callable[[float, float, float], None]
Progress = Union[bool, Callable[[float], None]]


def _name_nvrtc() -> None:
    """Names the NVRTC of this environment (the extra ``cuda``) to the library, which opens it when a kernel needs it."""
    if "RATTLEBACK_NVRTC" in os.environ:
        return
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for place in sorted(Path(folder).glob("*/lib/libnvrtc.so.*"), reverse=True):
            os.environ["RATTLEBACK_NVRTC"] = str(place)
            return


_name_nvrtc()


class RattlebackWarning(UserWarning):
    """A doubt of the library about a run or about its numbers."""


def warn(text: str) -> None:
    warnings.warn(text, RattlebackWarning, stacklevel=3)


class Bar:
    """Shows the share that is done: with tqdm where it is installed, and otherwise on one line of stderr."""

    def __init__(self, progress: Progress, what: str) -> None:
        self._call = progress if callable(progress) else None
        self._bar: Any = None
        self._shown = False
        self._start = time.monotonic()
        self.active = bool(progress)
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                pass
            else:
                warnings.filterwarnings("ignore", message="IProgress not found", category=UserWarning)
                self._bar = tqdm(total=100.0, desc=what, unit="%", bar_format="{desc}: {percentage:3.0f} % |{bar}| {elapsed}<{remaining}")

    def show(self, done: float, total: float, seconds: float) -> None:
        share = done / total if total > 0 else 1.0
        if self._call:
            self._call(share)
        elif self._bar is not None:
            self._bar.update(100.0 * share - self._bar.n)
        elif self.active:
            left = (time.monotonic() - self._start) * (1.0 - share) / share if share > 0 else float("inf")
            sys.stderr.write(f"\r{100 * share:5.1f} %  {left:.0f} s left   ")
            sys.stderr.flush()
            self._shown = True

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._bar is not None:
            if kind is None:
                self._bar.update(100.0 - self._bar.n)
            self._bar.close()
        elif self._shown:
            sys.stderr.write("\n")


def _free_name(path: Path) -> Path:
    """Returns a name for which no file of a run is there."""
    for number in range(1, 10_000):
        place = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        if not place.exists() and not place.with_name(place.name + ".checkpoint").exists():
            return place
    raise _core.InputError(f"{path}: 10 000 names of this kind are taken; delete some results")


def run(study: Study, output: str | os.PathLike[str] | None = None, *, backend: str = "auto", threads: int = 0,
        tile: int = 0, progress: Progress = False, client: "Client | None" = None, parts: int | None = None) -> Result:
    """Runs a study and returns its result.

    Parameters
    ----------
    output:
        the result file. Without it, the result is in memory.
    backend:
        ``auto``, ``cpu``, ``cuda``, ``cuda:0``, ``cpu:scalar``, ``cpu:avx2`` and so on, as for the program
    threads:
        number of threads; 0: the processors that the process may use
    tile:
        trajectories in memory at a time; 0: as many as fit
    progress:
        True for a bar, or a function of the share that is done
    client:
        a client of Dask, or an executor of ``concurrent.futures``, which computes parts of the ensemble
    parts:
        number of parts for ``client``; by default a few for each worker

    Raises InputError or RunError with the message of the program. Ctrl-C raises KeyboardInterrupt; the run then leaves a
    checkpoint, and the message names the file with which :func:`resume` goes on. The bits do not depend on how a study is run.
    """
    if client is not None:
        from .executors import run_with

        return run_with(study, output, client, parts, backend, threads, progress)
    place = None if output is None else Path(output)
    rescue = _free_name(study.default_output())
    # A checkpoint names the file of the states.
    running = study if place is None else study.on_disk(place.absolute().parent)
    with Bar(progress, study.name) as bar:
        try:
            stored = _core.run(running._problem, backend, threads, tile, place, rescue, bar.show if bar.active else None, warn)
        except KeyboardInterrupt:
            if place is None and rescue.with_name(rescue.name + ".checkpoint").exists():
                study.on_disk(study.directory)
            raise
    return Result(stored)


def resume(result: str | os.PathLike[str], *, backend: str = "auto", threads: int = 0, progress: Progress = False) -> Result:
    """Goes on with an interrupted run into a result file. The result has the bits of an uninterrupted run.

    Raises InputError when there is no such run, and what :func:`run` raises.
    """
    with Bar(progress, Path(result).name) as bar:
        return Result(_core.resume(Path(result), backend, threads, bar.show if bar.active else None, warn))


def compile(study: Study, *, backend: str = "auto") -> None:
    """Compiles the kernels of a study that are missing. Raises InputError when there is no compiler."""
    _core.prepare(study._problem, backend)
