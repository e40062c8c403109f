"""Errors against the step size and against the computing time, from what `rattleback order` and `work-precision` print."""

import json
from dataclasses import dataclass

import numpy as np

from .base import COLOURS, MARKERS, InputError, choose, chosen, legend, listing, new_figure, plain, save, title
from .words import label as words_of_label
from .words import main_options
from .words import method as words_of_method
from .words import symbol


def add_order_options(parser):
    parser.add_argument("--variable", metavar="NAME,...", help="default: all of the file")
    parser.add_argument("--norm", choices=("max", "rms"), help="over the trajectories; default: both")


def add_work_options(parser):
    parser.add_argument("--variable", metavar="NAME", default="q", help="default: q")


def read(path, command):
    """The JSON object that `command` printed, or the same of a report of the package."""
    if hasattr(path, "content"):
        return path.content()
    if path.is_fifo() and path.resolve().exists():  # pipes of the shell have no name
        raise InputError(f"{path}: is a FIFO, which may never have a writer")
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise InputError(f"{path}: not a JSON file ({error})") from error
    if not isinstance(content, dict) or content.get("command") != command:
        raise InputError(f"{path}: not what 'rattleback {command} --json' prints")
    return content


def entry(content, name, path):
    if name not in content:
        raise InputError(f"{path}: no '{name}' (there are: {listing(content)})")
    return content[name]


def runs_of(content, path):
    """{label: its runs, the longest step last}."""
    runs = {}
    for run in entry(content, "runs", path):
        runs.setdefault(entry(run, "label", path), []).append(run)
    return {label: sorted(mine, key=lambda run: entry(run, "step", path)) for label, mine in runs.items()}


def floats(values):
    """Numbers of JSON; null is NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


@dataclass
class ErrorCurve:
    method: str
    variable: str
    norm: str
    slope: float | None
    steps: np.ndarray
    errors: np.ndarray


def load_order(path, variables, norms):
    """The curves of one file and what they are of."""
    content = read(path, "order")
    known, steps = entry(content, "variables", path), floats(entry(content, "steps", path))
    method = content.get("method", "")
    options = dict(content.get("options", {}))
    if content.get("stages") is not None:
        options["stages"] = content["stages"]
    method = words_of_method(method, main_options(options))
    heading = f"{content.get('study', '')}: {content.get('system', '')}, {method}"
    about = [f"at t = {content['end']:g}"] if "end" in content else []
    if "reference" in content:
        about.append(f"against {content['reference']}")
    if content.get("failed"):
        about.append(f"{content['failed']} trajectories failed")
    heading += "\n" + ", ".join(about)
    curves = []
    for name in chosen(variables, list(known)) or known:
        data = known[choose(name, list(known), "variable", path)]
        for norm in norms:
            errors = floats(entry(data, norm, path))
            errors[~(errors > 0)] = np.nan
            curves.append(ErrorCurve(method, name, norm, data.get(f"slope_{norm}"), steps, errors))
    if not any(np.isfinite(curve.errors).any() for curve in curves):
        raise InputError(f"{path}: no error above 0")
    return curves, heading


def guide(axes, curve):
    """A line with the rounded slope of a curve, below it at the large steps, as long as its errors fall."""
    order, used = round(curve.slope), np.isfinite(curve.errors)
    if order < 1 or np.count_nonzero(used) < 2:
        return
    steps = np.sort(curve.steps[used])
    line = 0.4 * curve.errors[used][np.argmax(curve.steps[used])] * (steps / steps[-1]) ** order
    shown = line >= 0.2 * curve.errors[used].min()
    steps, line = steps[shown], line[shown]
    if len(steps) < 2:
        return
    axes.plot(steps, line, color="0.5", linestyle=":", linewidth=1)
    axes.annotate(f"$h^{{{order}}}$", (steps[0], line[0]), textcoords="offset points", xytext=(-4, -2), ha="right",
                  va="top", fontsize="small", color="0.3")


def run_order(arguments, output):
    save(order(arguments), output)


def run_work(arguments, output):
    save(work(arguments), output)


def order(arguments):
    loaded = [load_order(path, arguments.variable, [arguments.norm] if arguments.norm else ["max", "rms"])
              for path in arguments.files]
    curves = [curve for mine, _ in loaded for curve in mine]
    figure, axes = new_figure(height=6.0)
    alike = len({(curve.variable, curve.norm) for curve in curves}) == 1
    styles = {}  # colour and marker of a method and variable
    guides = {}  # one guide per slope
    for curve in curves:
        number = styles.setdefault((curve.method, curve.variable), len(styles))
        label = f"{curve.norm} error of {curve.variable}"
        if len(loaded) > 1:
            label = curve.method if alike else f"{curve.method}: {label}"
        if curve.slope is not None:
            label += f", slope {curve.slope:.2f}"
            guides.setdefault(round(curve.slope), curve)
        axes.plot(curve.steps, curve.errors, color=COLOURS[number % len(COLOURS)], marker=MARKERS[number % len(MARKERS)],
                  markersize=4, linewidth=1, linestyle="-" if curve.norm == "max" else "--", label=plain(label))
    for curve in guides.values():
        guide(axes, curve)
    axes.set(xscale="log", yscale="log", xlabel="step size $h$", ylabel="error at the end")
    if alike and len(loaded) > 1:
        what = "largest" if curves[0].norm == "max" else "root mean squared"
        axes.set_ylabel(f"{what} error of {symbol(curves[0].variable)} at the end")
    steps = np.unique(np.concatenate([curve.steps for curve in curves]))
    if len(steps) <= 10 and (steps[1:] > 1.4 * steps[:-1]).all():  # otherwise the labels would overlap
        axes.set_xticks(steps, [f"{step:g}" for step in steps])
        axes.set_xticks([], minor=True)
    if len(loaded) == 1:
        title(axes, loaded[0][1])
    legend(axes, len(curves))
    return figure


def work(arguments):
    labels, studies, curves = [], [], []
    for path in arguments.files:
        content = read(path, "work-precision")
        studies.append(str(content.get("study", "")))
        runs = runs_of(content, path)
        known = {name: None for mine in runs.values() for run in mine for name in entry(run, "errors", path)}
        choose(arguments.variable, list(known), "variable", path)
        for label, mine in runs.items():
            errors = floats([run["errors"].get(arguments.variable) for run in mine])
            seconds = floats([entry(run, "seconds", path) for run in mine])
            shown = (errors > 0) & (seconds > 0)
            if shown.any():  # a method may lack this variable
                labels.append(label)
                curves.append((seconds[shown], errors[shown]))
    if not labels:
        raise InputError(f"{arguments.files[0]}: no run has an error of {arguments.variable} above 0")
    figure, axes = new_figure()
    for i, (label, curve) in enumerate(zip(labels, curves)):
        axes.plot(*curve, marker=MARKERS[i % len(MARKERS)], markersize=5, linewidth=1, label=plain(words_of_label(label)))
    axes.set(xscale="log", yscale="log", xlabel="wall time (s)", ylabel=f"largest error of {symbol(arguments.variable)} at the end")
    title(axes, ", ".join(dict.fromkeys(studies)))
    legend(axes, len(labels))
    return figure
