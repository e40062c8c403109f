"""Warnings of runs, and the share that is done."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, Union

Progress = Union[bool, Callable[[float], None]]


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
