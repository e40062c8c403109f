"""What is known of systems, methods, observables and statistics."""

from __future__ import annotations

import html
from typing import Any

from . import _core
from .results import Result
from .study import Study


class Description(dict[str, Any]):
    """What is known of a system or a method. A notebook shows the tables."""

    def __repr__(self) -> str:
        lines = [f"{self['name']} ({self['kind']})"]
        if self["kind"] == "method":
            lines += [f"  {self['summary']}", f"  order: {self['order']}", f"  takes: {self['takes']}",
                      f"  source: {self['source']}"]
            lines += [f"  option {o['name']}: {o['text']}" for o in self["options"]]
        else:
            lines += [f"  configuration: {self['configuration']}", f"  source: {self['source']}"]
            for instance in self["instances"]:
                lines.append(f"  {instance['variant'] or 'the only variant'}: {instance['summary']}")
                lines += [f"    parameter {p['name']} = {p['default']:g} [{p['unit']}]: {p['text']}"
                          for p in instance["parameters"]]
                lines += [f"    observable {o['name']}: {o['text']}" for o in instance["observables"]]
                lines += [f"    multiplier {m['component']} {meaning}" for m, meaning in _multipliers(instance)]
        return "\n".join(dict.fromkeys(lines))  # instances may differ in the dimension only

    def _repr_html_(self) -> str:
        if self["kind"] == "method":
            rows = [(o["name"], o.get("default", ""), o["text"]) for o in self["options"]]
            head = f"{self['summary']}. Order: {self['order']}. Takes {self['takes']}."
            return _table(f"{self['name']}", head, ("option", "default", "meaning"), rows)
        instance = self["instances"][0]
        rows = [(p["name"], f"{p['default']:g} {p['unit']}", p["text"]) for p in instance["parameters"]]
        rows += [(o["name"], "observable", o["text"]) for o in instance["observables"]]
        rows += [(m["component"], "multiplier", meaning) for m, meaning in _multipliers(instance)]
        return _table(self["name"], f"{instance['summary']}. Configuration: {self['configuration']}.",
                      ("name", "default", "meaning"), rows)


def _multipliers(instance: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Returns each multiplier of a system of formulas with its name and its meaning in words."""
    told = []
    for one in instance.get("multipliers", []):
        text = one["text"] or f"of the constraint {one['constraint']}"
        joint, unit = f"joint {one['joint']}: " if one["joint"] else "", f" [{one['unit']}]" if one["unit"] else ""
        told.append((one, f"{one['name']} {joint}{text}{unit}".strip()))
    return told


def _table(name: str, text: str, head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    cells = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
                    for row in rows)
    titles = "".join(f"<th style='text-align:left'>{title}</th>" for title in head)
    return f"<b>{html.escape(name)}</b><p>{html.escape(text)}</p><table><tr>{titles}</tr>{cells}</table>"


def describe(what: str | Study) -> Description:
    """Returns parameters, observables, state, options and sources of a system or a method by its name, or of the system of a study.
    For a system of formulas the entry ``multipliers`` of its instance has, for each ``lambda[i]``, its name, its joint, its unit, what
    it does and the constraint that it holds. Raises InputError for an unknown name.

    >>> rb.describe("planar-pendulum")["instances"][0]["coordinates"]
    ['x', 'y']
    """
    return Description(what._problem.describe() if isinstance(what, Study) else _core.describe(what))


def cite(what: Study | Result | str | None = None) -> str:
    """Returns BibTeX of the software, of the method and of the system of a study or a result, or of a system or a method by
    name. Without an argument it is that of the software. Raises InputError for an unknown name.

    >>> [line for line in rb.cite("hbvm").splitlines() if "doi" in line]
    ['  doi           = {10.1016/j.apnum.2017.12.014},']
    """
    if isinstance(what, str):
        return _core.cite_entry(what)
    if what is None:
        return _core.cite_study("", _core.version(), _core.git_commit(), "")
    if isinstance(what, Result):
        told = what.attributes
        return _core.cite_study(what.toml, told.get("version", ""), told.get("git", ""), what.fingerprint)
    return _core.cite_study(what.toml, _core.version(), _core.git_commit(), "")


def list_systems() -> list[str]:
    """Returns the names of all systems.

    >>> "spherical-pendulum" in rb.list_systems()
    True
    """
    return [entry["name"] for entry in _core.list_entries("systems")["systems"]]


def list_methods() -> list[str]:
    """Returns the names of all methods.

    >>> [name for name in rb.list_methods() if "lobatto" in name]
    ['nonholonomic-lobatto', 'holonomic-lobatto', 'lobatto']
    """
    return [entry["name"] for entry in _core.list_entries("methods")["methods"]]


def list_keys() -> list[str]:
    """Returns the keys of a study as its file has them; the first element stands for all of an array: ``ensemble.axes[0].count``.

    >>> [key for key in rb.list_keys() if key.startswith("ensemble.axes[0].c")]
    ['ensemble.axes[0].count']
    """
    return [entry["name"].replace("[]", "[0]") for entry in _core.list_entries("keys")["keys"]]


def list_observables() -> list[str]:
    """Returns the names of the observables that do not depend on the system.

    >>> "lyapunov" in rb.list_observables()
    True
    """
    return [entry["name"] for entry in _core.list_entries("observables")["observables"]]


def list_statistics() -> list[str]:
    """Returns the names of all statistics.

    >>> "mse" in rb.list_statistics()
    True
    """
    return [entry["name"] for entry in _core.list_entries("statistics")["statistics"]]
