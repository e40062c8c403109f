"""The page of `rattleback report`: statistics, figures, failures and provenance of results in one file of HTML.

The program hands over what only the library knows, in a JSON object: citations, fingerprints, and the summary of each run.
"""

import html
import json
import math
import pathlib
import string
import urllib.parse
from argparse import Namespace
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np

from .base import InputError, printable
from .results import LEFT_OUT, Result
from .words import main_options

NO_SERIES = ("effective_number", "histogram_edges", "concentration_by_")  # what names begin with
ROWS = 9  # most sample times in a table


def escaped(text: object) -> str:
    """Text in which no character has a meaning in HTML, and whose lines have no control characters."""
    return html.escape("\n".join(printable(line) for line in str(text).split("\n"))).replace("&#x27;", "'")


def words(value: object) -> str:
    """An attribute as text; files have any bytes."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def heading(level: int, text: object, anchor: str = "") -> str:
    return f"<h{level}{f' id={chr(34)}{anchor}{chr(34)}' if anchor else ''}>{escaped(text)}</h{level}>\n"


def paragraph(text: object, kind: str = "") -> str:
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escaped(text)}</p>\n"


def facts(rows: list[tuple[str, Any]]) -> str:
    """A table of two columns; rows without a value are left out."""
    cells = "".join(f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>\n' for name, value in rows if value != "")
    return f'<div class="wide"><table class="facts">\n{cells}</table></div>\n'


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    titles = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in head)
    cells = "".join("<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table class="numbers">\n<thead><tr>{titles}</tr></thead>\n<tbody>\n{cells}</tbody></table></div>\n'


def code(text: object) -> str:
    return f"<pre>{escaped(text)}</pre>\n"


def folded(title: str, text: object) -> str:
    """Text that a click shows."""
    return f"<details><summary>{escaped(title)}</summary>\n{code(text).rstrip()}</details>\n"


def figure(svg: str, caption: str) -> str:
    # Spaces and quotes of ' keep the address readable; every character that ends an attribute is encoded.
    address = "data:image/svg+xml," + urllib.parse.quote(svg.replace("\n", " "), safe=" !$'()*+,-./:;=@[]_~")
    return f'<figure><img alt="{escaped(caption)}" src="{address}"><figcaption>{escaped(caption)}</figcaption></figure>\n'


def links(items: Iterable[Sequence[str]]) -> str:
    """A list; each item has a text, and a link where the second is not empty."""
    return "<ul>\n" + "".join(f'<li><a href="{escaped(link)}">{escaped(text)}</a></li>\n' if link else f"<li>{escaped(text)}</li>\n"
                              for text, link in items) + "</ul>\n"


def shortest(x: Any) -> str:
    """The shortest decimal that reads back as the same number."""
    return repr(float(x)).removesuffix(".0")


def with_error(value: Any, error: Any) -> str:
    """A value with the first two digits of its standard error, as the program writes it: 3.81(19)e-05."""
    value, error = float(value), abs(float(error))
    if math.isnan(value):
        return "nan"
    text = shortest(value)
    if math.isnan(error) or math.isinf(value):
        return text
    if error == 0.0:
        mantissa, e, power = text.partition("e")
        return f"{mantissa}(0){e}{power}"
    place = 0 if math.isinf(error) else int(f"{error:.1e}".split("e")[1]) - 1  # of the last digit
    first = place if value == 0.0 else int(f"{value:.16e}".split("e")[1])
    if math.isinf(error) or first - place >= 17:
        return f"{text} +- {error:.2g}"
    exact = Context(prec=2000, rounding=ROUND_HALF_EVEN)
    units = [str(int(Decimal(x).scaleb(-place, exact).to_integral_value(context=exact))) for x in (abs(value), error)]
    after_first = max(map(len, units)) - 1
    exponent = place + after_first
    fixed = -4 <= exponent <= 5 and place <= 0
    decimals = -place if fixed else after_first
    digits = units[0].rjust(decimals + 1, "0")
    pointed = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
    return ("-" if value < 0.0 and units[0] != "0" else "") + f"{pointed}({units[1]})" + ("" if fixed else f"e{exponent:+03d}")


class Section:
    """The part of the page about one result."""

    def __init__(self, path: pathlib.Path, about: dict[str, Any], figures: int) -> None:
        self.result, self.about, self.figures = Result(path), about, figures
        self.attributes = self.result.file.attrs
        datasets = []  # a name that is not UTF-8 is of nobody that this page knows
        self.result.file.visititems(lambda name, entry: datasets.append(name) if hasattr(entry, "shape") and isinstance(name, str) else None)
        self.datasets = sorted(datasets)
        self.time = self.result.time if "time" in self.datasets else np.zeros(0)
        self.series = [name.removeprefix("observables/").rpartition("/") for name in self.datasets if self.is_series(name)]

    def is_series(self, name: str) -> bool:
        data, (observable, _, statistic) = self.result.file[name], name.removeprefix("observables/").rpartition("/")
        return (name.startswith("observables/") and observable != "" and data.dtype == np.float64 and data.shape == self.time.shape
                and not statistic.endswith("_error") and not statistic.startswith(NO_SERIES))

    def text(self, key: str) -> str:
        value = self.attributes.get(key, "")
        return words(value) if isinstance(value, (str, bytes)) else ""

    def values(self, observable: str, statistic: str) -> Any:
        return self.result.file[f"observables/{observable}/{statistic}"][:]

    def errors(self, observable: str, statistic: str) -> Any:
        """The standard errors of a statistic; None where there are none."""
        errors = self.result.file.get(f"observables/{observable}/{statistic}_error")
        return errors[:] if errors is not None and errors.shape == self.time.shape else None

    def html(self, anchor: str) -> str:
        about = self.about
        study = [("system", about["system"]), ("source of the system", about["own_system"]), ("method", self.method()),
                 ("step", self.result.study.get("time", {}).get("step", "")), ("trajectories", about["trajectories"])]
        if len(self.time):
            study.append(("time", f"{shortest(self.time[0])} to {shortest(self.time[-1])}, {len(self.time)} samples"))
        if left_out := self.result.file.attrs.get("left_out"):
            study.append(("left out by ensemble.where", int(left_out)))
        if "phases" in self.result.file.attrs:
            phases = json.loads(self.text("phases"))
            study.append(("seconds", ", ".join(f"{name} {seconds:.3g}" for name, seconds in phases.items())))
        study += [("trajectory-steps", about["trajectory_steps"]), ("failed", about["failed"])]
        return (heading(2, about["title"], anchor) + paragraph(self.result.path.name, "quiet") + facts(study) + self.stops() + self.fates() + self.averages()
                + self.statistics() + self.fits() + self.drawn() + self.failures() + self.fingerprint() + heading(3, "Provenance") + self.provenance()
                + folded("The study, with all defaults", self.text("study")))

    def method(self) -> str:
        """The name of the method with its most important options: "holonomic-lobatto, stages = 3"."""
        options = main_options(self.result.study.get("method", {}))
        return ", ".join([self.about["method"], *(f"{key} = {value}" for key, value in options.items())])

    def fingerprint(self) -> str:
        found, stored = self.about["fingerprint"], self.text("fingerprint")
        if not stored:
            outcome = paragraph("The file stores no fingerprint. This one was computed for the report.", "quiet")
        elif stored == found:
            outcome = paragraph("The data give the fingerprint that the run stored.", "quiet")
        else:
            outcome = paragraph(f"The run stored another fingerprint, {stored}. The data have changed since then.", "alarm")
        return heading(3, "Fingerprint") + code(found) + outcome

    def failures(self) -> str:
        status, rows = self.result.file.get("final/status"), []
        if status is not None and status.dtype == np.uint32:
            bits = status[:]
            for bit in (1 << k for k in range(32) if 1 << k != LEFT_OUT):
                which = np.flatnonzero(bits & np.uint32(bit))
                if len(which):
                    meaning = words(status.attrs.get(f"bit {bit}", f"bit {bit}"))
                    rows.append((meaning, len(which), ", ".join(map(str, which[:10])) + ", .." * (len(which) > 10)))
        page = heading(3, "Failures")
        if rows:
            page += table(("reason", "trajectories", "which"), rows)
            page += paragraph("A failed trajectory is frozen at its last good state and excluded from all later statistics.", "quiet")
        else:
            page += paragraph("No trajectory failed.")
        for name in self.datasets:
            if name.startswith("observables/") and name.endswith("/missing") and (most := self.result.file[name][:].max(initial=0)) > 0:
                observable = name.removeprefix("observables/").removesuffix("/missing")
                page += paragraph(f"{observable}: up to {shortest(most)} good trajectories have a value that is not finite.")
        return page

    def stops(self) -> str:
        """How many trajectories each stop has ended, and when."""
        rows = []
        for path in self.datasets:
            group, _, name = path.rpartition("/")
            if not group.startswith("stops/") or name != "count" or self.result.file[path].shape != self.time.shape:
                continue
            found = {}
            for key in ("fraction", "time_mean"):
                value, error = (self.result.file.get(f"{group}/{key}{end}") for end in ("", "_error"))
                known = value is not None and error is not None and value.shape == error.shape and value.size
                found[key] = with_error(value[-1], error[-1]) if known else ""
            rows.append((group.removeprefix("stops/"), self.result.file[path][-1], found["fraction"], found["time_mean"]))
        return heading(3, "Stops") + table(("stop", "trajectories", "share", "mean time"), rows) if rows else ""

    def fates(self) -> str:
        """How many trajectories have each fate, and the numbers of the maps."""
        page, file = "", self.result.file
        count, share, error = (file.get(f"fates/{name}") for name in ("count", "fraction", "fraction_error"))
        if count is not None and share is not None and error is not None and count.shape == share.shape == error.shape:
            names = ["none"] + [words(count.attrs.get(f"fate {i}", f"fate {i}")) for i in range(1, len(count))]
            rows = [(name, count[i], with_error(share[i], error[i])) for i, name in enumerate(names)]
            page += heading(3, "Fates") + table(("fate", "trajectories", "share"), rows)
        numbers = ("boundary_dimension", "uncertainty_exponent", "basin_entropy", "boundary_basin_entropy")
        rows = [(name, *(f"{group[number][0]:.4g}" for number in numbers)) for name, group in (file.get("maps") or {}).items()
                if all(number in group and group[number].shape == (1,) for number in numbers)]
        return page + (heading(3, "Maps") + table(("map", *(number.replace("_", " ") for number in numbers)), rows) if rows else "")

    def averages(self) -> str:
        """The statistics of averages over the time of each trajectory."""
        rows = []
        for name, group in (self.result.file.get("averages") or {}).items():
            single = {part: data for part, data in group.items() if data.shape == (1,) and f"averages/{name}/{part}" in self.datasets}
            rows += [(name, part, f"{data[0]:.6g}" if f"{part}_error" not in single else with_error(data[0], single[f"{part}_error"][0]))
                     for part, data in single.items() if not part.endswith("_error")]
        return heading(3, "Averages over the time") + table(("average", "statistic", "value"), rows) if rows else ""

    def statistics(self) -> str:
        page = heading(3, "Statistics")
        if not self.series:
            return page + paragraph("The study asks for no statistics.")
        page += paragraph("3.81(19)e-05 is 3.81e-05 with the standard error 0.19e-05.", "quiet")
        last = len(self.time) - 1
        samples = range(last + 1) if last < ROWS else [k * last // (ROWS - 1) for k in range(ROWS)]
        for observable in dict.fromkeys(observable for observable, _, _ in self.series):
            names = [statistic for other, _, statistic in self.series if other == observable]
            columns = [[f"{self.time[k]:.6g}" for k in samples]]
            for name in names:
                values, errors = self.values(observable, name), self.errors(observable, name)
                columns.append([f"{values[k]:.6g}" if errors is None else with_error(values[k], errors[k]) for k in samples])
            page += table(["t", *(f"{observable} {name}" for name in names)], zip(*columns))
        return page

    def fits(self) -> str:
        rows = []
        for error in self.datasets:
            value = error.removesuffix("_error")
            if not (error.startswith("fits/") and value != error and value in self.datasets
                    and self.result.file[error].shape == self.result.file[value].shape == (1,)):
                continue
            group, _, parameter = value.rpartition("/")
            about = self.result.file[f"{group}/count"].attrs if f"{group}/count" in self.datasets else {}
            of = {}
            for key in ("observable", "statistic", "model", "from", "to"):
                entry = about.get(key, "")
                of[key] = words(entry) if isinstance(entry, (str, bytes)) else f"{entry:g}"
            rows.append((group.removeprefix("fits/"), f"{of['observable']} {of['statistic']}", of["model"],
                         f"{of['from']} to {of['to']}", parameter,
                         with_error(self.result.file[value][0], self.result.file[error][0])))
        return heading(3, "Fits") + table(("fit", "of", "model", "t", "parameter", "value"), rows) if rows else ""

    def drawn(self) -> str:
        """Figures of the series with at least two finite values that are not all the same."""
        drawable = []
        for observable, _, statistic in self.series:
            values = self.values(observable, statistic)
            finite = values[np.isfinite(values)]
            if len(finite) and finite.min() < finite.max():
                later = values[(self.time > 0) & np.isfinite(values)]
                wide = len(later) > 0 and later.min() > 0 and later.max() > 100 * later.min()
                drawable.append((observable, statistic, "loglog" if wide else "linear"))
        if not drawable or not self.figures:
            return ""
        page = heading(3, "Figures")
        for observable, statistic, scale in drawable[:self.figures]:
            band = "; the band is the standard error" if self.errors(observable, statistic) is not None else ""
            page += figure(draw(self.result.path, observable, statistic, scale),
                           f"{statistic} of {observable} against time{band}")
        if len(drawable) > self.figures:
            page += paragraph(f"{len(drawable) - self.figures} more statistics have no figure here; 'rattleback plot' draws them.",
                              "quiet")
        return page

    def provenance(self) -> str:
        about, version, git = self.about, self.text("version"), self.text("git")
        parts = self.attributes.get("parts", "")
        page = facts([("rattleback", f"{version} ({git})" if git else version), ("backend", self.text("backend")),
                      ("device", self.text("device")), ("driver", self.text("driver")),
                      ("selftest of the device", self.text("selftest")), ("threads", about["threads"] or ""),
                      ("seconds of integration", f"{about['seconds']:.3g}"), ("solver iterations", about["iterations"]),
                      ("parts", parts if isinstance(parts, np.integer) else ""), ("job", self.text("job"))])
        try:
            kernels = json.loads(self.text("kernels"))
        except (ValueError, RecursionError):
            kernels = []
        rows = [[str(kernel.get(key, ""))[:end] for key, end in (("kernel", None), ("compiler", None), ("key", 16))]
                for kernel in (kernels if isinstance(kernels, list) else []) if isinstance(kernel, dict)]
        return page + (table(("kernel", "compiler", "key begins"), rows) if rows else "")


def draw(path: pathlib.Path, observable: str, statistic: str, scale: str) -> str:
    """A statistic against time as the text of an SVG file."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{error}; with --figures 0 the page has no figures") from error
    from . import timeseries
    from .base import bytes_of

    given = Namespace(files=[path], observable=[observable], statistic=[statistic], scale=scale, fit=None, model=None,
                      scale_by_order=False, table=None)
    return bytes_of(timeseries.figure_of(given)[0], ".svg").decode()


def page_of(told: dict[str, Any], files: Sequence[str], figures: int) -> str:
    """The page, without its first two lines, which state the type."""
    sections = [Section(pathlib.Path(file), about, figures) for file, about in zip(files, told["results"])]
    titles = [about["title"] for about in told["results"]]
    title = f"Report on {titles[0]}" if len(titles) == 1 else f"Report on {len(titles)} results"
    body = heading(1, title)
    body += paragraph(f"Written by rattleback {told['version']}. The page needs no other file and no network.", "quiet")
    contents = [(name, f"#result-{i}") for i, name in enumerate(titles, 1)] + [("References", "#references")]
    body += f"<nav>{links(contents).rstrip()}</nav>\n"
    prints = [about["comparable"] for about in told["results"]]  # fingerprints by one definition
    for i, fingerprint in enumerate(prints):
        for j in range(i):
            if prints[j] == fingerprint:
                body += paragraph(f"Results {j + 1} and {i + 1} have the same data, to the last bit.")
    for i, section in enumerate(sections, 1):
        body += section.html(f"result-{i}")
    body += heading(2, "References", "references") + links(told["references"]) + folded("BibTeX", told["bibtex"])
    template = string.Template((pathlib.Path(__file__).parent / "report.html").read_text(encoding="utf-8"))
    return template.substitute(title=escaped(title), body=body)


def write_page(folder: str, figures: str, files: Sequence[str]) -> None:
    """Writes page.html about result files into a folder, where the program has put facts.json."""
    told = json.loads((pathlib.Path(folder) / "facts.json").read_text(encoding="utf-8"))
    text = page_of(told, files, int(figures))
    try:
        (pathlib.Path(folder) / "page.html").write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}); set TMPDIR to another place") from error
