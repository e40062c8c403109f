"""Writes a document of a study as TOML text."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from .formula import text_of_formula

try:
    import tomllib
except ImportError:  # Python before 3.11
    import tomli as tomllib  # type: ignore[no-redef]

__all__ = ["Table", "dumps", "plain", "tomllib"]


class Table(ABC):
    """An object that stands in a study as a table."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Returns the table."""


def plain(value: Any, key: str = "") -> Any:
    """Returns a value as numbers, texts, booleans, lists and dictionaries. SymPy expressions become texts, and SymPy matrices lists:
    of rows, or of numbers where there is one row or one column.

    Raises TypeError for a value that no study has.
    """
    if isinstance(value, Table):
        return value.document()
    if isinstance(value, Mapping):
        return {str(name): plain(entry, f"{key}.{name}" if key else str(name)) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), key)
    if hasattr(value, "tolist") and len(getattr(value, "shape", ())) == 2:  # a matrix of SymPy
        rows = value.tolist()
        return plain(rows if min(value.shape) > 1 else [entry for row in rows for entry in row], key)
    if isinstance(value, (list, tuple)):
        return [plain(entry, f"{key}[{i}]") for i, entry in enumerate(value)]
    if isinstance(value, np.generic):
        return plain(value.item(), key)
    if isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "__fspath__"):
        return str(value)
    if type(value).__module__.split(".")[0] == "sympy" or hasattr(value, "free_symbols"):
        return text_of_formula(value, key)
    raise TypeError(f"{key or 'the study'}: a {type(value).__name__} has no form in a study; give a number, a text, a list or a "
                    "SymPy expression")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _text(text: str) -> str:
    quoted = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x20 or ord(c) == 0x7F else "\\" + c if c in '"\\' else c for c in text)
    return f'"{quoted}"'


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_value(entry)}" for name, entry in value.items()) + " }"
    return repr(value)  # repr gives the shortest decimal that reads back as the same number


def dumps(document: Mapping[str, Any]) -> str:
    """Returns a document as TOML: one table per key, and [[observable]] and the like for lists of tables."""
    lines: list[str] = []
    for name, table in document.items():
        if isinstance(table, list) and all(isinstance(entry, dict) for entry in table):
            for entry in table:
                lines += ["", f"[[{_key(name)}]]", *(f"{_key(k)} = {_value(v)}" for k, v in entry.items())]
        elif isinstance(table, dict):
            inner = {k: v for k, v in table.items() if name == "ensemble" and k == "initial" and isinstance(v, dict)}
            lines += ["", f"[{_key(name)}]", *(f"{_key(k)} = {_value(v)}" for k, v in table.items() if k not in inner)]
            for key, entries in inner.items():
                lines += ["", f"[{_key(name)}.{_key(key)}]", *(f"{_key(k)} = {_value(v)}" for k, v in entries.items())]
        else:
            lines.insert(0, f"{_key(name)} = {_value(table)}")
    return "\n".join(lines).strip("\n") + "\n"
