"""Averages over time and frequencies of trajectories, from the values that a result has at its samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import _core

if TYPE_CHECKING:
    from .results import Result

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Average:
    """Averages over time, one for each trajectory: ``value`` and ``digits``, both of shape (N,).

    ``digits`` is minus the decimal logarithm of the difference between the averages of the first and of the second half. It is large on
    regular orbits, whose averages converge fast, and small on chaotic ones, so that it tells one from the other without tangent vectors.
    """

    value: Numbers
    digits: Numbers


def average(result: Result, observable: str, kind: str = "mean") -> Average:
    """Returns the weighted average of an observable over the samples, for each trajectory.

    The weight exp(-1 / (u (1 - u))) of the share u of the time vanishes with all derivatives at both ends, so that the average of a
    quasi-periodic motion converges faster than any power of the time (S. Das, Y. Saiki, E. Sander, J. A. Yorke, Nonlinearity 30 (2017)
    4111). With ``kind`` ``"frequency"`` the observable is an angle, and the average is that of its rate: of its increments from sample to
    sample, taken between -pi and pi. The samples must be close enough for that.

    Needs an observable with ``values = true`` and samples at equal distances. Raises InputError.

    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "end": 100, "sample_every": 1},
    ...                  ensemble={"initial": {"q": ["sin(0.01)", "-cos(0.01)"], "v": [0, 0]}}, observable={"name": "q[0]", "values": True})
    >>> found = rb.average(rb.run(study), "q[0]")
    >>> bool(abs(found.value[0]) < 1e-6), bool(found.digits[0] > 6)
    (True, True)
    """
    if kind not in ("mean", "frequency"):
        raise _core.InputError(f"average: unknown kind '{kind}' (known: mean, frequency)")
    spacing, values = _series(result, observable, "average", least=5)
    if kind == "mean":
        terms = values[1:]
    else:
        steps = np.diff(values, axis=0)
        terms = (steps - 2 * np.pi * np.ceil(steps / (2 * np.pi) - 0.5)) / spacing
    half = len(terms) // 2
    value, first, second = (_weighted(part) for part in (terms, terms[:half], terms[half:]))
    with np.errstate(divide="ignore"):
        return Average(value, -np.log10(np.abs(first - second)))


def frequencies(result: Result, x: str, v: str | None = None, count: int = 1) -> tuple[Numbers, Numbers]:
    """Returns the ``count`` largest frequencies of each trajectory and their amplitudes, both of shape (N, count).

    The motion is taken as the complex signal x - i v, or as x alone, and its terms are found one after the other (J. Laskar, Physica D 67
    (1993) 257): the maximum of the spectrum with the window (1 - cos)^2, which is refined to round-off; then the amplitudes of all terms
    so far, by least squares with this window, and the next term from what is left. Frequencies are angles by time; x alone has each with both signs.

    Needs observables with ``values = true`` and samples at equal distances. Raises InputError.

    >>> study = rb.Study("planar-pendulum", "holonomic-lobatto", {"step": 0.1, "end": 100, "sample_every": 1},
    ...                  ensemble={"initial": {"q": ["sin(0.01)", "-cos(0.01)"], "v": [0, 0]}}, observable={"name": "q[0]", "values": True})
    >>> frequency, amplitude = rb.frequencies(rb.run(study), "q[0]")
    >>> frequency.shape, round(abs(float(frequency[0, 0])), 2)
    ((1, 1), 1.0)
    """
    if count < 1:
        raise _core.InputError(f"frequencies: count must be at least 1 (got {count})")
    spacing, values = _series(result, x, "frequencies", least=16)
    signal = values.astype(complex)
    if v is not None:
        signal -= 1j * _series(result, v, "frequencies", least=16)[1]
    samples, trajectories = signal.shape
    time = (np.arange(samples) - (samples - 1) / 2) * spacing
    window = (1 - np.cos(2 * np.pi * (np.arange(samples) + 0.5) / samples)) ** 2
    window /= window.sum()
    found, amplitudes = np.full((trajectories, count), np.nan), np.full((trajectories, count), np.nan)
    for k in np.flatnonzero(np.isfinite(signal).all(axis=0)):
        rest, terms = signal[:, k], np.empty((samples, 0))
        for term in range(count):
            found[k, term] = _largest(rest, window, time, spacing)
            terms = np.exp(1j * np.outer(time, found[k, :term + 1]))
            weighted = terms.conj().T * window
            factors = np.linalg.lstsq(weighted @ terms, weighted @ signal[:, k], rcond=None)[0]
            rest = signal[:, k] - terms @ factors
            amplitudes[k, :term + 1] = np.abs(factors)
    return found, amplitudes


def _largest(signal: NDArray[np.complex128], window: Numbers, time: Numbers, spacing: float) -> float:
    """The frequency at which the windowed spectrum has its maximum: from a grid of a quarter of a bin, then by Newton's method."""
    grid = np.fft.fft(window * signal, 4 * len(signal))
    omega = 2 * np.pi * float(np.fft.fftfreq(len(grid), spacing)[np.argmax(np.abs(grid))])
    width = 2 * np.pi / (len(grid) * spacing)
    for _ in range(20):
        terms = window * signal * np.exp(-1j * omega * time)
        f, f1, f2 = terms.sum(), (-1j * time * terms).sum(), -(time**2 * terms).sum()
        slope, curvature = (f1 * f.conjugate()).real, (f2 * f.conjugate()).real + abs(f1) ** 2  # of |f|^2 / 2
        step = -slope / curvature if curvature < 0 else 0.0
        omega += float(np.clip(step, -width, width))
        if abs(step) <= 1e-15 * max(abs(omega), width):
            break
    return omega


def _weighted(terms: Numbers) -> Numbers:
    u = (np.arange(len(terms)) + 0.5) / len(terms)
    weight = np.exp(-1 / (u * (1 - u)))
    return np.asarray((weight / weight.sum()) @ terms)


def _series(result: Result, observable: str, function: str, least: int) -> tuple[float, Numbers]:
    """The distance of the samples, and the values of an observable, of shape (K, N)."""
    path = f"/observables/{observable}/values"
    if path not in result.paths:
        known = [name for name in result.observables if f"/observables/{name}/values" in result.paths]
        raise _core.InputError(f"{function}: the result has no values of '{observable}' (it has those of: {', '.join(known) or 'none'}); "
                               "the study needs an [[observable]] of this name with values = true")
    time, values = np.asarray(result.time), np.asarray(result[path])
    steps = np.diff(time)
    if len(time) < least:
        raise _core.InputError(f"{function}: {len(time)} samples are too few; it takes {least}")
    if np.abs(steps - steps[0]).max() > 1e-6 * abs(steps[0]):
        raise _core.InputError(f"{function}: the samples are not at equal distances; give a time.samples that divides the steps")
    return float(steps.mean()), values
