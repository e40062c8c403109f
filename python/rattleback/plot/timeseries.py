"""Statistics of observables against time, with fits of their growth."""

import re
from dataclasses import dataclass

import numpy as np

from .base import MARKERS, InputError, choose, chosen, legend, new_figure, numbers, plain, save, tell, title, window, window_text, with_error
from .results import open_all
from .words import quantity
from .words import statistic as words_of_statistic

SUMMARY = "statistics of observables against time, with fits of their growth"
# Power of the energy error in a statistic. The error of the Lobatto methods is proportional to h^(2s-2).
ERROR_POWER = {"mse": 2, "rms": 1, "maxabs": 1}
COUNTS = ("effective_number", "count", "missing")
LOBATTO = ("nonholonomic-lobatto", "lobatto")


@dataclass(frozen=True)
class Model:
    """A curve that is a straight line after logarithms of the time or of the values."""

    formula: str
    slope: str  # name of b
    log_time: bool
    log_values: bool
    scale: str  # axes on which the curve is straight


MODELS = {
    "line": Model("a + b t", "rate", False, False, "linear"),
    "power": Model("a t^b", "exponent", True, True, "loglog"),
    "exponential": Model("a exp(b t)", "rate", False, True, "semilog"),
}


@dataclass
class Series:
    result: object
    observable: str
    statistic: str
    quantity: str  # meaning of the values
    time: np.ndarray
    values: np.ndarray
    errors: np.ndarray  # standard errors of the values; NaN where there are none
    factor: float = 1.0  # of the values, from the order of the method
    label: str = ""
    words: str = ""  # the quantity in words, for the figure
    shown: str = ""  # the label in words, for the figure


@dataclass
class Fit:
    """A least-squares fit of a model."""

    stored: bool  # the run made the fit; otherwise the standard errors take samples as independent
    model: Model
    time: np.ndarray  # samples of the fit
    a: float
    a_error: float
    b: float
    b_error: float

    def __call__(self, time):
        slope = self.b * (np.log(time) if self.model.log_time else time)
        return self.a * np.exp(slope) if self.model.log_values else self.a + slope


def add_options(parser):
    parser.add_argument("--observable", metavar="NAME,...", help="default: energy, or else the first of the file")
    parser.add_argument("--statistic", metavar="STAT,...", help="default: mse, or else the first of the observable")
    scale = parser.add_mutually_exclusive_group()
    for name, text in (("linear", "both axes linear (the default without --model)"),
                       ("loglog", "both axes logarithmic (the default with --model power)"),
                       ("semilog", "vertical axis logarithmic (the default with --model exponential)")):
        scale.add_argument(f"--{name}", dest="scale", action="store_const", const=name, help=text)
    scale.add_argument("--logy", dest="scale", action="store_const", const="semilog", help="the same as --semilog")
    parser.add_argument("--scale-by-order", action="store_true",
                        help="divide the statistic of an error by the power of the step size that the method's order "
                             "predicts: mse by h^(4s-4), rms and maxabs by h^(2s-2)")
    parser.add_argument("--fit", metavar="T0[:T1]", type=window,
                        help="fit the growth over t >= T0 (and t <= T1), print it with standard errors and draw it; a [[fit]] of "
                             "the study with these times is used where there is one, because its errors account for correlated samples")
    parser.add_argument("--model", choices=MODELS, help="what to fit: line: a + b t (the default); power: a t^b; "
                                                        "exponential: a exp(b t); the last two to the logarithms")
    parser.add_argument("--table", metavar="T1,T2,...", type=numbers, help="print the values at these times with their errors")


def order_scale(result, statistic):
    """The power of the step size that an error statistic goes with."""
    method, step = result.study["method"], result.study["time"]["step"]
    if method["name"] not in LOBATTO:
        raise InputError(f"{result.path}: --scale-by-order knows the order of {', '.join(LOBATTO)}, not of '{method['name']}'")
    if statistic not in ERROR_POWER:
        raise InputError(f"{result.path}: --scale-by-order needs the statistic of an error ({', '.join(ERROR_POWER)}), "
                         f"not '{statistic}'")
    if isinstance(step, str):
        raise InputError(f"{result.path}: --scale-by-order needs one step size (here it is '{step}')")
    return step ** (ERROR_POWER[statistic] * (2 * method["stages"] - 2))


def load(result, wanted_observables, wanted_statistics, scale_by_order):
    """The series of one file."""
    group = result.group("observables", "the study has no [[observable]]")
    time = result.time
    known = list(group)
    all_series = []
    for observable in chosen(wanted_observables, known) or ["energy" if "energy" in known else known[0]]:
        choose(observable, known, "observable", result.path)
        # Counts come last. Histograms are not functions of time and are left out.
        statistics = [name for name, data in group[observable].items() if data.shape == time.shape
                      and name not in COUNTS and not name.endswith("_error")]
        statistics += [name for name in COUNTS if name in group[observable]]
        for statistic in chosen(wanted_statistics, statistics) or ["mse" if "mse" in statistics else statistics[0]]:
            choose(statistic, statistics, "statistic", f"{result.path}: {observable}")
            values = group[observable][statistic][:].astype(float)
            error = group[observable].get(f"{statistic}_error")
            errors = np.full(values.shape, np.nan) if error is None else error[:].astype(float)
            what, words = f"{statistic} of {observable}", words_of_statistic(statistic, observable, result.coordinates)
            factor = 1.0
            if scale_by_order:
                factor = 1.0 / order_scale(result, statistic)
                values, errors = values * factor, errors * factor
                power = " / h^(4s-4)" if ERROR_POWER[statistic] == 2 else " / h^(2s-2)"
                what, words = what + power, words + power
            if not np.isfinite(values).any():
                raise InputError(f"{result.path}: {statistic} of {observable} has no finite value")
            all_series.append(Series(result, observable, statistic, what, time, values, errors, factor, words=words))
    return all_series


def set_labels(all_series):
    """What tells the series apart; returns the title, which tells what they have in common."""
    files = len({id(series.result) for series in all_series})
    quantities = len({series.quantity for series in all_series})
    for series in all_series:
        parts = [series.result.label] * (files > 1 or quantities == 1) + [series.quantity] * (quantities > 1)
        series.label = ": ".join(parts)
        several = [plain(series.result.label)] * (files > 1 or quantities == 1) + [series.words] * (quantities > 1)
        series.shown = ": ".join(several)
    return all_series[0].result.label if files == 1 and quantities > 1 else ""


def common(descriptions):
    """The first part that all descriptions share."""
    return next((parts[0] for parts in zip(*descriptions) if len(set(parts)) == 1), "")


def stored_fit(series, name, span):
    """The fit of the run with this observable, statistic, model and times; None without one."""
    for group in series.result.file.get("fits", {}).values():
        if hasattr(group, "shape"):  # the dimension of the fits
            continue
        asked = group["count"].attrs
        text = {key: asked[key].decode() if isinstance(asked[key], bytes) else str(asked[key])
                for key in ("observable", "statistic", "model")}
        if (text["observable"], text["statistic"], text["model"]) != (series.observable, series.statistic, name):
            continue
        inside = [(series.time >= low) & (series.time <= high) for low, high in ((asked["from"], asked["to"]), span)]
        if not np.array_equal(*inside):
            continue
        names = [key for key in group if f"{key}_error" in group]
        a, b = (next(key for key in names if (key in ("intercept", "amplitude")) == first) for first in (True, False))
        model = MODELS[name]
        scale_b = 1.0 if model.log_values else series.factor
        return Fit(True, model, series.time[inside[0]], group[a][0] * series.factor, group[f"{a}_error"][0] * series.factor,
                   group[b][0] * scale_b, group[f"{b}_error"][0] * scale_b)
    return None


def fit(series, name, span):
    stored = stored_fit(series, name, span)
    if stored is not None:
        return stored
    model = MODELS[name]
    used = (series.time >= span[0]) & (series.time <= span[1]) & np.isfinite(series.values)
    if model.log_time:
        used &= series.time > 0
    if model.log_values:
        used &= series.values > 0
    if np.count_nonzero(used) < 3:
        what = "samples above 0" if model.log_values else "samples"
        raise InputError(f"{series.result.path}: --fit: fewer than three {what} of {series.statistic} of {series.observable} "
                         f"at {window_text(span)} (the last sample is at t = {series.time[-1]:g})")
    time = series.time[used]
    x = np.log(time) if model.log_time else time
    y = np.log(series.values[used]) if model.log_values else series.values[used]
    centred = x - x.mean()
    spread = centred @ centred
    b = centred @ y / spread
    a = y.mean() - b * x.mean()
    variance = np.sum((y - a - b * x) ** 2) / (len(x) - 2)
    a_error, b_error = np.sqrt(variance * (1 / len(x) + x.mean() ** 2 / spread)), np.sqrt(variance / spread)
    if model.log_values:
        a = np.exp(a)
        a_error *= a
    return Fit(False, model, time, a, a_error, b, b_error)


def value_at(series, time):
    nearest = np.argmin(np.abs(series.time - time))
    if abs(series.time[nearest] - time) > 1e-9 * max(1.0, abs(time)):
        raise InputError(f"{series.result.path}: --table: no sample at t = {time:g} "
                         f"(the nearest is at t = {series.time[nearest]:g})")
    return with_error(series.values[nearest], series.errors[nearest])


def typeset(text):
    """For the figure: with powers of the step size as such, and step and stages as mathematics."""
    text = re.sub(r"\b([hs]) = (-?[0-9.]+)(?![\w.])", r"$\1$ = \2", text)
    return re.sub(r"h\^\((4s-4|2s-2)\)", r"$h^{\1}$", text)


def print_rows(head, labels, rows):
    width = max(len(label) for label in labels)
    column = max(14, 2 + max(len(value) for row in rows for value in row))
    tell(" " * width + "".join(f"{text:>{column}}" for text in head))
    for label, row in zip(labels, rows):
        tell(f"{label:<{width}}" + "".join(f"{value:>{column}}" for value in row))


def marks(i, x, log=False):
    """The style of curve i at the places x: some marks, evenly along the axis, which tell curves apart in a print without colours."""
    every = 1
    if len(x) > 12:
        along = np.log(x) if log else x
        wanted = along[0] + (along[-1] - along[0]) * np.arange(0.03 * (i % 4) + 0.02, 1.0, 0.15)
        every = [int(k) for k in np.unique(np.searchsorted(along, wanted).clip(0, len(x) - 1))]
    return {"marker": MARKERS[i % len(MARKERS)], "markevery": every, "markersize": 4}


def draw(all_series, fits, scale, heading):
    figure, axes = new_figure()
    for i, series in enumerate(all_series):
        shown = series.time > 0 if scale == "loglog" else slice(None)
        label = series.shown
        if fits:
            rate = with_error(fits[i].b, fits[i].b_error) if fits[i].stored else f"{fits[i].b:.3g}"
            label += f", {fits[i].model.slope} {rate}"
        style = marks(i, series.time[shown], scale == "loglog") if len(all_series) > 1 else {}
        drawn = series.values if scale == "linear" else np.where(series.values > 0, series.values, np.nan)
        line, = axes.plot(series.time[shown], drawn[shown], linewidth=1, label=typeset(label), **style)
        low, high = series.values - series.errors, series.values + series.errors
        if scale != "linear":
            low = np.where(low > 0, low, np.nan)
        axes.fill_between(series.time[shown], low[shown], high[shown], color=line.get_color(), alpha=0.25, linewidth=0)
        if fits:
            axes.plot(fits[i].time, fits[i](fits[i].time), linestyle="--", color="black", linewidth=1.2)
    if scale == "loglog":
        axes.set_xscale("log")
    if scale != "linear":
        axes.set_yscale("log")
    axes.set_xlabel("$t$")
    axes.set_ylabel(typeset(common([(series.words, quantity(series.observable, series.result.coordinates), plain(series.statistic))
                                    for series in all_series])))
    title(axes, heading)
    legend(axes, len(all_series))
    return figure


def run(arguments, output):
    figure, tables = figure_of(arguments)
    for table in tables:
        table()
    save(figure, output)


def figure_of(arguments):
    """The figure, and functions that print the tables."""
    if arguments.model and not arguments.fit:
        raise InputError("--model: there is nothing to fit; give the times as well: --fit T0")
    model = MODELS[arguments.model or "line"]
    scale = arguments.scale or model.scale
    all_series = [series for result in open_all(arguments.files)
                  for series in load(result, arguments.observable, arguments.statistic, arguments.scale_by_order)]
    heading = set_labels(all_series)
    for series in all_series:
        if scale != "linear" and not (series.values > 0).any():
            raise InputError(f"{series.result.path}: {series.statistic} of {series.observable} has no value above 0 for a "
                             "logarithmic axis; use --linear")
    labels = [series.label for series in all_series]
    fits = [fit(series, arguments.model or "line", arguments.fit) for series in all_series] if arguments.fit else []
    values = [[value_at(series, t) for t in arguments.table or []] for series in all_series]
    figure = draw(all_series, fits, scale, heading)
    return figure, [lambda: print_tables(arguments, model, labels, values, fits)]


def print_tables(arguments, model, labels, values, fits):
    if arguments.table:
        print_rows([f"t = {t:g}" for t in arguments.table], labels, values)
    if fits:
        tell(f"fit of {model.formula}, {window_text(arguments.fit)}:")
        print_rows([f"{model.slope} b", "std. error", "a", "std. error"], labels,
                   [[f"{x:.6e}" for x in (f.b, f.b_error, f.a, f.a_error)] for f in fits])
        if not all(f.stored for f in fits):
            tell("These errors are far too small, because they treat the samples of a trajectory as independent. A [[fit]] in the "
                 "study gives reliable errors.")
