"""Systems written as formulas."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from .toml import Table, plain


class System(Table):
    """A mechanical system as formulas.

    Parameters
    ----------
    name:
        letters, digits, ``-`` and ``_``
    coordinates:
        names in a text or a list: ``"x y z"``; the velocities are ``v_x`` and so on
    parameters:
        numbers by name; a table with ``value``, ``unit`` and ``text`` also does
    formulas:
        the other keys of ``[system]`` in a study, such as ``potential``, ``lagrangian``, ``hamiltonian``, ``mass``, ``constraints``,
        ``velocity_constraints``, ``observables``, ``conserved``, ``initial``. A formula is a text or a SymPy expression.

    The library checks the system when a study takes it.
    """

    def __init__(self, name: str, *, coordinates: str | Sequence[Any] | None = None,
                 parameters: Mapping[str, Any] | None = None, **formulas: Any) -> None:
        document: dict[str, Any] = {"name": name}
        if coordinates is not None:
            document["coordinates"] = (coordinates.replace(",", " ").split() if isinstance(coordinates, str)
                                       else [str(coordinate) for coordinate in coordinates])
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
