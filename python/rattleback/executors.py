"""Parts of an ensemble, computed by hand, by executors or by Dask."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from . import _core
from .progress import Bar, Progress, warn
from .results import Result
from .study import Study, count_of, problem_of

PARTS_PER_WORKER = 8


class Client(Protocol):
    """An executor of ``concurrent.futures``, or a client of Dask."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any: ...


@dataclass(frozen=True)
class Part:
    """Part ``number`` of ``count``, from 1, of the result ``output``. It can be sent to another process or machine."""

    study: Study
    output: Path
    number: int
    count: int

    def run(self, *, backend: str = "auto", threads: int = 0, progress: Progress = False) -> int:
        """Computes the part, unless it is finished. Returns the number of its failed trajectories.

        Ctrl-C leaves a checkpoint of the part, from which any process continues. Raises InputError or RunError.
        """
        with Bar(progress, f"part {self.number} of {self.count}") as bar:
            return _core.run_part(self.study._problem, self.output, self.count, self.number, backend, count_of("threads", threads),
                                  bar.show if bar.active else None, warn)


def parts(study: Study, count: int, output: str | os.PathLike[str] | None = None, *, at_most: bool = False) -> list[Part]:
    """Cuts the ensemble of a study into parts, which go into the folder ``OUTPUT.parts``.

    Without ``output`` the name is that of the study file, as for the program. A part has at least 256 trajectories;
    ``at_most`` takes fewer parts where there are not enough. :func:`merge` makes the result of the parts. Raises InputError.

    >>> import tempfile
    >>> ensemble = {"axes": [{"name": "a", "from": 0.5, "to": 1.5, "count": 512}], "initial": {"q": ["sin(a)", "-cos(a)"], "v": [0, 0]}}
    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "steps": 10}, ensemble=ensemble, observable="energy")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in rb.parts(study, 2, folder + "/all.h5"):
    ...         failed = part.run()
    ...     merged = rb.merge(folder + "/all.h5")
    ...     rb.diff(merged, rb.run(study)).identical
    True
    """
    problem_of(study)
    place = Path(output if output is not None else study.default_output()).absolute()
    study = study.on_disk(place.parent)
    number = _core.open_parts(study._problem, place, count, at_most)
    return [Part(study, place, k, number) for k in range(1, number + 1)]


def merge(output: str | os.PathLike[str], *, virtual: bool = False, threads: int = 0) -> Result:
    """Merges the parts of a result into the bits of one run, and returns the result.

    With ``virtual`` the result refers to the parts, which must stay. Raises InputError when parts are missing or damaged.
    :func:`parts` has an example.
    """
    return Result(_core.merge(Path(output), virtual, count_of("threads", threads), warn))


def _compute(part: Part, backend: str, threads: int) -> int:
    return part.run(backend=backend, threads=threads)


def _is_dask(client: Any) -> bool:
    return type(client).__module__.split(".")[0] in ("distributed", "dask")


def _workers(client: Any) -> int:
    if _is_dask(client):
        return max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    return max(1, getattr(client, "_max_workers", 0) or _core.usable_processors())


def _finished(client: Any, futures: Sequence[Any]) -> Iterator[Any]:
    if _is_dask(client):
        from distributed import as_completed

        yield from as_completed(futures)
    else:
        from concurrent.futures import as_completed as each

        yield from each(futures)


def run_with(study: Study, output: str | os.PathLike[str] | None, client: Any, count: int | None, backend: str, threads: int,
             progress: Progress) -> Result:
    """Runs a study with an executor or a client of Dask, which must see the folder of the output."""
    workers = _workers(client)
    folder = None if output is not None else Path(tempfile.mkdtemp(prefix="rattleback-", dir=study.directory))
    place = Path(output).absolute() if folder is None else folder / "result.h5"  # type: ignore[arg-type]
    try:
        cut = parts(study, count or PARTS_PER_WORKER * workers, place, at_most=count is None)
        shared = threads or (1 if workers > 1 else 0)  # workers of one machine share its cores
        options = {"pure": False} if _is_dask(client) else {}
        futures = [client.submit(_compute, part, backend, shared, **options) for part in cut]
        with Bar(progress, study.name) as bar:
            try:
                for done, future in enumerate(_finished(client, futures), 1):
                    future.result()
                    bar.show(done, len(cut), 0.0)
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
        result = merge(place, threads=threads)
        shutil.rmtree(place.with_name(place.name + ".parts"), ignore_errors=True)
        return result if folder is None else _in_memory(result)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _in_memory(result: Result) -> Result:
    restore, arguments = result.__reduce__()
    return restore(*arguments)
