"""Ensemble integrator for constrained mechanical systems.

A :class:`Study` describes the system, the method, the initial states and the statistics. :func:`run` returns a :class:`Result`.
Names are loaded when they are used, so that ``rattleback.plot`` works without the compiled extension.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import plot

    __version__: str
    from ._core import Error, InputError, RunError
    from .averages import Average, average, frequencies
    from .catalogue import Description, cite, describe, list_keys, list_methods, list_observables, list_statistics, list_systems
    from .errors import UnknownNameError
    from .executors import Part, merge, parts
    from .fitting import Fit
    from .measure import OrderReport, WorkReport, order, work_precision
    from .progress import RattlebackWarning
    from .results import DiffReport, Result, State, Statistics, diff, open
    from .running import compile, resume, run
    from .study import Study
    from .system import System

_HOMES = {
    "_core": ("Error", "InputError", "RunError"),
    "averages": ("Average", "average", "frequencies"),
    "catalogue": ("Description", "cite", "describe", "list_keys", "list_methods", "list_observables", "list_statistics", "list_systems"),
    "errors": ("UnknownNameError",),
    "executors": ("Part", "merge", "parts"),
    "fitting": ("Fit",),
    "measure": ("OrderReport", "WorkReport", "order", "work_precision"),
    "progress": ("RattlebackWarning",),
    "results": ("DiffReport", "Result", "State", "Statistics", "diff", "open"),
    "running": ("compile", "resume", "run"),
    "study": ("Study",),
    "system": ("System",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Average", "Description", "DiffReport", "Error", "Fit", "InputError", "OrderReport", "Part", "RattlebackWarning", "Result", "RunError",
    "State", "Statistics", "Study", "System", "UnknownNameError", "WorkReport", "average", "cite", "compile", "describe", "diff", "frequencies", "list_keys", "list_methods",
    "list_observables", "list_statistics", "list_systems", "merge", "open", "order", "parts", "plot", "resume", "run",
    "work_precision",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.import_module("._core", __name__).version()
    elif name == "plot":
        value = importlib.import_module(".plot", __name__)
    elif name in _HOME_OF:
        value = getattr(importlib.import_module("." + _HOME_OF[name], __name__), name)
    else:
        raise AttributeError(f"module 'rattleback' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
