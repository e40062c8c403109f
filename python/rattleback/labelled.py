"""Results as ``xarray.Dataset``."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import numpy as np

from . import _core


def _name(path: str) -> str:
    """Returns the name of a variable: ``energy_mse`` for /observables/energy/mse, ``final_q`` for /final/q."""
    parts = path.strip("/").split("/")
    return "_".join(parts[1:] if parts[0] in ("observables", "axes", "trajectory") and len(parts) > 1 else parts)


def _names(about: dict[str, Any]) -> dict[str, list[str]]:
    """Returns the names of the numbers of q, v, p and lambda. On a group velocities are in the body, and not those of coordinates."""
    coordinates = about.get("coordinates", "").split()
    system = tomllib.loads(about["study"])["system"]
    group = re.search(r"S[OE]\W?\d", str(system.get("group", "")))
    names = {"q": coordinates} | {part: [] if group else [f"{part}_{name}" for name in coordinates] for part in "vp"}
    if all(re.fullmatch(r"\w+", name) for name in system.get("velocities", ["-"])):
        names["v"] = system["velocities"]
    multipliers = [one if isinstance(one, str) else one.get("name", "") for one in system.get("multipliers", [])]
    names["lambda"] = multipliers if all(multipliers) else []
    return names


def to_xarray(stored: "_core.Stored") -> Any:
    try:
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray needs xarray: pip install 'rattleback-ensembles[xarray]'") from error
    from .lazy import numbers_of
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}
    shapes = stored.shapes()
    for path, shape in shapes.items():
        attributes = stored.attributes(path)
        scales = _core.scales_of(path, len(shape))
        if "group_dimension" in attributes and path.startswith("/groups/axes/"):
            scales = [f"/groups/group_{attributes['group_dimension']}"]
        dimensions = [_name(scale) for scale in scales] or [f"{_name(path)}_{i}" for i in range(len(shape))]
        is_coordinate = scales == [path] or path.startswith(("/axes/", "/groups/axes/"))
        lazy = stored.file is not None and not is_coordinate
        entry = (dimensions, numbers_of(stored, path) if lazy else np.asarray(stored.array(path)), attributes)
        (coordinates if is_coordinate else variables)[_name(path)] = entry
    about = dict(stored.attributes("/"))
    for part, names in _names(about).items():
        found = shapes.get(f"/final/{part}") or shapes.get(f"/initial/{part}")
        if found is not None and len(names) == found[-1]:
            coordinates[f"{part}_component"] = names
    return xarray.Dataset(variables, coordinates, about)
