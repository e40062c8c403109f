"""Runs of studies, with progress and Ctrl-C."""

from __future__ import annotations

import os
from pathlib import Path

from . import _core
from .executors import Client, run_with
from .progress import Bar, Progress, warn
from .results import Result
from .study import Study, count_of, problem_of


def _free_name(path: Path) -> Path:
    """Returns a name for which no file of a run is there."""
    for number in range(1, 10_000):
        place = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        if not place.exists() and not place.with_name(place.name + ".checkpoint").exists():
            return place
    raise _core.InputError(f"{path}: 10 000 names of this kind are taken; delete some results")


def run(study: Study, output: str | os.PathLike[str] | None = None, *, backend: str = "auto", threads: int = 0,
        tile: int = 0, progress: Progress = False, client: Client | None = None, parts: int | None = None) -> Result:
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
    checkpoint, and the message names the file with which :func:`resume` continues. The bits do not depend on how a study is run.

    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10}, observable="energy")
    >>> result = rb.run(study, threads=1)
    >>> bool(abs(result["energy"].mean[-1] - result["energy"].mean[0]) < 0.01)
    True
    """
    problem_of(study)
    if client is not None:
        return run_with(study, output, client, parts, backend, threads, progress)
    place = None if output is None else Path(output)
    rescue = _free_name(study.default_output())
    # A checkpoint names the file of the states.
    running = study if place is None else study.on_disk(place.absolute().parent)
    with Bar(progress, study.name) as bar:
        try:
            stored = _core.run(running._problem, backend, count_of("threads", threads), count_of("tile", tile), place, rescue, bar.show if bar.active else None, warn)
        except KeyboardInterrupt:
            if place is None and rescue.with_name(rescue.name + ".checkpoint").exists():
                study.on_disk(study.directory)
            raise
    return Result(stored)


def resume(result: str | os.PathLike[str], *, backend: str = "auto", threads: int = 0, progress: Progress = False) -> Result:
    """Continues an interrupted run into a result file. The result has the bits of an uninterrupted run.

    Raises InputError when there is no such run, and what :func:`run` raises.
    """
    with Bar(progress, Path(result).name) as bar:
        return Result(_core.resume(Path(result), backend, count_of("threads", threads), bar.show if bar.active else None, warn))


def compile(study: Study, *, backend: str = "auto") -> None:
    """Compiles the kernels of a study that are missing. Raises InputError when there is no compiler.

    >>> rb.compile(rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10}, observable="energy"))
    """
    _core.prepare(problem_of(study), backend)
