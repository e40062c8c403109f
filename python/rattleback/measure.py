"""Orders of methods, and time against accuracy."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .progress import warn
from .study import Study, count_of, problem_of


@dataclass(frozen=True)
class OrderReport:
    """Errors at the final time against a reference, for several steps.

    ``variables`` has for q, v, p and lambda the tables ``max`` and ``rms``, each with ``error`` and ``order`` per step, the
    ``slope`` of the errors above round-off, and the number of ``points`` of the slope.
    """

    study: Study
    reference: str
    steps: NDArray[np.float64]
    variables: dict[str, Any]
    trajectories: int
    failed: int
    end: float

    @property
    def slopes(self) -> dict[str, float]:
        """The observed order of each variable, from the largest errors."""
        return {name: entry["max"]["slope"] for name, entry in self.variables.items()}

    @property
    def errors(self) -> dict[str, NDArray[np.float64]]:
        """The largest error over the ensemble of each variable, per step."""
        return {name: np.array(entry["max"]["error"]) for name, entry in self.variables.items()}

    def content(self) -> dict[str, Any]:
        """Returns what ``rattleback order --json`` prints, for the figure."""
        table = {}
        for name, entry in self.variables.items():
            table[name] = {key: entry[key]["error"] for key in ("max", "rms")}
            table[name].update({f"slope_{key}": entry[key]["slope"] for key in ("max", "rms")})
        method = self.study["method"]
        return {"command": "order", "study": self.study.name, "system": self.study["system.name"], "method": method["name"],
                "options": {key: value for key, value in method.items() if key not in ("name", "solver")},
                "stages": method.get("stages"), "reference": self.reference, "end": self.end, "steps": list(self.steps),
                "trajectories": self.trajectories, "failed": self.failed, "variables": table}

    def __repr__(self) -> str:
        slopes = ", ".join(f"{name} {slope:.3f}" for name, slope in self.slopes.items())
        return f"OrderReport({self.study.name}, steps {list(self.steps)}, slopes: {slopes}; against {self.reference})"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th><th>order</th>" for name in self.variables)
        rows = ""
        for i, step in enumerate(self.steps):
            cells = "".join(f"<td>{entry['max']['error'][i]:.3e}</td><td>{_number(entry['max']['order'][i])}</td>"
                            for entry in self.variables.values())
            rows += f"<tr><td>{step:g}</td>{cells}</tr>"
        slopes = "".join(f"<td>slope</td><td>{_number(slope)}</td>" for slope in self.slopes.values())
        return f"<table><tr><th>step</th>{head}</tr>{rows}<tr><td></td>{slopes}</tr></table>"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


@dataclass(frozen=True)
class WorkReport:
    """Time and errors of several methods. ``runs`` has a table per method and step: label, step, seconds, errors, rms, drifts."""

    study: Study
    reference: str
    runs: list[dict[str, Any]]
    trajectories: int
    failed: int
    end: float

    def content(self) -> dict[str, Any]:
        """Returns what ``rattleback bench --work-precision --json`` prints, for the figure."""
        return {"command": "work-precision", "study": self.study.name, "system": self.study["system.name"],
                "reference": self.reference, "end": self.end, "trajectories": self.trajectories, "failed": self.failed,
                "runs": self.runs}

    def __repr__(self) -> str:
        labels = list(dict.fromkeys(run["label"] for run in self.runs))
        return f"WorkReport({self.study.name}: {', '.join(labels)}; against {self.reference})"

    def _repr_html_(self) -> str:
        names = list(self.runs[0]["errors"])
        head = "".join(f"<th>{title}</th>" for title in ("method", "step", "seconds", *(f"error of {name}" for name in names)))
        rows = "".join(f"<tr><td style='text-align:left'>{html.escape(run['label'])}</td><td>{run['step']:g}</td>"
                       f"<td>{run['seconds']:.3g}</td>"
                       + "".join(f"<td>{run['errors'].get(name, np.nan):.3e}</td>" for name in names) + "</tr>" for run in self.runs)
        return f"<table><tr>{head}</tr>{rows}</table>"


def _path(reference: str | os.PathLike[str] | None) -> Path | None:
    return None if reference is None else Path(reference)


def _numbers(steps: Sequence[float]) -> list[float]:
    try:
        if not isinstance(steps, str):
            return [float(step) for step in steps]
    except (TypeError, ValueError):
        pass
    raise TypeError(f"steps must be a list of numbers, such as [0.1, 0.05] (got {steps!r})")


def order(study: Study, steps: Sequence[float], *, reference: str | os.PathLike[str] | None = None,
          reference_step: float | None = None, reference_stages: int | None = None, backend: str = "auto",
          threads: int = 0) -> OrderReport:
    """Runs a study with several steps, and compares the final states with a reference.

    The reference is a result file, or a run with another step or number of stages; by default the exact solution where it is
    known, and otherwise a more accurate run. Each step must divide the time span. Raises InputError or RunError.

    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "end": 1}, observable="energy")
    >>> round(rb.order(study, [0.1, 0.05, 0.025], threads=1).slopes["q"])
    2
    """
    found = _core.order(problem_of(study), _numbers(steps), _path(reference), reference_step, reference_stages,
                        backend, count_of("threads", threads), warn)
    return OrderReport(study, found["reference"], np.array(found["steps"]), found["variables"], found["trajectories"],
                       found["failed"], found["end"])


def work_precision(study: Study, methods: Mapping[str, str | Mapping[str, Any]], steps: Sequence[float], *,
                   reference: str | os.PathLike[str] | None = None, reference_step: float | None = None,
                   reference_stages: int | None = None, backend: str = "auto", threads: int = 0,
                   repetitions: int = 3) -> WorkReport:
    """Measures time and errors of several methods at several steps.

    ``methods`` has a label for each method: a name, or a table ``[method]``. The reference is chosen as in :func:`order`, with
    the method of the study. The time of a run is the median over the repetitions. Raises InputError or RunError.

    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "end": 1}, observable="energy")
    >>> report = rb.work_precision(study, {"RATTLE": "holonomic-lobatto"}, [0.1, 0.05], reference_step=0.0125, repetitions=1)
    >>> [(run["label"], run["step"]) for run in report.runs]
    [('RATTLE', 0.1), ('RATTLE', 0.05)]
    """
    problem, settings = problem_of(study), []
    for label, method in methods.items():
        table = {"name": method} if isinstance(method, str) else dict(method)
        settings.append((label, study.replace({"method": table})._problem))
    found = _core.work_precision(problem, settings, _numbers(steps), _path(reference), reference_step,
                                 reference_stages, backend, count_of("threads", threads), repetitions, warn)
    return WorkReport(study, found["reference"], found["runs"], found["trajectories"], found["failed"], found["end"])
