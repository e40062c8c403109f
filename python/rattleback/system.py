"""Systems written as formulas."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from .formula import text_of_formula
from .toml import Table, plain


def _names(given: Any) -> list[str]:
    """Returns names from a text, or from a list of texts, symbols or functions of the time."""
    if isinstance(given, str):
        return given.replace(",", " ").split()
    return [text_of_formula(name) if hasattr(name, "free_symbols") else str(name) for name in given]


def _replaced(value: Any, terms: Mapping[Any, Any]) -> Any:
    """Returns formulas in which terms of SymPy are replaced."""
    if hasattr(value, "subs"):
        return value.subs(terms)
    if isinstance(value, Mapping):
        return {key: _replaced(entry, terms) for key, entry in value.items()}
    return [_replaced(entry, terms) for entry in value] if isinstance(value, (list, tuple)) else value


class System(Table):
    """A mechanical system as formulas.

    Parameters
    ----------
    name:
        letters, digits, ``-`` and ``_``
    coordinates:
        names in a text or a list: ``"x y z"``; the velocities are ``v_x`` and so on. A list may also have symbols of SymPy, or
        functions of the time (``dynamicsymbols``), whose derivatives are then the velocities
    parameters:
        numbers by name; a table with ``value``, ``unit`` and ``text`` also does
    formulas:
        the other keys of ``[system]`` in a study, such as ``potential``, ``lagrangian``, ``hamiltonian``, ``mass``, ``constraints``,
        ``velocity_constraints``, ``observables``, ``conserved``, ``initial``. A formula is a text or a SymPy expression, and
        matrices of SymPy may stand for lists of formulas.

    The library checks the system when a study takes it.

    >>> well = rb.System("well", coordinates="x", potential="(x^2 - 1)^2", initial={"q": [0.5], "v": [0]})
    >>> rb.Study(well, "lobatto", {"step": 0.1, "steps": 10}).trajectories
    1
    """

    def __init__(self, name: str, *, coordinates: str | Sequence[Any] | None = None,
                 parameters: Mapping[str, Any] | None = None, **formulas: Any) -> None:
        document: dict[str, Any] = {"name": name}
        if coordinates is not None:
            document["coordinates"] = _names(coordinates)
        if "velocities" in formulas:
            formulas["velocities"] = _names(formulas["velocities"])
            given: Any = coordinates or ()
            moving = [c for c in given if hasattr(c, "free_symbols") and c.args]  # functions of the time
            if moving and len(moving) == len(formulas["velocities"]):
                from sympy import Symbol

                formulas = _replaced(formulas, {c.diff(c.args[0]): Symbol(v) for c, v in zip(moving, formulas["velocities"])})
        if parameters is not None:
            document["parameters"] = {str(key): plain(value, f"parameters.{key}") for key, value in parameters.items()}
        document.update({key: plain(value, key) for key, value in formulas.items()})
        self._document = document

    @property
    def name(self) -> str:
        return str(self._document["name"])

    def document(self) -> dict[str, Any]:
        """Returns the table ``[system]`` of a study."""
        return copy.deepcopy(self._document)

    def __repr__(self) -> str:
        keys = ", ".join(f"{key}={value!r}" for key, value in self._document.items() if key != "name")
        return f"System({self.name!r}{', ' if keys else ''}{keys})"
