"""Fits of the growth of a statistic, whose errors account for correlated samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .toml import tomllib

MODELS = ("line", "power", "exponential")


@dataclass(frozen=True)
class Fit:
    """A least-squares fit of ``statistic`` against time: ``intercept + slope t``, ``intercept t^slope`` or
    ``intercept exp(slope t)``.

    ``source`` says where the errors come from: ``"study"``, a [[fit]] of the study; ``"values"``, the scatter of the
    trajectories; ``"bound"``, an upper bound from the errors of the samples, because the samples of a trajectory depend on
    each other. So the errors account for the correlation of the samples in all three cases.
    """

    model: str
    slope: float
    slope_error: float
    intercept: float
    intercept_error: float
    source: str

    @property
    def error(self) -> float:
        """The standard error of the slope."""
        return self.slope_error

    def __call__(self, time: Any) -> NDArray[np.float64]:
        t = np.asarray(time, dtype=float)
        if self.model == "line":
            return self.intercept + self.slope * t
        return self.intercept * (t**self.slope if self.model == "power" else np.exp(self.slope * t))


def fit(stored: "_core.Stored", statistics: Mapping[str, Any], observable: str, statistic: str, start: float | None,
        stop: float | None, model: str) -> Fit:
    """Fits a curve to a statistic of an observable, as ``Result.fit`` says."""
    if model not in MODELS:
        raise _core.InputError(f"fit: unknown model '{model}' (known: {', '.join(MODELS)})")
    values, time = statistics[statistic], stored.array("/time")
    used = (time >= (time[0] if start is None else start)) & (time <= (time[-1] if stop is None else stop))
    asked = _of_study(stored, observable, statistic, used, model)
    if asked is not None:
        return asked
    good = used & np.isfinite(values)
    if model == "power":
        good &= time > 0
    if model != "line":
        good &= values > 0
    if np.count_nonzero(good) < 3:
        what = "samples" if model == "line" else "samples above 0"
        raise _core.InputError(f"fit: fewer than three {what} of {statistic} of {observable} in the span of time; widen it")
    x = np.asarray(np.log(time[good]) if model == "power" else time[good])
    y = np.asarray(values[good] if model == "line" else np.log(values[good]))
    if model == "line" and f"/observables/{observable}/values" in stored.shapes():
        exact = _of_values(stored, observable, statistic, np.flatnonzero(good), x)
        if exact is not None:
            return exact
    errors = statistics.get(f"{statistic}_error")
    sigma = np.full(len(x), np.nan) if errors is None else np.asarray(errors[good])
    if model != "line":
        sigma = sigma / values[good]
    return _bounded(model, x, y, sigma)


def _weights(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the weights of the values in the slope and in the intercept."""
    centred = x - x.mean()
    slope = centred / (centred @ centred)
    return slope, 1.0 / len(x) - x.mean() * slope


def _bounded(model: str, x: NDArray[np.float64], y: NDArray[np.float64], sigma: NDArray[np.float64]) -> Fit:
    """The standard error of a sum of dependent numbers is at most the sum of their standard errors."""
    slope, intercept = _weights(x)
    b, a = slope @ y, intercept @ y
    b_error, a_error = np.abs(slope) @ sigma, np.abs(intercept) @ sigma
    if model != "line":
        a = np.exp(a)
        a_error = a * a_error
    return Fit(model, float(b), float(b_error), float(a), float(a_error), "bound")


def _of_values(stored: "_core.Stored", observable: str, statistic: str, samples: NDArray[np.intp],
               x: NDArray[np.float64]) -> Fit | None:
    """Fits each trajectory. The errors come from the scatter of these fits."""
    if statistic not in ("mse", "mean"):
        return None
    values = np.asarray(stored.array(f"/observables/{observable}/values"), dtype=float)
    if statistic == "mse":
        entry = next(entry for entry in tomllib.loads(str(stored.attributes("/")["study"]))["observable"] if entry["name"] == observable)
        reference = entry.get("reference", "initial")
        reference = values[0] if reference == "initial" else float(reference)
        values = (values - reference) ** 2
    values = values[samples]
    values = values[:, np.isfinite(values).all(axis=0)]
    count = values.shape[1]
    if count < 2:
        return None
    slope, intercept = (weights @ values for weights in _weights(x))
    errors = [float(fits.std(ddof=1) / np.sqrt(count)) for fits in (slope, intercept)]
    return Fit("line", float(slope.mean()), errors[0], float(intercept.mean()), errors[1], "values")


def _of_study(stored: "_core.Stored", observable: str, statistic: str, used: NDArray[np.bool_], model: str) -> Fit | None:
    """Returns the [[fit]] of the study with this observable, statistic, model and these samples."""
    time = stored.array("/time")
    for path in stored.shapes():
        if not (path.startswith("/fits/") and path.endswith("/count")):
            continue
        asked = stored.attributes(path)
        if (asked["observable"], asked["statistic"], asked["model"]) != (observable, statistic, model):
            continue
        if not np.array_equal((time >= asked["from"]) & (time <= asked["to"]), used):
            continue
        group = path[: -len("/count")]
        second = {"line": "slope", "power": "exponent", "exponential": "rate"}[model]
        first = "intercept" if model == "line" else "amplitude"
        slope, slope_error, intercept, intercept_error = (
            float(stored.array(f"{group}/{name}")[0]) for name in (second, f"{second}_error", first, f"{first}_error"))
        return Fit(model, slope, slope_error, intercept, intercept_error, "study")
    return None
